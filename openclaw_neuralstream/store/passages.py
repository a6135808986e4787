"""Verbatim turns made searchable: one passage per utterance, by words (FTS5) and by vector. A projection of the truth.

It can be deleted and filled again from the turns; it holds no more than they do. One process owns the folder.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import structlog

from openclaw_neuralstream.database import Database
from openclaw_neuralstream.errors import StateDamaged
from openclaw_neuralstream.lexicon import affordable
from openclaw_neuralstream.model import EmbedderIdentity, Scope, Turn
from openclaw_neuralstream.ports import Passage, PassageRow, Vector, Vectors
from openclaw_neuralstream.store import passage_rows
from openclaw_neuralstream.store.flat_vectors import FlatVectors, products
from openclaw_neuralstream.store.passage_rows import View
from openclaw_neuralstream.store.words import POSTINGS

log = structlog.get_logger(__name__)

_FILE, _VECTORS = "passages.sqlite", "passages.f32"
Embed = Callable[[Sequence[str]], Vectors]


class PassageIndex:
    """A folder with `passages.sqlite` and `passages.f32`. What is damaged or of another embedder is thrown away."""

    _database: Database
    _vectors: FlatVectors
    _view: View

    def __init__(self, folder: Path, identity: EmbedderIdentity) -> None:
        """Open or make it. Raises StateError when the folder cannot be used."""
        self.identity = identity
        self._folder = folder
        self._writing = threading.Lock()
        try:
            self._open()
        except StateDamaged as error:
            log.warning("passages.damaged", error=error.what)
            for name in (_FILE, f"{_FILE}-wal", f"{_FILE}-shm", _VECTORS):
                (folder / name).unlink(missing_ok=True)
            self._open()

    def add(self, turns: Sequence[Turn], embed: Embed) -> int:
        """Make these turns searchable; returns how many were new. The same turn twice changes nothing.

        embed: `Embedder.embed_documents`; what it raises goes through, and nothing is added.
        """
        with self._writing:
            known = self.known([turn.turn_id for turn in turns])
            fresh = {turn.turn_id: turn for turn in turns if turn.turn_id not in known}
            passages = [passage for turn in fresh.values() for passage in passage_rows.passages_of(turn)]
            vectors = embed([passage_rows.embedded_text(passage) for passage in passages])
            with self._database.write() as connection:
                rows = [passage_rows.insert(connection, passage) for passage in passages]
                passage_rows.note_turns(connection, fresh)
                self._vectors.grow(max(rows, default=-1) + 1)
                for row, vector in zip(rows, vectors, strict=True):
                    self._vectors.write(row, vector)
                self._vectors.sync()
            with self._database.read() as connection:
                self._view = passage_rows.view(connection, self._view)
        return len(fresh)

    def forget(self, turn_ids: Sequence[str]) -> int:
        """Take these turns out, words and vectors overwritten; returns how many passages they had."""
        with self._writing:
            with self._database.write() as connection:
                rows = passage_rows.forget(connection, turn_ids)
            for row in rows:
                self._vectors.erase(row)
            if rows:
                self._vectors.sync()
                self._database.checkpoint()
                with self._database.read() as connection:
                    self._view = passage_rows.view(connection)
        return len(rows)

    def known(self, turn_ids: Sequence[str]) -> set[str]:
        """Which of these turns are in it."""
        with self._database.read() as connection:
            return passage_rows.known(connection, turn_ids)

    def stored(self, scope: Scope | None = None) -> tuple[int, float]:
        """How many passages there are (of the scope, or of all), and how many terms one has on average (at least 1)."""
        with self._database.read() as connection:
            count, words = passage_rows.totals(connection, scope)
        return count, max(1.0, words / max(count, 1))

    def frequencies(self, terms: Sequence[str], scope: Scope) -> dict[str, int]:
        """How many passages of the scope hold each term."""
        with self._database.read() as connection:
            return passage_rows.frequencies(connection, terms, scope)

    def match(self, frequency: Mapping[str, int], scope: Scope, limit: int) -> list[int]:
        """The places of the best passages by BM25 over these terms, best first; the rarest terms when they are many.

        frequency: the terms with what `frequencies` says of them.
        """
        rare = affordable({term: count for term, count in frequency.items() if count}, POSTINGS)
        if not rare:
            return []
        with self._database.read() as connection:
            return passage_rows.match(connection, rare, scope, limit)

    def nearest(self, vector: Vector, scope: Scope, limit: int) -> list[int]:
        """The places of the nearest passages of the scope, best first."""
        view, matrix = self._view, self._vectors.matrix
        rows, places = view.of(scope)
        if not rows.size or not vector.any():
            return []
        scores = products(matrix[rows], vector)
        best = np.argsort(-scores, kind="stable")[:limit]
        return [int(places[at]) for at in best]

    def cosines(self, vector: Vector, rows: Sequence[PassageRow]) -> list[float]:
        """The cosine of each of these passages."""
        return [float(score) for score in self._vectors.matrix[[row.row for row in rows]] @ vector] if rows else []

    def rows(self, places: Sequence[int], scope: Scope) -> list[PassageRow]:
        """The passages at these places as terms; places that hold none of the scope are left out."""
        with self._database.read() as connection:
            return passage_rows.rows(connection, places, scope)

    def passages(self, ids: Sequence[str], scope: Scope) -> list[Passage]:
        """The passages of these ids, of the scope."""
        with self._database.read() as connection:
            return passage_rows.fetch(connection, ids, scope)

    def clear(self) -> None:
        """Empty it."""
        with self._writing, self._database.write() as connection:
            passage_rows.forget(connection, json.loads(passage_rows.all_turns(connection)))
            self._view = View.empty()

    def close(self) -> None:
        """Release the files."""
        self._database.close()
        self._vectors.close()

    def _open(self) -> None:
        self._database = Database(self._folder / _FILE, _prepare)
        try:
            with self._database.write() as connection:
                passage_rows.prepare(connection, self.identity)
            with self._database.read() as connection:
                self._view = passage_rows.view(connection)
            at_least = self._view.end
            self._vectors = FlatVectors(self._folder / _VECTORS, self.identity.dimensions, at_least=at_least)
        except BaseException:
            self._database.close()
            raise


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = NORMAL")  # what is lost can be read again from the turns
