"""Conversations and their epochs: who talks, which window it is, and which turn number comes next."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime

from openclaw_neuralstream.database import storable
from openclaw_neuralstream.model import Session, Turn
from openclaw_neuralstream.store import notes
from openclaw_neuralstream.store.codec import seconds

_WIPING = frozenset({"new", "reset", "idle", "daily", "deleted"})
"""Reasons of an end after which the host's context is gone; `shutdown` leaves it."""

_SAME_EVENT_SECONDS = 1.0

_NOTES = ("injected", "brief", "heard")
_NOTED_SECONDS = 90 * 86_400.0  # a session in which nothing was said for so long keeps no note


def current(connection: sqlite3.Connection, agent: str, key: str) -> Session | None:
    """The session in its present epoch; None when it was never seen."""
    row = connection.execute(
        "SELECT host_id, epoch FROM sessions WHERE agent = ? AND key = ?", (storable(agent), storable(key))
    ).fetchone()
    return Session(agent, key, row[0], row[1]) if row else None


def register(connection: sqlite3.Connection, agent: str, key: str, host_id: str, now: datetime) -> Session:
    """The session in its present epoch, made known when it is not; a host id that changed is remembered."""
    found = current(connection, agent, key)
    if found is None:
        connection.execute(
            "INSERT INTO sessions(agent, key, host_id, first_seen) VALUES (?, ?, ?, ?)",
            (storable(agent), storable(key), storable(host_id), seconds(now)),
        )
        return Session(agent, key, host_id)
    if host_id and host_id != found.host_id:
        connection.execute(
            "UPDATE sessions SET host_id = ? WHERE agent = ? AND key = ?",
            (storable(host_id), storable(agent), storable(key)),
        )
        return Session(agent, key, host_id, found.epoch)
    return found


def end(connection: sqlite3.Connection, agent: str, key: str, reason: str, now: datetime) -> Session:
    """Open the next epoch when the reason wipes the context; the same end heard twice opens one."""
    session = register(connection, agent, key, "", now)
    if reason not in _WIPING:
        return session
    ended_at, ended_turns, turns, briefed = connection.execute(
        "SELECT ended_at, ended_turns, turns, briefed FROM sessions WHERE agent = ? AND key = ?",
        (storable(agent), storable(key)),
    ).fetchone()
    untouched = not briefed and ended_turns == turns
    if ended_at is not None and untouched and abs(seconds(now) - ended_at) <= _SAME_EVENT_SECONDS:
        return session
    connection.execute(
        "UPDATE sessions SET epoch = epoch + 1, briefed = 0, ended_at = ?, ended_turns = turns"
        " WHERE agent = ? AND key = ?",
        (seconds(now), storable(agent), storable(key)),
    )
    return Session(agent, key, session.host_id, session.epoch + 1)


def briefed(connection: sqlite3.Connection, session: Session) -> bool:
    """Whether the session block of the present window has been shown; False for a session never seen."""
    row = connection.execute(
        "SELECT briefed FROM sessions WHERE agent = ? AND key = ?", (storable(session.agent), storable(session.key))
    ).fetchone()
    return bool(row and row[0])


def mark_briefed(connection: sqlite3.Connection, session: Session) -> None:
    """The session block of the present window has been shown."""
    connection.execute(
        "UPDATE sessions SET briefed = 1 WHERE agent = ? AND key = ?", (storable(session.agent), storable(session.key))
    )


def new_window(connection: sqlite3.Connection, agent: str, key: str) -> None:
    """The host compacted: what was shown is gone, the epoch stays."""
    connection.execute("UPDATE sessions SET briefed = 0 WHERE agent = ? AND key = ?", (storable(agent), storable(key)))


def noted(connection: sqlite3.Connection, session: Session, name: str) -> str:
    """The note of this name about a session; "" when there is none."""
    return notes.get(connection, _note(session, name))


def note(connection: sqlite3.Connection, session: Session, name: str, value: str, now: datetime) -> None:
    """Leave it; an empty value removes it. A session's first one takes along those of sessions that are long silent."""
    key = _note(session, name)
    if value and not notes.get(connection, key):
        connection.execute(
            """DELETE FROM meta WHERE key IN (
                SELECT n.value || ' ' || s.agent || ' ' || s.key FROM sessions s, json_each(?) n
                WHERE coalesce((SELECT t.at FROM turns t WHERE t.agent = s.agent AND t.key = s.key
                    ORDER BY t.epoch DESC, t.number DESC LIMIT 1), s.ended_at, s.first_seen) < ?)""",
            (json.dumps(_NOTES), seconds(now) - _NOTED_SECONDS),
        )
    notes.put(connection, key, value)


def drop_notes(connection: sqlite3.Connection, name: str) -> None:
    """Remove the notes of this name about every session."""
    connection.execute("DELETE FROM meta WHERE substr(key, 1, ?) = ?", (len(name) + 1, f"{name} "))


def _note(session: Session, name: str) -> str:
    return storable(f"{name} {session.agent} {session.key}")


def keys_of(connection: sqlite3.Connection, name: str) -> set[tuple[str, str]]:
    """(agent, key) of the sessions of this key, or of this id of the host's."""
    return set(connection.execute("SELECT agent, key FROM sessions WHERE key = ?1 OR host_id = ?1", (name,)))


def last_number(connection: sqlite3.Connection, agent: str, key: str) -> int:
    """The number of the session's last turn, over its epochs; 0 = none yet."""
    row = connection.execute(
        "SELECT turns FROM sessions WHERE agent = ? AND key = ?", (storable(agent), storable(key))
    ).fetchone()
    return int(row[0]) if row else 0


def number(connection: sqlite3.Connection, turn: Turn) -> int:
    """The turn's number: its own when it has one, else the next of its session, which is used up."""
    register(connection, turn.session.agent, turn.session.key, turn.session.host_id, turn.at)
    last = last_number(connection, turn.session.agent, turn.session.key)
    chosen = turn.index or last + 1
    if chosen > last:
        connection.execute(
            "UPDATE sessions SET turns = ? WHERE agent = ? AND key = ?",
            (chosen, storable(turn.session.agent), storable(turn.session.key)),
        )
    return chosen
