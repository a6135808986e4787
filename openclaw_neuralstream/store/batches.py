"""Batches: who holds a lease, which one stored its gems, and which ones were set aside as dead letters."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from datetime import datetime

from openclaw_neuralstream.model import Batch, ExtractorIdentity, Session
from openclaw_neuralstream.store.database import storable
from openclaw_neuralstream.store.schema import CLAIMED, DEAD, WAITING, from_seconds, seconds


@dataclass(frozen=True, slots=True)
class DeadBatch:
    """A batch whose answers were refused too often; its turns are kept until it is revived."""

    batch_id: str
    session: Session
    turns: int
    reason: str
    at: datetime
    attempts: int


@dataclass(frozen=True, slots=True)
class BatchRow:
    """What became of a batch. state: claimed, released, stored, dead or undone."""

    batch_id: str
    session: Session
    trigger: str
    state: str
    turns: int
    gems: int
    attempts: int
    reason: str
    at: datetime


def claimed(connection: sqlite3.Connection, batch: Batch, now: datetime) -> int:
    """Note who holds the batch from now on; returns how often it has been claimed."""
    _upsert(connection, batch, now)
    connection.execute(
        "UPDATE batches SET state = 'claimed', token = ?, lease_until = ?, claims = claims + 1, \"trigger\" = ?, at = ?"
        " WHERE batch_id = ?",
        (batch.token, seconds(batch.lease_until), batch.trigger.value, seconds(now), batch.batch_id),
    )
    return int(connection.execute("SELECT claims FROM batches WHERE batch_id = ?", (batch.batch_id,)).fetchone()[0])


def holder(connection: sqlite3.Connection, batch_id: str) -> tuple[str, str]:
    """State and lease token of a batch; two empty words when it is unknown."""
    row = connection.execute("SELECT state, token FROM batches WHERE batch_id = ?", (batch_id,)).fetchone()
    return (row[0], row[1]) if row else ("", "")


def release(connection: sqlite3.Connection, batch_id: str) -> None:
    """Let go of the batch's turns; they wait again under their old numbers."""
    connection.execute(
        "UPDATE turns SET state = ?, batch_id = NULL WHERE batch_id = ? AND state = ?", (WAITING, batch_id, CLAIMED)
    )
    connection.execute("UPDATE batches SET state = 'released' WHERE batch_id = ? AND state = 'claimed'", (batch_id,))


def release_expired(connection: sqlite3.Connection, agent: str, key: str, now: datetime) -> None:
    """Let go of every claim of the session whose lease has run out."""
    rows = connection.execute(
        "SELECT batch_id FROM batches WHERE agent = ? AND key = ? AND state = 'claimed' AND lease_until <= ?",
        (agent, key, seconds(now)),
    ).fetchall()
    for (batch_id,) in rows:
        release(connection, batch_id)


def release_all(connection: sqlite3.Connection) -> int:
    """Let go of every claim; returns how many there were."""
    rows = connection.execute("SELECT batch_id FROM batches WHERE state = 'claimed'").fetchall()
    for (batch_id,) in rows:
        release(connection, batch_id)
    return len(rows)


def stored(connection: sqlite3.Connection, batch: Batch, gems: int, at: datetime) -> None:
    """The batch's gems are in; earlier claims of the session that came to nothing are dropped from the list."""
    _finish(connection, batch, "stored", at)
    connection.execute("UPDATE batches SET gems = ?, reason = '' WHERE batch_id = ?", (gems, batch.batch_id))
    connection.execute(
        "DELETE FROM batches WHERE agent = ? AND key = ? AND state = 'released' AND refused = 0",
        (storable(batch.session.agent), storable(batch.session.key)),
    )


@dataclass(frozen=True, slots=True)
class Made:
    """What a batch came to: who extracted it, and how many of its gems were new, said before, replaced others, dropped."""

    extractor: ExtractorIdentity
    new: int = 0
    same: int = 0
    replaced: int = 0
    dropped: int = 0


def note_made(connection: sqlite3.Connection, batch_id: str, made: Made) -> None:
    """Keep what it came to."""
    connection.execute(
        "INSERT OR REPLACE INTO made(batch_id, extractor, new, same, replaced, dropped) VALUES (?, ?, ?, ?, ?, ?)",
        (batch_id, json.dumps(asdict(made.extractor)), made.new, made.same, made.replaced, made.dropped),
    )


def made(connection: sqlite3.Connection, batch_id: str) -> Made | None:
    """What it came to; None before it was stored, and for one of an older version."""
    row = connection.execute(
        "SELECT extractor, new, same, replaced, dropped FROM made WHERE batch_id = ?", (batch_id,)
    ).fetchone()
    return Made(ExtractorIdentity(**json.loads(row[0])), *row[1:]) if row else None


def undone(connection: sqlite3.Connection, batch_id: str) -> None:
    """Its gems were taken back."""
    connection.execute("UPDATE batches SET state = 'undone', gems = 0 WHERE batch_id = ?", (batch_id,))


def find(connection: sqlite3.Connection, prefix: str) -> list[BatchRow]:
    """The batches whose id begins so, two at most."""
    return _rows(connection, "WHERE batch_id >= ? AND batch_id < ? LIMIT 2", (prefix, prefix + "\U0010ffff"))


def turn_ids(connection: sqlite3.Connection, batch_id: str) -> list[str]:
    """The turns it holds, in their order."""
    rows = connection.execute("SELECT turn_id FROM turns WHERE batch_id = ? ORDER BY number, seq", (batch_id,))
    return [turn_id for (turn_id,) in rows.fetchall()]


def refusals(connection: sqlite3.Connection, batch_id: str) -> list[tuple[datetime, str]]:
    """When its answers were refused, and why; oldest first."""
    rows = connection.execute("SELECT at, reason FROM refusals WHERE batch_id = ? ORDER BY at, rowid", (batch_id,))
    return [(from_seconds(at), reason) for at, reason in rows.fetchall()]


def buried(connection: sqlite3.Connection, batch: Batch, reason: str, at: datetime) -> None:
    """The batch is a dead letter from now on."""
    _finish(connection, batch, "dead", at)
    connection.execute("UPDATE batches SET reason = ? WHERE batch_id = ?", (storable(reason), batch.batch_id))


def refused(connection: sqlite3.Connection, batch: Batch, reason: str, at: datetime) -> int:
    """Count a refused answer; returns how many there were."""
    _upsert(connection, batch, at)
    connection.execute(
        "UPDATE batches SET refused = refused + 1, reason = ? WHERE batch_id = ?", (storable(reason), batch.batch_id)
    )
    connection.execute(
        "INSERT INTO refusals(batch_id, at, reason) VALUES (?, ?, ?)", (batch.batch_id, seconds(at), storable(reason))
    )
    return attempts(connection, batch.batch_id)


def attempts(connection: sqlite3.Connection, batch_id: str) -> int:
    """How often an answer for this batch was refused."""
    row = connection.execute("SELECT refused FROM batches WHERE batch_id = ?", (batch_id,)).fetchone()
    return int(row[0]) if row else 0


def dead(connection: sqlite3.Connection) -> list[DeadBatch]:
    """The dead letters, oldest first."""
    return [
        DeadBatch(row.batch_id, row.session, row.turns, row.reason, row.at, row.attempts)
        for row in _rows(connection, "WHERE state = 'dead' ORDER BY at, batch_id", ())
    ]


def revive(connection: sqlite3.Connection, batch_id: str) -> bool:
    """Put a dead letter's turns back among the waiting ones. False when there is no such dead letter."""
    changed = connection.execute(
        "UPDATE batches SET state = 'released', refused = 0, reason = '' WHERE batch_id = ? AND state = 'dead'",
        (batch_id,),
    )
    if not changed.rowcount:
        return False
    connection.execute(
        "UPDATE turns SET state = ?, batch_id = NULL WHERE batch_id = ? AND state = ?", (WAITING, batch_id, DEAD)
    )
    return True


def latest(connection: sqlite3.Connection, limit: int) -> list[BatchRow]:
    """The newest batches first."""
    return _rows(connection, "ORDER BY at DESC, batch_id LIMIT ?", (limit,))


def _finish(connection: sqlite3.Connection, batch: Batch, state: str, at: datetime) -> None:
    _upsert(connection, batch, at)
    connection.execute(
        "UPDATE batches SET state = ?, at = ?, turns = ? WHERE batch_id = ?",
        (state, seconds(at), len(batch.turns), batch.batch_id),
    )


def _upsert(connection: sqlite3.Connection, batch: Batch, at: datetime) -> None:
    """The row of the batch, made when it is not there (a batch claimed from another buffer)."""
    session = batch.session
    connection.execute(
        """
        INSERT INTO batches(batch_id, agent, key, host_id, epoch, "trigger", state, token, lease_until, turns, at)
        VALUES (?, ?, ?, ?, ?, ?, 'released', ?, ?, ?, ?) ON CONFLICT(batch_id) DO NOTHING
        """,
        (
            batch.batch_id,
            storable(session.agent),
            storable(session.key),
            storable(session.host_id),
            session.epoch,
            batch.trigger.value,
            batch.token,
            seconds(batch.lease_until),
            len(batch.turns),
            seconds(at),
        ),
    )


def _rows(connection: sqlite3.Connection, rest: str, parameters: tuple[int | str, ...]) -> list[BatchRow]:
    columns = 'batch_id, agent, key, host_id, epoch, "trigger", state, turns, gems, refused, reason, at'
    rows = connection.execute(f"SELECT {columns} FROM batches {rest}", parameters).fetchall()  # noqa: S608 - our words
    return [
        BatchRow(row[0], Session(*row[1:5]), row[5], row[6], row[7], row[8], row[9], row[10], from_seconds(row[11]))
        for row in rows
    ]
