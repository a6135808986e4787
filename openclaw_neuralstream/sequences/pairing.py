"""A turn as a question and its answer; what neither asks nor answers a person is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.lines import shortened
from openclaw_neuralstream.model import OWNER, Origin, Pair, Turn
from openclaw_neuralstream.questions import asked_topics, question_hash, words_of
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.sequences.interests import Interest
from openclaw_neuralstream.sequences.significance import (
    ACTION,
    DENSITY,
    EMOTION,
    UNIQUENESS,
    context_density,
    emotional_weight,
    significance,
    uniqueness,
    user_action,
)

MOST_QUESTION, MOST_ANSWER = 4_000, 8_000
"""Characters that are kept of a question and of an answer; the turn itself is kept whole elsewhere."""

SIGNIFICANCE, INTEREST, HAND = "significance", "interest", "hand"
KEEP, DROP = "keep", "drop"
"""What a person can say of an answer."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a turn says as a pair, before anything is known of its sequence. key, epoch: its conversation's."""

    turn: Turn
    question: str
    answer: str
    tools: bool
    origin: Origin
    speaker: str


def spoken(turn: Turn) -> Spoken | None:
    """The question and the answer of a turn, secrets out; None when no person said anything in it."""
    asked = [said for said in turn.utterances if said.speaker in ("owner", "third-party") and said.text.strip()]
    if not asked:
        return None
    question = redact("\n".join(said.text for said in asked)).text
    answer = redact(turn.text_of("agent")).text
    untrusted = all(said.origin is Origin.UNTRUSTED for said in asked)
    return Spoken(
        turn=turn,
        question=shortened(question, MOST_QUESTION),
        answer=shortened(answer, MOST_ANSWER),
        tools=any(said.speaker == "tool" for said in turn.utterances),
        origin=Origin.UNTRUSTED if untrusted else asked[0].origin,
        speaker=(asked[0].name or asked[0].speaker) if asked[0].speaker == "third-party" else OWNER,
    )


def paired(said: Spoken, *, sequence: str, seq: int, others: list[frozenset[str]]) -> Pair:
    """The pair, judged, its answer not yet taken. others: content terms of earlier questions that are like it."""
    own = frozenset(content_terms(said.question))
    factors = {
        UNIQUENESS: uniqueness(own, others),
        ACTION: user_action(said.question, tools=said.tools),
        DENSITY: context_density(said.question, said.answer),
        EMOTION: emotional_weight(said.question, said.answer),
    }
    turn = said.turn
    return Pair(
        turn_id=turn.turn_id,
        scope=turn.scope,
        sequence=sequence,
        seq=seq,
        question=said.question,
        at=turn.at,
        significance=significance(factors),
        factors=tuple((name, round(value, 4)) for name, value in factors.items()),
        tokens=words_of(said.question),
        topics=asked_topics(said.question),
        question_hash=question_hash(said.question),
        origin=said.origin,
        speaker=said.speaker,
    )


def followed(pair: Pair, next_said: str) -> Pair:
    """The pair once the user's next message is known: what was acted on matters more."""
    factors = dict(pair.factors)
    acted = user_action(pair.question, tools=factors.get(ACTION, 0.0) >= 0.6, next_said=next_said)
    if acted <= factors.get(ACTION, 0.0):
        return pair
    factors[ACTION] = acted
    return replace(pair, factors=tuple(factors.items()), significance=significance(factors))


def reason(pair: Pair, *, threshold: float, interests: Sequence[Interest]) -> str:
    """Why its answer is to be kept; "" when it is not."""
    if pair.mark:
        return HAND if pair.mark == KEEP else ""
    if pair.significance > threshold:
        return SIGNIFICANCE
    return INTEREST if any(interest.named_in(pair) for interest in interests) else ""
