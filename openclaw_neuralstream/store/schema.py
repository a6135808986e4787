"""The truth's schema; turns as bytes and words as rows."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import BadRequest, StateNewer
from openclaw_neuralstream.model import Gem, Origin, Scope, Session, Turn, Utterance, digest
from openclaw_neuralstream.store import database, labels
from openclaw_neuralstream.store.database import heaviest, in_rows, renamed, storable, token_of
from openclaw_neuralstream.text.lexicon import affordable, bases
from openclaw_neuralstream.text.lexicon import terms as terms_of

POSTINGS = 8_000
"""How many postings one search may look at; the rarest terms come first, the first one always counts."""

_K1, _B = 1.2, 0.5
_SPARE = 30  # candidates weighed beyond the asked number: the rare terms choose them, all terms order them
_COMMON = 1_000  # a term of more postings than this is counted once and then remembered
_DRIFT = 1.02  # until the scope has grown by so much


@dataclass(frozen=True, slots=True)
class WordHit:
    """A gem found by its words. bm25: higher is better. matched: the asked terms it holds."""

    gem_id: str
    bm25: float
    matched: tuple[str, ...]


def insert(connection: sqlite3.Connection, row: int, gem: Gem) -> None:
    """Index the words of a gem: content, summary, topics and entities."""
    scope = connection.execute("SELECT scope_id FROM gems WHERE seq = ?", (row,)).fetchone()[0]
    found = [token_of(term) for term in terms_of("\n".join((gem.content, gem.summary, *gem.topics, *gem.entities)))]
    tokens = " ".join(f"{scope}/{term}" for term in found if term)
    connection.execute("INSERT INTO words(rowid, tokens) VALUES (?, ?)", (row, tokens))
    _count(connection, scope, 1, len(found))


def delete(connection: sqlite3.Connection, row: int) -> None:
    """Take a gem's words out of the index."""
    known = connection.execute("SELECT tokens FROM words WHERE rowid = ?", (row,)).fetchone()
    scope = connection.execute("SELECT scope_id FROM gems WHERE seq = ?", (row,)).fetchone()
    connection.execute("DELETE FROM words WHERE rowid = ?", (row,))
    if known and scope:
        _count(connection, scope[0], -1, -len(known[0].split()))


def beginning(connection: sqlite3.Connection, scope_id: int, starts: Sequence[str]) -> list[str]:
    """The terms of the scope that begin so."""
    tokens = database.beginning(connection, [_token(scope_id, start) for start in starts])
    return [token.partition("/")[2] for token in tokens]


def lead_back(connection: sqlite3.Connection) -> None:
    """Irregular forms that an older version indexed as they were written become those of their words."""
    renamed(connection, bases())


class Counts:
    """How many gems hold a term. Counting a common term costs milliseconds, so those are remembered."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}  # token -> gems in all when it was counted, gems that hold it

    def of(self, connection: sqlite3.Connection, scope_id: int, terms: Iterable[str]) -> dict[str, int]:
        """How many gems of the scope hold each term; terms that none holds are there with 0."""
        row = connection.execute("SELECT gems FROM scopes WHERE scope_id = ?", (scope_id,)).fetchone()
        gems = int(row[0]) if row else 0
        tokens = {term: _token(scope_id, term) for term in terms}
        counted = self._remembered(tokens.values(), gems)
        for token, count in in_rows(connection, [token for token in tokens.values() if token not in counted]).items():
            counted[token] = count
            if count > _COMMON:
                self._known[token] = (gems, count)
        return {term: counted[token] for term, token in tokens.items()}

    def _remembered(self, tokens: Iterable[str], gems: int) -> dict[str, int]:
        known = {token: self._known.get(token, (0, 0)) for token in tokens}
        return {token: count for token, (then, count) in known.items() if then <= gems <= then * _DRIFT and count}


def search(
    connection: sqlite3.Connection,
    counts: Counts,
    terms: Sequence[str],
    scope: Scope,
    scope_id: int,
    *,
    limit: int,
    superseded: bool,
    weights: Mapping[str, float] | None = None,
) -> list[WordHit]:
    """The best gems of the scope by BM25 over the asked terms, best first; [] when no term is known there.

    weights: how much each term counts, 1 where it is not named.
    """
    known = {term: n for term, n in counts.of(connection, scope_id, terms).items() if n}
    weigh = _Weigher(connection, scope_id, known, weights or {})
    chosen = {_token(scope_id, term): weigh.idf[term] for term in affordable(known, POSTINGS)}
    candidates = heaviest(connection, chosen)
    hits: list[WordHit] = []
    step = limit + _SPARE
    for start in range(0, len(candidates), step):
        rows = _visible(connection, candidates[start : start + step].tolist(), scope, superseded=superseded)
        hits += [weigh.hit(gem_id, tokens) for gem_id, tokens in rows]
        if len(hits) >= limit:
            break
    return sorted(hits, key=lambda hit: (-hit.bm25, hit.gem_id))[:limit]


def _visible(
    connection: sqlite3.Connection, rows: Sequence[int], scope: Scope, *, superseded: bool
) -> list[tuple[str, str]]:
    """Id and tokens of those of the rows that the scope's project may see."""
    project = storable(scope.project)
    return connection.execute(
        """
        SELECT g.gem_id, w.tokens FROM json_each(?) AS j CROSS JOIN gems g ON g.seq = j.value
        CROSS JOIN words w ON w.rowid = g.seq
        WHERE (? OR g.superseded = 0) AND (? = '' OR g.project IN ('', ?))
        """,
        (json.dumps(list(rows)), superseded, project, project),
    ).fetchall()


class _Weigher:
    """BM25 of one scope (Robertson and Zaragoza 2009; idf kept positive by 1 +), exact over all asked terms."""

    def __init__(
        self, connection: sqlite3.Connection, scope_id: int, frequency: dict[str, int], weights: Mapping[str, float]
    ) -> None:
        gems, words = connection.execute("SELECT gems, words FROM scopes WHERE scope_id = ?", (scope_id,)).fetchone()
        self._mean = max(1.0, words / max(1, gems))
        self.idf = {
            term: weights.get(term, 1.0) * math.log(1 + (max(gems, n) - n + 0.5) / (n + 0.5))
            for term, n in frequency.items()
        }
        self._terms = {_token(scope_id, term): term for term in frequency}

    def hit(self, gem_id: str, tokens: str) -> WordHit:
        held = tokens.split()
        norm = _K1 * (1 - _B + _B * len(held) / self._mean)
        matched = {self._terms[token]: held.count(token) for token in self._terms.keys() & set(held)}
        score = sum(self.idf[term] * count * (_K1 + 1) / (count + norm) for term, count in matched.items())
        return WordHit(gem_id, score, tuple(sorted(matched)))


def _token(scope_id: int, term: str) -> str:
    return f"{scope_id}/{token_of(term)}"


def _count(connection: sqlite3.Connection, scope: int, gems: int, words: int) -> None:
    connection.execute("UPDATE scopes SET gems = gems + ?, words = words + ? WHERE scope_id = ?", (gems, words, scope))


# `turns.state`. A turn's row stays for ever, so that its id is never accepted again; its text is in `bodies`.
WAITING, CLAIMED, EXTRACTED, DEAD, FORGOTTEN, DAMAGED = range(6)
OPEN = -1  # only its beginning is known: the host has not said that it ended
QUEUED = -2  # it waits in another buffer, and is kept here to be found and forgotten

_PUNCTUATION = "!#$%&()*+,-./:;<=>?@[\\]^_`{|}~"
"""Token characters beside letters, digits and everything outside ASCII: only blanks separate tokens."""

_VERSION_1 = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counters(name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE sessions(
    agent TEXT NOT NULL, key TEXT NOT NULL, host_id TEXT NOT NULL,
    epoch INTEGER NOT NULL DEFAULT 0,
    briefed INTEGER NOT NULL DEFAULT 0,      -- the session block of this window was asked for
    turns INTEGER NOT NULL DEFAULT 0,        -- number of the last turn, over all epochs
    first_seen REAL NOT NULL,
    ended_at REAL, ended_turns INTEGER,      -- the last end, to take an event heard twice as one
    PRIMARY KEY(agent, key)
) WITHOUT ROWID;

CREATE TABLE turns(
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    turn_id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL, key TEXT NOT NULL, epoch INTEGER NOT NULL, number INTEGER NOT NULL,
    at REAL NOT NULL, state INTEGER NOT NULL, batch_id TEXT
);
CREATE INDEX turns_open ON turns(agent, key, epoch, number) WHERE state < 2;
CREATE INDEX turns_session ON turns(agent, key, epoch, number);
CREATE INDEX turns_batch ON turns(batch_id) WHERE batch_id IS NOT NULL;
CREATE TABLE bodies(seq INTEGER PRIMARY KEY, body BLOB NOT NULL);

CREATE TABLE batches(
    batch_id TEXT PRIMARY KEY,
    agent TEXT NOT NULL, key TEXT NOT NULL, host_id TEXT NOT NULL, epoch INTEGER NOT NULL,
    "trigger" TEXT NOT NULL, state TEXT NOT NULL,  -- claimed, released, stored, dead
    token TEXT NOT NULL, lease_until REAL NOT NULL,
    claims INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '',
    turns INTEGER NOT NULL, gems INTEGER NOT NULL DEFAULT 0, at REAL NOT NULL
);
CREATE INDEX batches_session ON batches(agent, key, state);
CREATE INDEX batches_at ON batches(at);

CREATE TABLE scopes(
    scope_id INTEGER PRIMARY KEY, agent TEXT NOT NULL, user TEXT NOT NULL,
    gems INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0, UNIQUE(agent, user)
);
CREATE TABLE embedders(
    embedder_id INTEGER PRIMARY KEY, name TEXT NOT NULL, dimensions INTEGER NOT NULL, UNIQUE(name, dimensions)
);
CREATE TABLE gems(
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    gem_id TEXT NOT NULL UNIQUE, scope_id INTEGER NOT NULL, project TEXT NOT NULL,
    created_at REAL NOT NULL, superseded INTEGER NOT NULL, batch_id TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX gems_newest ON gems(created_at, seq);
CREATE INDEX gems_scope ON gems(scope_id, created_at, seq);
CREATE INDEX gems_batch ON gems(batch_id);
CREATE TABLE vectors(gem INTEGER NOT NULL, embedder_id INTEGER NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY(gem, embedder_id));
CREATE TABLE evidence(gem INTEGER NOT NULL, turn_id TEXT NOT NULL, PRIMARY KEY(gem, turn_id)) WITHOUT ROWID;
CREATE INDEX evidence_turn ON evidence(turn_id);
CREATE TABLE events(
    seq INTEGER PRIMARY KEY AUTOINCREMENT, gem_id TEXT NOT NULL, action TEXT NOT NULL, at REAL NOT NULL
);
CREATE TABLE tombstones(digest TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE quarantine(seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, body BLOB, reason TEXT NOT NULL);

CREATE VIRTUAL TABLE words USING fts5(tokens, detail = none, tokenize = "ascii tokenchars '{_PUNCTUATION}'");
CREATE VIRTUAL TABLE words_seen USING fts5vocab(words, row);
"""

_VERSION_2 = """
CREATE TABLE statements(                     -- each time that something was said; a gem is what its statements add up to
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    gem INTEGER NOT NULL, batch_id TEXT NOT NULL,  -- '' = by hand, or imported
    own_id TEXT NOT NULL,                    -- the id that it would have as a gem of its own
    said_at REAL NOT NULL, place INTEGER NOT NULL, body TEXT NOT NULL, why TEXT NOT NULL,
    UNIQUE(batch_id, own_id)
);
CREATE INDEX statements_gem ON statements(gem);
CREATE INDEX statements_own ON statements(own_id);
CREATE TABLE links(                          -- two gems that cannot both hold; fixed: not for the times to decide
    older TEXT NOT NULL, newer TEXT NOT NULL, batch_id TEXT NOT NULL, why TEXT NOT NULL, fixed INTEGER NOT NULL,
    PRIMARY KEY(older, newer, batch_id)
) WITHOUT ROWID;
CREATE INDEX links_newer ON links(newer);
CREATE INDEX links_batch ON links(batch_id);
CREATE TABLE hands(gem_id TEXT PRIMARY KEY, fields TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE drops(batch_id TEXT NOT NULL, place INTEGER NOT NULL, content TEXT NOT NULL, why TEXT NOT NULL,
    PRIMARY KEY(batch_id, place)) WITHOUT ROWID;
CREATE TABLE made(batch_id TEXT PRIMARY KEY, extractor TEXT NOT NULL,
    new INTEGER NOT NULL, same INTEGER NOT NULL, replaced INTEGER NOT NULL, dropped INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE refusals(batch_id TEXT NOT NULL, at REAL NOT NULL, reason TEXT NOT NULL);
CREATE INDEX refusals_batch ON refusals(batch_id);

INSERT INTO statements(gem, batch_id, own_id, said_at, place, body, why)
SELECT g.seq, coalesce(t.batch_id, g.batch_id), g.gem_id, max(coalesce(t.at, g.created_at)), 0,
    CASE WHEN count(e.turn_id) THEN json_set(g.body, '$.evidence', json_group_array(e.turn_id)) ELSE g.body END, 'new'
FROM gems g LEFT JOIN evidence e ON e.gem = g.seq LEFT JOIN turns t ON t.turn_id = e.turn_id
WHERE json_valid(g.body) GROUP BY g.seq, coalesce(t.batch_id, g.batch_id);
INSERT OR IGNORE INTO links SELECT gem_id, body ->> '$.superseded_by', '', 'kept', 1
FROM gems WHERE json_valid(body) AND coalesce(body ->> '$.superseded_by', '') <> '';
INSERT INTO hands SELECT gem_id, json_object('content', body ->> '$.content', 'summary', body ->> '$.summary',
    'importance', body -> '$.importance', 'tags', body -> '$.tags', 'topics', body -> '$.topics')
FROM gems WHERE json_valid(body) AND body ->> '$.edited';
"""

_VERSION_3 = """
CREATE TABLE tags(                           -- what a person has named: each spelling, and the tag that it stands for
    key TEXT PRIMARY KEY, name TEXT NOT NULL, tag TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE tag_parents(child TEXT NOT NULL, parent TEXT NOT NULL, PRIMARY KEY(child, parent)) WITHOUT ROWID;
CREATE TABLE tag_changes(seq INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, action TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE labels(                         -- derived from the gems: which of them carries which tag, names which entity
    scope_id INTEGER NOT NULL, kind INTEGER NOT NULL, key TEXT NOT NULL, gem INTEGER NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY(scope_id, kind, key, gem)
) WITHOUT ROWID;
CREATE INDEX labels_gem ON labels(gem);
CREATE TRIGGER labels_follow AFTER DELETE ON gems BEGIN DELETE FROM labels WHERE gem = OLD.seq; END;
"""

_VERSION_4 = ""  # the tables stay; irregular forms are indexed as their words

MIGRATIONS: tuple[str, ...] = (_VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4)
"""The script at position n leads from version n to n + 1."""


def _words_and_days(connection: sqlite3.Connection) -> None:
    lead_back(connection)
    labels.infer_anew(connection)  # the days that a gem tells of, by the tense of its sentences


_FILLED: dict[int, Callable[[sqlite3.Connection], None]] = {3: labels.make, 4: _words_and_days}
"""What a version derives from what was there, after its script, in the same transaction."""

VERSION = len(MIGRATIONS)


def version_of(connection: sqlite3.Connection) -> int:
    """The version that the file was written by; 0 = an empty file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the file to the present version, all steps in one transaction. Raises StateNewer, the file untouched."""
    before = version_of(connection)
    if before > VERSION:
        raise _newer(before, path)
    if before == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = version_of(connection)  # another process may have been faster
        for version, script in enumerate(MIGRATIONS[found:], found + 1):
            for statement in statements(script):
                connection.execute(statement)
            if fill := _FILLED.get(version):
                fill(connection)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _newer(found: int, path: Path) -> StateNewer:
    return StateNewer(
        f"the memory file has version {found}, this program knows {VERSION}",
        where=str(path),
        fix="install the newer version again: pip install --upgrade openclaw-neuralstream",
    )


def statements(script: str) -> list[str]:
    """The single statements of a script; unlike `executescript` they can run inside one transaction."""
    found, rest = [], ""
    for line in script.splitlines(keepends=True):
        rest += line
        if sqlite3.complete_statement(rest):
            found.append(rest)
            rest = ""
    return found


def turn_to_bytes(turn: Turn) -> bytes:
    """UTF-8 JSON; lone surrogates pass as the three bytes that UTF-8 would give them."""
    return json.dumps(_plain(turn), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def turn_from_bytes(data: bytes) -> Turn:
    """The inverse of `turn_to_bytes`. Raises BadRequest when the bytes are not a turn."""
    try:
        return _turn(json.loads(data.decode("utf-8", "surrogatepass")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRequest(f"stored bytes are not a turn: {type(error).__name__}") from error


def batch_id_of(turn_ids: list[str] | tuple[str, ...]) -> str:
    """The id of a batch: the same turns in the same order are the same batch, whoever claims them, however often."""
    return digest("batch", *turn_ids)


def seconds(moment: datetime) -> float:
    """Seconds since 1970; a moment without a zone is taken as UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def from_seconds(value: float) -> datetime:
    """The inverse of `seconds`, in UTC."""
    return datetime.fromtimestamp(value, UTC)


def _plain(turn: Turn) -> dict[str, Any]:
    return {
        "turn_id": turn.turn_id,
        "scope": [turn.scope.agent, turn.scope.user, turn.scope.project],
        "session": [turn.session.agent, turn.session.key, turn.session.host_id, turn.session.epoch],
        "at": turn.at.isoformat(),
        "utterances": [[u.speaker, u.origin.value, u.text, u.at.isoformat(), u.name] for u in turn.utterances],
        "index": turn.index,
        "run_id": turn.run_id,
    }


def _turn(data: dict[str, Any]) -> Turn:
    agent, key, host_id, epoch = data["session"]
    return Turn(
        turn_id=str(data["turn_id"]),
        scope=Scope(*map(str, data["scope"])),
        session=Session(str(agent), str(key), str(host_id), int(epoch)),
        at=_moment(data["at"]),
        utterances=tuple(
            Utterance(str(speaker), Origin(origin), str(text), _moment(at), str(name))
            for speaker, origin, text, at, name in data["utterances"]
        ),
        index=int(data["index"]),
        run_id=str(data["run_id"]),
    )


def _moment(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    return value if value.tzinfo else value.replace(tzinfo=UTC)
