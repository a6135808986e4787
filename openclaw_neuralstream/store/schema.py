"""The tables of the memory file and the steps from each version of them to the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from openclaw_neuralstream.errors import StateNewer
from openclaw_neuralstream.store import labels, words

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
    words.lead_back(connection)
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
