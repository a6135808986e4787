"""Turns of the truth: kept, changed, by session."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import structlog

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Backlog, Batch, Session, Trigger, Turn
from openclaw_neuralstream.store import batches, labels
from openclaw_neuralstream.store.database import storable
from openclaw_neuralstream.store.schema import (
    CLAIMED,
    DAMAGED,
    DEAD,
    EXTRACTED,
    OPEN,
    QUEUED,
    WAITING,
    batch_id_of,
    from_seconds,
    seconds,
    turn_from_bytes,
    turn_to_bytes,
)
from openclaw_neuralstream.text.traces import GAP, missing, without, worth

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
    return labels.get(connection, _note(session, name))


def note(connection: sqlite3.Connection, session: Session, name: str, value: str, now: datetime) -> None:
    """Leave it; an empty value removes it. A session's first one takes along those of sessions that are long silent."""
    key = _note(session, name)
    if value and not labels.get(connection, key):
        connection.execute(
            """DELETE FROM meta WHERE key IN (
                SELECT n.value || ' ' || s.agent || ' ' || s.key FROM sessions s, json_each(?) n
                WHERE coalesce((SELECT t.at FROM turns t WHERE t.agent = s.agent AND t.key = s.key
                    ORDER BY t.epoch DESC, t.number DESC LIMIT 1), s.ended_at, s.first_seen) < ?)""",
            (json.dumps(_NOTES), seconds(now) - _NOTED_SECONDS),
        )
    labels.put(connection, key, value)


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
    _write(connection, replace(turn, index=number(connection, turn)), state, batch_id)


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
    known = current(connection, agent, key)
    return known.host_id if known else ""


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


def read_kept(connection: sqlite3.Connection, turn_ids: Sequence[str]) -> list[tuple[str, Turn | None, int]]:
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
        labels.put(connection, TRIMMED, str(upto))


def trimmed(connection: sqlite3.Connection) -> int:
    """The number up to which changes were removed; an index that has seen fewer must look at every turn."""
    return int(labels.get(connection, TRIMMED) or "0")


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
