"""Whether a sentence is worth remembering, as what, and how much: pure judgement over the cues of its language.

Importance = base(kind) + 0.15 asked to remember + 0.10 correction + 0.05 strong word + 0.04 per name or number (at most
0.12) − 0.15 hedged − 0.08 passing state, between 0 and 1; × 0.8 for a third party, at most 0.45 for the agent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from openclaw_neuralstream.extract.rules.chinese import CHINESE
from openclaw_neuralstream.extract.rules.cues import INJECTION, Cues
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
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_CYRILLIC = re.compile(r"[А-Яа-яЁё]")
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_CODE_LIKE = re.compile(r"`[^`]+`|\b(?:npm|pip|git|docker|make|cargo|kubectl|ssh|curl|uv|pytest|apt|brew) [a-z-]+|--[a-z][\w-]+|\w+\(\)")
_LONGEST = 400


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
    """Its length in words; two Chinese characters count as one."""
    cjk = len(_CJK.findall(sentence))
    return len(_WORD.findall(_CJK.sub(" ", sentence))) + cjk // 2


def is_question(sentence: str, cues: Cues) -> bool:
    """Whether it asks."""
    return bool(cues.question.search(normal(sentence)))


def is_chatter(sentence: str, cues: Cues) -> bool:
    """Greetings, thanks, acknowledgements, praise."""
    return bool(cues.chatter.search(normal(sentence)))


def judge(sentence: str, cues: Cues, *, asked: bool = False, corrected: bool = False, third_party: bool = False) -> Verdict:
    """The verdict on a sentence of a person. asked: "remember that …" stood before it."""
    plain = normal(sentence)
    if not _can_stand(plain, cues) or INJECTION.search(plain):
        return NOTHING
    entities = entities_of(sentence)
    concrete = specifics(sentence, entities)
    kind, base = _kind(plain, cues, concrete, asked=asked)
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
    if len(plain) > _LONGEST or size(plain) < 3 or "[redacted:" in plain and size(re.sub(r"\[redacted:[\w-]+\]", "", plain)) < 4:
        return False
    return not cues.sarcasm.search(plain)


def _kind(plain: str, cues: Cues, concrete: int, *, asked: bool) -> tuple[Kind | None, float]:
    """The first that fits, from the strongest cue to the weakest."""
    if is_question(plain, cues) or is_chatter(plain, cues):
        return None, 0.0
    instructs = bool(cues.instruction.search(plain)) and not cues.habit.search(plain)
    if instructs:
        return _scored(Kind.INSTRUCTION)
    if cues.hypothetical.search(plain):
        return None, 0.0
    if re.search(cues.todo, plain) and _is_reminder(plain, cues):
        return _scored(Kind.TODO)
    if cues.request.search(plain) and not cues.decision.search(plain):
        return None, 0.0
    if cues.decision.search(plain):
        return _scored(Kind.DECISION)
    own = bool(cues.own.search(plain))
    if cues.empty_fact.search(plain) and not asked and not cues.preference.search(plain):
        return None, 0.0
    if cues.preference.search(plain) and (own or concrete):
        return _scored(Kind.PREFERENCE)
    if _CODE_LIKE.search(plain) and cues.states.search(plain):
        return _scored(Kind.CODE)
    if cues.todo.search(plain) and (own or concrete):
        return _scored(Kind.TODO)
    if cues.event.search(plain) and (own or concrete):
        return _scored(Kind.EVENT)
    if own or asked:
        return _scored(Kind.FACT)
    if concrete and cues.states.search(plain):
        return Kind.FACT, OTHERS_FACT
    return None, 0.0


def _is_reminder(plain: str, cues: Cues) -> bool:
    match = cues.todo.search(plain)
    return bool(match and match.start() == 0)


def _scored(kind: Kind) -> tuple[Kind, float]:
    return kind, BASE[kind]
