"""The embedded gem index: an exact scan over a memory-mapped file of vectors, the scope filtered before ranking."""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray

from openclaw_neuralstream.database import Database
from openclaw_neuralstream.errors import BadRequest, StateDamaged, StateError, VendorAway
from openclaw_neuralstream.model import EmbedderIdentity, Scope
from openclaw_neuralstream.ports import Hit, IndexEntry, Vector
from openclaw_neuralstream.store import flat_rows, notes
from openclaw_neuralstream.store.flat_rows import Row, View
from openclaw_neuralstream.store.flat_vectors import FlatVectors, best, products_of

log = structlog.get_logger(__name__)

_ROWS, _VECTORS = "rows.sqlite", "vectors.f32"


class _Files:
    """The two files of an index, opened, and what they hold. Raises StateDamaged when they do not belong together."""

    view: View

    def __init__(self, folder: Path, identity: EmbedderIdentity) -> None:
        self.database = Database(folder / _ROWS)
        try:
            with self.database.write() as connection:  # the lock of all writers: none is between its file and its rows
                flat_rows.prepare(connection, identity)
                self.view = flat_rows.view(connection)
                self.vectors = FlatVectors(folder / _VECTORS, identity.dimensions, at_least=self.view.end)
                self.erase([row for row in self.view.free if self.vectors.matrix[row].any()])
        except BaseException:
            self.database.close()
            raise

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """See what another process has written since."""
        if flat_rows.generation(connection) != self.view.generation:
            view = flat_rows.view(connection)
            self.vectors.grow(view.end)  # before the view that shows those rows
            self.view = view

    def erase(self, rows: Sequence[int]) -> None:
        """Overwrite the vectors of rows that were freed."""
        for row in rows:
            self.vectors.erase(row)
        if rows:
            self.vectors.sync()

    def close(self) -> None:
        self.database.close()
        self.vectors.close()


class FlatIndex:
    """A folder with `vectors.f32` (row after row of float32) and `rows.sqlite` (which gem each row is).

    Searches run in any number of threads beside one writer: a search works on a view that is never changed, a new
    vector goes to a row that no view shows yet, and the rows found are looked up again at the end, so that one given to
    another gem meanwhile is dropped. Several processes may have the folder open: rows are given out under the write
    lock of `rows.sqlite`, and its generation says when there is something new to see. What does not read back (a torn or damaged file) or was
    made by another embedder is cleared: position 0 asks for a rebuild from the truth.
    """

    def __init__(self, folder: Path, identity: EmbedderIdentity) -> None:
        """Open or make the index. Raises StateError when the folder cannot be used."""
        self.identity = identity
        self._folder = folder
        self._lock = threading.Lock()
        try:
            self._files = _Files(folder, identity)
        except StateDamaged as error:
            log.warning("index.damaged", error=error.what)
            self._files = self._anew()

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace by gem id. Raises BadRequest for a vector of another size or one that is not finite."""
        latest = {entry.gem.gem_id: (entry.gem, self._unit(entry.vector)) for entry in entries}
        if not latest:
            return
        with self._writing() as files:
            with files.database.write() as connection:
                files.catch_up(connection)
                rows = _take_rows(files, len(latest))
                for row, (_, vector) in zip(rows, latest.values(), strict=True):
                    files.vectors.write(row, vector)
                files.vectors.sync()
                freed = flat_rows.forget(connection, list(latest))
                added = [
                    flat_rows.add(connection, row, gem, _checksum(vector))
                    for row, (gem, vector) in zip(rows, latest.values(), strict=True)
                ]
                flat_rows.written(connection)
                names = flat_rows.named(connection)
            files.view = files.view.after(freed, added, names)
            files.erase(freed)

    def delete(self, gem_ids: Sequence[str]) -> None:
        """Remove these, their vectors overwritten; unknown ids are fine."""
        if not gem_ids:
            return
        with self._writing() as files:
            with files.database.write() as connection:
                files.catch_up(connection)
                freed = flat_rows.forget(connection, gem_ids)
                if freed:
                    flat_rows.written(connection)
                names = flat_rows.named(connection)
            if freed:
                files.view = files.view.after(freed, (), names)
                files.erase(freed)
                files.database.checkpoint()

    def search(self, vector: Vector, scope: Scope, *, limit: int, superseded: bool = False) -> list[Hit]:
        """The `limit` nearest gems of the scope, best first; [] for a zero vector."""
        query = self._unit(vector)
        files = self._files
        try:
            return self._search(files, query, scope, limit, superseded=superseded)
        except StateDamaged as error:
            with self._lock:
                if self._files is files:
                    self._start_over(error)
            return []
        except StateError:
            with self._lock:
                if self._files is files:
                    raise
            return []  # the files were thrown away while we read

    def count(self) -> int:
        """How many gems it holds."""
        with suppress(StateError):  # damaged or thrown away: the next write or search finds out
            self._catch_up(self._files)
        return self._files.view.count

    def position(self) -> int:
        """The number of the last gem event applied; 0 = none, or the index was lost."""
        with self._lock, self._files.database.read() as connection:
            return int(notes.get(connection, "position") or "0")

    def advance(self, position: int) -> None:
        """Record durably that all events up to `position` are applied."""
        with self._writing() as files, files.database.write() as connection:
            notes.put(connection, "position", str(position))

    def clear(self) -> None:
        """Empty it and set the position to 0."""
        with self._lock:
            self._files.close()
            self._files = self._anew()

    def close(self) -> None:
        """Release the files."""
        with self._lock:
            self._files.close()

    @contextmanager
    def _writing(self) -> Iterator[_Files]:
        with self._lock:
            try:
                yield self._files
            except StateDamaged as error:
                self._start_over(error)
                raise VendorAway("the gem index was damaged and starts over", where=str(self._folder)) from error

    def _start_over(self, error: StateDamaged) -> None:
        log.warning("index.damaged", error=error.what)
        self._files.close()
        self._files = self._anew()

    def _anew(self) -> _Files:
        """Throw both files away and begin with empty ones."""
        for name in (_ROWS, f"{_ROWS}-wal", f"{_ROWS}-shm", _VECTORS):
            (self._folder / name).unlink(missing_ok=True)
        return _Files(self._folder, self.identity)

    # --- search -----------------------------------------------------------------------------------------------------

    def _unit(self, vector: Vector) -> Vector:
        data = np.ascontiguousarray(vector, dtype="<f4")
        if data.shape != (self.identity.dimensions,) or not np.isfinite(data).all():
            raise BadRequest(f"a vector of {self.identity} must be {self.identity.dimensions} finite numbers")
        length = float(np.linalg.norm(data))
        return data if length == 0 else np.asarray(data / length, dtype="<f4")

    def _search(self, files: _Files, query: Vector, scope: Scope, limit: int, *, superseded: bool) -> list[Hit]:
        self._catch_up(files)
        view, matrix = files.view, files.vectors.matrix  # in this order: the matrix grows before the view does
        rows, owner = view.rows_of(scope, superseded=superseded), view.owner_of(scope)
        if limit <= 0 or owner is None or not rows.size or not query.any():
            return []
        nearest = rows[best(products_of(matrix, rows, query, view.end), limit)]
        with files.database.read() as connection:
            known = flat_rows.of_owner(connection, nearest.tolist(), owner)
        hits = [hit for row in known if (hit := self._hit(files, row, matrix, query)) is not None]
        return sorted(hits, key=lambda hit: (-hit.cosine, hit.gem_id))

    def _catch_up(self, files: _Files) -> None:
        """See what another process wrote; what a thread of ours is writing is seen when it is done."""
        with files.database.read() as connection:
            if flat_rows.generation(connection) != files.view.generation and self._lock.acquire(blocking=False):
                try:
                    files.catch_up(connection)
                finally:
                    self._lock.release()

    def _hit(self, files: _Files, row: Row, matrix: NDArray[np.float32], query: Vector) -> Hit | None:
        vector = matrix[row.row].copy()
        if _checksum(vector) == row.crc:
            return Hit(row.gem_id, max(-1.0, min(1.0, float(vector @ query))))
        with self._lock, files.database.read() as connection:  # replaced while we read it, or damaged
            known = flat_rows.checksum_of(connection, row.row)
            if known is not None and _checksum(files.vectors.matrix[row.row]) != known:
                raise StateDamaged("a vector does not read back as it was written", where=str(self._folder))
        return None


def _take_rows(files: _Files, count: int) -> list[int]:
    """Rows that no view shows: free ones first, then new ones at the end."""
    taken: list[int] = files.view.free[:count]
    taken += range(files.view.end, files.view.end + count - len(taken))
    files.vectors.grow(max(taken) + 1)
    return taken


def _checksum(vector: Vector) -> int:
    return zlib.crc32(np.ascontiguousarray(vector, dtype="<f4").tobytes())
