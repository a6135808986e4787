"""What is stored meets newer rules of secrets: rows are rewritten without them, a bounded step at a time.

Redacting twice changes nothing, so a step that was interrupted is simply done again. The old bytes go with
`forgetting.scrub`: freed pages are overwritten as they are freed, the word index and the log are rewritten at the end.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from openclaw_neuralstream.clean import Found, clean_gem, clean_text, clean_turn
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.formats import gem_from_json
from openclaw_neuralstream.store import gems, words
from openclaw_neuralstream.store.codec import turn_from_bytes, turn_to_bytes

RULES = "secrets.rules"
"""The note of which rules all of the file was last looked through with."""

TURNS, GEMS, ROWS = "turns", "gems", "rows"
PLACES = (TURNS, GEMS, ROWS)
"""In this order: what was said, what was distilled, and every other text of the file (reasons, notes, quarantine)."""

_OWN_TABLES = frozenset(
    {"bodies", "gems", "turns", "vectors", "evidence", "events", "tombstones", "scopes", "counters", "labels"}
)
_OWN_NOTES = frozenset({"store.id", "tombstone.salt", "embedder", "secrets.rules", "scrub.cursor", "scrub.receipt"})
_PENDING = "INSERT OR REPLACE INTO meta(key, value) VALUES ('forget.pending', '1')"


@dataclass(slots=True)
class Scrubbed:
    """One step: how many rows were looked at and changed, what was found, the row to go on after (None = the end).

    vectors: ids of the gems whose content changed, and with it the meaning of their vector.
    """

    looked: int = 0
    changed: int = 0
    last: int | None = None
    found: Found = field(default_factory=Found)
    vectors: list[str] = field(default_factory=list)


def sizes(connection: sqlite3.Connection) -> dict[str, int]:
    """How many rows each place has; the last one is looked at in one step."""
    count = "SELECT count(*) FROM "
    return {
        TURNS: int(connection.execute(f"{count} bodies").fetchone()[0]),
        GEMS: int(connection.execute(f"{count} gems").fetchone()[0]),
        ROWS: 1,
    }


def step(
    connection: sqlite3.Connection, place: str, after: int, limit: int, *, at: datetime, write: bool = True
) -> Scrubbed:
    """Look at the next rows of a place and rewrite those that hold a secret; with write=False only look."""
    done = _STEPS[place](connection, after, limit, at, write)
    if done.changed and write:
        connection.execute(_PENDING)
    return done


def _turns(connection: sqlite3.Connection, after: int, limit: int, _at: datetime, write: bool) -> Scrubbed:  # noqa: FBT001
    rows = connection.execute(
        "SELECT seq, body FROM bodies WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
    ).fetchall()
    done = Scrubbed(looked=len(rows), last=rows[-1][0] if rows else None)
    for seq, body in rows:
        cleaned = clean_body(bytes(body), done.found)
        if cleaned == bytes(body):
            continue
        done.changed += 1
        if write:
            connection.execute("UPDATE bodies SET body = ? WHERE seq = ?", (cleaned, seq))
    return done


def clean_body(body: bytes, found: Found) -> bytes:
    """A stored turn without secrets; bytes that are no turn are taken as text."""
    try:
        turn = turn_from_bytes(body)
    except BadRequest:
        text = body.decode("utf-8", "surrogateescape")
        return clean_text(text, found).encode("utf-8", "surrogateescape")
    cleaned = clean_turn(turn, found)
    return body if cleaned is turn else turn_to_bytes(cleaned)


def _gems(connection: sqlite3.Connection, after: int, limit: int, at: datetime, write: bool) -> Scrubbed:  # noqa: FBT001
    rows = connection.execute(
        "SELECT seq, gem_id, body FROM gems WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
    ).fetchall()
    done = Scrubbed(looked=len(rows), last=rows[-1][0] if rows else None)
    for seq, gem_id, body in rows:
        try:
            gem = gem_from_json(json.loads(body))
        except (BadRequest, ValueError, TypeError, AttributeError):
            _loose(connection, ("gems", "body", "seq = ?", (seq,)), str(body), done, write=write)
            continue
        cleaned = clean_gem(gem, done.found)
        if cleaned is gem:
            continue
        done.changed += 1
        if cleaned.content != gem.content:
            done.vectors.append(gem_id)
        if write:
            gems.write(connection, cleaned, "scrubbed", at)
            words.delete(connection, seq)
            words.insert(connection, seq, cleaned)
            if cleaned.content != gem.content:
                connection.execute("DELETE FROM vectors WHERE gem = ?", (seq,))
    return done


def _rows(connection: sqlite3.Connection, _after: int, _limit: int, _at: datetime, write: bool) -> Scrubbed:  # noqa: FBT001
    done = Scrubbed(looked=1)
    for table, key in _tables(connection):
        names = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")').fetchall()]
        picked = ", ".join(f'"{name}"' for name in (*key, *names))
        where = " AND ".join(f'"{name}" = ?' if name != "rowid" else "rowid = ?" for name in key)
        for row in connection.execute(f'SELECT {picked} FROM "{table}"').fetchall():  # noqa: S608  names of our own tables
            if table == "meta" and row[0] in _OWN_NOTES:
                continue
            for name, value in zip(names, row[len(key) :], strict=True):
                if name not in key and isinstance(value, str | bytes):
                    _loose(connection, (table, name, where, row[: len(key)]), value, done, write=write)
    return done


def _loose(
    connection: sqlite3.Connection, cell: tuple[str, str, str, Any], value: str | bytes, done: Scrubbed, *, write: bool
) -> None:
    """Any text of a row: JSON is walked, bytes that are text are taken as text."""
    cleaned = _clean_value(value, done.found)
    if cleaned == value:
        return
    done.changed += 1
    if write:
        table, column, where, key = cell
        connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE {where}', (cleaned, *key))  # noqa: S608


def _clean_value(value: str | bytes, found: Found) -> str | bytes:
    if isinstance(value, bytes):
        try:
            return _clean_value(value.decode("utf-8", "surrogatepass"), found).encode("utf-8", "surrogatepass")  # type: ignore[union-attr]  # text in, text out
        except UnicodeDecodeError:
            return value  # no text: a vector, a number
    if value[:1] in ("{", "["):
        try:
            plain = json.loads(value)
        except ValueError:
            return clean_text(value, found)
        cleaned = clean_json(plain, found)
        return value if cleaned == plain else json.dumps(cleaned, ensure_ascii=False)
    return clean_text(value, found)


def clean_json(value: Any, found: Found) -> Any:
    """JSON with every text in it cleaned."""
    if isinstance(value, str):
        return clean_text(value, found)
    if isinstance(value, list):
        return [clean_json(item, found) for item in value]
    if isinstance(value, dict):
        return {name: clean_json(item, found) for name, item in value.items()}
    return value


def _tables(connection: sqlite3.Connection) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every other table and the columns that name a row of it; the word index and its parts are left out."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    for name, sql in found:
        if name in _OWN_TABLES or name.startswith(("sqlite_", "words")) or "VIRTUAL TABLE" in (sql or "").upper():
            continue
        if "WITHOUT ROWID" not in (sql or "").upper():
            yield name, ("rowid",)
            continue
        columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        yield name, tuple(row[1] for row in sorted(columns, key=lambda row: row[5]) if row[5])


_STEPS: dict[str, Callable[[sqlite3.Connection, int, int, datetime, bool], Scrubbed]] = {
    TURNS: _turns,
    GEMS: _gems,
    ROWS: _rows,
}
