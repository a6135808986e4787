"""Verbatim turns made searchable: one passage per utterance, by words (FTS5) and by vector. A projection of the truth.

It can be deleted and filled again from the turns; it holds no more than they do. Several processes may have it open.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray

from openclaw_neuralstream.errors import StateDamaged, StateError, VendorAway
from openclaw_neuralstream.model import EmbedderIdentity, Scope
from openclaw_neuralstream.ports import Passage, PassageCounts, Vector, Vectors
from openclaw_neuralstream.store import database, passage_rows
from openclaw_neuralstream.store.database import Database, storable, suspicion_of
from openclaw_neuralstream.store.flat_index import FlatVectors, best, products_of
from openclaw_neuralstream.store.passage_rows import Bare, Kept, View
from openclaw_neuralstream.store.schema import POSTINGS, seconds
from openclaw_neuralstream.text.lexicon import affordable

__all__ = ["Bare", "Kept", "Mark", "PassageIndex"]

log = structlog.get_logger(__name__)

_FILE, _VECTORS = "passages.sqlite", "passages.f32"


@dataclass(frozen=True, slots=True)
class Mark:
    """Where the index stands: the number of the last change applied (None: it was lost), and how many writes there were."""

    position: int | None
    generation: int


class _Files:
    """The two files, opened, and what they hold. Raises StateDamaged when one does not read."""

    view: View

    def __init__(self, folder: Path, identity: EmbedderIdentity) -> None:
        self.identity = identity
        if suspicion_of(folder / _FILE).exists():
            raise StateDamaged("the index of turns did not read back", where=str(folder))
        self.database = Database(folder / _FILE, durable=False)  # what is lost can be read again from the turns
        try:
            with self.database.write() as connection:  # the lock of all writers: none is between its file and its rows
                known = passage_rows.prepare(connection, identity)
                self.view = passage_rows.view(connection)
                self.vectors = self._opened(folder / _VECTORS, connection, anew=not known)
                self.erase([int(row) for row in self.view.unused() if self.vectors.matrix[row].any()])
        except BaseException:
            self.database.close()
            raise

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """See what another process has written since. Raises VendorAway when that embeds with something else."""
        if passage_rows.generation(connection) != self.view.generation:
            if passage_rows.made_by(connection) != str(self.identity):
                raise VendorAway("another process keeps the index of turns with another embedder")
            view = passage_rows.view(connection, self.view)
            self.vectors.grow(view.end)  # before the view that shows those rows
            self.view = view

    def erase(self, rows: Sequence[int]) -> None:
        """Overwrite the vectors of rows that are nobody's any more; they are never given out again."""
        for row in rows:
            if row < self.vectors.capacity:
                self.vectors.erase(row)
        if rows:
            self.vectors.sync()

    def close(self) -> None:
        self.database.close()
        self.vectors.close()

    def _opened(self, path: Path, connection: sqlite3.Connection, *, anew: bool) -> FlatVectors:
        if anew:
            path.unlink(missing_ok=True)
        try:
            vectors = FlatVectors(path, self.identity.dimensions, at_least=0 if anew else self.view.end)
        except StateDamaged as error:  # the words are whole: only the vectors are made anew
            log.warning("passages.vectors_lost", error=error.what)
            path.unlink(missing_ok=True)
            passage_rows.bare(connection)
            self.view = passage_rows.view(connection)
            vectors = FlatVectors(path, self.identity.dimensions)
        vectors.grow(self.view.end)
        return vectors


class PassageIndex:
    """A folder with `passages.sqlite` and `passages.f32`. What is damaged is thrown away; of another embedder, its vectors.

    Searches run in any number of threads beside one writer here and others elsewhere: a search works on a view that is
    never changed, and what it finds is read again by its place. Who writes says what mark it read the truth at, so that
    a slow one never puts back what another has taken out.
    """

    def __init__(self, folder: Path, identity: EmbedderIdentity) -> None:
        """Open or make it. Raises StateError when the folder cannot be used."""
        self.identity = identity
        self._folder = folder
        self._writing = threading.Lock()
        self._damaged = False
        self._frequencies = passage_rows.Frequencies()
        try:
            self._files = _Files(folder, identity)
        except StateDamaged as error:
            log.warning("passages.damaged", error=error.what)
            self._files = self._anew()

    # --- written by who follows the truth ---------------------------------------------------------------------------

    def mark(self) -> Mark:
        """Where it stands. A folder that was lost, damaged or replaced under us is opened or made again first."""
        with self._writing:
            if self._damaged or not self._files.database.whole:
                self._reopen()
            with self._reading() as connection:
                return Mark(passage_rows.position(connection), passage_rows.generation(connection))

    def apply(self, kept: Sequence[Kept], *, mark: Mark, position: int | None = None) -> bool:
        """Make these turns what the truth said at this mark, all or nothing; False when somebody wrote since.

        position: all changes up to this number are applied with it. Vectors come with `embed`.
        """
        with self._writing, self._mended() as files:
            with files.database.write() as connection:
                if (passage_rows.position(connection), passage_rows.generation(connection)) != (
                    mark.position,
                    mark.generation,
                ):
                    return False
                written = passage_rows.write(connection, kept) if kept else passage_rows.Written()
                if position is not None:
                    passage_rows.advance(connection, position)
                files.catch_up(connection)
            files.erase(written.freed)
        return True

    def embed(self, passages: Sequence[Bare], vectors: Vectors) -> int:
        """Give these passages their vectors; those that changed meanwhile are passed over. Returns how many got one."""
        with self._writing, self._mended() as files, files.database.write() as connection:
            files.catch_up(connection)
            got = [
                (one, vector)
                for one, vector in zip(passages, vectors, strict=True)
                if passage_rows.has_vector(connection, one)
            ]
            for one, vector in got:
                files.vectors.write(one.row, vector)
            files.vectors.sync()
        return len(got)

    def wipe(self) -> bool:
        """Overwrite what was taken out, in the word index and the log. False when a reader elsewhere stood in the way."""
        with self._writing, self._mended() as files:
            with files.database.read() as connection:
                if not passage_rows.wipe_due(connection):
                    return True
            files.erase([int(row) for row in files.view.unused() if files.vectors.matrix[row].any()])
            first, more = True, True
            while more:
                with files.database.write() as connection:
                    more, first = passage_rows.merge(connection, first=first), False
            if not files.database.checkpoint():
                return False
            with files.database.write() as connection:
                passage_rows.wiped(connection)
        return True

    def sizes(self) -> dict[str, int]:
        """Every turn that was added, with the bytes that it had in the truth."""
        with self._reading() as connection:
            return passage_rows.sizes(connection)

    def without_vector(self, limit: int) -> list[Bare]:
        """Passages that have none yet."""
        with self._reading() as connection:
            return passage_rows.without_vector(connection, limit)

    def bare_count(self) -> int:
        """How many passages have no vector."""
        with self._reading() as connection:
            return passage_rows.bare_count(connection)

    def clear(self) -> None:
        """Throw all of it away and begin with nothing."""
        with self._writing:
            self._files.close()
            self._files = self._anew()

    def close(self) -> None:
        """Release the files."""
        self._files.close()

    # --- asked by recall --------------------------------------------------------------------------------------------

    def stored(self, scope: Scope | None = None) -> tuple[int, float]:
        """How many passages there are (of the scope, or of all), and how many terms one has on average (at least 1)."""
        with self._reading() as connection:
            count, words = passage_rows.totals(connection, scope)
        return count, max(1.0, words / max(count, 1))

    def frequencies(self, terms: Sequence[str], scope: Scope) -> dict[str, int]:
        """How many passages of the scope hold each term."""
        with self._reading() as connection:
            number = passage_rows.known_scope(connection, scope)
            if number is None:
                return dict.fromkeys(terms, 0)
            passages, _ = passage_rows.totals(connection, scope)
            return self._frequencies.of(connection, number, passages, terms)

    def beginning(self, starts: Sequence[str], scope: Scope) -> list[str]:
        """The terms of the scope's passages that begin so, some thousands at most."""
        with self._reading() as connection:
            number = passage_rows.known_scope(connection, scope)
            tokens = (
                database.beginning(connection, [f"{number}/{start}" for start in starts]) if number is not None else []
            )
            return [token.partition("/")[2] for token in tokens]

    def match(self, frequency: Mapping[str, int], scope: Scope, limit: int) -> list[int]:
        """The places of the best passages by BM25 over these terms, best first; the rarest terms when they are many.

        frequency: the terms with what `frequencies` says of them.
        """
        rare = affordable({term: count for term, count in frequency.items() if count}, POSTINGS)
        if not rare:
            return []
        with self._reading() as connection:
            number = passage_rows.known_scope(connection, scope)
            if number is None:
                return []
            passages, words = passage_rows.totals(connection, scope)
            return passage_rows.match(
                connection,
                {term: frequency[term] for term in rare},
                number,
                storable(scope.project),
                limit=limit,
                passages=passages,
                mean=max(1.0, words / max(passages, 1)),
            )

    def nearest(self, vector: Vector, scope: Scope, limit: int) -> list[int]:
        """The places of the nearest passages of the scope, best first."""
        self._look()
        files = self._files
        view, matrix = files.view, files.vectors.matrix  # in this order: the matrix grows before the view does
        rows, places = view.of(scope)
        if not rows.size or not vector.any():
            return []
        scores = products_of(matrix, rows, vector, view.end)
        found = best(scores, limit)
        return [int(places[at]) for at in found[np.argsort(-scores[found], kind="stable")]]

    def cosines(self, vector: Vector, rows: NDArray[np.int64]) -> Vector:
        """The cosine of the passages with these rows; 0 for what has no vector yet."""
        matrix = self._files.vectors.matrix
        there = rows < len(matrix)
        scores = np.zeros(len(rows), np.float32)
        scores[there] = matrix[rows[there]] @ vector
        return scores

    def counts(self, places: Sequence[int], terms: Sequence[str], scope: Scope, beginning: int) -> PassageCounts:
        """The passages at these places and how often the terms stand in each; a place that holds none of the scope is left out."""
        with self._reading() as connection:
            number = passage_rows.known_scope(connection, scope)
            there = places if number is not None else []
            project = storable(scope.project)
            return passage_rows.counts(connection, there, terms, number or 0, project, beginning=beginning)

    def passages(self, ids: Sequence[str], scope: Scope) -> list[Passage]:
        """The passages of these ids, of the scope."""
        with self._reading() as connection:
            return passage_rows.fetch(connection, ids, scope)

    def said_between(
        self, first: datetime | None, last: datetime | None, scope: Scope, *, parts: int, each: int
    ) -> list[list[tuple[str, int]]]:
        """Id and length of what was said first in each of so many equal parts of a time; `last` is not in it any more."""
        since, until = (None if at is None else seconds(at) for at in (first, last))
        with self._reading() as connection:
            return passage_rows.said_between(connection, since, until, scope, parts=parts, each=each)

    def find(self, prefix: str) -> Passage | None:
        """The passage of this id, or the only one whose id begins so; else None."""
        with self._reading() as connection:
            found = passage_rows.find(connection, prefix) if prefix else []
        return found[0] if len(found) == 1 else None

    # --- the files --------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """See what another process wrote; what a thread of ours is writing is seen when it is done."""
        files = self._files
        with self._reading() as connection:
            if passage_rows.generation(connection) != files.view.generation and self._writing.acquire(blocking=False):
                try:
                    files.catch_up(connection)
                finally:
                    self._writing.release()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._mended() as files, files.database.read() as connection:
            yield connection

    @contextmanager
    def _mended(self) -> Iterator[_Files]:
        """Damage and loss are said as what they are here: away until `mark` has mended it."""
        files = self._files
        try:
            yield files
        except StateDamaged as error:
            self._damaged = True
            raise VendorAway("the index of turns is damaged and is made anew", where=str(self._folder)) from error
        except StateError as error:
            if files.database.whole:
                raise
            raise VendorAway("the index of turns is gone and is made anew", where=str(self._folder)) from error

    def _reopen(self) -> None:
        """Open what lies there now when it is another's; throw it away when it is ours and does not read."""
        with suppress(StateError):
            self._files.close()
        ours = self._files.database.own
        try:
            self._files = self._anew() if self._damaged and ours else _Files(self._folder, self.identity)
        except StateDamaged as error:
            log.warning("passages.damaged", error=error.what)
            self._files = self._anew()
        self._damaged = False

    def _anew(self) -> _Files:
        for name in (_FILE, f"{_FILE}-wal", f"{_FILE}-shm", _VECTORS):
            (self._folder / name).unlink(missing_ok=True)
        suspicion_of(self._folder / _FILE).unlink(missing_ok=True)
        return _Files(self._folder, self.identity)
