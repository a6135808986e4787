"""Who said what in a batch: each voice by itself, clause by clause, without questions and without orders to the reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from openclaw_neuralstream.extract.rules.cues import INJECTION
from openclaw_neuralstream.extract.rules.judge import cues_of, is_question, stands_aside
from openclaw_neuralstream.extract.rules.reader import read
from openclaw_neuralstream.extract.rules.words import normal
from openclaw_neuralstream.lexicon import HATED, LIKED, content_terms, sentences, signs
from openclaw_neuralstream.model import Turn
from openclaw_neuralstream.patterns import lazy

READ = 100_000  # characters of a turn in which support is looked for
_ISO_DAY = lazy(r"\d{4}-\d{2}(?:-\d{2})?(?:[T ]\d{2}:\d{2})?")
GROUPING = lazy(r"(?<=\d)[., ](?=\d{3}(?!\d))")
_NARRATED = lazy(
    r"\b(?:the )?(?:owner|user|agent|assistant)(?:['’]s)?\b|\b(?:владел\w+|пользовател\w+|агент\w*|ассистент\w*)\b|用户|主人|助手|代理",
    re.IGNORECASE,
)
_CLAUSE = lazy(
    r"[,;:，；：、]\s*|\s+[—–]\s+|\s+(?:and|but|while|because|и|а|но|потому что)\s+|(?=但是?|而且|并且)", re.IGNORECASE
)
_RELAYED = lazy(
    r"\b(?:page|article|site|website|document|file|e-?mail|message|post|readme|author|sender|report)s?\b.{0,30}\b(?:says?|said|states?|claims?|reads?|asks?|wants?|tells?|recommends?|requires?|instructs?)\b"
    r"|\baccording to\b"
    r"|(?:страниц|стать|сайт|документ|файл|письм|сообщени)\w*.{0,30}(?:говорит|сказано|написано|пишет|сообщает|утверждает|требует|просит|указано)|\bсогласно\b"
    r"|(?:网页|页面|文章|网站|文档|文件|邮件|消息).{0,12}(?:说|写|称|要求|指出|显示|提到)|根据|据",
    re.IGNORECASE,
)
_SHORT = 6  # terms of a reply that leans on the question before it


@dataclass(frozen=True, slots=True)
class Clause:
    """What was said between two stops or commas: its terms, and whether it denies, likes or hates."""

    text: str
    terms: frozenset[str]
    denied: bool
    liking: int


@dataclass(frozen=True)
class Heard:
    """The statements of each voice in a turn. rules: those of the owner's that may be an instruction."""

    turn: Turn
    owner: tuple[str, ...]
    rules: tuple[str, ...]
    third: tuple[str, ...]
    agent: tuple[str, ...]
    tools: tuple[str, ...]

    @cached_property
    def said(self) -> frozenset[str]:
        """The terms that people and the agent said."""
        return said_in((*self.owner, *self.third, *self.agent))


def hear(turns: Sequence[Turn]) -> list[Heard]:
    """Each turn by its voices. What people only pasted does not count as said."""
    return [_hear(turn, _asked_before(turns, number)) for number, turn in enumerate(turns)]


def _hear(turn: Turn, asked: str) -> Heard:
    owners = [s for u in turn.utterances if u.speaker == "owner" for s in read(u.text[:READ]).sentences]
    owner = [s.text for s in owners]
    rules = [s.text for s in owners if s.asked or _rules(s.text)]
    if asked and len(content_terms(" ".join(owner))) <= _SHORT and owner:
        owner.append(f"{asked} {' '.join(owner)}")  # an answer says what its question asked
    return Heard(
        turn,
        _harmless(owner),
        _harmless(rules),
        _harmless(s.text for u in turn.utterances if u.speaker == "third-party" for s in read(u.text[:READ]).sentences),
        _harmless(one for one in sentences(turn.text_of("agent", "system")[:READ]) if not _asks(one)),
        _harmless(sentences(turn.text_of("tool")[:READ])),
    )


def _asked_before(turns: Sequence[Turn], number: int) -> str:
    """The question with which the agent ended the turn before, in the same memory."""
    if not number or turns[number - 1].scope != turns[number].scope:
        return ""
    said = sentences(turns[number - 1].text_of("agent")[:READ])
    return said[-1].rstrip("?？ ") if said and _asks(said[-1]) else ""


def _asks(sentence: str) -> bool:
    return sentence.rstrip().endswith(("?", "？")) or is_question(sentence, cues_of(sentence))


def _rules(sentence: str) -> bool:
    """Whether it may be an instruction: it says what holds, and is no request for this once."""
    cues, plain = cues_of(sentence), normal(sentence)
    return bool(cues.instruction.search(plain) or cues.norm.search(plain)) or not stands_aside(sentence, cues)


def _harmless(said: Iterable[str]) -> tuple[str, ...]:
    return tuple(one for one in said if one.strip() and not INJECTION.search(one))


_SPELLED = {
    word: str(number)
    for number, forms in enumerate(
        (
            "two два две двух",
            "three три трёх трех",
            "four четыре четырёх четырех",
            "five пять пяти",
            "six шесть шести",
            "seven семь семи",
            "eight восемь восьми",
            "nine девять девяти",
            "ten десять десяти",
            "eleven одиннадцать одиннадцати",
            "twelve двенадцать двенадцати",
        ),
        2,
    )
    for word in forms.split()
}
_SPELLED_WORD = lazy(rf"\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)
_DIGITS_CHINESE = dict(zip("一二两三四五六七八九", "1223456789", strict=True))
_COUNTED_CHINESE = lazy(r"[一二两三四五六七八九](?=[点号月日岁个块元天年周层楼])(?![点]儿)")


def _numbered(text: str) -> str:
    """Numbers up to twelve in digits: who said "six" said 6."""
    plain = _SPELLED_WORD.sub(lambda match: _SPELLED[match[0].casefold()], text)
    return _COUNTED_CHINESE.sub(lambda match: _DIGITS_CHINESE[match[0]], plain)


def terms_in(text: str) -> frozenset[str]:
    """The terms of a gem's content: without the days that were worked out, who is spoken of, and how it is liked."""
    for pattern in (_ISO_DAY, _NARRATED, HATED, LIKED):
        text = pattern.sub(", ", text)
    return frozenset(content_terms(_numbered(GROUPING.sub("", text))))


def said_in(said: Iterable[str]) -> frozenset[str]:
    """The terms of what was said."""
    return frozenset(content_terms(_numbered(GROUPING.sub("", "\n".join(said)))))


def clauses(said: Iterable[str]) -> list[Clause]:
    """Its clauses; those without a term are left out."""
    found = (part for one in said for part in _CLAUSE.split(one) if part and part.strip())
    return [Clause(part, terms, *signs(part)) for part in found if (terms := terms_in(part))]


def relays(content: frozenset[str], said: Iterable[str]) -> bool:
    """Whether the sentence that holds most of it gives somebody else's words: "the page says …"."""
    best = max(said, key=lambda one: len(content & said_in([one])), default="")
    return bool(_RELAYED.search(best))
