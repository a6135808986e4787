"""Tags of notes and facts that have none: inferred elsewhere from their text, kept here apart from those that were written."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from openclaw_neuralstream.notes.codec import from_json
from openclaw_neuralstream.notes.search import as_json


def pending(connection: sqlite3.Connection, version: str, limit: int) -> dict[str, str]:
    """Ids and texts of some without a tag for which this version of what is known has not been asked, the newest first."""
    rows = connection.execute(
        "SELECT e.name, b.body FROM entries e JOIN bodies b USING (entry_id)"
        " WHERE NOT EXISTS (SELECT 1 FROM tagged t WHERE t.entry_id = e.entry_id)"
        " AND NOT EXISTS (SELECT 1 FROM looked l WHERE l.entry_id = e.entry_id AND l.version = ?)"
        " ORDER BY e.entry_id DESC LIMIT ?",
        (version, limit),
    ).fetchall()
    return {name: from_json(body).text for name, body in rows}


def put(connection: sqlite3.Connection, version: str, found: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Keep the tags that were inferred, (key, name) by id, in the place of earlier ones; ids that are gone are passed over."""
    for name, marks in found.items():
        row = connection.execute("SELECT entry_id FROM entries WHERE name = ?", (name,)).fetchone()
        if row is None:
            continue
        connection.execute("DELETE FROM inferred WHERE entry_id = ?", row)
        connection.execute("INSERT OR REPLACE INTO looked(entry_id, version) VALUES (?, ?)", (row[0], version))
        connection.executemany(
            "INSERT OR IGNORE INTO inferred(tag, entry_id, spelling) VALUES (?, ?, ?)",
            [(key, row[0], spelling) for key, spelling in marks],
        )


def of(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The inferred tags of these, as they are written; those without any are left out."""
    rows = connection.execute(
        "SELECT e.name, i.spelling FROM json_each(?) j CROSS JOIN entries e ON e.name = j.value"
        " CROSS JOIN inferred i ON i.entry_id = e.entry_id ORDER BY i.spelling",
        (as_json(ids),),
    ).fetchall()
    found: dict[str, tuple[str, ...]] = {}
    for name, spelling in rows:
        found[name] = (*found.get(name, ()), spelling)
    return found


def counts(connection: sqlite3.Connection) -> dict[str, tuple[str, int]]:
    """Each inferred tag's key, how it is written, and for how many notes and facts it was inferred."""
    rows = connection.execute("SELECT tag, MIN(spelling), COUNT(*) FROM inferred GROUP BY tag").fetchall()
    return {tag: (spelling, count) for tag, spelling, count in rows}
