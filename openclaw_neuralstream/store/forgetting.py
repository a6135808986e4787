"""Forgetting: a gem, its vector, its words and the turns that only it stood on are gone, down to the bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from openclaw_neuralstream.database import Database
from openclaw_neuralstream.store import cutting, gems, labels, notes, statements, tombstones, turns, words
from openclaw_neuralstream.store.schema import DEAD, EXTRACTED

_MERGE_PAGES = 500
"""Pages that one step of rewriting the word index may touch: other writers get in between two steps."""

_PENDING = "INSERT OR REPLACE INTO meta(key, value) VALUES ('forget.pending', '1')"
_BEGUN = "forgettings"
"""Counter of the forgettings that this file has seen."""
_SETTLED = "DELETE FROM meta WHERE key = 'forget.pending'"


@dataclass(slots=True)
class Said:
    """What was forgotten, in words: to be looked for elsewhere, and never to be kept. turns: text gone; cut: in part.

    reached: the ids of all turns that lost something.
    """

    gem_ids: list[str] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    contents: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    vectors: int = 0
    statements: int = 0
    turns: int = 0
    cut: int = 0
    elsewhere: int = 0
    dead: int = 0
    reached: list[str] = field(default_factory=list)


def forget_said(
    connection: sqlite3.Connection, gem_ids: Sequence[str], at: datetime, *, elsewhere: bool = True
) -> Said:
    """Remove the gems and what only they stand on; returns what it was that went.

    Sentences of it are cut out of the turns that other gems stand on.
    elsewhere: also out of every other turn of the same agent that holds them.
    """
    done = Said()
    tags: set[tuple[int, str]] = set()
    for gem_id in gem_ids:
        row = gems.row_of(connection, gem_id)
        if row is None:
            continue
        tags |= labels.keys_said(connection, row)
        gem = gems.get(connection, gem_id)
        evidence = _evidence(connection, row)
        said: list[str] = []
        if gem is not None:
            said = cutting.contents(connection, gem)
            tombstones.bury(connection, gem, at)
            tombstones.bury_content(connection, gem, said, at)
            done.agents.add(gem.scope.agent)
        done.vectors += _count(connection, "vectors", row)
        done.statements += _count(connection, "statements", row)
        _remove(connection, row, gem_id, at)
        kept = [turn.turn_id for turn in turns.read(connection, evidence)]
        cut, emptied, pieces = cutting.cut_turns(connection, kept, said, at)
        done.cut += len(cut)
        done.turns += len(emptied) + len(evidence) - len(kept)
        done.pieces += pieces
        done.contents += said
        done.reached += evidence
        gems.note(connection, gem_id, "forgotten", at)
        done.gem_ids.append(gem_id)
    if done.gem_ids:
        labels.forget(connection, tags)
        done.contents = list(dict.fromkeys(done.contents))
        if elsewhere:
            done.elsewhere, others = cutting.cut_elsewhere(connection, done.agents, [*done.contents, *done.pieces], at)
            done.reached += others
        connection.execute(_PENDING)
    return done


def erase(
    connection: sqlite3.Connection,
    gem_ids: Sequence[str],
    turn_ids: Sequence[str],
    cuts: Mapping[str, Sequence[str]],
    at: datetime,
) -> Said:
    """Remove gems, all of some turns with what was said in them alone, and these pieces of other turns."""
    dead = len(_open_letters(connection))
    done = forget_said(connection, gem_ids, at, elsewhere=not turn_ids)
    done.statements += cutting.take_back(connection, set(turn_ids), at)
    done.turns += cutting.empty(connection, turn_ids, at)
    for turn in turns.read(connection, cuts):
        whole = not cutting.cut_turn(connection, turn, cuts[turn.turn_id], at)
        done.turns += whole
        done.cut += not whole
        done.agents.add(turn.scope.agent)
        done.pieces += cuts[turn.turn_id]
    done.reached += [*turn_ids, *cuts]
    if cuts:
        elsewhere, others = cutting.cut_elsewhere(connection, done.agents, done.pieces, at)
        done.elsewhere += elsewhere
        done.reached += others
    done.reached = list(dict.fromkeys(done.reached))
    connection.execute(
        "UPDATE batches SET state = 'stored', reason = '' WHERE state = 'dead' AND NOT EXISTS"
        " (SELECT 1 FROM turns t WHERE t.batch_id = batches.batch_id AND t.state = ?)",
        (DEAD,),
    )
    done.dead = dead - len(_open_letters(connection))
    connection.execute(_PENDING)
    notes.add(connection, {_BEGUN: 1})
    return done


def begun(connection: sqlite3.Connection) -> int:
    """How many forgettings this file has seen: whoever read turns before another one must read them again."""
    found = connection.execute("SELECT count FROM counters WHERE name = ?", (_BEGUN,)).fetchone()
    return int(found[0]) if found else 0


def _open_letters(connection: sqlite3.Connection) -> list[tuple[str]]:
    return connection.execute("SELECT batch_id FROM batches WHERE state = 'dead'").fetchall()


def _evidence(connection: sqlite3.Connection, row: int) -> list[str]:
    return [t for (t,) in connection.execute("SELECT turn_id FROM evidence WHERE gem = ?", (row,)).fetchall()]


def _count(connection: sqlite3.Connection, table: str, row: int) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table} WHERE gem = ?", (row,)).fetchone()[0])  # noqa: S608


def scrub(database: Database) -> None:
    """Rewrite what may still hold forgotten bytes: the word index's old segments and the log.

    Runs in short steps; interrupted, it is done at the next start (`finish`). Table pages need nothing:
    `secure_delete` overwrites them as they are freed.
    """
    _rewrite_words(database)
    if database.checkpoint():
        with database.write() as connection:
            connection.execute(_SETTLED)
        database.checkpoint()


def finish(database: Database) -> None:
    """Scrub when an earlier forgetting was interrupted before it had."""
    with database.read() as connection:
        pending = connection.execute("SELECT 1 FROM meta WHERE key = 'forget.pending'").fetchone()
    if pending:
        scrub(database)


def _remove(connection: sqlite3.Connection, row: int, gem_id: str, at: datetime) -> None:
    turn_ids = _evidence(connection, row)
    words.delete(connection, row)
    replaced = _replaced_by(connection, gem_id)
    statements.forget(connection, row, gem_id)
    for other in replaced:  # what it had replaced does not come back because of that
        statements.link(connection, other, gem_id, batch_id=statements.BY_HAND, why="forgotten", fixed=True)
    for statement in (
        "DELETE FROM evidence WHERE gem = ?",
        "DELETE FROM vectors WHERE gem = ?",
        "DELETE FROM gems WHERE seq = ?",
    ):
        connection.execute(statement, (row,))
    connection.execute("DELETE FROM quarantine WHERE id = ?", (gem_id,))
    for turn_id in turn_ids:
        _remove_unsupported(connection, turn_id, at)


def _replaced_by(connection: sqlite3.Connection, gem_id: str) -> list[str]:
    linked = (link.newer if link.older == gem_id else link.older for link in statements.links_of(connection, gem_id))
    return [
        other for other in linked if (gem := gems.get(connection, other)) is not None and gem.superseded_by == gem_id
    ]


def _remove_unsupported(connection: sqlite3.Connection, turn_id: str, at: datetime) -> None:
    """Remove the text of a turn that no gem stands on any more; its id stays, so that it is not accepted again."""
    if connection.execute("SELECT 1 FROM evidence WHERE turn_id = ? LIMIT 1", (turn_id,)).fetchone():
        return
    if (known := turns.state_of(connection, turn_id)) and known[0] == EXTRACTED:
        cutting.empty(connection, [turn_id], at)


def _rewrite_words(database: Database) -> None:
    """Merge all segments of the word index into one, a bounded step at a time (FTS5 `merge`, section 6.8)."""
    step = -_MERGE_PAGES
    while True:
        with database.write() as connection:
            before = connection.total_changes
            connection.execute("INSERT INTO words(words, rank) VALUES ('merge', ?)", (step,))
            if connection.total_changes - before < 2:
                return
        step = _MERGE_PAGES
