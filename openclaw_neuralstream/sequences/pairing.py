"""A turn as a question and its answer; what neither asks nor answers a person is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.lines import shortened
from openclaw_neuralstream.model import OWNER, Origin, Pair, Turn, Utterance
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

MOST_OTHER, MOST_OTHERS = 1_000, 8
"""Characters of what another person said in the same turn, and how many of such messages are kept beside the question."""

_PEOPLE = ("owner", "third-party")
SIGNIFICANCE, INTEREST, HAND = "significance", "interest", "hand"
KEEP, DROP = "keep", "drop"
"""What a person can say of an answer."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a turn says as a pair, before anything is known of its sequence; the fields as those of `Pair`."""

    turn: Turn
    question: str
    answer: str
    tools: bool
    origin: Origin
    speaker: str
    others: tuple[tuple[str, str], ...]
    answered: Origin


def spoken(turn: Turn) -> Spoken | None:
    """The question and the answer of a turn, secrets out; None when no person said anything in it.

    The question is the owner's where he said anything, else that of who spoke first; what others said stands beside it.
    """
    people = [said for said in turn.utterances if said.speaker in _PEOPLE and said.text.strip()]
    if not people:
        return None
    first = next((said for said in people if said.speaker == "owner"), people[0])
    asked = [said for said in people if _speaker(said) == _speaker(first)]
    heard = [said for said in people if _speaker(said) != _speaker(first)]
    others = [(_speaker(said), shortened(redact(said.text).text, MOST_OTHER)) for said in heard]
    foreign = any(said.origin is Origin.UNTRUSTED for said in turn.utterances)
    return Spoken(
        turn=turn,
        question=shortened(redact("\n".join(said.text for said in asked)).text, MOST_QUESTION),
        answer=shortened(redact(turn.text_of("agent")).text, MOST_ANSWER),
        tools=any(said.speaker == "tool" for said in turn.utterances),
        origin=first.origin,
        speaker=_speaker(first),
        others=tuple(others[:MOST_OTHERS]),
        answered=Origin.UNTRUSTED if foreign else Origin.AGENT,
    )


def _speaker(said: Utterance) -> str:
    return OWNER if said.speaker == "owner" else said.name or said.speaker


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
        others=said.others,
        answered=said.answered,
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
