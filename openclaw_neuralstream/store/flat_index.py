"""Vectors in a flat file, mapped: rows, search, the index of gems."""

from __future__ import annotations

import json
import mmap
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray

from openclaw_neuralstream.errors import BadRequest, StateDamaged, StateError, VendorAway
from openclaw_neuralstream.model import EmbedderIdentity, Gem, Scope
from openclaw_neuralstream.ports import Hit, IndexEntry, Vector
from openclaw_neuralstream.store import labels
from openclaw_neuralstream.store.database import Database, storable

_FORMAT = "1"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS owners(owner INTEGER PRIMARY KEY, agent TEXT, user TEXT, UNIQUE(agent, user))",
    "CREATE TABLE IF NOT EXISTS projects(project INTEGER PRIMARY KEY, name TEXT UNIQUE)",
    """CREATE TABLE IF NOT EXISTS rows(
        row INTEGER PRIMARY KEY, gem_id TEXT NOT NULL UNIQUE, owner INTEGER NOT NULL, project INTEGER NOT NULL,
        superseded INTEGER NOT NULL, crc INTEGER NOT NULL
    )""",
)
_COLUMNS = "row, gem_id, owner, project, superseded, crc"
_FREE = -1  # the owner of a row that holds no gem
_NO_PROJECT = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One gem's place in the file. crc: checksum of its vector's bytes."""

    row: int
    gem_id: str
    owner: int
    project: int
    superseded: bool
    crc: int


@dataclass(frozen=True, slots=True)
class View:
    """The rows as they were at one moment. Never changed: a writer makes the next one.

    owners, projects, superseded: one entry per row up to `end`, the first row that was never used. generation: how
    many writes came before it, whoever made them.
    """

    owners: NDArray[np.int32]
    projects: NDArray[np.int32]
    superseded: NDArray[np.bool_]
    owner_numbers: Mapping[tuple[str, str], int]
    project_numbers: Mapping[str, int]
    generation: int = 0

    @property
    def end(self) -> int:
        """The first row that was never used."""
        return len(self.owners)

    @property
    def count(self) -> int:
        """How many rows hold a gem."""
        return int(np.count_nonzero(self.owners != _FREE))

    @property
    def free(self) -> list[int]:
        """Rows before the end that hold no gem."""
        return [int(row) for row in np.flatnonzero(self.owners == _FREE)]

    def owner_of(self, scope: Scope) -> int | None:
        """The number of the scope's agent and user; None when nothing of theirs is here."""
        return self.owner_numbers.get((storable(scope.agent), storable(scope.user)))

    def rows_of(self, scope: Scope, *, superseded: bool) -> NDArray[np.int64]:
        """The rows that the scope may see, in order."""
        owner = self.owner_of(scope)
        if owner is None:
            return np.empty(0, np.int64)
        wanted = self.owners == owner
        if scope.project:
            own = self.project_numbers.get(storable(scope.project), _NO_PROJECT)
            wanted &= (self.projects == own) | (self.projects == _NO_PROJECT)
        if not superseded:
            wanted &= ~self.superseded
        return np.flatnonzero(wanted)

    def after(self, freed: Sequence[int], added: Sequence[Row], names: View) -> View:
        """The view after these rows were freed and those were filled; numbers of owners and projects, and the generation, from `names`."""
        filled = np.array([(row.row, row.owner, row.project, row.superseded) for row in added], np.int64).reshape(-1, 4)
        bare = replace(
            self,
            owner_numbers=names.owner_numbers,
            project_numbers=names.project_numbers,
            generation=names.generation,
        )
        return bare.filled(filled, list(freed))

    def filled(self, rows: NDArray[np.int64], freed: Sequence[int] = ()) -> View:
        """The view after these rows were freed and those, each (row, owner, project, superseded), were filled."""
        places = rows[:, 0]
        owners, projects, superseded = _columns(max(self.end, int(places.max(initial=-1)) + 1), self)
        owners[list(freed)] = _FREE
        owners[places], projects[places], superseded[places] = rows[:, 1], rows[:, 2], rows[:, 3]
        return replace(self, owners=owners, projects=projects, superseded=superseded)


def prepare(connection: sqlite3.Connection, identity: EmbedderIdentity) -> None:
    """Make the tables; empty them when they are of another embedder or an older form."""
    for table in _TABLES:
        connection.execute(table)
    made_by = f"{_FORMAT} {identity}"
    if labels.get(connection, "made_by") != made_by:
        empty(connection)
        labels.put(connection, "made_by", made_by)


def empty(connection: sqlite3.Connection) -> None:
    """No rows, position 0."""
    connection.execute("DELETE FROM rows")
    labels.put(connection, "position", "")
    written(connection)


def generation(connection: sqlite3.Connection) -> int:
    """How many writes to the rows there were."""
    return int(labels.get(connection, "generation") or "0")


def written(connection: sqlite3.Connection) -> None:
    """Count a write, so that every process that has the folder open sees it."""
    labels.put(connection, "generation", str(generation(connection) + 1))


def view_of(connection: sqlite3.Connection) -> View:
    """All rows as they are in the file."""
    rows = connection.execute("SELECT row, owner, project, superseded FROM rows").fetchall()
    return named(connection).filled(np.array(rows, np.int64).reshape(-1, 4))


def named(connection: sqlite3.Connection) -> View:
    """A view without rows that knows the numbers of owners and projects, and the generation."""
    owners = connection.execute("SELECT agent, user, owner FROM owners").fetchall()
    projects = connection.execute("SELECT name, project FROM projects").fetchall()
    nothing = np.empty(0, np.int32)
    return View(
        nothing,
        nothing,
        np.empty(0, np.bool_),
        {(a, u): n for a, u, n in owners},
        dict(projects),
        generation(connection),
    )


def add(connection: sqlite3.Connection, row: int, gem: Gem, crc: int) -> Row:
    """Say that this row holds this gem."""
    made = Row(
        row,
        gem.gem_id,
        _number(connection, "owners", "owner", {"agent": gem.scope.agent, "user": gem.scope.user}),
        _number(connection, "projects", "project", {"name": gem.scope.project}) if gem.scope.project else _NO_PROJECT,
        bool(gem.superseded_by),
        crc,
    )
    connection.execute(
        f"INSERT INTO rows({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608 - our own words
        (made.row, made.gem_id, made.owner, made.project, made.superseded, made.crc),
    )
    return made


def forget(connection: sqlite3.Connection, gem_ids: Sequence[str]) -> list[int]:
    """Take these gems out; returns the rows that they had."""
    wanted = json.dumps(list(gem_ids))
    rows = connection.execute(
        "SELECT row FROM rows WHERE gem_id IN (SELECT value FROM json_each(?))", (wanted,)
    ).fetchall()
    connection.execute("DELETE FROM rows WHERE gem_id IN (SELECT value FROM json_each(?))", (wanted,))
    return [row for (row,) in rows]


def of_owner(connection: sqlite3.Connection, rows: Sequence[int], owner: int) -> list[Row]:
    """Those of the rows that hold a gem of this owner now."""
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM rows WHERE row IN (SELECT value FROM json_each(?)) AND owner = ?",  # noqa: S608
        (json.dumps(list(rows)), owner),
    ).fetchall()
    return [Row(*row) for row in found]


def checksum_of(connection: sqlite3.Connection, row: int) -> int | None:
    """The checksum of a row's vector; None when it holds no gem."""
    found = connection.execute("SELECT crc FROM rows WHERE row = ?", (row,)).fetchone()
    return int(found[0]) if found else None


def _columns(end: int, old: View) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    owners = np.full(end, _FREE, np.int32)
    projects = np.zeros(end, np.int32)
    superseded = np.zeros(end, np.bool_)
    owners[: old.end], projects[: old.end], superseded[: old.end] = old.owners, old.projects, old.superseded
    return owners, projects, superseded


def _number(connection: sqlite3.Connection, table: str, column: str, named: Mapping[str, str]) -> int:
    """The number of an owner or project, given when it is new."""
    values = [storable(value) for value in named.values()]
    names, marks = ", ".join(named), ", ".join("?" * len(named))
    same = " AND ".join(f"{name} = ?" for name in named)
    row = connection.execute(f"SELECT {column} FROM {table} WHERE {same}", values).fetchone()  # noqa: S608
    if row:
        return int(row[0])
    added = connection.execute(f"INSERT INTO {table}({names}) VALUES ({marks})", values)  # noqa: S608
    return int(added.lastrowid or 0)


_FLOATS = np.dtype("<f4")
_FIRST_ROWS = 1_024
_SCAN_ALL = 0.5
"""Share of the rows from which reading all of them in order is cheaper than picking some."""

_CHUNK = 512  # rows picked at a time, so that they stay in the cache between the copy and the product


class FlatVectors:
    """Rows of `dimensions` little-endian float32, one after the other, no header.

    `matrix` maps the whole file. After `grow` it is a new array; older ones stay valid for those who still read them.
    """

    def __init__(self, path: Path, dimensions: int, *, at_least: int = 0) -> None:
        """Open or make the file, readable by its owner only. Raises StateDamaged when it has fewer rows than that."""
        self.path = path
        self._dimensions = dimensions
        self._row_bytes = dimensions * _FLOATS.itemsize
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.matrix = self._mapped()
        if self.capacity < at_least:
            self.close()
            raise StateDamaged(f"{self.capacity} of {at_least} vectors are left", where=str(path))

    @property
    def capacity(self) -> int:
        """How many rows the file has."""
        return len(self.matrix)

    def grow(self, rows: int) -> None:
        """Make room for so many rows at least, or see the room that another process made."""
        if rows <= self.capacity:
            return
        self.matrix = self._mapped()
        if rows <= self.capacity:
            return
        room = max(_FIRST_ROWS, rows, self.capacity * 3 // 2)
        try:
            os.ftruncate(self._file, room * self._row_bytes)
        except OSError as error:
            raise self._refused(error) from error
        self.matrix = self._mapped()

    def write(self, row: int, vector: Vector) -> None:
        """Overwrite a row; every map of the file shows it at once."""
        self._write(row, np.ascontiguousarray(vector, dtype=_FLOATS).tobytes())

    def erase(self, row: int) -> None:
        """Overwrite a row with zeros."""
        self._write(row, bytes(self._row_bytes))

    def sync(self) -> None:
        """Wait until what was written is on the disk."""
        try:
            os.fsync(self._file)
        except OSError as error:
            raise self._refused(error) from error

    def close(self) -> None:
        """Close the file; arrays that were handed out stay valid. A second call does nothing."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, row: int, data: bytes) -> None:
        try:
            written = os.pwrite(self._file, data, row * self._row_bytes)
        except OSError as error:
            raise self._refused(error) from error
        if written != len(data):
            raise StateError("the disk is full: a vector was not written", where=str(self.path), fix="free some space")

    def _mapped(self) -> NDArray[np.float32]:
        rows = os.fstat(self._file).st_size // self._row_bytes
        if rows == 0:
            return np.empty((0, self._dimensions), _FLOATS)
        mapped = mmap.mmap(self._file, rows * self._row_bytes, access=mmap.ACCESS_READ)
        return np.frombuffer(mapped, _FLOATS).reshape(rows, self._dimensions)

    def _refused(self, error: OSError) -> StateError:
        return StateError(
            f"the vector file cannot be written: {error.strerror}",
            where=str(self.path),
            fix=f"free some space on the disk of {self.path.parent}, or give your user write access to it",
        )


def products(matrix: NDArray[np.float32], query: Vector) -> Vector:
    """The dot product of each row with the query, row by row.

    Twice as fast as `matrix @ query`, which reads the rows in blocks, and steady on a busy machine: that one starts
    threads and waits for all of them (0.1 ms became 16 ms at 3,000 rows beside two other busy processes).
    """
    if hasattr(np, "vecdot"):  # NumPy 2
        return np.asarray(np.vecdot(matrix, query), dtype=np.float32)
    return np.asarray(np.einsum("ij,j->i", matrix, query), dtype=np.float32)


def products_of(matrix: NDArray[np.float32], rows: NDArray[np.int64], query: Vector, end: int) -> Vector:
    """The dot product of each of these rows with the query; no other row is read unless they are most of the first `end`."""
    if rows.size >= _SCAN_ALL * end:
        return products(matrix[:end], query)[rows]
    scores = np.empty(rows.size, np.float32)
    for start in range(0, rows.size, _CHUNK):
        picked = rows[start : start + _CHUNK]
        scores[start : start + _CHUNK] = products(matrix[picked], query)
    return scores


def best(scores: Vector, limit: int) -> NDArray[np.int64]:
    """Places of the `limit` highest scores, in any order. A damaged row may score NaN: it is put first, to be found out."""
    clean = np.where(np.isfinite(scores), scores, np.float32(np.inf))
    if clean.size <= limit:
        return np.arange(clean.size)
    return np.argpartition(clean, clean.size - limit)[-limit:]


log = structlog.get_logger(__name__)

_ROWS, _VECTORS = "rows.sqlite", "vectors.f32"


class _Files:
    """The two files of an index, opened, and what they hold. Raises StateDamaged when they do not belong together."""

    view: View

    def __init__(self, folder: Path, identity: EmbedderIdentity) -> None:
        self.database = Database(folder / _ROWS)
        try:
            with self.database.write() as connection:  # the lock of all writers: none is between its file and its rows
                prepare(connection, identity)
                self.view = view_of(connection)
                self.vectors = FlatVectors(folder / _VECTORS, identity.dimensions, at_least=self.view.end)
                self.erase([row for row in self.view.free if self.vectors.matrix[row].any()])
        except BaseException:
            self.database.close()
            raise

    def catch_up(self, connection: sqlite3.Connection) -> None:
        """See what another process has written since."""
        if generation(connection) != self.view.generation:
            view = view_of(connection)
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
                freed = forget(connection, list(latest))
                added = [
                    add(connection, row, gem, _checksum(vector))
                    for row, (gem, vector) in zip(rows, latest.values(), strict=True)
                ]
                written(connection)
                names = named(connection)
            files.view = files.view.after(freed, added, names)
            files.erase(freed)

    def delete(self, gem_ids: Sequence[str]) -> None:
        """Remove these, their vectors overwritten; unknown ids are fine."""
        if not gem_ids:
            return
        with self._writing() as files:
            with files.database.write() as connection:
                files.catch_up(connection)
                freed = forget(connection, gem_ids)
                if freed:
                    written(connection)
                names = named(connection)
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
            return int(labels.get(connection, "position") or "0")

    def advance(self, position: int) -> None:
        """Record durably that all events up to `position` are applied."""
        with self._writing() as files, files.database.write() as connection:
            labels.put(connection, "position", str(position))

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
            known = of_owner(connection, nearest.tolist(), owner)
        hits = [hit for row in known if (hit := self._hit(files, row, matrix, query)) is not None]
        return sorted(hits, key=lambda hit: (-hit.cosine, hit.gem_id))

    def _catch_up(self, files: _Files) -> None:
        """See what another process wrote; what a thread of ours is writing is seen when it is done."""
        with files.database.read() as connection:
            if generation(connection) != files.view.generation and self._lock.acquire(blocking=False):
                try:
                    files.catch_up(connection)
                finally:
                    self._lock.release()

    def _hit(self, files: _Files, row: Row, matrix: NDArray[np.float32], query: Vector) -> Hit | None:
        vector = matrix[row.row].copy()
        if _checksum(vector) == row.crc:
            return Hit(row.gem_id, max(-1.0, min(1.0, float(vector @ query))))
        with self._lock, files.database.read() as connection:  # replaced while we read it, or damaged
            known = checksum_of(connection, row.row)
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
