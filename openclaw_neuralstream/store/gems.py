"""Gems of the truth with their statements, vectors and evidence."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
import structlog

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import EmbedderIdentity, Gem, Scope, Turn
from openclaw_neuralstream.ports import Vector
from openclaw_neuralstream.store import labels, schema, turns
from openclaw_neuralstream.store.database import Database, storable
from openclaw_neuralstream.store.schema import from_seconds, seconds
from openclaw_neuralstream.store.turns import CHANGED
from openclaw_neuralstream.text.lines import gem_from_json, gem_to_json

BY_HAND = ""
"""The batch of what no batch brought: remembered by hand, or imported."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One time that it was said. gem: as the extractor gave it. row: the gem it became part of. why: in words."""

    seq: int
    row: int
    batch_id: str
    gem: Gem
    said_at: datetime
    place: int
    why: str

    @property
    def order(self) -> tuple[datetime, int, int]:
        """What was said earlier comes first; within one moment the place in its batch decides."""
        return self.said_at, self.place, self.seq


@dataclass(frozen=True, slots=True)
class Link:
    """Two gems that cannot both hold. fixed: older and newer are given, not for the times to decide."""

    older: str
    newer: str
    batch_id: str
    why: str
    fixed: bool


def add(
    connection: sqlite3.Connection, row: int, gem: Gem, *, batch_id: str, said_at: datetime, place: int, why: str
) -> None:
    """Note that it was said; said again by hand it counts as one statement, at its last time, with all its evidence."""
    known = connection.execute(
        "SELECT seq, said_at, body FROM statements WHERE batch_id = ? AND own_id = ?", (batch_id, storable(gem.gem_id))
    ).fetchone()
    if known is None:
        connection.execute(
            "INSERT INTO statements(gem, batch_id, own_id, said_at, place, body, why) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (row, batch_id, storable(gem.gem_id), seconds(said_at), place, body_of(gem), storable(why)),
        )
        return
    seq, at, body = known
    data = json.loads(body)
    data["evidence"] = list(dict.fromkeys((*data["evidence"], *gem.evidence)))
    connection.execute(
        "UPDATE statements SET said_at = ?, body = ? WHERE seq = ?", (max(at, seconds(said_at)), _text(data), seq)
    )


def of_gem(connection: sqlite3.Connection, row: int) -> list[Statement]:
    """The statements of a gem, earliest first; one that does not read back is left out."""
    return _statements(connection, "gem = ?", (row,))


def of_batch(connection: sqlite3.Connection, batch_id: str) -> list[Statement]:
    """What a batch said, in the order of the extractor."""
    return sorted(_statements(connection, "batch_id = ?", (batch_id,)), key=lambda said: (said.place, said.seq))


def statement_row_of(connection: sqlite3.Connection, own_id: str) -> int | None:
    """The gem that holds a statement of this very content; None when none does."""
    found = connection.execute(
        "SELECT gem FROM statements WHERE own_id = ? ORDER BY seq LIMIT 1", (storable(own_id),)
    ).fetchone()
    return int(found[0]) if found else None


def take_back(connection: sqlite3.Connection, batch_id: str) -> list[int]:
    """Remove all that a batch said, found or dropped; returns the gems concerned. They are not settled yet."""
    rows = [row for (row,) in connection.execute("SELECT DISTINCT gem FROM statements WHERE batch_id = ?", (batch_id,))]
    linked = connection.execute(
        "SELECT g.seq FROM links l JOIN gems g ON g.gem_id IN (l.older, l.newer) WHERE l.batch_id = ?", (batch_id,)
    ).fetchall()
    for table in ("statements", "links", "drops", "made"):
        connection.execute(f"DELETE FROM {table} WHERE batch_id = ?", (batch_id,))  # noqa: S608 - our own words
    return list(dict.fromkeys([*rows, *(row for (row,) in linked)]))


def take_back_by_hand(connection: sqlite3.Connection, gem_id: str, said: Iterable[Statement]) -> None:
    """Remove these statements of a gem that were made by hand, and what it replaced thereby. It is not settled yet."""
    connection.executemany("DELETE FROM statements WHERE seq = ?", [(one.seq,) for one in said])
    connection.execute("DELETE FROM links WHERE newer = ? AND batch_id = ? AND NOT fixed", (storable(gem_id), BY_HAND))


def link(
    connection: sqlite3.Connection, older: str, newer: str, *, batch_id: str, why: str, fixed: bool = False
) -> None:
    """Note that the two cannot both hold."""
    connection.execute(
        "INSERT INTO links(older, newer, batch_id, why, fixed) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (storable(older), storable(newer), batch_id, storable(why), fixed),
    )


def links_of(connection: sqlite3.Connection, gem_id: str) -> list[Link]:
    """All links of a gem."""
    rows = connection.execute(
        "SELECT older, newer, batch_id, why, fixed FROM links WHERE older = ?1"
        " UNION SELECT older, newer, batch_id, why, fixed FROM links WHERE newer = ?1",
        (storable(gem_id),),
    ).fetchall()
    return [Link(older, newer, batch_id, why, bool(fixed)) for older, newer, batch_id, why, fixed in rows]


def links_of_batch(connection: sqlite3.Connection, batch_id: str) -> list[Link]:
    """The links that a batch brought."""
    rows = connection.execute(
        "SELECT older, newer, batch_id, why, fixed FROM links WHERE batch_id = ? ORDER BY older, newer", (batch_id,)
    ).fetchall()
    return [Link(older, newer, batch, why, bool(fixed)) for older, newer, batch, why, fixed in rows]


def forget(connection: sqlite3.Connection, row: int, gem_id: str) -> None:
    """Remove all that was said of a gem, and what its batches dropped beside it: it may have been the same words."""
    connection.execute(
        "DELETE FROM drops WHERE batch_id IN (SELECT batch_id FROM statements WHERE gem = ? AND batch_id <> '')", (row,)
    )
    connection.execute("DELETE FROM statements WHERE gem = ?", (row,))
    connection.execute("DELETE FROM links WHERE older = ?1 OR newer = ?1", (storable(gem_id),))
    connection.execute("DELETE FROM hands WHERE gem_id = ?", (storable(gem_id),))


def hand(connection: sqlite3.Connection, gem_id: str) -> dict[str, Any]:
    """What a person set in this gem, by field; {} when nothing."""
    row = connection.execute("SELECT fields FROM hands WHERE gem_id = ?", (storable(gem_id),)).fetchone()
    return dict(json.loads(row[0])) if row else {}


def set_hand(connection: sqlite3.Connection, gem_id: str, changes: Mapping[str, Any]) -> None:
    """Keep what a person set; it wins over all statements, whatever becomes of them."""
    fields = {**hand(connection, gem_id), **changes}
    connection.execute("INSERT OR REPLACE INTO hands(gem_id, fields) VALUES (?, ?)", (storable(gem_id), _text(fields)))


def forget_hand(connection: sqlite3.Connection, gem_id: str) -> None:
    """What a person set in this gem holds no more."""
    connection.execute("DELETE FROM hands WHERE gem_id = ?", (storable(gem_id),))


def drop(connection: sqlite3.Connection, batch_id: str, place: int, content: str, why: str) -> None:
    """Note what was not kept, and why."""
    connection.execute(
        "INSERT OR REPLACE INTO drops(batch_id, place, content, why) VALUES (?, ?, ?, ?)",
        (batch_id, place, storable(content), storable(why)),
    )


def drops(connection: sqlite3.Connection, batch_id: str) -> list[tuple[str, str]]:
    """(content, why) of what the batch's judgement dropped, in the order of the extractor."""
    return connection.execute(
        "SELECT content, why FROM drops WHERE batch_id = ? ORDER BY place", (batch_id,)
    ).fetchall()


def body_of(gem: Gem) -> str:
    """JSON text; only a text with lone surrogates is written in escapes, which SQLite's UTF-8 cannot hold otherwise."""
    return _text(gem_to_json(gem))


def _statements(connection: sqlite3.Connection, where: str, parameters: Sequence[object]) -> list[Statement]:
    rows = connection.execute(
        f"SELECT seq, gem, batch_id, body, said_at, place, why FROM statements WHERE {where}",  # noqa: S608 - our words
        tuple(parameters),
    ).fetchall()
    return sorted(_readable(rows), key=lambda said: said.order)


def _readable(rows: Iterable[Sequence[Any]]) -> Iterable[Statement]:
    for seq, row, batch_id, body, said_at, place, why in rows:
        try:
            gem = gem_from_json(json.loads(body))
        except (BadRequest, ValueError, TypeError):
            continue
        yield Statement(seq, row, batch_id, gem, from_seconds(said_at), place, why)


def _text(data: Mapping[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))
    return text


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
    schema.insert(connection, seq, gem)
    labels.put_labels(connection, seq, gem)
    note(connection, gem.gem_id, "stored", at)
    return seq


def write(connection: sqlite3.Connection, gem: Gem, action: str, at: datetime) -> None:
    """Overwrite a gem that is here with this value."""
    connection.execute(
        "UPDATE gems SET superseded = ?, body = ? WHERE gem_id = ?", (bool(gem.superseded_by), body_of(gem), gem.gem_id)
    )
    row = row_of(connection, gem.gem_id)
    if row is not None:
        labels.put_labels(connection, row, gem)
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


_FLOATS = np.dtype("<f4")


def embedder_id(connection: sqlite3.Connection, identity: EmbedderIdentity) -> int:
    """The number of this embedder, given when it is new."""
    known = known_embedder(connection, identity)
    if known is not None:
        return known
    added = connection.execute(
        "INSERT INTO embedders(name, dimensions) VALUES (?, ?)", (identity.name, identity.dimensions)
    )
    return int(added.lastrowid or 0)


def known_embedder(connection: sqlite3.Connection, identity: EmbedderIdentity) -> int | None:
    """The number of this embedder; None when no vector of it was ever stored."""
    row = connection.execute(
        "SELECT embedder_id FROM embedders WHERE name = ? AND dimensions = ?", (identity.name, identity.dimensions)
    ).fetchone()
    return int(row[0]) if row else None


def put(connection: sqlite3.Connection, gem_row: int, vector: Vector, identity: EmbedderIdentity) -> None:
    """Set a gem's vector of this embedder. Raises BadRequest when it has another size or is not finite."""
    data = np.ascontiguousarray(vector, dtype=_FLOATS)
    if data.shape != (identity.dimensions,) or not np.isfinite(data).all():
        raise BadRequest(f"a vector of {identity} must be {identity.dimensions} finite numbers, got shape {data.shape}")
    connection.execute(
        "INSERT OR REPLACE INTO vectors(gem, embedder_id, vector) VALUES (?, ?, ?)",
        (gem_row, embedder_id(connection, identity), data.tobytes()),
    )


def put_all(connection: sqlite3.Connection, vectors: Mapping[str, Vector], identity: EmbedderIdentity) -> None:
    """Set the vectors of these gems; ids that are not here any more are passed over."""
    for gem_id, vector in vectors.items():
        row = connection.execute("SELECT seq FROM gems WHERE gem_id = ?", (gem_id,)).fetchone()
        if row:
            put(connection, row[0], vector, identity)


def replace(
    connection: sqlite3.Connection, gem_id: str, vector: Vector | None, identity: EmbedderIdentity | None
) -> None:
    """Drop a gem's vectors; set this one instead when there is one, of this embedder or of the last one that wrote."""
    row = connection.execute("SELECT seq FROM gems WHERE gem_id = ?", (gem_id,)).fetchone()[0]
    maker = identity or _last_maker(connection)
    connection.execute("DELETE FROM vectors WHERE gem = ?", (row,))
    if vector is not None and maker is not None:
        put(connection, row, vector, maker)


def _last_maker(connection: sqlite3.Connection) -> EmbedderIdentity | None:
    found = connection.execute(
        "SELECT e.name, e.dimensions FROM vectors v JOIN embedders e USING (embedder_id) ORDER BY v.rowid DESC LIMIT 1"
    ).fetchone()
    return EmbedderIdentity(*found) if found else None


def vector_of(connection: sqlite3.Connection, gem_ids: Sequence[str], identity: EmbedderIdentity) -> dict[str, Vector]:
    """The vectors that these gems have of this embedder."""
    rows = connection.execute(
        """
        SELECT g.gem_id, v.vector FROM gems g JOIN vectors v ON v.gem = g.seq AND v.embedder_id = ?
        WHERE g.gem_id IN (SELECT value FROM json_each(?))
        """,
        (known_embedder(connection, identity), json.dumps(list(gem_ids))),
    ).fetchall()
    return {
        gem_id: np.frombuffer(data, dtype=_FLOATS)
        for gem_id, data in rows
        if len(data) == identity.dimensions * _FLOATS.itemsize
    }


def missing(connection: sqlite3.Connection, identity: EmbedderIdentity, limit: int, *, stale: bool) -> list[str]:
    """Ids of gems without a vector, oldest first; with `stale` also those that have one of another embedder only."""
    one_of_any = "" if stale else "AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.gem = g.seq)"
    rows = connection.execute(
        f"""
        SELECT g.gem_id FROM gems g
        WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.gem = g.seq AND v.embedder_id = ?) {one_of_any}
        ORDER BY g.seq LIMIT ?
        """,  # noqa: S608 - our own words
        (known_embedder(connection, identity), limit),
    ).fetchall()
    return [row[0] for row in rows]


def vector_count(connection: sqlite3.Connection, identity: EmbedderIdentity) -> int:
    """How many gems have a vector of this embedder."""
    known = known_embedder(connection, identity)
    row = connection.execute(
        "SELECT count(*) FROM gems g WHERE EXISTS (SELECT 1 FROM vectors v WHERE v.gem = g.seq AND v.embedder_id = ?)",
        (known,),
    ).fetchone()
    return int(row[0])


def ids(connection: sqlite3.Connection, identity: EmbedderIdentity, limit: int, offset: int) -> list[str]:
    """Ids of the gems that have a vector of this embedder, in the order in which they were stored."""
    rows = connection.execute(
        """
        SELECT g.gem_id FROM gems g WHERE EXISTS (SELECT 1 FROM vectors v WHERE v.gem = g.seq AND v.embedder_id = ?)
        ORDER BY g.seq LIMIT ? OFFSET ?
        """,
        (known_embedder(connection, identity), limit, offset),
    ).fetchall()
    return [row[0] for row in rows]


def embedders(connection: sqlite3.Connection) -> list[EmbedderIdentity]:
    """Every embedder that made a vector of this file, first used first."""
    rows = connection.execute("SELECT name, dimensions FROM embedders ORDER BY embedder_id").fetchall()
    return [EmbedderIdentity(*row) for row in rows]


class Evidence:
    """The kept turns of one memory file. Any thread may ask; a verb is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def kept(self, turn_ids: Sequence[str]) -> list[tuple[str, Turn | None, int]]:
        """(id, turn, bytes) of those of the turns that were taken in, and whose text is here.

        In the order of a conversation. A turn that does not read back is None; those of a batch that was taken back are left out.
        """
        with self._database.read() as connection:
            return turns.read_kept(connection, turn_ids)

    def sizes(self) -> dict[str, int]:
        """The ids of all such turns and how many bytes each has, in the order of a conversation."""
        with self._database.read() as connection:
            return turns.sizes(connection)

    def count(self) -> int:
        """How many such turns there are."""
        with self._database.read() as connection:
            return turns.count(connection)

    def outdated_turns(self, turn_ids: Sequence[str], at: datetime, *, then: bool = False) -> dict[str, str]:
        """Those of the turns that say what holds no more: turn id → "superseded" or "expired".

        then: as of that moment; what was replaced later held still.
        """
        with self._database.read() as connection:
            return turns.outdated(connection, turn_ids, at, then=then)

    def events(self, after: int, limit: int = 500) -> list[tuple[int, str]]:
        """(number, turn id) of the changes of such turns numbered above `after`, in order."""
        with self._database.read() as connection:
            return turns.events(connection, after, limit)

    def last_event(self) -> int:
        """The number that the last event had, of whatever kind; 0 = none yet."""
        with self._database.read() as connection:
            return turns.last_event(connection)

    def trim(self, upto: int) -> None:
        """Remove the changes of turns up to this number: who follows them has applied them."""
        with self._database.write() as connection:
            turns.trim(connection, upto)

    def trimmed(self) -> int:
        """The number up to which changes of turns were removed."""
        with self._database.read() as connection:
            return turns.trimmed(connection)
