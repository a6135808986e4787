"""Forgetting and scrubbing inside the truth's file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Gem, Turn
from openclaw_neuralstream.secrets import rules_version
from openclaw_neuralstream.store import gems, labels, schema, settling, turns
from openclaw_neuralstream.store.database import Database, storable
from openclaw_neuralstream.store.schema import DEAD, EXTRACTED, FORGOTTEN, turn_from_bytes, turn_to_bytes
from openclaw_neuralstream.text.lines import Found, clean_gem, clean_text, clean_turn, gem_from_json
from openclaw_neuralstream.text.traces import held, holds, is_empty, said_in, without, worth

_REASONS = (("batches", "reason"), ("refusals", "reason"), ("statements", "why"), ("links", "why"))
_ROWS = (("drops", "content"), ("drops", "why"))


def contents(connection: sqlite3.Connection, gem: Gem) -> list[str]:
    """Every wording of a gem: as it is, as it was said each time, as a person set it."""
    row = gems.row_of(connection, gem.gem_id)
    said = gems.of_gem(connection, row) if row is not None else []
    hand = gems.hand(connection, gem.gem_id)
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
    settling.bury_turn(connection, turn, at)
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
            settling.bury_turn(connection, turn, at)
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
        settling.bury(connection, gem_from_json(json.loads(body)), at)
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
            said = contents(connection, gem)
            settling.bury(connection, gem, at)
            settling.bury_content(connection, gem, said, at)
            done.agents.add(gem.scope.agent)
        done.vectors += _count(connection, "vectors", row)
        done.statements += _count(connection, "statements", row)
        _remove(connection, row, gem_id, at)
        kept = [turn.turn_id for turn in turns.read(connection, evidence)]
        cut, emptied, pieces = cut_turns(connection, kept, said, at)
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
            done.elsewhere, others = cut_elsewhere(connection, done.agents, [*done.contents, *done.pieces], at)
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
    done.statements += take_back(connection, set(turn_ids), at)
    done.turns += empty(connection, turn_ids, at)
    for turn in turns.read(connection, cuts):
        whole = not cut_turn(connection, turn, cuts[turn.turn_id], at)
        done.turns += whole
        done.cut += not whole
        done.agents.add(turn.scope.agent)
        done.pieces += cuts[turn.turn_id]
    done.reached += [*turn_ids, *cuts]
    if cuts:
        elsewhere, others = cut_elsewhere(connection, done.agents, done.pieces, at)
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
    labels.add(connection, {_BEGUN: 1})
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
    schema.delete(connection, row)
    replaced = _replaced_by(connection, gem_id)
    gems.forget(connection, row, gem_id)
    for other in replaced:  # what it had replaced does not come back because of that
        gems.link(connection, other, gem_id, batch_id=gems.BY_HAND, why="forgotten", fixed=True)
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
    linked = (link.newer if link.older == gem_id else link.older for link in gems.links_of(connection, gem_id))
    return [
        other for other in linked if (gem := gems.get(connection, other)) is not None and gem.superseded_by == gem_id
    ]


def _remove_unsupported(connection: sqlite3.Connection, turn_id: str, at: datetime) -> None:
    """Remove the text of a turn that no gem stands on any more; its id stays, so that it is not accepted again."""
    if connection.execute("SELECT 1 FROM evidence WHERE turn_id = ? LIMIT 1", (turn_id,)).fetchone():
        return
    if (known := turns.state_of(connection, turn_id)) and known[0] == EXTRACTED:
        empty(connection, [turn_id], at)


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


RULES = "secrets.rules"
"""The note of which rules all of the file was last looked through with."""

TURNS, GEMS, ROWS = "turns", "gems", "rows"
PLACES = (TURNS, GEMS, ROWS)
"""In this order: what was said, what was distilled, and every other text of the file (reasons, notes, quarantine)."""

_OWN_TABLES = frozenset(
    {"bodies", "gems", "turns", "vectors", "evidence", "events", "tombstones", "scopes", "counters", "labels"}
)
_OWN_NOTES = frozenset({"store.id", "tombstone.salt", "embedder", "secrets.rules", "scrub.cursor", "scrub.receipt"})


@dataclass(slots=True)
class Scrubbed:
    """One step: how many rows were looked at and changed, what was found, the row to go on after (None = the end).

    vectors: ids of the gems whose content changed, and with it the meaning of their vector.
    """

    looked: int = 0
    changed: int = 0
    last: int | None = None
    found: Found = field(default_factory=Found)
    vectors: list[str] = field(default_factory=list)


def sizes(connection: sqlite3.Connection) -> dict[str, int]:
    """How many rows each place has; the last one is looked at in one step."""
    count = "SELECT count(*) FROM "
    return {
        TURNS: int(connection.execute(f"{count} bodies").fetchone()[0]),
        GEMS: int(connection.execute(f"{count} gems").fetchone()[0]),
        ROWS: 1,
    }


def step(
    connection: sqlite3.Connection, place: str, after: int, limit: int, *, at: datetime, write: bool = True
) -> Scrubbed:
    """Look at the next rows of a place and rewrite those that hold a secret; with write=False only look."""
    done = _STEPS[place](connection, after, limit, at, write)
    if done.changed and write:
        connection.execute(_PENDING)
    return done


def _turns(connection: sqlite3.Connection, after: int, limit: int, _at: datetime, write: bool) -> Scrubbed:  # noqa: FBT001
    rows = connection.execute(
        "SELECT seq, body FROM bodies WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
    ).fetchall()
    done = Scrubbed(looked=len(rows), last=rows[-1][0] if rows else None)
    for seq, body in rows:
        cleaned = clean_body(bytes(body), done.found)
        if cleaned == bytes(body):
            continue
        done.changed += 1
        if write:
            connection.execute("UPDATE bodies SET body = ? WHERE seq = ?", (cleaned, seq))
    return done


def clean_body(body: bytes, found: Found) -> bytes:
    """A stored turn without secrets; bytes that are no turn are taken as text."""
    try:
        turn = turn_from_bytes(body)
    except BadRequest:
        text = body.decode("utf-8", "surrogateescape")
        return clean_text(text, found).encode("utf-8", "surrogateescape")
    cleaned = clean_turn(turn, found)
    return body if cleaned is turn else turn_to_bytes(cleaned)


def _gems(connection: sqlite3.Connection, after: int, limit: int, at: datetime, write: bool) -> Scrubbed:  # noqa: FBT001
    rows = connection.execute(
        "SELECT seq, gem_id, body FROM gems WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
    ).fetchall()
    done = Scrubbed(looked=len(rows), last=rows[-1][0] if rows else None)
    for seq, gem_id, body in rows:
        try:
            gem = gem_from_json(json.loads(body))
        except (BadRequest, ValueError, TypeError, AttributeError):
            _loose(connection, ("gems", "body", "seq = ?", (seq,)), str(body), done, write=write)
            continue
        cleaned = clean_gem(gem, done.found)
        if cleaned is gem:
            continue
        done.changed += 1
        if cleaned.content != gem.content:
            done.vectors.append(gem_id)
        if write:
            gems.write(connection, cleaned, "scrubbed", at)
            schema.delete(connection, seq)
            schema.insert(connection, seq, cleaned)
            if cleaned.content != gem.content:
                connection.execute("DELETE FROM vectors WHERE gem = ?", (seq,))
    return done


def _rows(connection: sqlite3.Connection, _after: int, _limit: int, _at: datetime, write: bool) -> Scrubbed:  # noqa: FBT001
    done = Scrubbed(looked=1)
    for table, key in _tables(connection):
        names = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")').fetchall()]
        picked = ", ".join(f'"{name}"' for name in (*key, *names))
        where = " AND ".join(f'"{name}" = ?' if name != "rowid" else "rowid = ?" for name in key)
        for row in connection.execute(f'SELECT {picked} FROM "{table}"').fetchall():  # noqa: S608  names of our own tables
            if table == "meta" and row[0] in _OWN_NOTES:
                continue
            for name, value in zip(names, row[len(key) :], strict=True):
                if name not in key and isinstance(value, str | bytes):
                    _loose(connection, (table, name, where, row[: len(key)]), value, done, write=write)
    return done


def _loose(
    connection: sqlite3.Connection, cell: tuple[str, str, str, Any], value: str | bytes, done: Scrubbed, *, write: bool
) -> None:
    """Any text of a row: JSON is walked, bytes that are text are taken as text."""
    cleaned = _clean_value(value, done.found)
    if cleaned == value:
        return
    done.changed += 1
    if write:
        table, column, where, key = cell
        connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE {where}', (cleaned, *key))  # noqa: S608


def _clean_value(value: str | bytes, found: Found) -> str | bytes:
    if isinstance(value, bytes):
        try:
            return _clean_value(value.decode("utf-8", "surrogatepass"), found).encode("utf-8", "surrogatepass")  # type: ignore[union-attr]  # text in, text out
        except UnicodeDecodeError:
            return value  # no text: a vector, a number
    if value[:1] in ("{", "["):
        try:
            plain = json.loads(value)
        except ValueError:
            return clean_text(value, found)
        cleaned = clean_json(plain, found)
        return value if cleaned == plain else json.dumps(cleaned, ensure_ascii=False)
    return clean_text(value, found)


def clean_json(value: Any, found: Found) -> Any:
    """JSON with every text in it cleaned."""
    if isinstance(value, str):
        return clean_text(value, found)
    if isinstance(value, list):
        return [clean_json(item, found) for item in value]
    if isinstance(value, dict):
        return {name: clean_json(item, found) for name, item in value.items()}
    return value


def _tables(connection: sqlite3.Connection) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every other table and the columns that name a row of it; the word index and its parts are left out."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    for name, sql in found:
        if name in _OWN_TABLES or name.startswith(("sqlite_", "words")) or "VIRTUAL TABLE" in (sql or "").upper():
            continue
        if "WITHOUT ROWID" not in (sql or "").upper():
            yield name, ("rowid",)
            continue
        columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        yield name, tuple(row[1] for row in sorted(columns, key=lambda row: row[5]) if row[5])


_STEPS: dict[str, Callable[[sqlite3.Connection, int, int, datetime, bool], Scrubbed]] = {
    TURNS: _turns,
    GEMS: _gems,
    ROWS: _rows,
}


ERASING = "forget.journal"
"""The note of the forgettings whose last steps are still to be done; each is gone, with all its bytes, when they are."""


class _RehearsedError(Exception):
    """Ends a transaction that was only to show what it would do."""


class Erasing:
    """Forgetting and scrubbing in one memory file. Any thread may ask; a verb is one transaction, `wipe` a few short ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- forgetting -------------------------------------------------------------------------------------------------

    def erase(
        self,
        gem_ids: Sequence[str],
        turn_ids: Sequence[str],
        cuts: Mapping[str, Sequence[str]],
        at: datetime,
        *,
        journal: Callable[[Said], Mapping[str, Any]] | None = None,
        rehearse: Callable[[Sequence[Turn]], object] | None = None,
    ) -> Said:
        """Remove gems, whole turns and pieces of turns, all in one transaction with a note of what is still to be done.

        journal: that note, behind those of earlier ones that are not done. rehearse: change nothing, and tell it what
        would be left of the turns that lose something. The bytes go with `wipe`.
        """
        done = Said()
        with suppress(_RehearsedError), self._database.write() as connection:
            done = erase(connection, gem_ids, turn_ids, cuts, at)
            if rehearse:
                rehearse(turns.read(connection, done.reached))
                raise _RehearsedError
            if journal is not None:
                labels.put(connection, ERASING, json.dumps([*_unfinished(connection), journal(done)]))
        return done

    def begun(self) -> int:
        """How many forgettings there were: what was read of turns before the last one may hold what is forgotten."""
        with self._database.read() as connection:
            return begun(connection)

    def unfinished(self) -> list[dict[str, Any]]:
        """What was noted of the forgettings that are not done, oldest first."""
        with self._database.read() as connection:
            return _unfinished(connection)

    def note(self, unfinished: Sequence[Mapping[str, Any]]) -> None:
        """What is still to be done of them."""
        with self._database.write() as connection:
            labels.put(connection, ERASING, json.dumps(unfinished))

    def finish(self, name: str, receipts: str, unfinished: Sequence[Mapping[str, Any]] = ()) -> None:
        """The notes of all but the unfinished ones go, down to their bytes; the receipts stay under this name."""
        with self._database.write() as connection:
            labels.put(connection, name, receipts)
            labels.put(connection, ERASING, json.dumps(unfinished) if unfinished else "")
            labels.put(connection, "forget.pending", "1")
        scrub(self._database)

    def refuse(self, turns_: Sequence[Turn], at: datetime) -> None:
        """Never accept these turns, which wait in another buffer: their ids are noted, no text of them."""
        with self._database.write() as connection:
            for turn in turns_:
                if turns.state_of(connection, turn.turn_id) is None:
                    turns.insert(connection, turn, FORGOTTEN)
                empty(connection, [turn.turn_id], at)

    # --- secrets ----------------------------------------------------------------------------------------------------

    def rules_due(self) -> bool:
        """Whether something stored was never looked through with the rules of secrets that are in force."""
        with self._database.read() as connection:
            return labels.get(connection, RULES) != rules_version()

    def scrub_sizes(self) -> dict[str, int]:
        """How many rows each place of `scrub` has."""
        with self._database.read() as connection:
            return sizes(connection)

    def scrub(self, place: str, after: int, limit: int, at: datetime, *, write: bool = True) -> Scrubbed:
        """Take secrets out of the next rows of a place (`scrubbing.PLACES`); with write=False only look.

        Gems whose content changed lose their vectors. The old bytes go with `wipe`.
        """
        if not write:
            with self._database.read() as connection:
                return step(connection, place, after, limit, at=at, write=False)
        with self._database.write() as connection:
            return step(connection, place, after, limit, at=at)

    # --- bytes ------------------------------------------------------------------------------------------------------

    def wipe(self) -> None:
        """Overwrite what scrubbed and forgotten rows left in the file and its log; resumed at the next start."""
        finish(self._database)


def _unfinished(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    found = json.loads(labels.get(connection, ERASING) or "[]")
    return found if isinstance(found, list) else [found]  # earlier versions noted one, and no list
