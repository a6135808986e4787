"""Vectors of gems in the memory file, kept apart by the embedder that made them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import EmbedderIdentity
from openclaw_neuralstream.ports import Vector

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


def get(connection: sqlite3.Connection, gem_ids: Sequence[str], identity: EmbedderIdentity) -> dict[str, Vector]:
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


def count(connection: sqlite3.Connection, identity: EmbedderIdentity) -> int:
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
