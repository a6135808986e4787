"""Every question in its order, searchable: a projection of the turns in one SQLite file that can be deleted and made anew."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import structlog

from openclaw_neuralstream.errors import StateDamaged
from openclaw_neuralstream.model import Pair, Scope, Turn
from openclaw_neuralstream.ports import Place
from openclaw_neuralstream.sequences import pairing, rows
from openclaw_neuralstream.sequences.pairing import Interest
from openclaw_neuralstream.sequences.rows import Policy, Row, Totals
from openclaw_neuralstream.store.database import Database, storable

log = structlog.get_logger(__name__)

FILE = "sequences.sqlite"
_POSITION, _MADE_BY = "position", "made_by"


class PairIndex:
    """One file, any number of threads. Adding the same turn twice changes nothing. Raises StateError."""

    def __init__(self, folder: Path, made_by: str = "") -> None:
        """Open or make it. made_by: what its content depends on beside the turns; emptied where that is another now."""
        self.path = folder / FILE
        self._made_by = f"{rows.FORMAT} {made_by}".strip()
        try:
            self._database = self._opened()
        except StateDamaged as error:
            log.warning("sequences.damaged", error=error.what)
            self._discard()
            self._database = self._opened()

    # --- writing ----------------------------------------------------------------------------------------------------

    def add(self, turns: Sequence[Turn], policy: Policy) -> int:
        """Take in these turns, in one transaction; returns how many were new pairs."""
        added = 0
        with self._database.write() as connection:
            for turn in turns:
                said = pairing.spoken(turn)
                if said is not None and not rows.known(connection, turn.turn_id):
                    rows.take_in(connection, said, policy)
                    added += 1
        return added

    def give(self, answers: Mapping[str, Turn | None], policy: Policy) -> int:
        """Judge these pairs again and keep, or drop, their answers; None: the turn is gone. Returns how many changed."""
        changed = 0
        with self._database.write() as connection:
            for turn_id, turn in answers.items():
                connection.execute("UPDATE pairs SET wanted = '' WHERE turn_id = ?", (storable(turn_id),))
                (pair,) = rows.fetch(connection, "p.turn_id = ?", (storable(turn_id),))[:1] or (None,)
                if pair is None:
                    continue
                said = pairing.spoken(turn) if turn else None
                after = rows.kept(
                    replace(pair, mark=policy.mark(turn_id)), said.answer if said else pair.answer, policy
                )
                if after != pair:
                    rows.change(connection, after)
                    changed += 1
        return changed

    def look_again(
        self, turn_ids: Sequence[str] = (), interests: Sequence[Interest] = (), scope: Scope | None = None
    ) -> int:
        """Have these pairs judged again, or those that may be about these interests; returns how many."""
        with self._database.write() as connection:
            found = {storable(turn_id) for turn_id in turn_ids}
            for interest in interests if scope else ():
                number = rows.known_scope(connection, scope or Scope(""))
                held = rows.frequencies(connection, interest.terms, number)
                known = rows.match(connection, held, number, 1) if all(held.values()) else []
                found |= {
                    turn_id
                    for (turn_id,) in connection.execute(
                        "SELECT turn_id FROM pairs WHERE kept = '' AND pair IN (SELECT value FROM json_each(?))",
                        (json.dumps(known),),
                    ).fetchall()
                }
            done = connection.execute(
                "UPDATE pairs SET wanted = '1' WHERE turn_id IN (SELECT value FROM json_each(?))",
                (json.dumps(sorted(found)),),
            )
        return int(done.rowcount)

    def wanted(self, limit: int) -> list[str]:
        """Turns whose pairs are to be judged again with their answers at hand."""
        with self._database.read() as connection:
            found = connection.execute("SELECT turn_id FROM pairs WHERE wanted <> '' LIMIT ?", (limit,)).fetchall()
        return [turn_id for (turn_id,) in found]

    def archive(self, before: datetime, *, dry_run: bool = False) -> list[str]:
        """Put away the sequences that ended before, of every scope; they stay findable. Returns their names, oldest first.

        dry_run: only tell which.
        """
        if dry_run:
            with self._database.read() as connection:
                return [name for _, name in rows.ended(connection, before)]
        with self._database.write() as connection:
            found = rows.ended(connection, before)
            connection.executemany(
                "UPDATE sequences SET archived = 1, changed = changed + 1 WHERE sequence = ?",
                [(sequence,) for sequence, _ in found],
            )
            return [name for _, name in found]

    def forget(self, turn_ids: Sequence[str]) -> int:
        """Take these turns out, down to the bytes; returns how many pairs that were."""
        with self._database.write() as connection:
            return rows.delete(connection, turn_ids)

    def wipe(self) -> bool:
        """Overwrite what the log of the file still holds of forgotten rows. False when a reader elsewhere stood in the way."""
        return self._database.checkpoint()

    def clear(self) -> None:
        """Empty it; the position is 0 again."""
        with self._database.write() as connection:
            for table in rows.CLEARED:
                connection.execute(f"DELETE FROM {table}")  # noqa: S608  our own words
            _note(connection, _MADE_BY, self._made_by)
        self._database.checkpoint()

    # --- following the truth ----------------------------------------------------------------------------------------

    def position(self) -> int:
        """The number of the last turn of the truth that was taken in; 0 = none."""
        with self._database.read() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (_POSITION,)).fetchone()
        return int(row[0]) if row else 0

    def advance(self, position: int) -> None:
        """Remember that all turns up to this one were taken in."""
        with self._database.write() as connection:
            _note(connection, _POSITION, str(position))

    # --- asking: SequenceSearch -------------------------------------------------------------------------------------

    def stored(self, scope: Scope) -> int:
        """How many pairs there are."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT pairs FROM scopes WHERE scope = ?", (rows.known_scope(connection, scope),)
            ).fetchone()
        return int(row[0]) if row else 0

    def frequencies(self, terms: Sequence[str], scope: Scope) -> dict[str, int]:
        """How many pairs hold each term."""
        with self._database.read() as connection:
            return rows.frequencies(connection, terms, rows.known_scope(connection, scope))

    def match(self, frequency: Mapping[str, int], scope: Scope, limit: int) -> list[Place]:
        """The best pairs by the rarity of the terms that they share, best first; the newer one of equals."""
        stored = self.stored(scope)
        with self._database.read() as connection:
            best = rows.match(connection, frequency, rows.known_scope(connection, scope), stored, limit)
            return rows.places(connection, best, scope.project)

    def alike(self, question_hash: str, scope: Scope, limit: int) -> list[Place]:
        """Pairs whose question is nearly the same, nearest first."""
        if not question_hash:
            return []
        with self._database.read() as connection:
            found = rows.alike(connection, question_hash, rows.known_scope(connection, scope))
            best = sorted(found, key=lambda row: (found[row], -row))[:limit]
            return rows.places(connection, best, scope.project)

    def about(self, topics: Sequence[str], scope: Scope, limit: int) -> list[Place]:
        """The newest pairs that share most of these topics."""
        with self._database.read() as connection:
            best = rows.about(connection, topics, rows.known_scope(connection, scope), limit)
            return rows.places(connection, best, scope.project)

    def said_in(self, turn_ids: Sequence[str], scope: Scope) -> list[Place]:
        """Where these turns stand."""
        with self._database.read() as connection:
            found = connection.execute(
                """SELECT sequence, seq FROM pairs WHERE turn_id IN (SELECT value FROM json_each(?1)) AND scope = ?2
                AND (?3 = '' OR project IN ('', ?3)) ORDER BY pair""",
                (
                    json.dumps([storable(turn_id) for turn_id in turn_ids]),
                    rows.known_scope(connection, scope),
                    storable(scope.project),
                ),
            ).fetchall()
        return [Place(sequence, seq) for sequence, seq in found]

    def last(self, scope: Scope, key: str, limit: int) -> list[Pair]:
        """The last pairs of a conversation, over its epochs, oldest first; key "": of whichever was last."""
        where = "s.scope = ?1 AND s.key = ?2" if key else "s.scope = ?1"
        with self._database.read() as connection:
            number = rows.known_scope(connection, scope)
            newest = connection.execute(
                f"SELECT s.sequence FROM sequences s WHERE {where} AND s.pairs > 0 ORDER BY s.last DESC LIMIT 3",  # noqa: S608
                (number, storable(key))[: 2 if key else 1],
            ).fetchall()
            found: list[Pair] = []
            for (sequence,) in newest[: 3 if key else 1]:
                found += rows.fetch(
                    connection,
                    "p.sequence = ?1 AND (?2 = '' OR p.project IN ('', ?2)) ORDER BY p.seq DESC LIMIT ?3",
                    (sequence, storable(scope.project), limit - len(found)),
                )
                if len(found) >= limit:
                    break
        return found[::-1]

    def around(self, places: Sequence[Place], scope: Scope, size: int) -> list[list[Pair]]:
        """For each place at most `size` pairs of its sequence around it, in order; as many before as after where there are."""
        with self._database.read() as connection:
            number = rows.known_scope(connection, scope)
            return [rows.around(connection, place, number, scope.project, size) for place in places]

    def between(self, stretches: Sequence[tuple[int, int, int]], scope: Scope) -> list[list[Pair]]:
        """For each (sequence, first, last) the pairs from one place to the other, both included, in order."""
        where = "p.sequence = ?1 AND p.scope = ?2 AND (?3 = '' OR p.project IN ('', ?3)) AND p.seq BETWEEN ?4 AND ?5"
        with self._database.read() as connection:
            number, project = rows.known_scope(connection, scope), storable(scope.project)
            return [
                rows.fetch(connection, f"{where} ORDER BY p.seq", (sequence, number, project, first, last))
                for sequence, first, last in stretches
            ]

    # --- asking: for people and files -------------------------------------------------------------------------------

    def totals(self, scope: Scope | None = None) -> Totals:
        """Counts of a scope, or of all; what they cost does not depend on how much there is."""
        with self._database.read() as connection:
            return rows.totals(connection, scope)

    def sequences(
        self, scope: Scope, *, archived: bool | None = False, changed: bool = False, limit: int = 100
    ) -> list[Row]:
        """Sequences of a scope, the newest first. archived: None = both. changed: only those not written since."""
        with self._database.read() as connection:
            return rows.listed(connection, scope, archived=archived, changed=changed, limit=limit)

    def sequence(self, name: str) -> Row | None:
        """By its name, or the start of it where only one has that."""
        with self._database.read() as connection:
            return rows.named(connection, name)

    def pairs(self, sequence: int, *, last: int = 0) -> list[Pair]:
        """The pairs of a sequence in order, or its last ones."""
        with self._database.read() as connection:
            if not last:
                return rows.fetch(connection, "p.sequence = ? ORDER BY p.seq", (sequence,))
            return rows.fetch(connection, "p.sequence = ? ORDER BY p.seq DESC LIMIT ?", (sequence, last))[::-1]

    def pair(self, turn_id: str) -> Pair | None:
        """By its turn."""
        with self._database.read() as connection:
            found = rows.fetch(connection, "p.turn_id = ?", (storable(turn_id),))
        return found[0] if found else None

    def every_turn(self, after: int, limit: int) -> list[tuple[int, str]]:
        """Numbers and turn ids of the pairs behind a number: everything, step by step."""
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT pair, turn_id FROM pairs WHERE pair > ? ORDER BY pair LIMIT ?", (after, limit)
            ).fetchall()
        return [(int(pair), turn_id) for pair, turn_id in found]

    def topics(self, scope: Scope, limit: int) -> dict[str, int]:
        """The topics of the newest pairs of a scope, and how many of those are about each, most often first."""
        counts: dict[str, int] = {}
        for row in self.sequences(scope, archived=None, limit=limit):
            for pair in self.pairs(row.sequence, last=limit):
                for topic in pair.topics:
                    counts[topic] = counts.get(topic, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def written(self, row: Row, file: str) -> None:
        """What this row says now is in this file; what changed meanwhile is to be written again."""
        with self._database.write() as connection:
            rows.note_written(connection, row, file)

    def close(self) -> None:
        """Release the file."""
        self._database.close()

    def _opened(self) -> Database:
        database = Database(self.path, durable=False)
        try:
            with database.write() as connection:
                for table in rows.TABLES:
                    connection.execute(table)
                made_by = connection.execute("SELECT value FROM meta WHERE key = ?", (_MADE_BY,)).fetchone()
                if not made_by or made_by[0] != self._made_by:
                    for table in rows.CLEARED:
                        connection.execute(f"DELETE FROM {table}")  # noqa: S608
                    _note(connection, _MADE_BY, self._made_by)
            database.checkpoint()
        except BaseException:
            database.close()
            raise
        return database

    def _discard(self) -> None:
        for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}.suspect"):
            self.path.with_name(name).unlink(missing_ok=True)


def _note(connection: sqlite3.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (key, value))
