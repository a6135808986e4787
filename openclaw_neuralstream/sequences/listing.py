"""Sequences without their pairs, as people and files ask for them: counted, listed, called by name."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime

from openclaw_neuralstream.database import storable
from openclaw_neuralstream.model import Scope
from openclaw_neuralstream.sequences import rows

_ROW = "s.sequence, s.name, c.agent, c.user, s.key, s.first, s.last, s.pairs, s.archived, s.file, s.changed, s.written"


@dataclass(frozen=True, slots=True)
class Row:
    """A sequence without its pairs. file: where it was last written to, "" = in the index file, or nowhere."""

    sequence: int
    name: str
    scope: Scope
    key: str
    first: datetime
    last: datetime
    pairs: int
    archived: bool
    file: str
    changed: int
    written: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over scopes."""

    pairs: int = 0
    answers: int = 0
    sequences: int = 0


def totals(connection: sqlite3.Connection, scope: Scope | None) -> Totals:
    """Counts of a scope, or of all."""
    where, given = ("WHERE agent = ? AND user = ?", (scope.agent, scope.user)) if scope else ("", ())
    row = connection.execute(
        f"SELECT coalesce(sum(pairs), 0), coalesce(sum(answers), 0), coalesce(sum(sequences), 0) FROM scopes {where}",  # noqa: S608
        given,
    ).fetchone()
    return Totals(*map(int, row))


def listed(
    connection: sqlite3.Connection, scope: Scope, *, archived: bool | None, changed: bool, limit: int
) -> list[Row]:
    """Sequences of a scope, the newest first. archived: None = both. changed: only those not written since."""
    where = "s.scope = ?1" + (" AND s.changed > s.written" if changed else "")
    where += "" if archived is None else f" AND s.archived = {int(archived)}"
    where += "" if changed else " AND s.pairs > 0"
    found = connection.execute(
        f"SELECT {_ROW} FROM sequences s JOIN scopes c ON c.scope = s.scope WHERE {where} ORDER BY s.last DESC LIMIT ?2",  # noqa: S608
        (rows.known_scope(connection, scope), limit),
    ).fetchall()
    return [_row(row) for row in found]


def named(connection: sqlite3.Connection, name: str) -> Row | None:
    """By its name, or the start of it where only one has that."""
    found = connection.execute(
        f"SELECT {_ROW} FROM sequences s JOIN scopes c ON c.scope = s.scope"  # noqa: S608
        " WHERE s.name = ?1 OR substr(s.name, 1, length(?1)) = ?1 ORDER BY s.name <> ?1, s.last DESC LIMIT 2",
        (storable(name),),
    ).fetchall()
    exact = found[:1] if found and (found[0][1] == name or len(found) == 1) else []
    return _row(exact[0]) if exact else None


def note_written(connection: sqlite3.Connection, row: Row, file: str) -> None:
    """What this row says now is in this file; what changed meanwhile is to be written again, what is empty goes."""
    if not row.pairs:
        connection.execute("DELETE FROM sequences WHERE sequence = ? AND pairs = 0", (row.sequence,))
        connection.execute(
            "UPDATE scopes SET sequences = (SELECT count(*) FROM sequences s WHERE s.scope = scopes.scope)"
        )
    connection.execute(
        "UPDATE sequences SET written = ?, file = ? WHERE sequence = ?", (row.changed, file, row.sequence)
    )


def _row(found: tuple[object, ...]) -> Row:
    sequence, name, agent, user, key, first, last, pairs, archived, file, changed, written = found
    return Row(
        sequence=int(str(sequence)),
        name=str(name),
        scope=Scope(str(agent), str(user)),
        key=str(key),
        first=datetime.fromtimestamp(float(str(first)), UTC),
        last=datetime.fromtimestamp(float(str(last)), UTC),
        pairs=int(str(pairs)),
        archived=bool(archived),
        file=str(file),
        changed=int(str(changed)),
        written=int(str(written)),
    )
