"""How much a sentence is worth. Pure.

Importance = base(kind) + 0.15 asked to remember + 0.10 correction + 0.05 strong word + 0.04 per name, number or day (at
most 0.12) − 0.15 hedged − 0.08 passing state, between 0 and 1; × 0.8 for a third party, at most 0.45 for the agent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from openclaw_neuralstream.extract.rules.chinese import CHINESE
from openclaw_neuralstream.extract.rules.cues import INJECTION, Cues
from openclaw_neuralstream.extract.rules.dates import names_day, recurs
from openclaw_neuralstream.extract.rules.english import ENGLISH
from openclaw_neuralstream.extract.rules.entities import entities_of, specifics
from openclaw_neuralstream.extract.rules.kinds import CODE_LIKE, Seen, kind_of
from openclaw_neuralstream.extract.rules.russian import RUSSIAN
from openclaw_neuralstream.extract.rules.substance import says_nothing, spoken_to
from openclaw_neuralstream.extract.rules.words import is_chinese, is_russian, normal, size
from openclaw_neuralstream.model import Kind
from openclaw_neuralstream.patterns import lazy

BASE = {
    Kind.INSTRUCTION: 0.70,
    Kind.DECISION: 0.65,
    Kind.PREFERENCE: 0.60,
    Kind.FACT: 0.55,
    Kind.TODO: 0.50,
    Kind.EVENT: 0.48,
    Kind.CODE: 0.45,
}
_OTHERS_FACT = 0.42  # not about the speaker
_VAGUE_TODO = 0.28  # "I'll think about it": nothing in particular, nothing firm
_RESULT = 0.33
_AGENT_CAP = 0.45

_MARKER = lazy(r"\[redacted:[\w-]+\]")
_ADDRESS = lazy(r"(?:https?|ftp)://\S+", re.IGNORECASE)
_LETTERS = lazy(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]{2,}|\bI'm\b")
_QUOTES = ('"', "“", "«", "> ")
_LONGEST = 400  # characters
_SHORTEST = 3  # words


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a sentence is worth. kind None = not worth remembering."""

    kind: Kind | None
    importance: float = 0.0
    confidence: float = 0.8
    entities: tuple[str, ...] = ()


NOTHING = Verdict(None)


def cues_of(text: str) -> Cues:
    """The cues of its language; English for what is neither Chinese nor Russian."""
    if is_chinese(text):
        return CHINESE
    return RUSSIAN if is_russian(text) else ENGLISH


def stands_aside(sentence: str, cues: Cues) -> bool:
    """Whether it is no statement at all: a question, chatter, a request, a thought experiment, sarcasm, an address."""
    seen = Seen(normal(sentence), cues, 0)
    return seen.has("question", "chatter", "request", "hypothetical", "sarcasm", "address")


def is_question(sentence: str, cues: Cues) -> bool:
    """Whether it asks."""
    return bool(cues.question.search(normal(sentence)))


def judge(
    sentence: str,
    cues: Cues,
    *,
    asked: bool = False,
    corrected: bool = False,
    third_party: bool = False,
    short: bool = True,
) -> Verdict:
    """The verdict on a sentence of a person.

    asked: "remember that …" stood before it. corrected: it corrects what was said. short: the message is short.
    """
    plain = normal(sentence)
    if not _can_stand(plain, cues):
        return NOTHING
    entities = entities_of(spoken_to(sentence))
    hearsay = bool(cues.hearsay.search(plain))
    concrete = specifics(sentence, entities)
    wanted = asked or (corrected and concrete > 0)
    seen = Seen(plain, cues, concrete + hearsay + (names_day(plain) or recurs(plain)), wanted, short)
    kind = kind_of(seen)
    if kind is None or (third_party and kind is Kind.INSTRUCTION):
        return NOTHING
    if not (asked or corrected or kind is Kind.INSTRUCTION) and says_nothing(sentence):
        return NOTHING
    alone = kind is Kind.PREFERENCE or (seen.own and any(map(str.isdigit, plain)))
    if size(plain) < _SHORTEST and not alone:  # "I'm vegan" and "I'm 34" stand by themselves, "I see" does not
        return NOTHING
    hedged = seen.has("hedge")
    importance = _base(kind, seen) + 0.15 * asked + 0.10 * corrected + _weight(seen) - 0.15 * hedged
    confidence = (0.9 if asked or corrected else 0.8) - 0.2 * hedged - 0.15 * hearsay - 0.2 * third_party
    return Verdict(kind, _share(importance * (0.8 if third_party else 1.0)), _share(confidence), entities)


def judge_result(sentence: str, cues: Cues) -> Verdict:
    """The verdict on a sentence of the agent: only a concrete result of work counts."""
    plain = normal(sentence)
    entities = entities_of(sentence)
    if not entities or not cues.result.search(plain) or is_question(sentence, cues) or not _can_stand(plain, cues):
        return NOTHING
    kind = Kind.CODE if CODE_LIKE.search(sentence) else Kind.EVENT
    return Verdict(kind, _share(min(_AGENT_CAP, _RESULT + 0.04 * min(3, len(entities)))), 0.6, entities)


def _base(kind: Kind, seen: Seen) -> float:
    if kind is Kind.TODO and not (seen.concrete or seen.asked or seen.has("firm", "reminder")):
        return _VAGUE_TODO
    if kind is Kind.FACT and not (seen.own or seen.asked):
        return _OTHERS_FACT
    return BASE[kind]


def _weight(seen: Seen) -> float:
    return 0.05 * seen.has("strong") + 0.04 * min(3, seen.concrete) - 0.08 * seen.has("transient")


def _share(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 2)


def _can_stand(plain: str, cues: Cues) -> bool:
    if len(plain) > _LONGEST or size(plain) < _SHORTEST - 1 or INJECTION.search(plain) or cues.sarcasm.search(plain):
        return False
    if not _LETTERS.search(_ADDRESS.sub(" ", plain)):  # a row of numbers, a bare address
        return False
    if plain.startswith(_QUOTES):
        return False
    return "[redacted:" not in plain or _says_more(_MARKER.sub(" ", plain))


def _says_more(rest: str) -> bool:
    """Whether a sentence with a redacted secret is worth anything without it."""
    return size(rest) >= 2 * _SHORTEST and specifics(rest, entities_of(rest)) >= 2


def asked_kind(text: str) -> Kind:
    """What a sentence is that somebody asks to be kept: an instruction, a preference, …; a fact where nothing tells."""
    return judge(text, cues_of(text), asked=True).kind or Kind.FACT
