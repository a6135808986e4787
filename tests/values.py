"""Turns, gems and vectors by the handful, for tests of what keeps them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from openclaw_neuralstream.model import (
    EmbedderIdentity,
    Gem,
    GemSource,
    Origin,
    Scope,
    Session,
    Turn,
    Utterance,
)
from openclaw_neuralstream.ports import IndexEntry, Vector

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
MAIN = Scope("main")
SESSION = Session("main", "agent:main:main", "host-1")
SMALL = EmbedderIdentity("small", 8)


def turn(number: int = 1, text: str = "", *, session: Session = SESSION, **fields: Any) -> Turn:
    """A turn said `number` seconds after nine, not yet numbered."""
    at = NOW + timedelta(seconds=number)
    words = text or f"this is said in turn {number}"
    utterances = (
        Utterance("owner", Origin.OWNER, words, at),
        Utterance("agent", Origin.AGENT, "Noted.", at + timedelta(milliseconds=5)),
    )
    turn_id = fields.pop("turn_id", f"{session.agent}-{session.key}-{number}")
    return Turn(turn_id, Scope(session.agent), session, at, utterances, run_id=f"run-{number}", **fields)


def gem(name: str = "gem-1", content: str = "Redis holds the buffer", **fields: Any) -> Gem:
    """A gem that needs no more than a name and a content."""
    given = {
        "gem_id": name,
        "content": content,
        "summary": content,
        "topics": (),
        "importance": 0.5,
        "source": GemSource("host-1", "2026-11-21", "1-2"),
        "tags": ("fact",),
        "created_at": NOW,
        "scope": MAIN,
    }
    return Gem(**{**given, **fields})


def unit(*numbers: float, dimensions: int = 8) -> Vector:
    """The direction of these numbers, the rest zero."""
    vector = np.zeros(dimensions, np.float32)
    vector[: len(numbers)] = numbers
    return vector / np.linalg.norm(vector)


def entry(name: str, vector: Vector, **fields: Any) -> IndexEntry:
    """What an index is given for a gem."""
    return IndexEntry(gem(name, **fields), vector)
