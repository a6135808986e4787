"""What is kept of turns until they are distilled, and of gems so that they are found: the seams of Redis and Qdrant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from openclaw_neuralstream.model import Backlog, Batch, EmbedderIdentity, Gem, Scope, Session, Trigger, Turn
from openclaw_neuralstream.ports.vectors import Vector


class TurnBuffer(Protocol):
    """Accepted turns until they are extracted. At-least-once outside, once inside: every verb may be repeated.

    All verbs raise `VendorAway` when the store behind it does not answer.
    """

    def append(self, turn: Turn) -> bool:
        """Keep the turn durably. False when a turn of this id was accepted before, extracted or not."""

    def claim(self, session: Session, *, limit: int, lease: timedelta, now: datetime, trigger: Trigger) -> Batch | None:
        """Move the oldest unclaimed turns of the session (one epoch, at most `limit`) into a batch, atomically.

        A claim whose lease has run out at `now` counts as unclaimed. None when nothing waits.
        `session.epoch` and `session.host_id` are ignored: (agent, key) names the queue.
        """

    def commit(self, batch: Batch) -> bool:
        """Remove the batch's turns, after the truth has stored its gems. False when the claim was lost meanwhile."""

    def release(self, batch: Batch) -> bool:
        """Give the turns back, in their old order. False when the claim was lost meanwhile."""

    def release_claims(self) -> int:
        """Give back every claim, whatever its lease; returns how many.

        Only for the one process that owns the memory, before its work begins: whoever held a claim is gone.
        """

    def stats(self, now: datetime) -> list[Backlog]:
        """One entry for each session with waiting or claimed turns, oldest first."""

    def close(self) -> None:
        """Release connections; the turns stay."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A gem and its vector, as an index keeps them."""

    gem: Gem
    vector: Vector


@dataclass(frozen=True, slots=True)
class Hit:
    """A gem id and its cosine similarity to the query, in [-1, 1]."""

    gem_id: str
    cosine: float


class GemIndex(Protocol):
    """A projection of the gems for search by vector. It can be lost and rebuilt; the truth is elsewhere.

    All verbs raise `VendorAway` when the service behind it does not answer.
    """

    identity: EmbedderIdentity

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace by gem id."""

    def delete(self, gem_ids: Sequence[str]) -> None:
        """Remove these, leaving no trace of their vectors or payload; unknown ids are fine."""

    def search(self, vector: Vector, scope: Scope, *, limit: int, superseded: bool = False) -> list[Hit]:
        """The `limit` nearest gems of the scope, best first. Superseded gems only where asked for."""

    def count(self) -> int:
        """How many gems it holds."""

    def position(self) -> int:
        """The number of the last gem event applied; 0 = none (also when the index was lost or damaged)."""

    def advance(self, position: int) -> None:
        """Record durably that all events up to `position` are applied."""

    def clear(self) -> None:
        """Empty it and set the position to 0."""

    def close(self) -> None:
        """Release files and connections."""
