"""Whether a sentence is worth remembering, as what, and how much: pure judgement over the cues of its language.

Importance = base(kind) + 0.15 asked to remember + 0.10 correction + 0.05 strong word + 0.04 per name or number (at most
0.12) − 0.15 hedged − 0.08 passing state, between 0 and 1; × 0.8 for a third party, at most 0.45 for the agent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from openclaw_neuralstream.extract.rules.chinese import CHINESE
from openclaw_neuralstream.extract.rules.cues import INJECTION, Cues
from openclaw_neuralstream.extract.rules.dates import names_day
from openclaw_neuralstream.extract.rules.english import ENGLISH
from openclaw_neuralstream.extract.rules.entities import entities_of, specifics
from openclaw_neuralstream.extract.rules.russian import RUSSIAN
from openclaw_neuralstream.model import Kind

BASE = {
    Kind.INSTRUCTION: 0.70,
    Kind.DECISION: 0.65,
    Kind.PREFERENCE: 0.60,
    Kind.FACT: 0.55,
    Kind.TODO: 0.50,
    Kind.EVENT: 0.48,
    Kind.CODE: 0.45,
}
OTHERS_FACT = 0.42
VAGUE_TODO = 0.28
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_CYRILLIC = re.compile(r"[А-Яа-яЁё]")
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_CODE_LIKE = re.compile(
    r"`[^`]+`|\b(?:npm|pip|git|docker|cargo|kubectl|ssh|curl|uv|pytest|apt|brew) (?!is\b|was\b|for\b|and\b|to\b|or\b|in\b)[a-z-]+|--[a-z][\w-]+|\w+\(\)"
)
_MARKER = re.compile(r"\[redacted:[\w-]+\]")
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
    if len(_CJK.findall(text[:2_000])) >= 2:
        return CHINESE
    return RUSSIAN if len(_CYRILLIC.findall(text[:2_000])) >= 3 else ENGLISH


def normal(sentence: str) -> str:
    """What cues are tried on: straight apostrophes, single spaces."""
    return " ".join(sentence.replace("’", "'").split())


def size(sentence: str) -> int:
    """Its length in words; a Chinese one has 1.7 characters on average."""
    cjk = len(_CJK.findall(sentence))
    return len(_WORD.findall(_CJK.sub(" ", sentence))) + round(cjk / 1.7)


def stands_aside(sentence: str, cues: Cues) -> bool:
    """Whether it is no statement at all: a question, chatter, a request, a thought experiment, a reaction."""
    plain = normal(sentence)
    patterns = (cues.question, cues.chatter, cues.request, cues.hypothetical, cues.sarcasm, cues.address)
    return any(pattern.search(plain) for pattern in patterns)


def is_question(sentence: str, cues: Cues) -> bool:
    """Whether it asks."""
    return bool(cues.question.search(normal(sentence)))


def is_chatter(sentence: str, cues: Cues) -> bool:
    """Greetings, thanks, acknowledgements, praise."""
    return bool(cues.chatter.search(normal(sentence)))


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

    asked: "remember that …" stood before it. short: the message is short; in a long one, which may be a pasted text,
    only what its author says of themselves counts.
    """
    plain = normal(sentence)
    if not _can_stand(plain, cues) or INJECTION.search(plain):
        return NOTHING
    entities = entities_of(sentence)
    concrete = specifics(sentence, entities) + bool(cues.hearsay.search(plain)) + names_day(plain)
    kind, base = _kind(plain, cues, concrete, asked=asked, short=short)
    if kind is None or (third_party and kind is Kind.INSTRUCTION):
        return NOTHING
    hedged, hearsay = bool(cues.hedge.search(plain)), bool(cues.hearsay.search(plain))
    importance = (
        base
        + 0.15 * asked
        + 0.10 * corrected
        + 0.05 * bool(cues.strong.search(plain))
        + 0.04 * min(3, concrete)
        - 0.15 * hedged
        - 0.08 * bool(cues.transient.search(plain))
    ) * (0.8 if third_party else 1.0)
    confidence = (0.9 if asked or corrected else 0.8) - 0.2 * hedged - 0.15 * hearsay - 0.2 * third_party
    return Verdict(kind, round(min(1.0, max(0.0, importance)), 2), round(confidence, 2), entities)


def judge_result(sentence: str, cues: Cues) -> Verdict:
    """The verdict on a sentence of the agent: only a concrete result of work counts."""
    plain = normal(sentence)
    if not _can_stand(plain, cues) or is_question(sentence, cues) or INJECTION.search(plain):
        return NOTHING
    entities = entities_of(sentence)
    if not cues.result.search(plain) or not entities:
        return NOTHING
    kind = Kind.CODE if _CODE_LIKE.search(sentence) else Kind.EVENT
    return Verdict(kind, min(0.45, round(0.33 + 0.04 * min(3, len(entities)), 2)), 0.6, entities)


def _can_stand(plain: str, cues: Cues) -> bool:
    if len(plain) > _LONGEST or size(plain) < _SHORTEST:
        return False
    if "[redacted:" in plain and not _says_more(_MARKER.sub(" ", plain)):
        return False
    return not cues.sarcasm.search(plain)


def _says_more(rest: str) -> bool:
    """Whether a sentence with a redacted secret is worth anything without it."""
    return size(rest) >= 2 * _SHORTEST and specifics(rest, entities_of(rest)) >= 2


def _kind(plain: str, cues: Cues, concrete: int, *, asked: bool, short: bool) -> tuple[Kind | None, float]:
    """The first that fits, from the strongest cue to the weakest."""
    if is_question(plain, cues) or is_chatter(plain, cues):
        return None, 0.0
    instructs = bool(cues.instruction.search(plain)) and not cues.habit.search(plain)
    if instructs:
        return _scored(Kind.INSTRUCTION)
    if cues.hypothetical.search(plain):
        return None, 0.0
    if cues.reminder.search(plain):
        return _scored(Kind.TODO)
    if cues.request.search(plain) and not cues.decision.search(plain):
        return None, 0.0
    if cues.decision.search(plain):
        return _scored(Kind.DECISION)
    own = bool(cues.own.search(plain))
    if not own and not short:
        return None, 0.0
    if cues.address.search(plain) and not asked:
        return None, 0.0
    if cues.empty_fact.search(plain) and not asked and not cues.preference.search(plain):
        return None, 0.0
    if cues.preference.search(plain) and (own or concrete):
        return _scored(Kind.PREFERENCE)
    if _CODE_LIKE.search(plain) and cues.states.search(plain):
        return _scored(Kind.CODE)
    if cues.todo.search(plain) and (own or concrete):
        return _scored(Kind.TODO) if concrete or asked or cues.firm.search(plain) else (Kind.TODO, VAGUE_TODO)
    if cues.event.search(plain) and (own or concrete):
        return _scored(Kind.EVENT)
    if asked or (own and (concrete or not cues.pronoun.search(plain))):
        return _scored(Kind.FACT)
    if concrete and (cues.states.search(plain) or size(plain) >= 4):
        return Kind.FACT, OTHERS_FACT
    return None, 0.0


def _scored(kind: Kind) -> tuple[Kind, float]:
    return kind, BASE[kind]
