"""Gems on their way into the memory file: held against what is there, then new, said again, replacing, or dropped."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import EmbedderIdentity, Gem
from openclaw_neuralstream.ports import Judge, Judgement, Neighbour, Vector
from openclaw_neuralstream.store import gems, settling, statements, vectors, words
from openclaw_neuralstream.store.tombstones import is_buried

_NEAR = 24  # gems that share words with a new one and are held against it
_TERMS = 40
_BEFORE = 64  # gems of the same batch that a new one is held against

NEW = Judgement("new", "new")
FORGOTTEN = Judgement("dropped", "it was forgotten once")


@dataclass(frozen=True, slots=True)
class Writer:
    """One batch (or hand) that writes. near: ids of gems near a new one by vector, where an index told.

    written: what it wrote already, in order: an index does not know it yet, and it may share no word with what corrects it.
    """

    connection: sqlite3.Connection
    counts: words.Counts
    batch_id: str
    at: datetime
    embedder: EmbedderIdentity | None = None
    judge: Judge | None = None
    near: Mapping[str, Sequence[str]] = field(default_factory=dict)
    written: dict[str, None] = field(default_factory=dict)

    def write(self, gem: Gem, vector: Vector | None, *, said_at: datetime, place: int) -> Judgement:
        """Judge one gem and do what the judgement says; the result tells what was done."""
        if is_buried(self.connection, gem):
            return FORGOTTEN
        judged = self._judged(gem, vector, said_at)
        if judged.outcome == "dropped":
            statements.drop(self.connection, self.batch_id, place, gem.content, judged.why)
            return judged
        row = gems.row_of(self.connection, judged.same_as) if judged.outcome == "same" else None
        known = row is not None
        if row is None:
            row = gems.insert(self.connection, gem, self.at, batch_id=self.batch_id)
            if vector is not None and self.embedder is not None:
                vectors.put(self.connection, row, vector, self.embedder)
            self.written[gem.gem_id] = None
        statements.add(self.connection, row, gem, batch_id=self.batch_id, said_at=said_at, place=place, why=judged.why)
        self._link(judged.same_as if known else gem.gem_id, gem, judged)
        settling.settle(self.connection, [row], self.at)
        return judged

    def _judged(self, gem: Gem, vector: Vector | None, said_at: datetime) -> Judgement:
        judged = self.judge(gem, said_at, self._neighbours(gem, vector)) if self.judge else NEW
        if judged.outcome == "dropped":
            return judged
        row = statements.row_of(self.connection, gem.gem_id) or gems.row_of(self.connection, gem.gem_id)
        holder = gems.of_row(self.connection, row) if row is not None else None
        if holder is None:
            return judged
        return replace(judged, outcome="same", why="said before, word for word", same_as=holder.gem_id)

    def _link(self, gem_id: str, gem: Gem, judged: Judgement) -> None:
        for other, why in judged.replaces:
            if other != gem_id:
                statements.link(self.connection, other, gem_id, batch_id=self.batch_id, why=why)
        for other, why in judged.replaced_by:
            if other != gem_id:
                statements.link(self.connection, gem_id, other, batch_id=self.batch_id, why=why)
        if gem.supersedes and gem.supersedes != gem_id:
            statements.link(self.connection, gem.supersedes, gem_id, batch_id=self.batch_id, why="kept", fixed=True)
        if gem.superseded_by and gem.superseded_by != gem_id:
            statements.link(self.connection, gem_id, gem.superseded_by, batch_id=self.batch_id, why="kept", fixed=True)

    def _neighbours(self, gem: Gem, vector: Vector | None) -> list[Neighbour]:
        """Gems of the same agent, user and project that share words with it, that an index found near it, or written just before."""
        scope_id = gems.known_scope(self.connection, gem.scope)
        if scope_id is None:
            return []
        terms = list(dict.fromkeys(content_terms(gem.content)))[:_TERMS]
        hits = words.search(self.connection, self.counts, terms, gem.scope, scope_id, limit=_NEAR, superseded=True)
        ids = dict.fromkeys(
            [*(hit.gem_id for hit in hits), *self.near.get(gem.gem_id, ()), *list(self.written)[-_BEFORE:]]
        )
        cosines = self._cosines(list(ids), vector)
        found = []
        for gem_id in ids:
            row, stored = gems.row_of(self.connection, gem_id), gems.get(self.connection, gem_id)
            if row is None or stored is None or stored.scope != gem.scope:
                continue
            times = settling.times_of(self.connection, row)
            if times is not None:
                found.append(Neighbour(stored, *times, cosines.get(gem_id)))
        return found

    def _cosines(self, gem_ids: list[str], vector: Vector | None) -> dict[str, float]:
        if vector is None or self.embedder is None:
            return {}
        known = vectors.get(self.connection, gem_ids, self.embedder)
        return {gem_id: float(np.dot(other, vector)) for gem_id, other in known.items()}
