"""Gems in the memory file: inserted once, merged by id, superseded, edited; each change leaves a numbered event."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog

from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.formats import gem_from_json, gem_to_json
from openclaw_neuralstream.model import Gem, Scope
from openclaw_neuralstream.store import words
from openclaw_neuralstream.store.codec import seconds, storable
from openclaw_neuralstream.store.tombstones import is_buried

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class GemEvent:
    """Something happened to a gem. action: stored, merged, superseded, edited or forgotten."""

    seq: int
    gem_id: str
    action: str


def insert(connection: sqlite3.Connection, gem: Gem, at: datetime, *, batch_id: str = "") -> int | None:
    """Write a gem that is new; returns its row. None when it was forgotten once, or is here already.

    Of a gem that is here already only the evidence is taken over. A gem that names one it supersedes retires that one.
    """
    if is_buried(connection, gem):
        return None
    row = row_of(connection, gem.gem_id)
    if row is not None:
        _merge(connection, row, gem, at)
        return None
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
            _body(gem),
        ),
    ).lastrowid
    assert seq is not None  # noqa: S101 - an INSERT into a rowid table always has one
    support(connection, seq, gem.evidence)
    words.insert(connection, seq, gem)
    note(connection, gem.gem_id, "stored", at)
    if gem.supersedes:
        supersede(connection, gem.supersedes, gem.gem_id, at)
    return seq


def supersede(connection: sqlite3.Connection, old_id: str, new_id: str, at: datetime) -> bool:
    """Retire the old gem in favour of the new one and link both. False when the old one is not here."""
    old = get(connection, old_id)
    if old is None or new_id in {old_id, old.superseded_by}:
        return False
    write(connection, replace(old, superseded_by=new_id), "superseded", at)
    new = get(connection, new_id)
    if new is not None and new.supersedes != old_id:
        write(connection, replace(new, supersedes=old_id), "merged", at)
    return True


def write(connection: sqlite3.Connection, gem: Gem, action: str, at: datetime) -> None:
    """Overwrite a gem that is here with this value."""
    connection.execute(
        "UPDATE gems SET superseded = ?, body = ? WHERE gem_id = ?", (bool(gem.superseded_by), _body(gem), gem.gem_id)
    )
    note(connection, gem.gem_id, action, at)


def edit(connection: sqlite3.Connection, changed: Gem, at: datetime) -> None:
    """Overwrite a gem with what a person made of it; its words are indexed anew."""
    row = row_of(connection, changed.gem_id)
    if row is None:
        raise NotFound(f"no gem {changed.gem_id!r}", fix="neuralstream gems list")
    write(connection, changed, "edited", at)
    words.delete(connection, row)
    words.insert(connection, row, changed)


def note(connection: sqlite3.Connection, gem_id: str, action: str, at: datetime) -> None:
    """Number an event, for the projections to follow."""
    connection.execute("INSERT INTO events(gem_id, action, at) VALUES (?, ?, ?)", (gem_id, action, seconds(at)))


def get(connection: sqlite3.Connection, gem_id: str) -> Gem | None:
    """The gem of exactly this id; None when it is not here."""
    row = connection.execute("SELECT body FROM gems WHERE gem_id = ?", (gem_id,)).fetchone()
    return _gem(row[0]) if row else None


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
    """What a list of gems should hold; empty fields ask for nothing."""

    scope: Scope | None = None
    gem_ids: Sequence[str] | None = None
    text: str = ""
    tag: str = ""
    superseded: bool = False


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


def changed(gem: Gem, changes: Mapping[str, Any]) -> Gem:
    """The gem with these fields changed by hand."""
    lists = {name: tuple(value) for name, value in changes.items() if name in {"tags", "topics"}}
    return replace(gem, **{**changes, **lists}, edited=True)


def events(connection: sqlite3.Connection, after: int, limit: int) -> list[GemEvent]:
    """The events numbered above `after`, in order."""
    rows = connection.execute(
        "SELECT seq, gem_id, action FROM events WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
    ).fetchall()
    return [GemEvent(*row) for row in rows]


def last_event(connection: sqlite3.Connection) -> int:
    """The number of the last event; 0 = none yet."""
    return int(connection.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])


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
    if wanted.tag:
        parts.append("EXISTS (SELECT 1 FROM json_each(body, '$.tags') WHERE value = ?)")
        parameters.append(storable(wanted.tag))
    if wanted.text:
        parts.append("contains(?, body ->> '$.content', body ->> '$.summary')")
        parameters.append(storable(wanted.text))
    if not wanted.superseded:
        parts.append("superseded = 0")
    return ("WHERE " + " AND ".join(parts) if parts else "", parameters)


def _use_ids(wanted: Filter) -> str:
    """A "+" keeps SQLite from walking an index of this column where the ids are the better way in."""
    return "" if wanted.gem_ids is None else "+"


def _merge(connection: sqlite3.Connection, row: int, gem: Gem, at: datetime) -> None:
    known = get(connection, gem.gem_id)
    if known is None:
        return
    evidence = tuple(dict.fromkeys((*known.evidence, *gem.evidence)))
    if evidence != known.evidence:
        write(connection, replace(known, evidence=evidence), "merged", at)
        support(connection, row, gem.evidence)


def support(connection: sqlite3.Connection, row: int, turn_ids: Sequence[str]) -> None:
    """Note which turns a gem stands on."""
    connection.executemany(
        "INSERT INTO evidence(gem, turn_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(row, turn_id) for turn_id in turn_ids],
    )


def _body(gem: Gem) -> str:
    """JSON text; only a text with lone surrogates is written in escapes, which SQLite's UTF-8 cannot hold otherwise."""
    data = gem_to_json(gem)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))
    return text


def _gem(body: str) -> Gem | None:
    try:
        return gem_from_json(json.loads(body))
    except (BadRequest, ValueError, TypeError) as error:
        log.warning("gem.unreadable", error=type(error).__name__)
        return None
