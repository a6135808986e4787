"""What was forgotten and must not come back: salted digests of contents, never the contents."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from openclaw_neuralstream.model import Gem, Turn, digest
from openclaw_neuralstream.store import notes
from openclaw_neuralstream.store.codec import seconds

_SALT = "tombstone.salt"
_MINUTES = 2  # by which the clocks of two records of one turn may differ


def bury(connection: sqlite3.Connection, gem: Gem, at: datetime) -> None:
    """Remember that this gem was forgotten, by its content and by its id (an edited one has the id of what it was)."""
    connection.executemany(
        "INSERT INTO tombstones(digest, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(mark, seconds(at)) for mark in _marks(connection, gem)],
    )


def lift(connection: sqlite3.Connection, gem: Gem) -> None:
    """Let this gem in again: a person asked for it anew."""
    connection.executemany("DELETE FROM tombstones WHERE digest = ?", [(mark,) for mark in _marks(connection, gem)])


def is_buried(connection: sqlite3.Connection, gem: Gem) -> bool:
    """True when a gem of the same content and scope, or of the same id, was forgotten."""
    if not _any(connection):
        return False
    found = connection.execute("SELECT 1 FROM tombstones WHERE digest IN (?, ?)", _marks(connection, gem)).fetchone()
    return found is not None


def bury_content(connection: sqlite3.Connection, gem: Gem, contents: Sequence[str], at: datetime) -> None:
    """Remember every wording of a forgotten gem."""
    for content in contents:
        bury(connection, replace(gem, content=content), at)


def bury_turn(connection: sqlite3.Connection, turn: Turn, at: datetime) -> None:
    """Remember that what this turn said was forgotten, whichever id another record of it has."""
    marks = {_turn_mark(connection, turn, 0)} if _words_of(turn) else set()
    connection.executemany(
        "INSERT INTO tombstones(digest, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(mark, seconds(at)) for mark in marks],
    )


def is_turn_buried(connection: sqlite3.Connection, turn: Turn) -> bool:
    """True when the same words, said in the same conversation within the same minutes, were forgotten."""
    if not _any(connection) or not _words_of(turn):
        return False
    marks = [_turn_mark(connection, turn, by) for by in range(-_MINUTES, _MINUTES + 1)]
    asked = ", ".join("?" * len(marks))
    return connection.execute(f"SELECT 1 FROM tombstones WHERE digest IN ({asked})", marks).fetchone() is not None  # noqa: S608


def _words_of(turn: Turn) -> str:
    """What people said in it: the answer to it may be recorded in other ways."""
    said = [u.text for u in turn.utterances if u.speaker in ("owner", "third-party")] or [
        u.text for u in turn.utterances
    ]
    return " ".join("\n".join(said).casefold().split())


def _turn_mark(connection: sqlite3.Connection, turn: Turn, by: int) -> str:
    minute = str(int(seconds(turn.at) // 60) + by)
    return digest(_salt(connection), "turn", turn.session.agent, turn.session.key, _words_of(turn), minute)


def _any(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is not None


def _marks(connection: sqlite3.Connection, gem: Gem) -> tuple[str, str]:
    """Salted per file, so that a stolen file does not confirm a guess about what was in it elsewhere."""
    salt = _salt(connection)
    content = " ".join(gem.content.casefold().split()).rstrip(".!?。！？ ")
    return digest(salt, gem.scope.agent, gem.scope.user, content), digest(salt, gem.gem_id)


def _salt(connection: sqlite3.Connection) -> str:
    salt = notes.get(connection, _SALT)
    if not salt:
        salt = secrets.token_hex(16)
        notes.put(connection, _SALT, salt)
    return salt
