"""A correction without its subject, put into the statement that it corrects: "no, I meant 60 minutes". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from openclaw_neuralstream.extract.rules.judge import cues_of
from openclaw_neuralstream.extract.rules.reader import Sentence
from openclaw_neuralstream.extract.rules.words import is_chinese, normal, size
from openclaw_neuralstream.lexicon import A_MONTH_EN, A_MONTH_RU
from openclaw_neuralstream.patterns import lazy

_CONTRAST = 12  # words of a correction without its subject
_BARE = 5  # words of one that gives nothing but the new value
_LONGER = 2  # words that a right value may have more than the wrong one ("Friday at 4, not Thursday")
_PREPOSITION = lazy(r"^(?:(?:on|at|in|by|for|to|from)\s+|(?:на|в|во|до|с|со|по|к)\s+)", re.IGNORECASE)
_SUBJECT = lazy(
    r"^(?:the|an?|it|its|he|she|we|i|they|you|my|our|his|her|their|your|this|that|these|those|there|он|она|оно|они|мы|я|мой|моя|мо[её]|мои|наш\w?)\b",
    re.IGNORECASE,
)
_VERB = lazy(r"\w\s+(?:is|are|was|were|has|have|had|will|would|lives?|works?|starts?|costs?)\b", re.IGNORECASE)
_COUNTED = lazy(r"[\d一二两三四五六七八九十百千万]|周|星期|礼拜")
_LEAN = lazy(
    r"^(?:it's|it is|its|that's|that is|they're|make it|make that|should be|is|are|at|on|in|это|в|во|на|до|к|с|со|по|у|будет|是|应该是|叫|在|改成|换成)?\s*",
    re.IGNORECASE,
)
_END = lazy(r"[\s.!。！]+$")
_PART = lazy(r"\s*[,;，；]\s*|\s+[—–]\s+")
_DAYS_EN = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_DAYS_RU = r"(?:понедельник|вторник|сред|четверг|пятниц|суббот|воскресень)[а-яё]*"
_MONTHS = rf"(?:{A_MONTH_EN})[a-z]*|(?:{A_MONTH_RU})[а-яё]*"
_SHAPES: tuple[re.Pattern[str], ...] = tuple(
    lazy(shape, re.IGNORECASE)
    for shape in (
        r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
        r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])",
        r"(?:\d{1,2}|[一二两三四五六七八九十]{1,3})月(?:\d{1,2}|[一二三四五六七八九十]{1,3})[日号]",
        rf"(?:(?:{_MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTHS}))(?!\w)",
        rf"(?<!\w)(?:{_DAYS_EN}|{_DAYS_RU})(?!\w)|(?:周|星期|礼拜)[一二三四五六日天末]",
        r"(?<![\d.:])\d{1,2}:\d\d(?: ?[ap]m)?(?![\d:])|(?<![\d.:])\d{1,2} ?[ap]m(?!\w)|(?:\d{1,2}|[一二两三四五六七八九十]{1,3})点(?:半|一刻|\d{1,2}分?)?",
        r"(?<![\w.:/-])[€$£¥]?\d+(?:[.,]\d+)*(?:[A-Za-zА-Яа-я]{1,2}(?!\w))?(?![\w:/-])|\d+(?:\.\d+)*(?=[\u3400-\u9fff])|(?<=[\u3400-\u9fff])\d+(?:\.\d+)*",
    )
)
"""Values by their shape, the more particular first: what stands where one of them stood."""
_NAME = lazy(r"(?<=[^.!?。\s] )[A-ZА-ЯЁ][\w'-]+(?: [A-ZА-ЯЁ][\w'-]+)*")


def corrected(sentence: Sentence, before: Sequence[str]) -> tuple[str, int] | None:
    """The statement with the new value in it, and which one of those before (newest first) it is; None when it is none.

    A value that is named as wrong must stand in the statement; a new one alone takes the place of the only one of its shape.
    """
    if not before or size(sentence.text) > _CONTRAST:
        return None
    for old, new in _contrasts(sentence):
        for number, statement in enumerate(before):
            if (text := _put(statement, old, new)) is not None:
                return text, number
    if sentence.corrected and size(sentence.text) <= _BARE and (text := _bare(_END.sub("", sentence.text), before[0])):
        return text, 0
    return None


def _contrasts(sentence: Sentence) -> Iterator[tuple[str, str]]:
    """What is wrong and what is right, as "Friday, not Thursday" says; words of regret before it left out."""
    plain = normal(sentence.text)
    starts = [0, *(match.end() for match in _PART.finditer(plain))]
    for start in starts:
        match = sentence.cues.contrast.search(plain[start:])
        if match and (start == 0 or sentence.corrected or size(plain[:start]) <= 4):
            yield _group(match, "old"), _group(match, "new")


def _group(match: re.Match[str], name: str) -> str:
    return next((value for key, value in match.groupdict().items() if key.startswith(name) and value), "").strip()


def _put(statement: str, old: str, new: str) -> str | None:
    """The new value where the old one stands; None where it does not stand there, or nothing would change."""
    if not _is_value(new, old, statement):
        return None
    bare = _PREPOSITION.sub("", new)
    for was, now in ((old, new if _PREPOSITION.match(old) else bare), (_PREPOSITION.sub("", old), bare)):
        place = _place(statement, was)
        if place is not None and now:  # "it's on Wednesday, not Tuesday"
            text = statement[: place[0]] + now + _rest(statement[place[1] :], now)
            return text if text != statement else None
    return None


def _is_value(new: str, old: str, statement: str) -> bool:
    """Whether the right one is of the wrong one's kind, and no statement with a subject of its own ("the rent is 900")."""
    right, wrong = _PREPOSITION.sub("", new), _PREPOSITION.sub("", old)
    if is_chinese(right) and bool(_COUNTED.search(right)) != bool(_COUNTED.search(wrong)):
        return False
    if _VERB.search(right) or (_SUBJECT.match(right) and not _SUBJECT.match(wrong)):
        return False
    shape = next((shape for shape in _SHAPES if shape.match(wrong)), None)
    if shape is not None and not is_chinese(right) and shape.search(right) and not shape.match(right):
        return False
    known = set(statement.casefold().split())
    more = [word for word in right.split() if word.casefold() not in known]
    return is_chinese(right) or len(more) <= size(wrong) + _LONGER


def _place(statement: str, value: str) -> tuple[int, int] | None:
    if not value:
        return None
    found = re.search(
        rf"(?<!\w){re.escape(value)}(?!\w)" if not is_chinese(value) else re.escape(value), statement, re.IGNORECASE
    )
    return found.span() if found else None


def _rest(rest: str, new: str) -> str:
    """What followed the old value, without what the new one brings itself: "at 3" of "Friday at 3"."""
    for words_ in range(4, 0, -1):
        head = re.match(rf"\s+\S+(?: \S+){{{words_ - 1}}}", rest)
        if head and new.endswith(_END.sub("", head[0])):
            return rest[head.end() :]
    return rest


def _bare(value: str, statement: str) -> str | None:
    """The statement with its only value of this shape exchanged; None where it has none, or several."""
    told = _LEAN.sub("", value, count=1)
    if cues_of(told).contrast.search(told):
        return None
    for shape in _SHAPES:
        new, old = shape.findall(told), list(shape.finditer(statement))
        if not new:
            continue
        if len(new) != 1 or len(old) != 1 or old[0][0].casefold() == new[0].casefold():
            return None
        now = shape.search(told)
        if now is None or size(told[: now.start()]) > 1:
            return None
        return statement[: old[0].start()] + now[0] + _tail(statement[old[0].end() :], told[now.end() :])
    return _name(told, statement)


def _tail(rest: str, more: str) -> str:
    """A unit that the correction names ("60 minutes") instead of the one that stood there."""
    return (
        rest
        if not more.strip() or more.strip().casefold() in rest.casefold()
        else re.sub(r"^\s*[^\W\d]+", more, rest, count=1)
    )


def _name(told: str, statement: str) -> str | None:
    new = re.fullmatch(r"[A-ZА-ЯЁ][\w'-]+(?: [A-ZА-ЯЁ][\w'-]+)*", told)
    old = list(_NAME.finditer(statement))
    return statement[: old[0].start()] + told + statement[old[0].end() :] if new and len(old) == 1 else None
