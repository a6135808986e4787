"""What each row of the flat vector file is: the rows table, and the immutable columns that a search filters by."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from openclaw_neuralstream.database import storable
from openclaw_neuralstream.model import EmbedderIdentity, Gem, Scope
from openclaw_neuralstream.store import notes

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
    if notes.get(connection, "made_by") != made_by:
        empty(connection)
        notes.put(connection, "made_by", made_by)


def empty(connection: sqlite3.Connection) -> None:
    """No rows, position 0."""
    connection.execute("DELETE FROM rows")
    notes.put(connection, "position", "")
    written(connection)


def generation(connection: sqlite3.Connection) -> int:
    """How many writes to the rows there were."""
    return int(notes.get(connection, "generation") or "0")


def written(connection: sqlite3.Connection) -> None:
    """Count a write, so that every process that has the folder open sees it."""
    notes.put(connection, "generation", str(generation(connection) + 1))


def view(connection: sqlite3.Connection) -> View:
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
