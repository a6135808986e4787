"""Vectors of notes and facts: optional, half precision, compared one by one as long as they are few.

Full text serves without them. An exact scan of 20,000 vectors of 512 numbers takes about 2 ms once they are in memory;
beyond that only what the words found is compared.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from openclaw_neuralstream.model import Fact, Wanted
from openclaw_neuralstream.notes.codec import from_json
from openclaw_neuralstream.notes.search import as_json, condition
from openclaw_neuralstream.ports import Vector

MOST_FLAT = 20_000
"""Vectors that are all compared with a question."""

_CHARS = 1_000  # of a text that are embedded
_EMPTY = np.empty((0, 0), np.float32)


def count(connection: sqlite3.Connection, embedder: str) -> int:
    """How many vectors of this embedder there are; counted no further than a scan would go."""
    row = connection.execute(
        "SELECT COUNT(*) FROM (SELECT 1 FROM vectors WHERE embedder = ? LIMIT ?)", (embedder, MOST_FLAT + 1)
    ).fetchone()
    return int(row[0])


def missing(connection: sqlite3.Connection, embedder: str, limit: int) -> dict[str, str]:
    """What has no vector of this embedder: id and the text to embed, the newest first."""
    rows = connection.execute(
        "SELECT e.name, b.body FROM entries e JOIN bodies b USING (entry_id)"
        " WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.entry_id = e.entry_id AND v.embedder = ?)"
        " ORDER BY e.first DESC, e.sorting LIMIT ?",
        (embedder, limit),
    ).fetchall()
    return {name: _text(body) for name, body in rows}


def _text(body: str) -> str:
    entry = from_json(body)
    head = " ".join(entry.entities) if isinstance(entry, Fact) else entry.title
    return f"{head}: {entry.text}"[:_CHARS]


def put(connection: sqlite3.Connection, embedder: str, found: Mapping[str, Vector]) -> None:
    """Keep these vectors."""
    connection.executemany(
        "INSERT OR REPLACE INTO vectors SELECT entry_id, ?, ? FROM entries WHERE name = ?",
        [(embedder, np.asarray(vector, np.float16).tobytes(), name) for name, vector in found.items()],
    )
    connection.execute("UPDATE totals SET changes = changes + 1")


class Flat:
    """All vectors of an index in memory, read again when the index changes."""

    def __init__(self) -> None:
        self._state: tuple[object, str] = (None, "")
        self._names: list[str] = []
        self._matrix: NDArray[np.float32] = _EMPTY

    def near(
        self,
        connection: sqlite3.Connection,
        vector: Vector,
        *,
        state: object,
        embedder: str,
        wanted: Wanted,
        among: Sequence[str],
        limit: int,
    ) -> dict[str, float]:
        """Cosines of `among`, and of the nearest of all that are wanted."""
        rows = connection.execute(
            "SELECT e.name, v.vector FROM json_each(?) j CROSS JOIN entries e ON e.name = j.value"
            " CROSS JOIN vectors v ON v.entry_id = e.entry_id WHERE v.embedder = ?",
            (as_json(among), embedder),
        ).fetchall()
        found = {name: float(np.frombuffer(blob, np.float16).astype(np.float32) @ vector) for name, blob in rows}
        if count(connection, embedder) <= MOST_FLAT:
            self._load(connection, state, embedder)
            found |= self._nearest(connection, vector, wanted, limit)
        return found

    def _nearest(
        self,
        connection: sqlite3.Connection,
        vector: Vector,
        wanted: Wanted,
        limit: int,
    ) -> dict[str, float]:
        if not self._names:
            return {}
        scores = self._matrix @ vector
        order = np.lexsort((np.arange(len(scores)), -scores))
        chosen: list[int] = []
        start, size = 0, 4 * limit
        while start < len(order) and len(chosen) < limit:  # what is narrowed to a few days may lie far down
            chosen += self._admitted(connection, wanted, [int(i) for i in order[start : start + size]])
            start, size = start + size, 8 * size
        return {self._names[i]: float(scores[i]) for i in chosen[:limit]}

    def _admitted(self, connection: sqlite3.Connection, wanted: Wanted, rows: Sequence[int]) -> list[int]:
        """Those of these rows that are wanted, in their order."""
        where, values = condition(connection, wanted)
        names = as_json([self._names[i] for i in rows])
        found = connection.execute(
            f"SELECT e.name FROM json_each(?) j CROSS JOIN entries e ON e.name = j.value WHERE {where}",
            (names, *values),
        ).fetchall()
        admitted = {name for (name,) in found}
        return [i for i in rows if self._names[i] in admitted]

    def _load(self, connection: sqlite3.Connection, state: object, embedder: str) -> None:
        if self._state == (state, embedder):
            return
        rows = connection.execute(
            "SELECT e.name, v.vector FROM vectors v JOIN entries e USING (entry_id) WHERE v.embedder = ? ORDER BY e.name",
            (embedder,),
        ).fetchall()
        self._names = [name for name, _ in rows]
        joined = b"".join(blob for _, blob in rows)
        self._matrix = np.frombuffer(joined, np.float16).astype(np.float32).reshape(len(rows), -1) if rows else _EMPTY
        self._state = (state, embedder)
