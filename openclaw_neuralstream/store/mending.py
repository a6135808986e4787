"""Rows that were read out of a damaged memory file, made to fit together again."""

from __future__ import annotations

import json
import sqlite3

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Gem, Turn
from openclaw_neuralstream.store import gems, labels, schema
from openclaw_neuralstream.store.database import storable
from openclaw_neuralstream.store.schema import CLAIMED, DAMAGED, DEAD, EXTRACTED, WAITING, seconds, turn_from_bytes
from openclaw_neuralstream.text.lines import gem_from_json


def mend(connection: sqlite3.Connection) -> None:
    """Set aside what does not read, derive what was lost from what is left, make words and totals anew."""
    _mend_gems(connection)
    _find_turns_again(connection)
    _set_unreadable_turns_aside(connection)
    _free_turns_without_a_batch(connection)
    _count_sessions(connection)


def _mend_gems(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE scopes SET gems = 0, words = 0")
    for seq, gem_id, body in connection.execute("SELECT seq, gem_id, body FROM gems").fetchall():
        gem = _gem(body)
        if gem is None or gem.gem_id != gem_id:
            _set_aside(connection, "gem", gem_id, body)
            connection.execute("DELETE FROM gems WHERE seq = ?", (seq,))
            continue
        connection.execute("UPDATE gems SET scope_id = ? WHERE seq = ?", (gems.scope_id(connection, gem.scope), seq))
        gems.support(connection, seq, gem.evidence)
        schema.insert(connection, seq, gem)
        labels.put_labels(connection, seq, gem)
        if not gems.of_gem(connection, seq):  # lost: the gem itself is what was said
            at = gem.valid_from or gem.created_at
            gems.add(connection, seq, gem, batch_id=gem.batch, said_at=at, place=0, why="new")
            if gem.superseded_by:
                gems.link(connection, gem_id, gem.superseded_by, batch_id=gem.batch, why="kept", fixed=True)
    connection.execute("DELETE FROM statements WHERE gem NOT IN (SELECT seq FROM gems)")
    connection.execute("DELETE FROM evidence WHERE gem NOT IN (SELECT seq FROM gems)")
    connection.execute(
        "DELETE FROM vectors WHERE gem NOT IN (SELECT seq FROM gems)"
        " OR embedder_id NOT IN (SELECT embedder_id FROM embedders)"
    )


def _find_turns_again(connection: sqlite3.Connection) -> None:
    """A text whose turn is lost tells whose it was. Not known to be extracted, it waits: better twice than never."""
    rows = connection.execute("SELECT seq, body FROM bodies WHERE seq NOT IN (SELECT seq FROM turns)").fetchall()
    for seq, body in rows:
        turn = _turn(body)
        if turn is None or _is_known(connection, turn):
            _set_aside(connection, "body", str(seq), body)
            connection.execute("DELETE FROM bodies WHERE seq = ?", (seq,))
            continue
        state = EXTRACTED if _is_evidence(connection, turn) else WAITING
        session = turn.session
        connection.execute(
            "INSERT INTO turns(seq, turn_id, agent, key, epoch, number, at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                seq,
                turn.turn_id,
                storable(session.agent),
                storable(session.key),
                session.epoch,
                turn.index,
                seconds(turn.at),
                state,
            ),
        )


def _set_unreadable_turns_aside(connection: sqlite3.Connection) -> None:
    rows = connection.execute(
        "SELECT t.seq, t.turn_id, b.body FROM turns t LEFT JOIN bodies b USING (seq) WHERE t.state IN (?, ?)",
        (WAITING, CLAIMED),
    ).fetchall()
    for seq, turn_id, body in rows:
        if _turn(body) is None:
            _set_aside(connection, "turn", turn_id, body)
            connection.execute("UPDATE turns SET state = ? WHERE seq = ?", (DAMAGED, seq))


def _free_turns_without_a_batch(connection: sqlite3.Connection) -> None:
    """Turns that a lost batch had claimed or buried wait again."""
    connection.execute(
        "UPDATE turns SET state = ?, batch_id = NULL WHERE state IN (?, ?) AND coalesce(batch_id, '') NOT IN"
        " (SELECT batch_id FROM batches WHERE state IN ('claimed', 'dead'))",
        (WAITING, CLAIMED, DEAD),
    )


def _count_sessions(connection: sqlite3.Connection) -> None:
    """No number of a turn is given twice, no epoch begins again."""
    connection.execute(
        """
        INSERT INTO sessions(agent, key, host_id, epoch, turns, first_seen)
        SELECT agent, key, '', max(epoch), max(number), min(at) FROM turns WHERE true GROUP BY agent, key
        ON CONFLICT DO UPDATE SET epoch = max(epoch, excluded.epoch), turns = max(turns, excluded.turns)
        """
    )


def _set_aside(connection: sqlite3.Connection, kind: str, name: str, body: object) -> None:
    connection.execute(
        "INSERT INTO quarantine(kind, id, body, reason) VALUES (?, ?, ?, 'does not read back')", (kind, name, body)
    )


def _is_known(connection: sqlite3.Connection, turn: Turn) -> bool:
    return connection.execute("SELECT 1 FROM turns WHERE turn_id = ?", (turn.turn_id,)).fetchone() is not None


def _is_evidence(connection: sqlite3.Connection, turn: Turn) -> bool:
    return connection.execute("SELECT 1 FROM evidence WHERE turn_id = ?", (turn.turn_id,)).fetchone() is not None


def _gem(body: object) -> Gem | None:
    try:
        return gem_from_json(json.loads(str(body)))
    except (BadRequest, ValueError):
        return None


def _turn(body: object) -> Turn | None:
    try:
        return turn_from_bytes(bytes(body) if isinstance(body, bytes) else b"")
    except BadRequest:
        return None
