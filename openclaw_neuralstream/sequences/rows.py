"""The rows of questions in their order: kept and listed."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np

from openclaw_neuralstream.model import Origin, Pair, Scope, Session, slug_of
from openclaw_neuralstream.ports import Place
from openclaw_neuralstream.sequences import pairing
from openclaw_neuralstream.sequences.pairing import Interest
from openclaw_neuralstream.store.database import storable
from openclaw_neuralstream.text.lexicon import content_terms, terms
from openclaw_neuralstream.text.questions import NEAR, bands, question_hash

FORMAT = "3"
PAUSE_SECONDS = 12 * 3_600.0
"""A pause after which the same conversation begins a new sequence."""

POSTINGS = 400
"""Newest postings of a term, a topic or a piece of a hash that are looked at."""

_MOST_POSTINGS = 2_000
_READ = 2_048  # pairs that are kept as they were read, by their very rows: one question meets a pair several times
_MOST_TERMS = 160

TABLES = (
    "CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS scopes(scope INTEGER PRIMARY KEY, agent TEXT NOT NULL, user TEXT NOT NULL,
        pairs INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0, answers INTEGER NOT NULL DEFAULT 0,
        sequences INTEGER NOT NULL DEFAULT 0, UNIQUE(agent, user))""",
    """CREATE TABLE IF NOT EXISTS sequences(sequence INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
        scope INTEGER NOT NULL, key TEXT NOT NULL, epoch INTEGER NOT NULL, first REAL NOT NULL, last REAL NOT NULL,
        pairs INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0, file TEXT NOT NULL DEFAULT '',
        changed INTEGER NOT NULL DEFAULT 0, written INTEGER NOT NULL DEFAULT 0)""",
    "CREATE INDEX IF NOT EXISTS sequences_key ON sequences(scope, key, last)",
    "CREATE INDEX IF NOT EXISTS sequences_last ON sequences(scope, archived, last)",
    "CREATE INDEX IF NOT EXISTS sequences_changed ON sequences(scope) WHERE changed > written",
    """CREATE TABLE IF NOT EXISTS pairs(pair INTEGER PRIMARY KEY AUTOINCREMENT, turn_id TEXT NOT NULL UNIQUE,
        sequence INTEGER NOT NULL, seq INTEGER NOT NULL, scope INTEGER NOT NULL, project TEXT NOT NULL, at REAL NOT NULL,
        kept TEXT NOT NULL, wanted TEXT NOT NULL DEFAULT '', length INTEGER NOT NULL, body TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS pairs_place ON pairs(sequence, seq)",
    "CREATE INDEX IF NOT EXISTS pairs_wanted ON pairs(pair) WHERE wanted <> ''",
    "CREATE TABLE IF NOT EXISTS terms(term TEXT PRIMARY KEY, pairs INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS postings(term TEXT, pair INTEGER, PRIMARY KEY(term, pair)) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS hashes(scope INTEGER, band INTEGER, pair INTEGER, hash INTEGER NOT NULL,
        PRIMARY KEY(scope, band, pair)) WITHOUT ROWID""",
)
CLEARED = ("scopes", "sequences", "pairs", "terms", "postings", "hashes", "meta")
_NEWEST = "SELECT * FROM (SELECT pair, hash FROM hashes WHERE scope = ? AND band = ? ORDER BY pair DESC LIMIT ?)"
_64_BITS = (1 << 64) - 1
_PAIR = "p.turn_id, s.name, p.seq, p.at, p.kept, p.project, p.body, c.agent, c.user"
_SEQ = 2  # its place in a row of these
_FROM = "pairs p JOIN sequences s ON s.sequence = p.sequence JOIN scopes c ON c.scope = p.scope"


def scope_of(connection: sqlite3.Connection, scope: Scope) -> int:
    """The number of a scope, made where it has none."""
    names = (storable(scope.agent), storable(scope.user))
    connection.execute("INSERT OR IGNORE INTO scopes(agent, user) VALUES (?, ?)", names)
    return int(connection.execute("SELECT scope FROM scopes WHERE agent = ? AND user = ?", names).fetchone()[0])


def known_scope(connection: sqlite3.Connection, scope: Scope) -> int:
    """Its number; -1 when it has none."""
    names = (storable(scope.agent), storable(scope.user))
    row = connection.execute("SELECT scope FROM scopes WHERE agent = ? AND user = ?", names).fetchone()
    return int(row[0]) if row else -1


def sequence_at(connection: sqlite3.Connection, scope: int, session: Session, at: float) -> int:
    """The sequence that something said then belongs to: of the same epoch, not after a long pause; made where there is none."""
    row = connection.execute(
        """
        SELECT sequence FROM sequences WHERE scope = ?1 AND key = ?2 AND epoch = ?3
        AND ?4 BETWEEN first - ?5 AND last + ?5 ORDER BY abs(last - ?4) LIMIT 1
        """,
        (scope, storable(session.key), session.epoch, at, PAUSE_SECONDS),
    ).fetchone()
    if row:
        return int(row[0])
    made = connection.execute(
        "INSERT INTO sequences(name, scope, key, epoch, first, last) VALUES (?, ?, ?, ?, ?, ?)",
        (_unused(connection, _name(session, at)), scope, storable(session.key), session.epoch, at, at),
    )
    connection.execute("UPDATE scopes SET sequences = sequences + 1 WHERE scope = ?", (scope,))
    return int(made.lastrowid or 0)


def seq_at(connection: sqlite3.Connection, sequence: int, at: float) -> int:
    """The next place in a sequence; what was said earlier than the last pushes the later ones on."""
    newest = connection.execute(
        "SELECT seq, at FROM pairs WHERE sequence = ? ORDER BY seq DESC LIMIT 1", (sequence,)
    ).fetchone()
    if newest is None or newest[1] <= at:
        return int(newest[0]) + 1 if newest else 1
    later = connection.execute(
        "SELECT min(seq) FROM pairs WHERE sequence = ? AND at > ?", (sequence, at)
    ).fetchone()[0]  # fmt: skip
    connection.execute("UPDATE pairs SET seq = seq + 1 WHERE sequence = ? AND seq >= ?", (sequence, later))
    return int(later)


def insert(connection: sqlite3.Connection, pair: Pair, sequence: int, scope: int) -> None:
    """Add a pair, findable by its terms, topics and hash."""
    held = _held(pair)
    at = _seconds(pair.at)
    row = connection.execute(
        """INSERT INTO pairs(turn_id, sequence, seq, scope, project, at, kept, length, body)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            storable(pair.turn_id), sequence, pair.seq, scope, storable(pair.scope.project), at,
            pair.kept, len(held), _body(pair),
        ),
    ).lastrowid  # fmt: skip
    _post(connection, int(row or 0), scope, pair, held)
    connection.execute(
        "UPDATE scopes SET pairs = pairs + 1, words = words + ?, answers = answers + ? WHERE scope = ?",
        (len(held), bool(pair.kept), scope),
    )
    connection.execute(
        """UPDATE sequences SET pairs = pairs + 1, changed = changed + 1, archived = 0,
        first = min(first, ?), last = max(last, ?) WHERE sequence = ?""",
        (at, at, sequence),
    )


def ended(connection: sqlite3.Connection, before: datetime) -> list[tuple[int, str]]:
    """(number, name) of the sequences that ended before and are not put away, of every scope, oldest first."""
    return connection.execute(
        """SELECT sequence, name FROM sequences WHERE scope IN (SELECT scope FROM scopes)
        AND archived = 0 AND last < ? AND pairs > 0 ORDER BY last, sequence""",
        (before.timestamp(),),
    ).fetchall()


def change(connection: sqlite3.Connection, pair: Pair) -> None:
    """Write a pair again whose answer, mark or judgement is another now; its question and place are the same."""
    found = connection.execute(
        "SELECT pair, scope, sequence, length, kept FROM pairs WHERE turn_id = ?", (storable(pair.turn_id),)
    ).fetchone()
    if found is None:
        return
    row, scope, sequence, length, kept = found
    held = _held(pair)
    _unpost(connection, row)
    connection.execute(
        "UPDATE pairs SET kept = ?, length = ?, body = ?, wanted = '' WHERE pair = ?",
        (pair.kept, len(held), _body(pair), row),
    )
    _post(connection, row, scope, pair, held)
    connection.execute(
        "UPDATE scopes SET words = words + ?, answers = answers + ? WHERE scope = ?",
        (len(held) - length, bool(pair.kept) - bool(kept), scope),
    )
    connection.execute("UPDATE sequences SET changed = changed + 1 WHERE sequence = ?", (sequence,))


def delete(connection: sqlite3.Connection, turn_ids: Iterable[str]) -> int:
    """Take pairs out; a sequence without any goes when the files are written. Returns how many were here."""
    done = 0
    for turn_id in turn_ids:
        found = connection.execute(
            "SELECT pair, scope, sequence, length, kept FROM pairs WHERE turn_id = ?", (storable(turn_id),)
        ).fetchone()
        if found is None:
            continue
        row, scope, sequence, length, kept = found
        _unpost(connection, row)
        connection.execute("DELETE FROM pairs WHERE pair = ?", (row,))
        connection.execute(
            "UPDATE scopes SET pairs = pairs - 1, words = words - ?, answers = answers - ? WHERE scope = ?",
            (length, bool(kept), scope),
        )
        connection.execute(
            "UPDATE sequences SET pairs = pairs - 1, changed = changed + 1 WHERE sequence = ?", (sequence,)
        )
        done += 1
    return done


def known(connection: sqlite3.Connection, turn_id: str) -> bool:
    """Whether a turn is a pair here."""
    return bool(connection.execute("SELECT 1 FROM pairs WHERE turn_id = ?", (storable(turn_id),)).fetchone())


def fetch(connection: sqlite3.Connection, where: str, given: Sequence[object]) -> list[Pair]:
    """The pairs that the condition picks, as it orders them."""
    rows = connection.execute(f"SELECT {_PAIR} FROM {_FROM} WHERE {where}", given).fetchall()  # noqa: S608  our own words
    return [_pair(row) for row in rows]


def around(connection: sqlite3.Connection, place: Place, scope: int, project: str, size: int) -> list[Pair]:
    """At most `size` pairs of the sequence around this place, in order; as many before it as after where there are."""
    where = "p.sequence = ?1 AND p.scope = ?2 AND (?3 = '' OR p.project IN ('', ?3)) AND p.seq"
    rows = connection.execute(
        f"SELECT * FROM (SELECT {_PAIR} FROM {_FROM} WHERE {where} < ?4 ORDER BY p.seq DESC LIMIT ?5)"  # noqa: S608  our own words
        f" UNION ALL SELECT * FROM (SELECT {_PAIR} FROM {_FROM} WHERE {where} >= ?4 ORDER BY p.seq LIMIT ?5)",
        (place.sequence, scope, storable(project), place.seq, size),
    ).fetchall()
    before = [row for row in rows if row[_SEQ] < place.seq]
    after = [row for row in rows if row[_SEQ] >= place.seq]
    behind = min(len(before), max(size // 2, size - len(after)))
    return [_pair(row) for row in (*before[:behind][::-1], *after[: size - behind])]


def frequencies(connection: sqlite3.Connection, wanted: Iterable[str], scope: int) -> dict[str, int]:
    """How many pairs of the scope hold each term."""
    tokens = {term: _token(scope, term) for term in wanted}
    rows = connection.execute(
        "SELECT t.term, t.pairs FROM json_each(?) j CROSS JOIN terms t ON t.term = j.value",
        (json.dumps(list(tokens.values())),),
    ).fetchall()
    counted = dict(rows)
    return {term: int(counted.get(token, 0)) for term, token in tokens.items()}


def match(
    connection: sqlite3.Connection, frequency: Mapping[str, int], scope: int, stored: int, limit: int | None = None
) -> list[int]:
    """The pairs whose shared terms say most (the sum of their idf), best first, the newer one of equals.

    The rarest terms are looked up first, and so many postings.
    """
    chosen: dict[str, float] = {}
    looked = 0
    for term, count in sorted(frequency.items(), key=lambda item: (item[1], item[0])):
        if not count:
            continue
        if looked and looked + min(count, POSTINGS) > _MOST_POSTINGS:
            break
        looked += min(count, POSTINGS)
        chosen[_token(scope, term)] = math.log(1 + max(stored - count, 0.5) / (count + 0.5))
    return _heaviest(connection, chosen, limit)


def _heaviest(connection: sqlite3.Connection, worth: Mapping[str, float], limit: int | None) -> list[int]:
    """The pairs under most of these tokens by what each is worth, best first, the newer one of equals; the newest of each."""
    posted = connection.execute(
        "SELECT j.value, (SELECT group_concat(pair) FROM"
        " (SELECT pair FROM postings WHERE term = j.value ORDER BY pair DESC LIMIT ?)) FROM json_each(?) j",
        (POSTINGS, json.dumps(list(worth))),
    ).fetchall()
    found = {token: np.fromstring(pairs, np.int64, sep=",") for token, pairs in posted if pairs}
    if not found:
        return []
    held = [np.full(len(pairs), worth[token]) for token, pairs in found.items()]
    rows, at = np.unique(np.concatenate(list(found.values())), return_inverse=True)
    total = np.bincount(at, np.concatenate(held))
    best: list[int] = rows[np.lexsort((-rows, -total))[:limit]].tolist()
    return best


def alike(connection: sqlite3.Connection, question_hash: str, scope: int) -> dict[int, int]:
    """Pairs whose hash is near, and in how many bits each differs."""
    pieces = bands(question_hash)
    found = connection.execute(
        " UNION ALL ".join([_NEWEST] * len(pieces)), [given for band in pieces for given in (scope, band, POSTINGS)]
    ).fetchall()
    value = _signed(question_hash)
    apart = {row: ((other ^ value) & _64_BITS).bit_count() for row, other in found}
    return {row: bits for row, bits in apart.items() if bits <= NEAR}


def about(connection: sqlite3.Connection, topics: Iterable[str], scope: int, limit: int) -> list[int]:
    """The pairs that share most of the topics, best first, the newer one of equals."""
    return _heaviest(connection, {_topic(scope, topic): 1.0 for topic in topics}, limit)


def places(connection: sqlite3.Connection, rows: Sequence[int], project: str) -> list[Place]:
    """Where these pairs stand, in this order; those of other projects are left out."""
    found = connection.execute(
        """SELECT pair, sequence, seq FROM pairs WHERE pair IN (SELECT value FROM json_each(?1))
        AND (?2 = '' OR project IN ('', ?2))""",
        (json.dumps(list(rows)), storable(project)),
    ).fetchall()
    known_ = {row: Place(sequence, seq) for row, sequence, seq in found}
    return [known_[row] for row in rows if row in known_]


# --- how a pair is kept -------------------------------------------------------------------------------------------------


def _held(pair: Pair) -> list[str]:
    """The terms that it is found by: of its question, its tokens, and of the answer where that was kept."""
    found = dict.fromkeys([*terms(pair.question)[:_MOST_TERMS], *content_terms(" ".join(pair.tokens))])
    found.update(dict.fromkeys(content_terms(pair.answer)[:_MOST_TERMS]))
    return list(found)


def _post(connection: sqlite3.Connection, row: int, scope: int, pair: Pair, held: Sequence[str]) -> None:
    tokens = [_token(scope, term) for term in held]
    connection.executemany(
        "INSERT INTO terms(term, pairs) VALUES (?, 1) ON CONFLICT(term) DO UPDATE SET pairs = pairs + 1",
        [(token,) for token in tokens],
    )
    tokens += [_topic(scope, topic) for topic in pair.topics]
    connection.executemany("INSERT OR IGNORE INTO postings VALUES (?, ?)", [(token, row) for token in tokens])
    if pair.question_hash:
        value = _signed(pair.question_hash)
        connection.executemany(
            "INSERT OR REPLACE INTO hashes VALUES (?, ?, ?, ?)",
            [(scope, band, row, value) for band in bands(pair.question_hash)],
        )


def _unpost(connection: sqlite3.Connection, row: int) -> None:
    """Take a pair out of all that it is found by."""
    body, scope = connection.execute("SELECT body, scope FROM pairs WHERE pair = ?", (row,)).fetchone()
    pair = _of_body(body)
    tokens = [(_token(scope, term),) for term in _held(pair)]
    connection.executemany("UPDATE terms SET pairs = pairs - 1 WHERE term = ?", tokens)
    connection.executemany("DELETE FROM terms WHERE term = ? AND pairs <= 0", tokens)
    tokens += [(_topic(scope, topic),) for topic in pair.topics]
    connection.executemany("DELETE FROM postings WHERE term = ? AND pair = ?", [(token, row) for (token,) in tokens])
    connection.executemany(
        "DELETE FROM hashes WHERE scope = ? AND band = ? AND pair = ?",
        [(scope, band, row) for band in (bands(pair.question_hash) if pair.question_hash else ())],
    )


def _token(scope: int, term: str) -> str:
    return f"{scope}/{storable(term)}"


def _topic(scope: int, topic: str) -> str:
    return f"{scope}#{storable(topic)}"


def _signed(hash_: str) -> int:
    """A hash as SQLite keeps a number of 64 bits."""
    return int.from_bytes(bytes.fromhex(hash_), signed=True)


def _body(pair: Pair) -> str:
    return json.dumps(
        {
            "q": pair.question, "a": pair.answer, "tokens": pair.tokens, "topics": pair.topics,
            "hash": pair.question_hash, "significance": pair.significance, "factors": dict(pair.factors),
            "origin": pair.origin.value, "speaker": pair.speaker, "mark": pair.mark,
            "others": pair.others, "answered": pair.answered.value,
        }
    )  # fmt: skip


def _of_body(body: str) -> Pair:
    return _pair(("", "", 0, 0.0, "", "", body, "", ""))


@lru_cache(maxsize=_READ)
def _pair(row: tuple[Any, ...]) -> Pair:
    """Of a row as `_PAIR` names it."""
    turn_id, name, seq, at, kept, project, body, agent, user = row
    said = json.loads(body)
    return Pair(
        turn_id=turn_id,
        scope=Scope(agent, user, project),
        sequence=name,
        seq=seq,
        question=said["q"],
        at=datetime.fromtimestamp(at, UTC),
        answer=said["a"],
        kept=kept,
        significance=said["significance"],
        factors=tuple(said["factors"].items()),
        tokens=tuple(said["tokens"]),
        topics=tuple(said["topics"]),
        question_hash=said["hash"],
        origin=Origin(said["origin"]),
        speaker=said["speaker"],
        mark=said["mark"],
        others=tuple((speaker, text) for speaker, text in said["others"]),
        answered=Origin(said["answered"]),
    )


def _name(session: Session, at: float) -> str:
    own = session.key.removeprefix(f"agent:{session.agent}:")
    whose = "" if session.agent == "main" else f"{session.agent}-"
    return f"{slug_of(f'{whose}{own}')[:60].strip('-') or 'session'}-{datetime.fromtimestamp(at, UTC):%Y%m%d}"


def _unused(connection: sqlite3.Connection, name: str) -> str:
    safe = storable(re.sub(r"[^\w-]", "-", name))
    number = 1
    while connection.execute(
        "SELECT 1 FROM sequences WHERE name = ?", (tried := safe if number == 1 else f"{safe}-{number}",)
    ).fetchone():
        number += 1
    return tried


def _seconds(at: datetime) -> float:
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


_LIKE = 8  # earlier questions that a new one is held against
_MOST_ASKED = 24  # its terms that are looked up for that


@dataclass(frozen=True, slots=True)
class Policy:
    """What decides whether an answer is kept. interests: of an agent's owner. mark: what a person said of a turn, or ""."""

    threshold: float = 0.6
    interests: Callable[[str], Sequence[Interest]] = lambda _: ()
    mark: Callable[[str], str] = lambda _: ""


def take_in(connection: sqlite3.Connection, said: pairing.Spoken, policy: Policy) -> None:
    """A new pair, and the one before it, now that is known what was said next."""
    turn = said.turn
    scope = scope_of(connection, turn.scope)
    at = turn.at.timestamp()
    sequence = sequence_at(connection, scope, turn.session, at)
    seq = seq_at(connection, sequence, at)
    name = connection.execute("SELECT name FROM sequences WHERE sequence = ?", (sequence,)).fetchone()[0]
    pair = pairing.paired(said, sequence=name, seq=seq, others=_like(connection, said, scope))
    pair = replace(pair, mark=policy.mark(turn.turn_id))
    insert(connection, kept(pair, said.answer, policy), sequence, scope)
    _follow(connection, sequence, seq, said.question, policy)


def _follow(connection: sqlite3.Connection, sequence: int, seq: int, next_said: str, policy: Policy) -> None:
    """The pair before it, now that is known what the user said next."""
    for before in fetch(connection, "p.sequence = ? AND p.seq < ? ORDER BY p.seq DESC LIMIT 1", (sequence, seq)):
        after = pairing.followed(before, next_said)
        if after == before:
            continue
        change(connection, after)
        if not after.kept and pairing.reason(after, threshold=policy.threshold, interests=_interests(after, policy)):
            connection.execute("UPDATE pairs SET wanted = '1' WHERE turn_id = ?", (storable(after.turn_id),))


def _like(connection: sqlite3.Connection, said: pairing.Spoken, scope: int) -> list[frozenset[str]]:
    """The content terms of the earlier questions that are most like it: by its rarest terms, and by its hash."""
    asked = list(dict.fromkeys(content_terms(said.question)))[:_MOST_ASKED]
    stored = connection.execute("SELECT pairs FROM scopes WHERE scope = ?", (scope,)).fetchone()[0]
    best = match(connection, frequencies(connection, asked, scope), scope, stored, _LIKE)
    hash_ = question_hash(said.question)
    best += list(alike(connection, hash_, scope))[:_LIKE] if hash_ else []
    found = fetch(connection, "p.pair IN (SELECT value FROM json_each(?))", (json.dumps(best),))
    return [frozenset(content_terms(pair.question)) for pair in found]


def kept(pair: Pair, answer: str, policy: Policy) -> Pair:
    """The pair with its answer where that is to be kept, without it where not."""
    why = pairing.reason(pair, threshold=policy.threshold, interests=_interests(pair, policy)) if answer else ""
    return replace(pair, kept=why, answer=answer if why else "")


def _interests(pair: Pair, policy: Policy) -> Sequence[Interest]:
    """Interests are the owner's: what others ask is not kept because of them."""
    return policy.interests(pair.scope.agent) if pair.scope.user == "owner" else ()


_ROW = "s.sequence, s.name, c.agent, c.user, s.key, s.first, s.last, s.pairs, s.archived, s.file, s.changed, s.written"


@dataclass(frozen=True, slots=True)
class Row:
    """A sequence without its pairs. file: where it was last written to, "" = in the index file, or nowhere."""

    sequence: int
    name: str
    scope: Scope
    key: str
    first: datetime
    last: datetime
    pairs: int
    archived: bool
    file: str
    changed: int
    written: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over scopes."""

    pairs: int = 0
    answers: int = 0
    sequences: int = 0


def totals(connection: sqlite3.Connection, scope: Scope | None) -> Totals:
    """Counts of a scope, or of all."""
    where, given = ("WHERE agent = ? AND user = ?", (scope.agent, scope.user)) if scope else ("", ())
    row = connection.execute(
        f"SELECT coalesce(sum(pairs), 0), coalesce(sum(answers), 0), coalesce(sum(sequences), 0) FROM scopes {where}",  # noqa: S608
        given,
    ).fetchone()
    return Totals(*map(int, row))


def listed(
    connection: sqlite3.Connection, scope: Scope, *, archived: bool | None, changed: bool, limit: int
) -> list[Row]:
    """Sequences of a scope, the newest first. archived: None = both. changed: only those not written since."""
    where = "s.scope = ?1" + (" AND s.changed > s.written" if changed else "")
    where += "" if archived is None else f" AND s.archived = {int(archived)}"
    where += "" if changed else " AND s.pairs > 0"
    found = connection.execute(
        f"SELECT {_ROW} FROM sequences s JOIN scopes c ON c.scope = s.scope WHERE {where} ORDER BY s.last DESC LIMIT ?2",  # noqa: S608
        (known_scope(connection, scope), limit),
    ).fetchall()
    return [_row(row) for row in found]


def named(connection: sqlite3.Connection, name: str) -> Row | None:
    """By its name, or the start of it where only one has that."""
    found = connection.execute(
        f"SELECT {_ROW} FROM sequences s JOIN scopes c ON c.scope = s.scope"  # noqa: S608
        " WHERE s.name = ?1 OR substr(s.name, 1, length(?1)) = ?1 ORDER BY s.name <> ?1, s.last DESC LIMIT 2",
        (storable(name),),
    ).fetchall()
    exact = found[:1] if found and (found[0][1] == name or len(found) == 1) else []
    return _row(exact[0]) if exact else None


def note_written(connection: sqlite3.Connection, row: Row, file: str) -> None:
    """What this row says now is in this file; what changed meanwhile is to be written again, what is empty goes."""
    if not row.pairs:
        connection.execute("DELETE FROM sequences WHERE sequence = ? AND pairs = 0", (row.sequence,))
        connection.execute(
            "UPDATE scopes SET sequences = (SELECT count(*) FROM sequences s WHERE s.scope = scopes.scope)"
        )
    connection.execute(
        "UPDATE sequences SET written = ?, file = ? WHERE sequence = ?", (row.changed, file, row.sequence)
    )


def _row(found: tuple[object, ...]) -> Row:
    sequence, name, agent, user, key, first, last, pairs, archived, file, changed, written = found
    return Row(
        sequence=int(str(sequence)),
        name=str(name),
        scope=Scope(str(agent), str(user)),
        key=str(key),
        first=datetime.fromtimestamp(float(str(first)), UTC),
        last=datetime.fromtimestamp(float(str(last)), UTC),
        pairs=int(str(pairs)),
        archived=bool(archived),
        file=str(file),
        changed=int(str(changed)),
        written=int(str(written)),
    )
