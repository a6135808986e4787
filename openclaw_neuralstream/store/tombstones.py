"""What was forgotten and must not come back: salted digests of contents, never the contents."""

from __future__ import annotations

import secrets
import sqlite3
from datetime import datetime

from openclaw_neuralstream.model import Gem, digest
from openclaw_neuralstream.store import notes
from openclaw_neuralstream.store.codec import seconds

_SALT = "tombstone.salt"


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


def _any(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is not None


def _marks(connection: sqlite3.Connection, gem: Gem) -> tuple[str, str]:
    """Salted per file, so that a stolen file does not confirm a guess about what was in it elsewhere."""
    salt = notes.get(connection, _SALT)
    if not salt:
        salt = secrets.token_hex(16)
        notes.put(connection, _SALT, salt)
    content = " ".join(gem.content.casefold().split()).rstrip(".!?。！？ ")
    return digest(salt, gem.scope.agent, gem.scope.user, content), digest(salt, gem.gem_id)
