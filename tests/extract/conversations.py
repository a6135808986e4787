"""Small builders for turns, so that a test shows only what it is about."""

from __future__ import annotations

from datetime import UTC, datetime

from openclaw_neuralstream.model import Batch, Draft, Origin, Scope, Session, Turn, Utterance
from openclaw_neuralstream.ports import Reading

SATURDAY = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
SESSION = Session("main", "agent:main:main", "host-1")
_ORIGINS = {
    "owner": Origin.OWNER,
    "agent": Origin.AGENT,
    "system": Origin.AGENT,
    "tool": Origin.UNTRUSTED,
    "third-party": Origin.UNTRUSTED,
}


def turn(number: int, *said: tuple[str, str], at: datetime = SATURDAY, user: str = "owner") -> Turn:
    """Turn `number` with these (speaker, text) pairs."""
    utterances = tuple(Utterance(speaker, _ORIGINS[speaker], text, at) for speaker, text in said)
    return Turn(f"turn-{number}", Scope("main", user), SESSION, at, utterances, number)


def reading(*turns: Turn, history: tuple[Turn, ...] = ()) -> Reading:
    """A batch of these turns."""
    return Reading(Batch("batch-1", SESSION, turns, "token", SATURDAY), history)


def owner_says(*texts: str) -> Reading:
    """A batch of one turn per text, all the owner's."""
    return reading(*(turn(i, ("owner", text)) for i, text in enumerate(texts, 1)))


def contents(drafts: list[Draft]) -> list[str]:
    """What the drafts say."""
    return [draft.content for draft in drafts]
