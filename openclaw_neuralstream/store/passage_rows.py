"""The tables behind `PassageIndex`: what a passage is, where it stands in its conversation, and its terms."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from openclaw_neuralstream.lexicon import script_of, terms
from openclaw_neuralstream.model import EmbedderIdentity, Origin, Scope, Turn, digest
from openclaw_neuralstream.ports import Passage, PassageRow
from openclaw_neuralstream.store import notes
from openclaw_neuralstream.store.codec import seconds, storable

_FORMAT = "1"
_STRETCH_BITS = 20
_PAUSE_SECONDS = 3_600.0
"""A pause after which a conversation starts a new stretch: what was said before it is no context any more."""

_TOKENIZER = r"ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'''"
"""Only blanks separate tokens; a term of `lexicon.terms` has none, and no double quote."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS scopes(scope INTEGER PRIMARY KEY, agent TEXT NOT NULL, user TEXT NOT NULL,
        passages INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0, UNIQUE(agent, user))""",
    """CREATE TABLE IF NOT EXISTS stretches(stretch INTEGER PRIMARY KEY, session TEXT NOT NULL UNIQUE,
        last REAL NOT NULL, next INTEGER NOT NULL)""",
    "CREATE TABLE IF NOT EXISTS turns(turn_id TEXT PRIMARY KEY) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS passages(place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, turn_id TEXT NOT NULL,
        scope INTEGER NOT NULL, project TEXT NOT NULL, row INTEGER NOT NULL UNIQUE, length INTEGER NOT NULL,
        body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS passages_turn ON passages(turn_id)",
    f'CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(tokens, tokenize = "{_TOKENIZER}")',
    "CREATE VIRTUAL TABLE IF NOT EXISTS words_seen USING fts5vocab(words, row)",
)
_LABELS = {"owner": "User", "agent": "Assistant", "tool": "Tool", "third-party": "Someone", "system": "System"}
_MONTHS = {
    "latin": (
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    ),
    "cyrillic": (
        "января", "февраля", "марта", "апреля", "мая", "июня",
        "июля", "августа", "сентября", "октября", "ноября", "декабря",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class View:
    """Which vector row is whose passage, as it was at one moment."""

    rows: NDArray[np.int64]  # columns: vector row, place, scope
    scopes: Mapping[tuple[str, str], int]

    @classmethod
    def empty(cls) -> View:
        """Nothing."""
        return cls(np.empty((0, 3), np.int64), {})

    @property
    def end(self) -> int:
        """One past the last vector row in use."""
        return int(self.rows[:, 0].max(initial=-1)) + 1

    def of(self, scope: Scope) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The vector rows and the places of the scope's passages."""
        own = self.rows[self.rows[:, 2] == self.scopes.get((storable(scope.agent), storable(scope.user)), -1)]
        return own[:, 0], own[:, 1]


def passages_of(turn: Turn) -> list[Passage]:
    """The utterances of a turn that say something."""
    session = turn.session
    return [
        Passage(
            id=digest("passage", turn.turn_id, str(number)),
            turn_id=turn.turn_id,
            scope=turn.scope,
            stretch=f"{session.agent}\x1f{session.key}\x1f{session.epoch}",
            session=session.host_id or session.key,
            number=turn.index,
            speaker=said.speaker,
            who=said.name or _LABELS.get(said.speaker, said.speaker),
            origin=said.origin,
            at=said.at,
            text=said.text,
        )
        for number, said in enumerate(turn.utterances)
        if said.text.strip() and said.speaker in ("owner", "agent", "third-party")
    ]


def embedded_text(passage: Passage) -> str:
    """What is embedded: who said it, when, and what; without the name a chat turn is found half as often."""
    return f"{passage.who} ({_day(passage)}): {passage.text}"


def prepare(connection: sqlite3.Connection, identity: EmbedderIdentity) -> None:
    """Make the tables; begin anew when they are of another embedder or form."""
    for table in _TABLES:
        connection.execute(table)
    made_by = f"{_FORMAT} {identity}"
    if notes.get(connection, "made_by") != made_by:
        for table in ("scopes", "stretches", "turns", "passages", "words"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own words
        notes.put(connection, "made_by", made_by)


def insert(connection: sqlite3.Connection, passage: Passage) -> int:
    """Add a passage at the end of its conversation; returns the row for its vector."""
    scope = _scope(connection, passage.scope)
    place = _place(connection, passage)
    tokens = [f"{scope}/{token}" for token in _tokens(passage)]
    row = connection.execute("SELECT coalesce(max(row), -1) + 1 FROM passages").fetchone()[0]
    connection.execute(
        "INSERT INTO passages(place, id, turn_id, scope, project, row, length, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            place, passage.id, passage.turn_id, scope, storable(passage.scope.project),
            row, len(tokens), _body(passage),
        ),
    )  # fmt: skip
    connection.execute("INSERT INTO words(rowid, tokens) VALUES (?, ?)", (place, " ".join(tokens)))
    connection.execute(
        "UPDATE scopes SET passages = passages + 1, words = words + ? WHERE scope = ?", (len(tokens), scope)
    )
    return int(row)


def note_turns(connection: sqlite3.Connection, turn_ids: Iterable[str]) -> None:
    """Remember that these turns were added, also when they had nothing to add."""
    connection.executemany("INSERT OR IGNORE INTO turns VALUES (?)", [(turn_id,) for turn_id in turn_ids])


def known(connection: sqlite3.Connection, turn_ids: Sequence[str]) -> set[str]:
    """Which of these turns were added."""
    wanted = json.dumps(list(turn_ids))
    rows = connection.execute("SELECT turn_id FROM turns WHERE turn_id IN (SELECT value FROM json_each(?))", (wanted,))
    return {turn_id for (turn_id,) in rows.fetchall()}


def all_turns(connection: sqlite3.Connection) -> str:
    """The ids of all turns as a JSON list."""
    return str(connection.execute("SELECT json_group_array(turn_id) FROM turns").fetchone()[0])


def forget(connection: sqlite3.Connection, turn_ids: Sequence[str]) -> list[int]:
    """Take these turns out; returns the vector rows that they had."""
    wanted = json.dumps(list(turn_ids))
    found = connection.execute(
        "SELECT place, row, scope, length FROM passages WHERE turn_id IN (SELECT value FROM json_each(?))", (wanted,)
    ).fetchall()
    for place, _, scope, words in found:
        connection.execute("DELETE FROM words WHERE rowid = ?", (place,))
        connection.execute("DELETE FROM passages WHERE place = ?", (place,))
        connection.execute(
            "UPDATE scopes SET passages = passages - 1, words = words - ? WHERE scope = ?", (words, scope)
        )
    connection.execute("DELETE FROM turns WHERE turn_id IN (SELECT value FROM json_each(?))", (wanted,))
    return [row for _, row, _, _ in found]


def totals(connection: sqlite3.Connection, scope: Scope | None) -> tuple[int, int]:
    """How many passages and terms there are."""
    if scope is None:
        found = connection.execute("SELECT coalesce(sum(passages), 0), coalesce(sum(words), 0) FROM scopes").fetchone()
    else:
        found = connection.execute(
            "SELECT passages, words FROM scopes WHERE agent = ? AND user = ?",
            (storable(scope.agent), storable(scope.user)),
        ).fetchone()
    return (int(found[0]), int(found[1])) if found else (0, 0)


def frequencies(connection: sqlite3.Connection, wanted: Iterable[str], scope: Scope) -> dict[str, int]:
    """How many passages of the scope hold each term; 0 for what none holds."""
    number = _known_scope(connection, scope)
    found = dict.fromkeys(wanted, 0)
    for term in found if number is not None else ():
        row = connection.execute("SELECT doc FROM words_seen WHERE term = ?", (f"{number}/{term}",)).fetchone()
        found[term] = int(row[0]) if row else 0
    return found


def match(connection: sqlite3.Connection, wanted: Iterable[str], scope: Scope, limit: int) -> list[int]:
    """The places of the best passages by BM25, best first."""
    number = _known_scope(connection, scope)
    tokens = " OR ".join('"' + f"{number}/{term}".replace('"', '""') + '"' for term in wanted)
    project = storable(scope.project)
    rows = connection.execute(
        """
        SELECT w.rowid FROM words w JOIN passages p ON p.place = w.rowid
        WHERE words MATCH ? AND (? = '' OR p.project IN ('', ?)) ORDER BY bm25(words) LIMIT ?
        """,
        (tokens, project, project, limit),
    ).fetchall()
    return [int(place) for (place,) in rows]


def rows(connection: sqlite3.Connection, places: Sequence[int], scope: Scope) -> list[PassageRow]:
    """The passages at these places, as terms."""
    number = _known_scope(connection, scope)
    project = storable(scope.project)
    found = connection.execute(
        """
        SELECT p.place, p.id, p.row, w.tokens FROM passages p JOIN words w ON w.rowid = p.place
        WHERE p.place IN (SELECT value FROM json_each(?)) AND p.scope = ? AND (? = '' OR p.project IN ('', ?))
        """,
        (json.dumps(list(places)), number, project, project),
    ).fetchall()
    cut = len(f"{number}/")
    return [
        PassageRow(place, id_, row, place >> _STRETCH_BITS, tuple(tokens[cut:].split(f" {number}/")))
        for place, id_, row, tokens in found
    ]


def fetch(connection: sqlite3.Connection, ids: Sequence[str], scope: Scope) -> list[Passage]:
    """The passages of these ids."""
    number = _known_scope(connection, scope)
    found = connection.execute(
        "SELECT body FROM passages WHERE id IN (SELECT value FROM json_each(?)) AND scope = ?",
        (json.dumps(list(ids)), number),
    ).fetchall()
    return [_passage(json.loads(body)) for (body,) in found]


def view(connection: sqlite3.Connection, old: View | None = None) -> View:
    """Which row is whose, all of it, or what came after the old view."""
    since = old.end if old else 0
    fresh = connection.execute(
        "SELECT row, place, scope FROM passages WHERE row >= ? ORDER BY row", (since,)
    ).fetchall()
    scopes = {(a, u): n for n, a, u in connection.execute("SELECT scope, agent, user FROM scopes").fetchall()}
    added = np.array(fresh, np.int64).reshape(-1, 3)
    return View(np.concatenate([old.rows, added]) if old else added, scopes)


def _tokens(passage: Passage) -> list[str]:
    return terms(f"{passage.who} {_day(passage)}\n{passage.text}")


def _day(passage: Passage) -> str:
    at, script = passage.at, script_of(passage.text)
    if script == "cjk":
        return f"{at.year}年{at.month}月{at.day}日"
    months = _MONTHS.get(script, _MONTHS["latin"])
    return f"{at.day} {months[at.month - 1]} {at.year}"


def _place(connection: sqlite3.Connection, passage: Passage) -> int:
    """The next place in the present stretch of the conversation; a pause begins a new stretch."""
    at, session = seconds(passage.at), storable(passage.stretch)
    row = connection.execute("SELECT stretch, last, next FROM stretches WHERE session = ?", (session,)).fetchone()
    if row and abs(at - row[1]) <= _PAUSE_SECONDS:
        stretch, number = int(row[0]), int(row[2])
    else:
        if row:  # the old stretch is over; its places stay
            connection.execute("UPDATE stretches SET session = ? WHERE stretch = ?", (f"{session}\x1f{row[0]}", row[0]))
        made = connection.execute("INSERT INTO stretches(session, last, next) VALUES (?, ?, 8)", (session, at))
        stretch, number = int(made.lastrowid or 0), 8  # room before the first place, so that neighbours never mix
    connection.execute("UPDATE stretches SET last = ?, next = ? WHERE stretch = ?", (at, number + 1, stretch))
    return (stretch << _STRETCH_BITS) + number


def _scope(connection: sqlite3.Connection, scope: Scope) -> int:
    names = (storable(scope.agent), storable(scope.user))
    connection.execute("INSERT OR IGNORE INTO scopes(agent, user) VALUES (?, ?)", names)
    return int(connection.execute("SELECT scope FROM scopes WHERE agent = ? AND user = ?", names).fetchone()[0])


def _known_scope(connection: sqlite3.Connection, scope: Scope) -> int | None:
    names = (storable(scope.agent), storable(scope.user))
    row = connection.execute("SELECT scope FROM scopes WHERE agent = ? AND user = ?", names).fetchone()
    return int(row[0]) if row else None


def _body(passage: Passage) -> str:
    scope = passage.scope
    return json.dumps(
        [
            passage.id, passage.turn_id, [scope.agent, scope.user, scope.project], passage.stretch, passage.session,
            passage.number, passage.speaker, passage.who, passage.origin.value, seconds(passage.at), passage.text,
        ]
    )  # fmt: skip


def _passage(values: list[object]) -> Passage:
    id_, turn_id, scope, stretch, session, number, speaker, who, origin, at, text = values
    return Passage(
        id=str(id_),
        turn_id=str(turn_id),
        scope=Scope(*scope),  # type: ignore[misc]  # a list of three texts, as `_body` wrote it
        stretch=str(stretch),
        session=str(session),
        number=int(str(number)),
        speaker=str(speaker),
        who=str(who),
        origin=Origin(str(origin)),
        at=datetime.fromtimestamp(float(str(at)), UTC),
        text=str(text),
    )
