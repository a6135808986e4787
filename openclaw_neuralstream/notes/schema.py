"""The tables of a workspace's index. It is derived: a file of another version is not converted but built anew."""

from __future__ import annotations

from openclaw_neuralstream.notes.parse import PARSER

SCHEMA = 5

VERSION = SCHEMA * 1_000 + PARSER
"""`user_version` of the file: other tables or another parser give another number."""

_PUNCTUATION = "!#$%&()*+,-./:;<=>?@[\\]^_`{|}~"
"""Token characters beside letters, digits and everything outside ASCII: only blanks separate tokens."""

# Days are ordinals (`date.toordinal`). `sorting` comes from the id, so that ties never depend on the order of indexing.
SCRIPT = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE totals(one INTEGER PRIMARY KEY, entries INTEGER NOT NULL, words INTEGER NOT NULL, changes INTEGER NOT NULL);
INSERT INTO totals VALUES (1, 0, 0, 0);

CREATE TABLE files(
    file_id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,
    digest TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    title TEXT NOT NULL, day INTEGER, entity TEXT NOT NULL, tags TEXT NOT NULL, aliases TEXT NOT NULL,
    problems TEXT NOT NULL
);
CREATE INDEX files_problems ON files(path) WHERE problems != '[]';

CREATE TABLE entries(                     -- narrow on purpose: searches look thousands of them up
    entry_id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL,
    kind TEXT NOT NULL,                   -- a fact's kind, or "note"
    first INTEGER, last INTEGER,          -- the days it is about: the range in its text, else its day
    since INTEGER, ended INTEGER,         -- when it began to hold, when a range in its text ended
    replaced INTEGER,                     -- the day of the later fact that replaced it
    generated INTEGER NOT NULL,
    sorting INTEGER NOT NULL, line INTEGER NOT NULL,
    attribute TEXT NOT NULL, name TEXT NOT NULL
);
CREATE UNIQUE INDEX entries_name ON entries(name);
CREATE INDEX entries_file ON entries(file_id);
CREATE INDEX entries_first ON entries(first DESC, sorting);
CREATE INDEX entries_kind ON entries(kind);
CREATE INDEX entries_attribute ON entries(attribute) WHERE attribute != '';
CREATE TABLE bodies(entry_id INTEGER PRIMARY KEY, body TEXT NOT NULL);

CREATE TABLE mentions(slug TEXT NOT NULL, entry_id INTEGER NOT NULL, PRIMARY KEY(slug, entry_id)) WITHOUT ROWID;
CREATE INDEX mentions_entry ON mentions(entry_id);
CREATE TABLE names(                       -- every spelling of every entity, by its rarest first term
    first_term TEXT NOT NULL, slug TEXT NOT NULL, name TEXT NOT NULL, page TEXT NOT NULL, file_id INTEGER NOT NULL,
    PRIMARY KEY(first_term, slug, name, page, file_id)
) WITHOUT ROWID;
CREATE INDEX names_file ON names(file_id);
CREATE INDEX names_slug ON names(slug);
CREATE INDEX names_page ON names(page, slug) WHERE page != '';
CREATE TABLE tagged(tag TEXT NOT NULL, entry_id INTEGER NOT NULL, spelling TEXT NOT NULL,
    PRIMARY KEY(tag, entry_id, spelling)) WITHOUT ROWID;
CREATE INDEX tagged_entry ON tagged(entry_id);
CREATE TABLE inferred(tag TEXT NOT NULL, entry_id INTEGER NOT NULL, spelling TEXT NOT NULL,
    PRIMARY KEY(tag, entry_id)) WITHOUT ROWID;  -- not in the file: from what the memory knows, for entries without tags
CREATE INDEX inferred_entry ON inferred(entry_id);
CREATE TABLE looked(entry_id INTEGER PRIMARY KEY, version TEXT NOT NULL);  -- by which state of the tags it was inferred

CREATE TABLE vectors(entry_id INTEGER PRIMARY KEY, embedder TEXT NOT NULL, vector BLOB NOT NULL);

CREATE VIRTUAL TABLE words USING fts5(tokens, detail = none, tokenize = "ascii tokenchars '{_PUNCTUATION}'");
CREATE VIRTUAL TABLE words_seen USING fts5vocab(words, row);
"""
