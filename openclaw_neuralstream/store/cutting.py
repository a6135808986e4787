"""Cutting forgotten sentences out of turns that others need, and out of every other text beside them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from openclaw_neuralstream.database import storable
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.formats import gem_from_json
from openclaw_neuralstream.model import Gem, Turn
from openclaw_neuralstream.store import gems, settling, statements, tombstones, turns
from openclaw_neuralstream.store.codec import turn_from_bytes, turn_to_bytes
from openclaw_neuralstream.store.schema import FORGOTTEN
from openclaw_neuralstream.traces import held, holds, is_empty, said_in, without, worth

_REASONS = (("batches", "reason"), ("refusals", "reason"), ("statements", "why"), ("links", "why"))
_ROWS = (("drops", "content"), ("drops", "why"))


def contents(connection: sqlite3.Connection, gem: Gem) -> list[str]:
    """Every wording of a gem: as it is, as it was said each time, as a person set it."""
    row = gems.row_of(connection, gem.gem_id)
    said = statements.of_gem(connection, row) if row is not None else []
    hand = statements.hand(connection, gem.gem_id)
    words = [gem.content, gem.summary, *(w for s in said for w in (s.gem.content, s.gem.summary))]
    words += [str(hand[name]) for name in ("content", "summary") if hand.get(name)]
    return [word for word in dict.fromkeys(words) if word.strip()]


def cut_turns(
    connection: sqlite3.Connection, turn_ids: Iterable[str], said: Sequence[str], at: datetime
) -> tuple[list[str], list[str], list[str]]:
    """Cut out of these turns the sentences that say it; returns (turns cut, turns emptied, the sentences).

    A turn in which no sentence can be found that says it loses all of its text: nothing forgotten stays for want of a match.
    """
    cut: list[str] = []
    emptied: list[str] = []
    pieces: list[str] = []
    for turn in turns.read(connection, turn_ids):
        found = [piece for said_by in turn.utterances for piece in said_in(said_by.text, said)]
        pieces += found
        if not found:
            empty(connection, [turn.turn_id], at)
            emptied.append(turn.turn_id)
        elif cut_turn(connection, turn, found, at):
            cut.append(turn.turn_id)
        else:
            emptied.append(turn.turn_id)
    return cut, emptied, list(dict.fromkeys(pieces))


def cut_turn(connection: sqlite3.Connection, turn: Turn, pieces: Sequence[str], at: datetime) -> bool:
    """Write the turn without these pieces; False when nothing was left of it and all of it went."""
    left = cut(turn, pieces)
    if left is None:
        empty(connection, [turn.turn_id], at)
        return False
    tombstones.bury_turn(connection, turn, at)
    connection.execute(
        "UPDATE bodies SET body = ? WHERE seq = (SELECT seq FROM turns WHERE turn_id = ?)",
        (turn_to_bytes(left), turn.turn_id),
    )
    return True


def cut(turn: Turn, pieces: Sequence[str]) -> Turn | None:
    """The turn without these pieces; None when nothing is left of it."""
    left = tuple(replace(said, text=without(said.text, pieces)) for said in turn.utterances)
    return None if all(is_empty(said.text) for said in left) else replace(turn, utterances=left)


def empty(connection: sqlite3.Connection, turn_ids: Iterable[str], at: datetime) -> int:
    """Remove the text of these turns, whatever their state; their ids stay, so that they are not accepted again."""
    removed = 0
    for turn_id in turn_ids:
        for turn in turns.read(connection, [turn_id]):
            tombstones.bury_turn(connection, turn, at)
        removed += connection.execute(
            "DELETE FROM bodies WHERE seq = (SELECT seq FROM turns WHERE turn_id = ?)", (turn_id,)
        ).rowcount
        connection.execute("UPDATE turns SET state = ? WHERE turn_id = ?", (FORGOTTEN, turn_id))
        connection.execute("DELETE FROM quarantine WHERE id = ?", (turn_id,))
    return removed


def take_back(connection: sqlite3.Connection, turn_ids: set[str], at: datetime) -> int:
    """Remove what was said in these turns alone; what is said elsewhere, too, holds by that. Returns how many went."""
    concerned: dict[int, None] = {}
    gone = 0
    batches: set[str] = set()
    for turn_id in turn_ids:
        rows = connection.execute(
            "SELECT s.seq, s.gem, s.batch_id, s.body FROM evidence e JOIN statements s ON s.gem = e.gem WHERE e.turn_id = ?",
            (turn_id,),
        ).fetchall()
        for seq, gem, batch_id, body in rows:
            evidence = set(json.loads(body).get("evidence") or ())
            if evidence and evidence <= turn_ids:
                _bury(connection, body, at)
                gone += connection.execute("DELETE FROM statements WHERE seq = ?", (seq,)).rowcount
                concerned[gem] = None
                batches.add(batch_id)
    for turn_id in turn_ids:
        found = connection.execute("SELECT batch_id FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
        batches.add((found and found[0]) or "")
    connection.executemany("DELETE FROM drops WHERE batch_id = ?", [(batch_id,) for batch_id in batches if batch_id])
    settling.settle(connection, list(concerned), at)
    return gone


def _bury(connection: sqlite3.Connection, body: str, at: datetime) -> None:
    try:
        tombstones.bury(connection, gem_from_json(json.loads(body)), at)
    except (BadRequest, ValueError, TypeError):
        return


def cut_elsewhere(
    connection: sqlite3.Connection, agents: Iterable[str], pieces: Sequence[str], at: datetime
) -> tuple[int, list[str]]:
    """Cut the pieces out of every other turn of these agents, and out of all that is noted beside.

    Returns how many texts that were, and the ids of the turns among them.
    """
    known = worth(pieces)
    done: list[str] = []
    if not known:
        return 0, done
    for agent in agents:
        rows = connection.execute(
            "SELECT t.turn_id, b.body FROM turns t JOIN bodies b USING (seq) WHERE t.agent = ?", (storable(agent),)
        ).fetchall()
        for _, body in rows:
            try:
                turn = turn_from_bytes(bytes(body))
            except BadRequest:
                continue
            found = held("\0".join(said.text for said in turn.utterances), known)
            if found:
                cut_turn(connection, turn, found, at)
                done.append(turn.turn_id)
    return len(done) + _cut_notes(connection, known), done


def _cut_notes(connection: sqlite3.Connection, pieces: Sequence[str]) -> int:
    done = 0
    for table, column in _REASONS:
        texts = connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {column} <> ''").fetchall()  # noqa: S608
        for (text,) in texts:
            if holds(text, pieces):
                values = (without(text, pieces), text)
                done += connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", values).rowcount  # noqa: S608
    for table, column in _ROWS:
        for (text,) in connection.execute(f"SELECT DISTINCT {column} FROM {table}").fetchall():  # noqa: S608
            if holds(text, pieces) or said_in(text, pieces):
                done += connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (text,)).rowcount  # noqa: S608
    for seq, body, reason in connection.execute("SELECT seq, body, reason FROM quarantine").fetchall():
        if holds(f"{_text(body)}\n{reason}", pieces):
            done += connection.execute("DELETE FROM quarantine WHERE seq = ?", (seq,)).rowcount
    return done


def _text(body: bytes | str | None) -> str:
    return body if isinstance(body, str) else (body or b"").decode("utf-8", "replace")
