"""Gems in the memory file as they are now (`settling` says what that is); each change leaves a numbered event."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import structlog

from openclaw_neuralstream.database import storable
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.formats import gem_from_json
from openclaw_neuralstream.model import Gem, Scope
from openclaw_neuralstream.store import labels, words
from openclaw_neuralstream.store.codec import seconds
from openclaw_neuralstream.store.kept_turns import CHANGED
from openclaw_neuralstream.store.statements import body_of

log = structlog.get_logger(__name__)

_READ = 4_096
"""How many gems are kept as they were read, by their very bytes: one question meets a gem several times."""


@dataclass(frozen=True, slots=True)
class GemEvent:
    """Something happened to a gem. action: stored, merged, superseded, restored, edited, undone or forgotten."""

    seq: int
    gem_id: str
    action: str


def insert(connection: sqlite3.Connection, gem: Gem, at: datetime, *, batch_id: str = "") -> int:
    """Write a gem that is not here yet; returns its row."""
    seq = connection.execute(
        "INSERT INTO gems(gem_id, scope_id, project, created_at, superseded, batch_id, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            gem.gem_id,
            scope_id(connection, gem.scope),
            storable(gem.scope.project),
            seconds(gem.created_at),
            bool(gem.superseded_by),
            batch_id or gem.batch,
            body_of(gem),
        ),
    ).lastrowid
    assert seq is not None  # noqa: S101 - an INSERT into a rowid table always has one
    support(connection, seq, gem.evidence)
    words.insert(connection, seq, gem)
    labels.put(connection, seq, gem)
    note(connection, gem.gem_id, "stored", at)
    return seq


def write(connection: sqlite3.Connection, gem: Gem, action: str, at: datetime) -> None:
    """Overwrite a gem that is here with this value."""
    connection.execute(
        "UPDATE gems SET superseded = ?, body = ? WHERE gem_id = ?", (bool(gem.superseded_by), body_of(gem), gem.gem_id)
    )
    row = row_of(connection, gem.gem_id)
    if row is not None:
        labels.put(connection, row, gem)
    note(connection, gem.gem_id, action, at)


def note(connection: sqlite3.Connection, gem_id: str, action: str, at: datetime) -> None:
    """Number an event, for the projections to follow."""
    connection.execute("INSERT INTO events(gem_id, action, at) VALUES (?, ?, ?)", (gem_id, action, seconds(at)))


def get(connection: sqlite3.Connection, gem_id: str) -> Gem | None:
    """The gem of exactly this id; None when it is not here."""
    row = connection.execute("SELECT body FROM gems WHERE gem_id = ?", (gem_id,)).fetchone()
    return _gem(row[0]) if row else None


def of_row(connection: sqlite3.Connection, row: int) -> Gem | None:
    """The gem of this row; None when it is not here."""
    found = connection.execute("SELECT body FROM gems WHERE seq = ?", (row,)).fetchone()
    return _gem(found[0]) if found else None


def find(connection: sqlite3.Connection, prefix: str) -> Gem | None:
    """The gem of this id, or the only one whose id begins so; None when there is none or more than one."""
    exact = get(connection, prefix)
    if exact is not None or not prefix:
        return exact
    rows = connection.execute(
        "SELECT body FROM gems WHERE gem_id >= ? AND gem_id < ? LIMIT 2", (prefix, prefix + "\U0010ffff")
    ).fetchall()
    return _gem(rows[0][0]) if len(rows) == 1 else None


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list of gems should hold; empty fields ask for nothing. tagged: a condition of `tagging.gems_with`."""

    scope: Scope | None = None
    gem_ids: Sequence[str] | None = None
    text: str = ""
    tagged: tuple[str, list[object]] | None = None
    superseded: bool = False
    kind: str = ""


def select(connection: sqlite3.Connection, wanted: Filter, limit: int, offset: int) -> list[Gem]:
    """The gems that pass, newest first; one that does not read back is left out and logged."""
    conditions, parameters = _conditions(connection, wanted)
    rows = connection.execute(
        f"SELECT body FROM gems {conditions} ORDER BY {_use_ids(wanted)}created_at DESC, seq DESC LIMIT ? OFFSET ?",  # noqa: S608
        (*parameters, limit, offset),
    ).fetchall()
    return [gem for (body,) in rows if (gem := _gem(body)) is not None]


def row_of(connection: sqlite3.Connection, gem_id: str) -> int | None:
    """The row number of a gem; None when it is not here."""
    row = connection.execute("SELECT seq FROM gems WHERE gem_id = ?", (gem_id,)).fetchone()
    return int(row[0]) if row else None


def scope_id(connection: sqlite3.Connection, scope: Scope) -> int:
    """The number of (agent, user), given when it is new."""
    known = known_scope(connection, scope)
    if known is not None:
        return known
    added = connection.execute(
        "INSERT INTO scopes(agent, user) VALUES (?, ?)", (storable(scope.agent), storable(scope.user))
    )
    return int(added.lastrowid or 0)


def known_scope(connection: sqlite3.Connection, scope: Scope) -> int | None:
    """The number of (agent, user); None when nothing of theirs was ever stored."""
    row = connection.execute(
        "SELECT scope_id FROM scopes WHERE agent = ? AND user = ?", (storable(scope.agent), storable(scope.user))
    ).fetchone()
    return int(row[0]) if row else None


def scope_ids(connection: sqlite3.Connection) -> list[int]:
    """The numbers of all (agent, user) that have or had gems."""
    return [row[0] for row in connection.execute("SELECT scope_id FROM scopes ORDER BY scope_id").fetchall()]


def count(connection: sqlite3.Connection, owner: tuple[str, str] | None) -> int:
    """How many gems there are in all, or of one agent and user."""
    if owner is None:
        return int(connection.execute("SELECT coalesce(sum(gems), 0) FROM scopes").fetchone()[0])
    row = connection.execute(
        "SELECT gems FROM scopes WHERE agent = ? AND user = ?", tuple(map(storable, owner))
    ).fetchone()
    return int(row[0]) if row else 0


def events(connection: sqlite3.Connection, after: int, limit: int) -> list[GemEvent]:
    """The events numbered above `after`, in order."""
    rows = connection.execute(
        "SELECT seq, gem_id, action FROM events WHERE seq > ? AND action <> ? ORDER BY seq LIMIT ?",
        (after, CHANGED, limit),
    ).fetchall()
    return [GemEvent(*row) for row in rows]


def last_event(connection: sqlite3.Connection) -> int:
    """The number of the last event; 0 = none yet."""
    row = connection.execute(
        "SELECT seq FROM events WHERE action <> ? ORDER BY seq DESC LIMIT 1", (CHANGED,)
    ).fetchone()
    return int(row[0]) if row else 0


def contains(text: str, *fields: str | None) -> bool:
    """True when one of the fields holds the text, whatever the case, in any script. Registered as an SQL function."""
    wanted = text.casefold()
    return any(wanted in field.casefold() for field in fields if field)


def _conditions(connection: sqlite3.Connection, wanted: Filter) -> tuple[str, list[object]]:
    parts: list[str] = []
    parameters: list[object] = []
    if wanted.scope is not None:
        parts.append(f"{_use_ids(wanted)}scope_id = ? AND (? = '' OR project IN ('', ?))")
        project = storable(wanted.scope.project)
        parameters += [known_scope(connection, wanted.scope), project, project]
    if wanted.gem_ids is not None:
        parts.append("gem_id IN (SELECT value FROM json_each(?))")
        parameters.append(json.dumps(list(wanted.gem_ids)))
    if wanted.tagged:
        parts.append(wanted.tagged[0])
        parameters += wanted.tagged[1]
    if wanted.text:
        parts.append("contains(?, body ->> '$.content', body ->> '$.summary')")
        parameters.append(storable(wanted.text))
    if wanted.kind:
        parts.append("body ->> '$.kind' = ?")
        parameters.append(wanted.kind)
    if not wanted.superseded:
        parts.append("superseded = 0")
    return ("WHERE " + " AND ".join(parts) if parts else "", parameters)


def _use_ids(wanted: Filter) -> str:
    """A "+" keeps SQLite from walking an index of this column where the ids are the better way in."""
    return "" if wanted.gem_ids is None else "+"


def support(connection: sqlite3.Connection, row: int, turn_ids: Sequence[str]) -> None:
    """Note which turns a gem stands on."""
    connection.executemany(
        "INSERT INTO evidence(gem, turn_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(row, turn_id) for turn_id in turn_ids],
    )


@lru_cache(maxsize=_READ)
def _gem(body: str) -> Gem | None:
    try:
        return gem_from_json(json.loads(body))
    except (BadRequest, ValueError, TypeError) as error:
        log.warning("gem.unreadable", error=type(error).__name__)
        return None
