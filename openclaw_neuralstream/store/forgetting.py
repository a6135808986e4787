"""Forgetting: a gem, its vector, its words and the turns that only it stood on are gone, down to the bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from openclaw_neuralstream.database import Database
from openclaw_neuralstream.store import gems, settling, statements, tombstones, words
from openclaw_neuralstream.store.codec import storable
from openclaw_neuralstream.store.schema import EXTRACTED, FORGOTTEN

_MERGE_PAGES = 500
"""Pages that one step of rewriting the word index may touch: other writers get in between two steps."""

_PENDING = "INSERT OR REPLACE INTO meta(key, value) VALUES ('forget.pending', '1')"
_SETTLED = "DELETE FROM meta WHERE key = 'forget.pending'"


def forget(connection: sqlite3.Connection, gem_ids: Sequence[str], at: datetime) -> int:
    """Remove the gems and what only they stand on; returns how many were here. The bytes go with `scrub`."""
    removed = 0
    for gem_id in gem_ids:
        row = gems.row_of(connection, gem_id)
        if row is None:
            continue
        gem = gems.get(connection, gem_id)
        if gem is not None:
            tombstones.bury(connection, gem, at)
        _remove(connection, row, gem_id)
        gems.note(connection, gem_id, "forgotten", at)
        removed += 1
    if removed:
        connection.execute(_PENDING)
    return removed


def forget_session(connection: sqlite3.Connection, agent: str, key: str, at: datetime) -> tuple[int, int]:
    """Remove a session's turns and the gems that stand on no other; returns how many gems and how many turns."""
    place = (storable(agent), storable(key))
    only_here = connection.execute(
        """
        SELECT gem_id FROM gems
        WHERE seq IN (SELECT e.gem FROM turns t JOIN evidence e USING (turn_id) WHERE t.agent = ?1 AND t.key = ?2)
          AND NOT EXISTS (SELECT 1 FROM evidence e JOIN turns t USING (turn_id)
                          WHERE e.gem = gems.seq AND (t.agent <> ?1 OR t.key <> ?2))
        """,
        place,
    ).fetchall()
    rows = "SELECT seq FROM turns WHERE agent = ? AND key = ?"
    bodies = connection.execute(f"SELECT count(*) FROM bodies WHERE seq IN ({rows})", place).fetchone()[0]  # noqa: S608
    gems_gone = forget(connection, [gem_id for (gem_id,) in only_here], at)
    connection.execute(f"DELETE FROM bodies WHERE seq IN ({rows})", place)  # noqa: S608  no text of a user is in it
    _forget_statements(connection, place, at)
    connection.execute("UPDATE turns SET state = ? WHERE agent = ? AND key = ?", (FORGOTTEN, *place))
    if bodies:
        connection.execute(_PENDING)
    return gems_gone, bodies


def _forget_statements(connection: sqlite3.Connection, place: tuple[str, str], at: datetime) -> None:
    """A gem that stands on other sessions, too, keeps nothing of what this one said; nor does any list of what was dropped."""
    batch_ids = connection.execute("SELECT batch_id FROM batches WHERE agent = ? AND key = ?", place).fetchall()
    rows = [row for (batch_id,) in batch_ids for row in statements.take_back(connection, batch_id)]
    settling.settle(connection, rows, at)


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


def _remove(connection: sqlite3.Connection, row: int, gem_id: str) -> None:
    turn_ids = [t for (t,) in connection.execute("SELECT turn_id FROM evidence WHERE gem = ?", (row,)).fetchall()]
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
        _remove_unsupported(connection, turn_id)


def _replaced_by(connection: sqlite3.Connection, gem_id: str) -> list[str]:
    linked = (link.newer if link.older == gem_id else link.older for link in statements.links_of(connection, gem_id))
    return [
        other for other in linked if (gem := gems.get(connection, other)) is not None and gem.superseded_by == gem_id
    ]


def _remove_unsupported(connection: sqlite3.Connection, turn_id: str) -> None:
    """Remove the text of a turn that no gem stands on any more; its id stays, so that it is not accepted again."""
    if connection.execute("SELECT 1 FROM evidence WHERE turn_id = ? LIMIT 1", (turn_id,)).fetchone():
        return
    connection.execute(
        "DELETE FROM bodies WHERE seq IN (SELECT seq FROM turns WHERE turn_id = ? AND state = ?)", (turn_id, EXTRACTED)
    )
    connection.execute("UPDATE turns SET state = ? WHERE turn_id = ? AND state = ?", (FORGOTTEN, turn_id, EXTRACTED))


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
