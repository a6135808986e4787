"""Turns that were taken in and whose text is kept: the evidence that the turns' index follows, event by event."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Turn
from openclaw_neuralstream.store import notes
from openclaw_neuralstream.store.codec import turn_from_bytes
from openclaw_neuralstream.store.schema import CLAIMED, DEAD, EXTRACTED, QUEUED, WAITING

CHANGED = "turn"
"""The action of an event whose id is a turn's: its text or its state is another one now."""

_IN = (WAITING, CLAIMED, EXTRACTED, DEAD, QUEUED)
"""The states of a turn that was taken in, extracted or not; one that has not ended is in the window still."""

TRIMMED = "turns.trimmed"
"""The note of the number up to which changes were removed."""

_NOTE = f"INSERT INTO events(gem_id, action, at) SELECT turn_id, '{CHANGED}', strftime('%s', 'now') FROM turns WHERE"  # noqa: S608


_REPLACED_BY = (  # whether the gem that replaced this one began by that day; one that is not there any more did
    "g.superseded AND coalesce((SELECT substr(coalesce(n.body ->> '$.valid_from', n.body ->> '$.created_at'), 1, 10) <= ?1"
    " FROM gems n WHERE n.gem_id = g.body ->> '$.superseded_by' AND json_valid(n.body)), 1)"
)


def _on_bodies(verb: str, row: str) -> str:
    return (
        f"CREATE TEMP TRIGGER IF NOT EXISTS kept_{verb.lower()} AFTER {verb} ON bodies"
        f" BEGIN {_NOTE} seq = {row}.seq AND state IN {_IN}; END"
    )


_ON_STATE = (
    "CREATE TEMP TRIGGER IF NOT EXISTS kept_state AFTER UPDATE OF state ON turns"
    f" WHEN (new.state IN {_IN}) <> (old.state IN {_IN})"
    f" BEGIN {_NOTE} seq = new.seq; END"
)
_ON_BATCH = (
    "CREATE TEMP TRIGGER IF NOT EXISTS kept_batch AFTER UPDATE OF state ON batches"
    " WHEN new.state <> old.state AND 'undone' IN (new.state, old.state)"
    f" BEGIN {_NOTE} batch_id = new.batch_id AND state IN {_IN}; END"
)
_BODIES = (("INSERT", "new"), ("UPDATE", "new"), ("DELETE", "old"))
_TRIGGERS = (_ON_STATE, _ON_BATCH, *(_on_bodies(verb, row) for verb, row in _BODIES))

_KEPT = (
    f"t.state IN {_IN}"  # noqa: S608
    " AND NOT EXISTS (SELECT 1 FROM batches u WHERE u.batch_id = t.batch_id AND u.state = 'undone')"
)
"""What a batch that was taken back had said is no evidence any more; a dead letter's turns have nothing but their words."""


def follow(connection: sqlite3.Connection) -> None:
    """From now on every change of such a turn over this connection is an event, whatever code makes it."""
    for trigger in _TRIGGERS:
        connection.execute(trigger)


def sizes(connection: sqlite3.Connection) -> dict[str, int]:
    """Each such turn's id and how many bytes it has, in the order in which a conversation went."""
    rows = connection.execute(
        f"SELECT t.turn_id, length(b.body) FROM turns t JOIN bodies b USING (seq) WHERE {_KEPT}"  # noqa: S608
        " ORDER BY t.agent, t.key, t.epoch, t.number, t.seq"
    ).fetchall()
    return dict(rows)


def count(connection: sqlite3.Connection) -> int:
    """How many such turns there are."""
    query = f"SELECT count(*) FROM turns t JOIN bodies b USING (seq) WHERE {_KEPT}"  # noqa: S608
    return int(connection.execute(query).fetchone()[0])


def read(connection: sqlite3.Connection, turn_ids: Sequence[str]) -> list[tuple[str, Turn | None, int]]:
    """(id, turn, bytes) of those of the turns that are such, in the order of a conversation; None: it does not read."""
    rows = connection.execute(
        f"SELECT t.turn_id, b.body FROM turns t JOIN bodies b USING (seq) WHERE {_KEPT}"  # noqa: S608
        " AND t.turn_id IN (SELECT value FROM json_each(?)) ORDER BY t.agent, t.key, t.epoch, t.number, t.seq",
        (json.dumps(list(turn_ids)),),
    ).fetchall()
    return [(turn_id, _turn(turn_id, bytes(body)), len(body)) for turn_id, body in rows]


def outdated(
    connection: sqlite3.Connection, turn_ids: Sequence[str], at: datetime, *, then: bool = False
) -> dict[str, str]:
    """Those of the turns that say what holds no more: turn id → "superseded" or "expired".

    A turn of which one gem was replaced says the old thing still, whatever else it says; what else holds has its gem.
    What has only run out stays, as long as something of the turn holds. then: what was replaced after `at` held still.
    """
    rows = connection.execute(
        f"SELECT e.turn_id, {_REPLACED_BY if then else 'g.superseded'}, g.body ->> '$.valid_to'"  # noqa: S608  our own words
        " FROM evidence e JOIN gems g ON g.seq = e.gem"
        " WHERE e.turn_id IN (SELECT value FROM json_each(?2)) AND json_valid(g.body)",
        (at.date().isoformat(), json.dumps(list(turn_ids))),
    ).fetchall()
    found: dict[str, set[str]] = {}
    for turn_id, superseded, until in rows:
        why = "superseded" if superseded else "expired" if until and _moment(until) < at else ""
        found.setdefault(turn_id, set()).add(why)
    return {turn_id: max(whys) for turn_id, whys in found.items() if "superseded" in whys or "" not in whys}


def last_event(connection: sqlite3.Connection) -> int:
    """The number of the last event of any kind, those that were removed included; 0 = none yet."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
    return int(row[0]) if row else 0


def trim(connection: sqlite3.Connection, upto: int) -> None:
    """Remove the changes up to this number: the index has them."""
    span = (CHANGED, trimmed(connection), upto)
    if connection.execute("DELETE FROM events WHERE action = ? AND seq > ? AND seq <= ?", span).rowcount:
        notes.put(connection, TRIMMED, str(upto))


def trimmed(connection: sqlite3.Connection) -> int:
    """The number up to which changes were removed; an index that has seen fewer must look at every turn."""
    return int(notes.get(connection, TRIMMED) or "0")


def events(connection: sqlite3.Connection, after: int, limit: int) -> list[tuple[int, str]]:
    """(number, turn id) of the changes numbered above `after`, in order."""
    return connection.execute(
        "SELECT seq, gem_id FROM events WHERE seq > ? AND action = ? ORDER BY seq LIMIT ?", (after, CHANGED, limit)
    ).fetchall()


def _moment(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _turn(turn_id: str, body: bytes) -> Turn | None:
    try:
        turn = turn_from_bytes(body)
    except (BadRequest, TypeError, ValueError):
        return None
    return turn if turn.turn_id == turn_id else None
