"""Small facts of the memory file itself: named values and counters."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from openclaw_neuralstream.database import storable


def get(connection: sqlite3.Connection, key: str) -> str:
    """The value of a key; "" when it was never set."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def put(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Set a key; an empty value removes it."""
    if value:
        connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (key, storable(value)))
    else:
        connection.execute("DELETE FROM meta WHERE key = ?", (key,))


def put_once(connection: sqlite3.Connection, key: str, value: str) -> str:
    """Set a key that has no value yet; returns the value that it has."""
    connection.execute("INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT DO NOTHING", (key, value))
    return get(connection, key)


def add(connection: sqlite3.Connection, counts: Mapping[str, int]) -> None:
    """Add to the counters."""
    connection.executemany(
        "INSERT INTO counters(name, count) VALUES (?, ?)"
        " ON CONFLICT(name) DO UPDATE SET count = count + excluded.count",
        [(storable(name), by) for name, by in counts.items()],
    )


def counters(connection: sqlite3.Connection) -> dict[str, int]:
    """Every counter by name."""
    return dict(connection.execute("SELECT name, count FROM counters ORDER BY name").fetchall())
