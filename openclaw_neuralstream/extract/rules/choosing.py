"""A choice among what the agent offered, put into the option's own words: "I'll take the second one". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from openclaw_neuralstream.extract.rules.cues import INJECTION
from openclaw_neuralstream.extract.rules.entities import entities_of
from openclaw_neuralstream.extract.rules.judge import cues_of, is_question
from openclaw_neuralstream.extract.rules.words import is_russian, normal, size
from openclaw_neuralstream.lexicon import sentences
from openclaw_neuralstream.patterns import lazy

_MOST = 12  # options of a list; a longer one is no offer
_LONGEST = 160  # characters of an option
_HEADING = 14  # words of a line that says what is offered
_PART = 8  # words of an option that stands in a row with others
_READ = 8_000  # characters of a message, from its end

_NUMBERED = lazy(
    r"^\s{0,3}(?:\*\*|__)?\(?(?:(?:option|variant|plan|вариант|план|方案|选项)\s*)?(?P<mark>\d{1,2}|[A-HА-Ж]|[一二三四五六七八九])(?:\*\*|__)?\s?[.):：、—–-](?:\*\*|__)?(?:\s+|(?=[^\d\s]))(?P<body>\S.*)$",
    re.IGNORECASE,
)
_BULLET = lazy(r"^\s{0,3}[-*•–—]\s+(?P<body>\S.*)$")
_INLINE = lazy(r"(?:(?<=\s)|^)\(?(?P<mark>[1-9]|[A-HА-Ж])\)\s+")
_ROW = lazy(r"^(?P<heading>[^:：]{3,120})[:：]\s*(?P<row>[^:：]{5,400})$")
_BETWEEN = lazy(r"\s*[,;、，；]\s*(?:or |или |还是|或者?)?|\s+(?:or|или)\s+|还是|或者?", re.IGNORECASE)
_OR = lazy(r"\b(?:or|или)\b|还是|或", re.IGNORECASE)
_HAN = lazy(r"[\u3400-\u9fff]")
_MARKUP = lazy(r"\*\*|__")
_STOPS = " .;,。；，、?？!！"

_ORDINALS = {
    **{word: n for n, word in enumerate(["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"], 1)},
    **{word: n for n, word in enumerate(["1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th"], 1)},
    **{word: n for n, word in enumerate(["перв", "втор", "трет", "четверт", "пят", "шест", "седьм", "восьм", "девят"], 1)},
    **{word: n for n, word in enumerate("一二三四五六七八九", 1)},
    **{word: n for n, word in enumerate("abcdefgh", 1)},
    **{word: n for n, word in enumerate("абвгдежз", 1)},
    **{str(n): n for n in range(1, _MOST + 1)},
    "last": -1, "former": 1, "latter": -1, "последн": -1, "最后": -1,
}  # fmt: skip
_RUSSIAN_ENDING = lazy(r"(?:ый|ий|ой|ая|ья|ое|ье|ую|ью|ого|его|ьего|ом|ем|ьем|ей|ьей)$")

_EN = lazy(
    r"(?:(?:ok(?:ay)?|so|then|well|yes|hmm+|right|alright)[, ]+)*"
    r"(?P<verb>(?:(?:i|we)(?:'ll| will|'d| would|'m| am|'re| are|'ve| have)?(?: going to| like to| rather)? |let's |lets |let us |please )?"
    r"(?:take|took|taking|choose|chose|chosen|choosing|pick|picked|picking|go (?:with|for)|going (?:with|for)|went (?:with|for)|opt(?:ed)? for|settled? (?:on|for)|decided? (?:on|for)|book|booked|buy|bought|order|ordered|use|have|want|prefer) )?"
    r"(?:(?P<named>(?:option|number|no\.?|variant|plan) ?|#)(?P<mark>\d{1,2}|[a-h])|"
    r"(?P<the>the )?(?P<nth>first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|[1-9](?:st|nd|rd|th)|last|former|latter)(?P<noun> (?:one|option|choice|variant|plan|proposal|offer))?)"
    r"(?P<end>(?:,? (?:please|then|thanks|thank you|it is))*(?=\s*(?:$|[.!,;—–-]| because | since )))",
    re.IGNORECASE,
)
_RU = lazy(
    r"(?:(?:ок|ладно|хорошо|тогда|ну|да|а|пожалуй|наверное?)[, ]+)*(?:(?:я|мы) )?(?:(?:пожалуй|наверное?|тогда),? )?"
    r"(?P<verb>(?:беру|возьму|бер[её]м|возьм[её]м|взял[аи]?|выбираю|выбираем|выберу|выберем|выбрал[аи]?|(?:остановлюсь|остановимся|останавливаюсь|остановил(?:ся|ась|ись)) на|хочу|хотим|предпочитаю|куплю|купим|закажу|закажем|"
    r"забронирую|бронирую|решил[аи]? (?:взять|выбрать)|лучше|пусть будет|давай(?:те)?(?: возьм[её]м| выберем)?) )?"
    r"(?:(?P<named>(?:вариант|номер|опци[юя]|пункт|план|№) ?)(?P<mark>\d{1,2}|[a-hа-ж])|"
    r"(?P<nth>(?:перв|втор|трет|четв[её]рт|пят|шест|седьм|восьм|девят|последн)(?:ый|ий|ой|ая|ья|ое|ье|ую|ью|ого|ьего|его|ом|ем|ьем|ей|ьей))(?P<noun> (?:вариант|опци|пункт|номер|предложени|план)[а-яё]*)?)"
    r"(?P<end>(?:,? (?:пожалуйста|тогда|спасибо))*(?=\s*(?:$|[.!,;—–-]| потому| так как)))",
    re.IGNORECASE,
)
_ZH = lazy(
    r"(?:(?:好的?|嗯+|行|可以|ok)[,，\s]*)*(?:那就?|就|还是)*(?:我们?|咱们?)?(?:还是|就|决定|想|打算)*"
    r"(?P<verb>选择?|选定了?|要|用|挑|买|订|定|采用|拿|来)?(?P<named>方案|选项)?"
    r"(?:(?<=[案项])(?P<mark>[一二三四五六七八九1-9a-h])|第(?P<nth>[一二三四五六七八九1-9])(?P<noun>个|种|款|条|项|套|家|间|张|班|趟|辆|份|本|台)?(?:方案|选项)?|(?P<last>最后)一?(?:个|种|款|项|家)|(?P<letter>[a-h])(?![a-z0-9]))"
    r"(?P<end>(?:吧|了|好了|就好|就行|就可以)*(?=\s*(?:$|[。.!！,，;；])))",
    re.IGNORECASE,
)
_BARE = lazy(r"[(（]?(?P<mark>[1-9]|[a-hа-ж])[)）.]?", re.IGNORECASE)
_FOR_ME = lazy(
    r"\b(?:shall|should|can|may) i\b|\bwant me to\b|\blet me know\b|\bмне (?=\w+ть\b)|需要我|要我", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Offer:
    """What the agent offered. heading: the line that says what it is about; may be empty."""

    heading: str
    options: tuple[str, ...]


def offered(text: str) -> Offer | None:
    """The one list of options in a message of the agent; None where there is none, or several."""
    lines = [line for line in text[-_READ:].splitlines() if line.strip()]
    for found in (_listed(lines, _NUMBERED), _listed(lines, _BULLET), _inline(lines), _row(lines)):
        if found:
            heading, options = found
            clean = tuple(map(_clean, options))
            whole = all(option and not INJECTION.search(option) for option in clean)
            return Offer(_heading(heading), clean) if whole and len(clean) <= _MOST else None
    return None


def chosen(sentence: str, offer: Offer, *, alone: bool, corrected: bool) -> str | None:
    """The sentence with the option's words in it; None when it chooses none of them.

    alone: it is the whole message, so that "B" is an answer. corrected: it corrects an earlier choice.
    """
    plain = normal(sentence)
    if is_question(plain, cues_of(plain)) or INJECTION.search(plain):
        return None
    if alone and (bare := _BARE.fullmatch(plain)):
        option = _nth(bare["mark"].lower(), offer.options)
        return f"{plain.rstrip('.)）')}: {option}" if option and _concrete(option) else None
    match = (_ZH if _HAN.search(plain) else _RU if is_russian(plain) else _EN).match(plain)
    if match is None or not _chooses(match, plain):
        return None
    option = _nth(_mark(match), offer.options)
    if not option or not (_concrete(option) or (_firm(option, offer) and (match["verb"] or corrected))):
        return None
    rest = plain[match.end() :]
    return f"{plain[: match.end()].rstrip()}: {option}{rest if rest.strip(_STOPS) else ''}"


def _chooses(match: re.Match[str], plain: str) -> bool:
    """Whether it takes something: with a verb, or nothing but the option is named ("the second one, please")."""
    if match["verb"]:
        return True
    groups = match.groupdict()
    named = groups.get("named") or groups.get("noun") or groups.get("the") or groups.get("last") or is_russian(plain)
    return bool(named) and not plain[match.end() :].strip(_STOPS)


def _mark(match: re.Match[str]) -> str:
    groups = match.groupdict()
    word = (
        str(next(filter(None, (groups.get(name) for name in ("mark", "nth", "last", "letter")))))
        .lower()
        .replace("ё", "е")
    )
    return word if word in _ORDINALS else _RUSSIAN_ENDING.sub("", word)


def _nth(mark: str, options: Sequence[str]) -> str:
    place = _ORDINALS.get(mark, 0)
    if place < 0:
        return options[-1]
    return options[place - 1] if 0 < place <= len(options) else ""


def _concrete(option: str) -> bool:
    """Whether it names something that will still mean something later."""
    return bool(entities_of(option)) or any(map(str.isdigit, option))


def _firm(option: str, offer: Offer) -> bool:
    """Whether it is a thing to be had, not work that the agent offers to do at once."""
    return not cues_of(option).request.search(normal(option)) and not _FOR_ME.search(offer.heading)


def _listed(lines: Sequence[str], pattern: re.Pattern[str]) -> tuple[str, list[str]] | None:
    """Heading and bodies of the only list of this form; numbers and letters must run from the first one on."""
    found = [(n, match) for n, line in enumerate(lines) if (match := pattern.match(line))]
    if len(found) < 2:
        return None
    marks = [match.groupdict().get("mark") for _, match in found]
    if marks[0] is not None and [_ORDINALS.get(str(mark).lower()) for mark in marks] != list(range(1, len(marks) + 1)):
        return None
    first = found[0][0]
    if marks[0] is None and found[-1][0] - first != len(found) - 1:
        return None  # bullets under several headings
    return (lines[first - 1] if first else ""), [match["body"] for _, match in found]


def _inline(lines: Sequence[str]) -> tuple[str, list[str]] | None:
    for line in reversed(lines):
        found = list(_INLINE.finditer(line))
        if len(found) >= 2 and [_ORDINALS[match["mark"].lower()] for match in found] == list(range(1, len(found) + 1)):
            ends = [*(match.start() for match in found[1:]), len(line)]
            return line[: found[0].start()], [line[match.end() : end] for match, end in zip(found, ends, strict=True)]
    return None


def _row(lines: Sequence[str]) -> tuple[str, list[str]] | None:
    """Options in a row behind a colon: "Two ways: by train, by bus or on foot?"."""
    for line in reversed(lines):
        match = _ROW.match(line.strip())
        if match and _OR.search(match["row"]):
            parts = [part for part in _BETWEEN.split(_first_sentence(match["row"])) if part.strip(_STOPS)]
            if 2 <= len(parts) <= _MOST and all(size(part) <= _PART for part in parts):
                return match["heading"], parts
    return None


def _first_sentence(row: str) -> str:
    return re.split(r"(?<=[.!?。！？])\s+|(?<=[。！？])", row, maxsplit=1)[0]


def _clean(option: str) -> str:
    flat = " ".join(_MARKUP.sub("", option).split()).strip(_STOPS)
    if len(flat) <= _LONGEST:
        return flat
    return flat[:_LONGEST].rsplit(" ", 1)[0].strip(_STOPS) + "…"


def _heading(line: str) -> str:
    flat = " ".join(_MARKUP.sub("", line).lstrip("#> ").split()).strip(" :：")
    last = next(iter(reversed(sentences(flat))), "")
    return last if 2 <= size(last) <= _HEADING and not INJECTION.search(last) else ""
