"""A local store to a server and back: copied in steps that can be repeated, counted and sampled before it is used."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from openclaw_neuralstream.errors import StateError
from openclaw_neuralstream.model import Batch, EmbedderIdentity, Trigger
from openclaw_neuralstream.ports import GemIndex, IndexEntry, TurnBuffer
from openclaw_neuralstream.store.truth import Truth

_CHUNK = 500
_SAMPLE = 50
_NEAR = 0.99  # cosine of a vector with what the index gives back for it: quantization may move it a little
_STATE = "move.index"
_LEASE = timedelta(minutes=10)

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the new store holds against what it should. wrong: sampled gems that it does not find by their own vector."""

    expected: int
    found: int
    sampled: int = 0
    wrong: int = 0

    @property
    def well(self) -> bool:
        """Whether it may be used."""
        return self.expected == self.found and not self.wrong


class IndexMove:
    """The gem index, filled anew at another place from the truth, whose vectors are kept. Killed at any point, it goes on.

    name: where to, so that a move begun to another place is not taken for this one.
    """

    def __init__(self, truth: Truth, target: GemIndex, name: str) -> None:
        self._truth = truth
        self._target = target
        self._name = name
        self._identity: EmbedderIdentity = target.identity

    @property
    def total(self) -> int:
        """How many gems have a vector to move."""
        return self._truth.embedded_count(self._identity)

    @property
    def done(self) -> int:
        """How many of them an interrupted move has copied."""
        state = self._state()
        return int(state["done"]) if state else 0

    def copy(self, progress: Progress = lambda _: None) -> None:
        """Copy what is not there yet, then what changed meanwhile. Raises VendorAway; repeated, it goes on."""
        state = self._state()
        if state is None and self._target.position():
            self.follow()  # it served before and was kept: the events since then are enough
            if self._target.count() == self.total:
                progress(self.total)
                return
        if state is None or self._target.count() < int(state["done"]):
            self._target.clear()
            last = self._truth.last_event()
            state = {"to": self._name, "last": last, "done": 0, "seen": last}
        done, seen = int(state["done"]), int(state["seen"])
        while True:
            now = self._truth.last_event()
            done, seen = max(0, done - (now - seen)), now  # what was forgotten meanwhile moved the others up
            ids = self._truth.embedded_ids(self._identity, limit=_CHUNK, offset=done)
            if not ids:
                break
            self._say(ids)
            done += len(ids)
            self._truth.set_meta(_STATE, json.dumps({**state, "done": done, "seen": seen}))
            progress(done)
        self._target.advance(int(state["last"]))
        self._truth.set_meta(_STATE, "")
        self.follow()

    def follow(self) -> None:
        """Apply the events that came since."""
        while events := self._truth.events(self._target.position(), limit=_CHUNK):
            self._say(list(dict.fromkeys(event.gem_id for event in events)))
            self._target.advance(events[-1].seq)

    def check(self) -> Checked:
        """Count, and ask for a sample of gems by their own vectors."""
        ids = list(self._sample())
        gems = self._truth.gems(gem_ids=ids, superseded=True, limit=max(1, len(ids))) if ids else []
        vectors = self._truth.vectors([gem.gem_id for gem in gems], self._identity)
        wrong = 0
        for gem in gems:
            hits = self._target.search(vectors[gem.gem_id], gem.scope, limit=10, superseded=True)
            wrong += not any(hit.cosine >= _NEAR for hit in hits)
        return Checked(self.total, self._target.count(), len(gems), wrong)

    def _sample(self) -> Iterator[str]:
        total = self.total
        for place in range(0, total, max(1, total // _SAMPLE)):
            yield from self._truth.embedded_ids(self._identity, limit=1, offset=place)

    def _say(self, gem_ids: list[str]) -> None:
        """Make the target say of these gems what the truth says now."""
        gems = self._truth.gems(gem_ids=gem_ids, superseded=True, limit=len(gem_ids))
        vectors = self._truth.vectors([gem.gem_id for gem in gems], self._identity)
        self._target.delete([gem_id for gem_id in gem_ids if gem_id not in vectors])
        self._target.upsert([IndexEntry(gem, vectors[gem.gem_id]) for gem in gems if gem.gem_id in vectors])

    def _state(self) -> dict[str, int | str] | None:
        found: dict[str, int | str] = json.loads(self._truth.meta(_STATE) or "{}")
        return found if found.get("to") == self._name else None


class Handing(TurnBuffer, Protocol):
    """A buffer whose turns can go to another one."""

    def hand_over(self, batch: Batch) -> bool:
        """Let the batch's turns go, forgotten here. False when the claim was lost."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Turns that waited, and how many of them were handed over."""

    waiting: int
    turns: int = 0


def waiting(buffer: TurnBuffer, now: datetime) -> int:
    """How many turns a buffer holds, claimed ones included."""
    return sum(backlog.waiting + backlog.claimed for backlog in buffer.stats(now))


def move_turns(source: Handing, target: TurnBuffer, *, now: datetime, progress: Progress = lambda _: None) -> Moved:
    """Every waiting turn of one buffer into another, with its number; only for the one owner of both.

    A turn is in the target before it leaves the source: killed in between it is in both, and known by its id. Raises
    VendorAway, and StateError when turns are left or did not arrive.
    """
    for buffer in (source, target):
        buffer.release_claims()
    before, already, moved, added = waiting(source, now), waiting(target, now), 0, 0
    for backlog in source.stats(now):
        while batch := source.claim(backlog.session, limit=_CHUNK, lease=_LEASE, now=now, trigger=Trigger.MANUAL):
            added += sum(target.append(turn) for turn in batch.turns)
            if not source.hand_over(batch):
                raise StateError(
                    "another process took turns that were being moved", fix="neuralstream admin stop, then again"
                )
            moved += len(batch.turns)
            progress(moved)
    arrived = waiting(target, now) - already
    if waiting(source, now) or arrived != added:
        what = f"{before} turns waited, {moved} were handed over, {arrived} of {added} arrived"
        raise StateError(what, fix="the setting was not changed; run the same command again")
    return Moved(before, moved)
