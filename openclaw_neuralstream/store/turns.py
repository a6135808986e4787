"""Turns in the memory file: accepted once, claimed in batches, kept verbatim after their gems are stored."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from openclaw_neuralstream.database import storable
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Backlog, Batch, Session, Trigger, Turn
from openclaw_neuralstream.store import batches, sessions
from openclaw_neuralstream.store.codec import (
    batch_id_of,
    from_seconds,
    seconds,
    turn_from_bytes,
    turn_to_bytes,
)
from openclaw_neuralstream.store.schema import CLAIMED, DAMAGED, EXTRACTED, OPEN, QUEUED, WAITING
from openclaw_neuralstream.traces import GAP, missing, without, worth

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TurnRow:
    """Where and when a turn was said."""

    turn_id: str
    agent: str
    key: str
    epoch: int
    at: datetime


def rows(connection: sqlite3.Connection) -> list[TurnRow]:
    """Every turn whose text is here, without the text, oldest first."""
    found = connection.execute(
        "SELECT turn_id, agent, key, epoch, at FROM turns JOIN bodies USING (seq) ORDER BY seq"
    ).fetchall()
    return [TurnRow(turn_id, agent, key, epoch, from_seconds(at)) for turn_id, agent, key, epoch, at in found]


def append(connection: sqlite3.Connection, turn: Turn) -> bool:
    """Keep a turn as waiting. False when its id was accepted before, whatever became of it.

    It takes the place of its own beginning, and of the copy that is kept while another buffer has it. Where the beginning
    was taken in for a turn of its own, the rest is added to that: True, too.
    """
    return _take(connection, turn, WAITING, instead_of=(OPEN, QUEUED))


def queued(connection: sqlite3.Connection, turn: Turn) -> bool:
    """Keep a copy of a turn that waits in another buffer, as `append` does; False when it is known."""
    return _take(connection, turn, QUEUED, instead_of=(OPEN,))


def begin(connection: sqlite3.Connection, turn: Turn) -> None:
    """Keep what is known of a turn that has not ended, without a number; nothing when its id is known."""
    if state_of(connection, turn.turn_id) is None:
        _write(connection, turn, OPEN)


def begun(connection: sqlite3.Connection, agent: str, key: str) -> list[Turn]:
    """The turns of a session that began and have not ended, oldest first; key "": of every session."""
    here, place = ("AND agent = ? AND key = ?", (storable(agent), storable(key))) if key else ("", ())
    rows = connection.execute(
        f"SELECT seq FROM turns INDEXED BY turns_open WHERE state < 2 AND state = ? {here} ORDER BY at, seq",  # noqa: S608
        (OPEN, *place),
    ).fetchall()
    return [turn for (seq,) in rows if (turn := _read(connection, seq)) is not None]


def as_left(connection: sqlite3.Connection, turn: Turn) -> Turn:
    """The turn without what was cut out of its beginning, or of the turn made of that, since it was kept.

    What is missing there is cut out of all that is said in it. Where the words cannot be found again, what people said
    in it is what is kept: nothing forgotten comes back for want of a match.
    """
    kept = [said for before in read(connection, [turn.turn_id]) for said in before.utterances]
    left = {said.text for said in kept}
    speakers = {said.speaker for said in kept}
    pieces: list[str] = []
    for cut in (said for said in kept if GAP in said.text):
        said_by = [said for said in turn.utterances if said.speaker == cut.speaker and said.text not in left]
        found = [piece for said in said_by for piece in missing(said.text, cut.text)]
        if not found and cut.text not in {said.text for said in turn.utterances}:
            return replace(turn, utterances=(*kept, *(u for u in turn.utterances if u.speaker not in speakers)))
        pieces += found
    if not pieces:
        return turn
    own, elsewhere = pieces, worth(pieces)
    rest = (replace(u, text=without(u.text, own if u.speaker in speakers else elsewhere)) for u in turn.utterances)
    return replace(turn, utterances=tuple(rest))


def take_over(connection: sqlite3.Connection) -> None:
    """Turns that wait in another buffer wait here."""
    connection.execute(
        "UPDATE turns INDEXED BY turns_open SET state = ? WHERE state < 2 AND state = ?", (WAITING, QUEUED)
    )


def _take(connection: sqlite3.Connection, turn: Turn, state: int, *, instead_of: tuple[int, ...]) -> bool:
    known = state_of(connection, turn.turn_id)
    if known and known[0] not in instead_of:
        return _completed(connection, turn)
    _delete(connection, turn.turn_id)
    insert(connection, turn, state)
    return True


def _completed(connection: sqlite3.Connection, turn: Turn) -> bool:
    """Add the answer to a turn that was taken in without one, in its place; False when there is nothing to add."""
    kept = read(connection, [turn.turn_id])
    if not kept or not turn.completes(kept[0]):
        return False
    connection.execute(
        "UPDATE bodies SET body = ? WHERE seq = (SELECT seq FROM turns WHERE turn_id = ?)",
        (turn_to_bytes(replace(kept[0], utterances=turn.utterances)), turn.turn_id),
    )
    return True


def insert(connection: sqlite3.Connection, turn: Turn, state: int, batch_id: str | None = None) -> None:
    """Write a turn that is not here yet, numbered."""
    _write(connection, replace(turn, index=sessions.number(connection, turn)), state, batch_id)


def _write(connection: sqlite3.Connection, turn: Turn, state: int, batch_id: str | None = None) -> None:
    session = turn.session
    seq = connection.execute(
        "INSERT INTO turns(turn_id, agent, key, epoch, number, at, state, batch_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            turn.turn_id,
            storable(session.agent),
            storable(session.key),
            session.epoch,
            turn.index,
            seconds(turn.at),
            state,
            batch_id,
        ),
    ).lastrowid
    connection.execute("INSERT INTO bodies(seq, body) VALUES (?, ?)", (seq, turn_to_bytes(turn)))


def _delete(connection: sqlite3.Connection, turn_id: str) -> None:
    connection.execute("DELETE FROM bodies WHERE seq = (SELECT seq FROM turns WHERE turn_id = ?)", (turn_id,))
    connection.execute("DELETE FROM turns WHERE turn_id = ?", (turn_id,))


def claim(
    connection: sqlite3.Connection, session: Session, *, limit: int, lease: timedelta, now: datetime, trigger: Trigger
) -> Batch | None:
    """The oldest waiting turns of one epoch as a batch under a lease; a lease that has run out counts for nothing."""
    place = (storable(session.agent), storable(session.key))
    batches.release_expired(connection, *place, now)
    turns: list[Turn] = []
    while not turns:
        rows = _oldest(connection, place, limit)
        if not rows:
            return None
        turns = _readable(connection, rows)
    batch = Batch(
        batch_id=batch_id_of([turn.turn_id for turn in turns]),
        session=turns[0].session,
        turns=tuple(turns),
        token=secrets.token_hex(8),
        lease_until=now + lease,
        trigger=trigger,
    )
    connection.executemany(
        "UPDATE turns SET state = ?, batch_id = ? WHERE turn_id = ?",
        [(CLAIMED, batch.batch_id, turn.turn_id) for turn in turns],
    )
    return replace(batch, attempt=batches.claimed(connection, batch, now))


def settle(connection: sqlite3.Connection, batch: Batch, state: int) -> None:
    """Give the batch's turns this final state; those that came from elsewhere are written here first.

    Only turns that are work still change: what another batch extracted, or a person forgot, stays as it is.
    """
    for turn in batch.turns:
        known = state_of(connection, turn.turn_id)
        if known and known[0] == OPEN:  # all of it came by another buffer
            _delete(connection, turn.turn_id)
        if not known or known[0] == OPEN:
            insert(connection, turn, state, batch.batch_id)
        connection.execute(
            "UPDATE turns SET state = ?, batch_id = ? WHERE turn_id = ? AND state IN (?, ?, ?)",
            (state, batch.batch_id, turn.turn_id, WAITING, CLAIMED, QUEUED),
        )


def remove(connection: sqlite3.Connection, batch: Batch) -> None:
    """The batch's turns are no work here any more: another buffer has them, and they may come back."""
    connection.executemany(
        "UPDATE turns SET state = ?, batch_id = NULL WHERE turn_id = ? AND state = ?",
        [(QUEUED, turn.turn_id, CLAIMED) for turn in batch.turns],
    )
    connection.execute("DELETE FROM batches WHERE batch_id = ?", (batch.batch_id,))


def state_of(connection: sqlite3.Connection, turn_id: str) -> tuple[int, str] | None:
    """State and batch of a turn; None when it was never here."""
    row = connection.execute("SELECT state, batch_id FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
    return (row[0], row[1] or "") if row else None


def final(connection: sqlite3.Connection, turn_ids: Sequence[str]) -> set[str]:
    """Those of the turns that are no work any more: extracted, dead, forgotten or unreadable."""
    found = ((turn_id, state_of(connection, turn_id)) for turn_id in turn_ids)
    return {turn_id for turn_id, known in found if known and known[0] not in (WAITING, CLAIMED, OPEN, QUEUED)}


def stats(connection: sqlite3.Connection, now: datetime) -> list[Backlog]:
    """What waits for each session, oldest first; turns whose lease has run out count as waiting."""
    rows = connection.execute(
        """
        SELECT t.agent, t.key, min(t.epoch),
               sum(t.state = ?1 OR coalesce(b.lease_until, 0) <= ?2), count(*), min(t.at), max(t.at)
        FROM turns t LEFT JOIN batches b ON b.batch_id = t.batch_id AND b.state = 'claimed'
        WHERE t.state < 2 AND t.state >= 0 GROUP BY t.agent, t.key ORDER BY min(t.at), min(t.seq)
        """,
        (WAITING, seconds(now)),
    ).fetchall()
    return [
        Backlog(
            Session(agent, key, _host_id(connection, agent, key), epoch),
            waiting,
            count - waiting,
            from_seconds(oldest),
            from_seconds(newest),
        )
        for agent, key, epoch, waiting, count, oldest, newest in rows
    ]


def newest(connection: sqlite3.Connection) -> datetime | None:
    """When the turn that came last was said; turns of the past that were taken in later do not count."""
    row = connection.execute("SELECT at FROM turns WHERE epoch >= 0 ORDER BY seq DESC LIMIT 1").fetchone()
    return from_seconds(row[0]) if row else None


def waiting(connection: sqlite3.Connection, agent: str, limit: int) -> list[Turn]:
    """The last turns of an agent, in whatever session, that nothing was made from yet; newest first."""
    rows = connection.execute(
        "SELECT seq FROM turns WHERE agent = ? AND state < 2 AND state <> ? AND epoch >= 0 ORDER BY seq DESC LIMIT ?",
        (storable(agent), OPEN, limit),
    ).fetchall()
    return [turn for (seq,) in rows if (turn := _read(connection, seq)) is not None]


def of_session(connection: sqlite3.Connection, agent: str, key: str) -> list[Turn]:
    """All turns of a session whose text is here, over its epochs, oldest first."""
    rows = connection.execute(
        "SELECT seq FROM turns WHERE agent = ? AND key = ? AND state <> ? ORDER BY epoch, number, seq",
        (storable(agent), storable(key), OPEN),
    ).fetchall()
    return [turn for (seq,) in rows if (turn := _read(connection, seq)) is not None]


def history(connection: sqlite3.Connection, session: Session, before: Turn, limit: int) -> list[Turn]:
    """The last `limit` extracted turns of the same epoch that come before this one, oldest first."""
    own = connection.execute("SELECT number FROM turns WHERE turn_id = ?", (before.turn_id,)).fetchone()
    number = own[0] if own else before.index
    rows = connection.execute(
        """
        SELECT seq, turn_id FROM turns
        WHERE agent = ? AND key = ? AND epoch = ? AND state = ? AND (? = 0 OR number < ?) AND turn_id <> ?
        ORDER BY number DESC, seq DESC LIMIT ?
        """,
        (
            storable(session.agent),
            storable(session.key),
            session.epoch,
            EXTRACTED,
            number,
            number,
            before.turn_id,
            limit,
        ),
    ).fetchall()
    return [turn for seq, _ in reversed(rows) if (turn := _read(connection, seq)) is not None]


def read(connection: sqlite3.Connection, turn_ids: Iterable[str]) -> list[Turn]:
    """The turns of these ids in this order; unknown, forgotten and unreadable ones are left out."""
    rows = connection.execute(
        "SELECT b.body FROM json_each(?) j CROSS JOIN turns t ON t.turn_id = j.value CROSS JOIN bodies b ON b.seq = t.seq"
        " ORDER BY j.key",
        (json.dumps(list(turn_ids)),),
    ).fetchall()
    return [turn for (body,) in rows if (turn := _readable_body(body)) is not None]


def after(connection: sqlite3.Connection, seq: int, limit: int) -> list[tuple[int, Turn]]:
    """The next turns behind this number that can be read, waiting ones included, in the order in which they came."""
    rows = connection.execute(
        "SELECT seq FROM bodies JOIN turns USING (seq) WHERE seq > ? AND state <> ? ORDER BY seq LIMIT ?",
        (seq, OPEN, limit),
    ).fetchall()
    return [(seq, turn) for (seq,) in rows if (turn := _read(connection, seq)) is not None]


def known(connection: sqlite3.Connection, turn_ids: Sequence[str]) -> set[str]:
    """Those of the turns whose ids were ever accepted here, whatever became of them."""
    return {turn_id for turn_id in turn_ids if state_of(connection, turn_id)}


def around(connection: sqlite3.Connection, session: Session, at: datetime, within: timedelta) -> list[Turn]:
    """The turns of a session, over its epochs, that were said at most so long before or after."""
    middle, reach = seconds(at), within.total_seconds()
    rows = connection.execute(
        "SELECT seq FROM turns WHERE agent = ? AND key = ? AND at BETWEEN ? AND ?",
        (storable(session.agent), storable(session.key), middle - reach, middle + reach),
    ).fetchall()
    return [turn for (seq,) in rows if (turn := _read(connection, seq)) is not None]


def _oldest(connection: sqlite3.Connection, place: tuple[str, str], limit: int) -> list[tuple[int, str]]:
    return connection.execute(
        """
        SELECT seq, turn_id FROM turns INDEXED BY turns_open
        WHERE agent = ?1 AND key = ?2 AND state < 2 AND state = ?3 AND epoch = (
            SELECT min(epoch) FROM turns INDEXED BY turns_open
            WHERE agent = ?1 AND key = ?2 AND state < 2 AND state = ?3)
        ORDER BY number, seq LIMIT ?4
        """,
        (*place, WAITING, limit),
    ).fetchall()


def _readable(connection: sqlite3.Connection, rows: list[tuple[int, str]]) -> list[Turn]:
    """The turns of these rows; one that does not read back is put into quarantine, so that it blocks nobody."""
    turns = []
    for seq, turn_id in rows:
        turn = _read(connection, seq)
        if turn is not None and turn.turn_id == turn_id:
            turns.append(turn)
            continue
        connection.execute("UPDATE turns SET state = ? WHERE seq = ?", (DAMAGED, seq))
        connection.execute(
            "INSERT INTO quarantine(kind, id, body, reason)"
            " SELECT 'turn', ?, body, 'does not read back' FROM bodies WHERE seq = ?",
            (turn_id, seq),
        )
        connection.execute("DELETE FROM bodies WHERE seq = ?", (seq,))
        log.error("turn.quarantined", turn=turn_id)
    return turns


def _read(connection: sqlite3.Connection, seq: int) -> Turn | None:
    row = connection.execute("SELECT body FROM bodies WHERE seq = ?", (seq,)).fetchone()
    return None if row is None else _readable_body(row[0])


def _readable_body(body: bytes) -> Turn | None:
    try:
        return turn_from_bytes(bytes(body))
    except (BadRequest, TypeError, ValueError):
        return None


def _host_id(connection: sqlite3.Connection, agent: str, key: str) -> str:
    known = sessions.current(connection, agent, key)
    return known.host_id if known else ""
