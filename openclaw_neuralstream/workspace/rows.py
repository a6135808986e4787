"""The tables of a workspace's index, read and written."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from openclaw_neuralstream.model import Document, Entity, Fact, Known, Note, Problem, Wanted, slug_of
from openclaw_neuralstream.store.database import storable, token_of
from openclaw_neuralstream.text.lexicon import is_stop, terms
from openclaw_neuralstream.workspace import markdown
from openclaw_neuralstream.workspace.markdown import day_of, from_json, ordinal, to_json
from openclaw_neuralstream.workspace.parse import PARSER
from openclaw_neuralstream.workspace.search import as_json, condition

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


_NEWEST_NAMES = 400
"""Names that one question may be compared with."""


def newest(connection: sqlite3.Connection, wanted: Wanted, limit: int) -> list[str]:
    """Ids of what is wanted, the newest first; what has no day comes last."""
    where, values = condition(connection, wanted)
    rows = connection.execute(
        f"SELECT e.name FROM entries e WHERE {where} ORDER BY e.first DESC, e.sorting LIMIT ?", (*values, limit)
    ).fetchall()
    return [name for (name,) in rows]


def fetch(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Note | Fact]:
    """Notes and facts by id, in the order asked."""
    rows = connection.execute(
        "SELECT e.name, b.body FROM json_each(?) j CROSS JOIN entries e ON e.name = j.value"
        " CROSS JOIN bodies b ON b.entry_id = e.entry_id",
        (as_json(ids),),
    ).fetchall()
    return {name: from_json(body) for name, body in rows}


def facts(connection: sqlite3.Connection, wanted: Wanted, limit: int) -> list[Fact]:
    """Facts by day, then path, then line; those without a day first."""
    where, values = condition(connection, wanted)
    rows = connection.execute(
        "SELECT b.body FROM entries e JOIN bodies b USING (entry_id) JOIN files f USING (file_id)"
        f" WHERE e.kind != 'note' AND {where} ORDER BY e.since, f.path, e.line, e.sorting LIMIT ?",
        (*values, limit or -1),
    ).fetchall()
    return [entry for (body,) in rows if isinstance(entry := from_json(body), Fact)]


def outdated(connection: sqlite3.Connection, ids: Sequence[str], wanted: Wanted) -> dict[str, str]:
    """Why some of these do not hold: now, or in the period that is asked for."""
    rows = connection.execute(
        "SELECT e.name, e.since, e.ended, e.replaced FROM json_each(?) j CROSS JOIN entries e ON e.name = j.value",
        (as_json(ids),),
    ).fetchall()
    as_of = wanted.as_of
    first = as_of.start.toordinal() if as_of and as_of.start else 1
    last = as_of.end.toordinal() if as_of and as_of.end else None
    told = {}
    for name, since, ended, replaced in rows:
        if replaced is not None and (last is None or replaced <= last):
            told[name] = "superseded"
        elif as_of and ((last and since and since > last) or (ended and ended < first)):
            told[name] = "expired"
    return told


def read_tags(connection: sqlite3.Connection) -> dict[str, int]:
    """Each tag by its most frequent spelling and how many entries carry it, most often first."""
    named = dict(tag_counts(connection).values())
    return dict(sorted(named.items(), key=lambda item: (-item[1], item[0])))


def tag_counts(connection: sqlite3.Connection) -> dict[str, tuple[str, int]]:
    """Each tag's key, its most frequent spelling, and how many entries carry it."""
    rows = connection.execute("SELECT tag, spelling, COUNT(*) FROM tagged GROUP BY tag, spelling").fetchall()
    carried = dict(connection.execute("SELECT tag, COUNT(DISTINCT entry_id) FROM tagged GROUP BY tag").fetchall())
    return {tag: (spelling, carried[tag]) for tag, spelling in _spelt(rows).items()}


def tagged(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, str]:
    """Those of the keys that an entry carries, each with its most frequent spelling."""
    rows = connection.execute(
        "SELECT t.tag, t.spelling, COUNT(*) FROM json_each(?) j CROSS JOIN tagged t ON t.tag = j.value"
        " GROUP BY t.tag, t.spelling",
        (as_json(keys),),
    ).fetchall()
    return _spelt(rows)


def tag_total(connection: sqlite3.Connection, keys: Sequence[str]) -> int:
    """How many entries carry one of these keys, each counted once."""
    found = connection.execute(
        "SELECT COUNT(DISTINCT t.entry_id) FROM json_each(?) j CROSS JOIN tagged t ON t.tag = j.value",
        (as_json(keys),),
    ).fetchone()
    return int(found[0])


def _spelt(rows: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    spelt: dict[str, Counter[str]] = {}
    for tag, spelling, count in rows:
        spelt.setdefault(tag, Counter())[spelling] += count
    return {tag: min(found, key=lambda s: (-found[s], s)) for tag, found in spelt.items()}


def named_in(connection: sqlite3.Connection, text: str) -> set[str]:
    """Slugs of the entities whose name or alias stands in a text: all terms of it are there."""
    said = {token_of(term) for term in terms(text)}
    rows = connection.execute(
        "SELECT DISTINCT n.slug, n.name FROM json_each(?) j CROSS JOIN names n ON n.first_term = j.value"
        " ORDER BY n.slug, n.name LIMIT ?",
        (as_json(sorted(said)), _NEWEST_NAMES),
    ).fetchall()
    return {slug for slug, name in rows if {token_of(term) for term in terms(name)} <= said}


@dataclass(slots=True)
class _Gathered:
    spellings: Counter[str] = field(default_factory=Counter)
    page: str = ""
    facts: int = 0
    notes: int = 0
    last: int = 0


def entities(connection: sqlite3.Connection, slugs: Iterable[str] | None, limit: int) -> list[Entity]:
    """These entities (None = all), spellings that share a page taken together; most often named first, then by slug."""
    names = _names(connection, slugs)
    home: dict[str, str] = {}
    for slug, _, page, _ in names:
        if page:
            home[slug] = min(home.get(slug, page), page)
    gathered: dict[str, _Gathered] = {}
    for slug, name, page, path in names:
        found = gathered.setdefault(home.get(slug, slug), _Gathered())
        found.spellings[name] += (1_000_000 if slug == page else 1_000) if page else 1
        if page:
            found.page = min(found.page or path, path)
    for slug, kind, count, last in _counted(connection, {slug for slug, *_ in names}):
        found = gathered[home.get(slug, slug)]
        found.last = max(found.last, last or 0)
        if kind == "note":
            found.notes += count
        else:
            found.facts += count
    told = [_entity(slug, found) for slug, found in gathered.items()]
    told.sort(key=lambda entity: (-(entity.facts + entity.notes), entity.slug))
    return told[:limit] if limit else told


def _names(connection: sqlite3.Connection, slugs: Iterable[str] | None) -> list[tuple[str, str, str, str]]:
    query = "SELECT n.slug, n.name, n.page, f.path FROM names n JOIN files f USING (file_id)"
    if slugs is None:
        return connection.execute(query).fetchall()
    asked = as_json(sorted(slugs))
    return connection.execute(
        f"{query} WHERE n.slug IN (SELECT value FROM json_each(?))"
        " OR n.slug IN (SELECT m.slug FROM names m WHERE m.page != '' AND m.page IN (SELECT page FROM names WHERE page != ''"
        " AND slug IN (SELECT value FROM json_each(?))))",
        (asked, asked),
    ).fetchall()


def _counted(connection: sqlite3.Connection, slugs: set[str]) -> list[tuple[str, str, int, int | None]]:
    return connection.execute(
        "SELECT m.slug, CASE e.kind WHEN 'note' THEN 'note' ELSE 'fact' END, COUNT(*), MAX(e.first) FROM json_each(?) j CROSS JOIN mentions m"
        " ON m.slug = j.value CROSS JOIN entries e ON e.entry_id = m.entry_id GROUP BY m.slug, e.kind = 'note'",
        (as_json(sorted(slugs)),),
    ).fetchall()


def _entity(slug: str, found: _Gathered) -> Entity:
    """An entity by its most frequent spelling (the page's own name before its aliases, those before others), the other spellings as aliases."""
    ordered = sorted(found.spellings, key=lambda name: (-found.spellings[name], name))
    return Entity(slug, ordered[0], tuple(ordered[1:]), found.page, found.facts, found.notes, day_of(found.last))


def counts(connection: sqlite3.Connection) -> tuple[int, int, int, int, int]:
    """Files, notes, facts, entities, files with problems."""
    row = connection.execute(
        "SELECT (SELECT COUNT(*) FROM files), (SELECT COUNT(*) FROM entries WHERE kind = 'note'),"
        " (SELECT COUNT(*) FROM entries WHERE kind != 'note'), (SELECT COUNT(DISTINCT slug) FROM mentions),"
        " (SELECT COUNT(*) FROM files WHERE problems != '[]')"
    ).fetchone()
    return int(row[0]), int(row[1]), int(row[2]), int(row[3]), int(row[4])


def problems(connection: sqlite3.Connection) -> list[Problem]:
    """All problems by path and line."""
    rows = connection.execute("SELECT path, problems FROM files WHERE problems != '[]' ORDER BY path").fetchall()
    return [Problem(path, line, what) for path, found in rows for line, what in json.loads(found)]


_MOST_NAME = 80


def put(connection: sqlite3.Connection, document: Document, known: Known, touched: set[str]) -> None:
    """Add a document; `touched` collects the attributes of its facts."""
    row = connection.execute(
        "INSERT INTO files(path, digest, size, mtime_ns, title, day, entity, tags, aliases, problems)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            storable(document.path), known.digest, known.size, known.mtime_ns, storable(document.title),
            ordinal(document.day), storable(document.entity), _json(document.tags), _json(document.aliases),
            _json([[problem.line, problem.what] for problem in document.problems]),
        ),
    )  # fmt: skip
    file_id = row.lastrowid or 0
    heading = f"{document.title} {' '.join(document.aliases)}" if document.entity else document.title
    entries: tuple[Note | Fact, ...] = (*document.notes, *document.facts)
    for entry in entries:
        _put_entry(connection, file_id, entry, heading)
        if isinstance(entry, Fact) and entry.attribute:
            touched.add(entry.attribute)
    _put_names(connection, file_id, document)
    if document.entity:
        touched |= _attributes_of(connection, file_id)


def take(connection: sqlite3.Connection, path: str, touched: set[str]) -> bool:
    """Remove a document and all that came from it. False when it was not there."""
    found = connection.execute("SELECT file_id FROM files WHERE path = ?", (storable(path),)).fetchone()
    if not found:
        return False
    rows = connection.execute(
        "SELECT e.entry_id, e.attribute, w.tokens FROM entries e JOIN words w ON w.rowid = e.entry_id WHERE e.file_id = ?",
        found,
    ).fetchall()
    touched.update(attribute for _, attribute, _ in rows if attribute)
    touched |= _attributes_of(connection, int(found[0]))
    ids = json.dumps([entry_id for entry_id, *_ in rows])
    for table, column in (
        ("entries", "entry_id"), ("bodies", "entry_id"), ("mentions", "entry_id"), ("tagged", "entry_id"),
        ("inferred", "entry_id"), ("looked", "entry_id"),
        ("vectors", "entry_id"), ("words", "rowid"),
    ):  # fmt: skip
        connection.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))", (ids,))
    connection.execute("DELETE FROM names WHERE file_id = ?", found)
    connection.execute("DELETE FROM files WHERE file_id = ?", found)
    _count(connection, -len(rows), -sum(tokens.count(" ") + 1 for *_, tokens in rows if tokens))
    return True


def _put_entry(connection: sqlite3.Connection, file_id: int, entry: Note | Fact, heading: str) -> None:
    fact = isinstance(entry, Fact)
    name = entry.fact_id if isinstance(entry, Fact) else entry.note_id
    day = ordinal(entry.day)
    since, ended = (ordinal(entry.valid_from), ordinal(entry.valid_to)) if isinstance(entry, Fact) else (None, None)
    if since is None and ended is not None and day is not None and ended < day:
        day = None  # what is told of as over held before the day it was written
    row = connection.execute(
        "INSERT INTO entries(file_id, kind, first, last, since, ended, generated, sorting, line, attribute, name)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            file_id, entry.kind.value if isinstance(entry, Fact) else "note", since or day or ended, ended or day,
            _earlier(since, day), ended if ended != since else None, entry.generated,
            int(name[:15], 16), entry.line, entry.attribute if isinstance(entry, Fact) else "", name,
        ),
    )  # fmt: skip
    entry_id = row.lastrowid or 0
    connection.execute("INSERT INTO bodies VALUES (?, ?)", (entry_id, to_json(entry)))
    said = tokens(entry, "" if fact else heading)
    connection.execute("INSERT INTO words(rowid, tokens) VALUES (?, ?)", (entry_id, " ".join(said)))
    _count(connection, 1, len(said))
    connection.executemany(
        "INSERT OR IGNORE INTO mentions VALUES (?, ?)", [(slug_of(entity), entry_id) for entity in entry.entities]
    )
    marks = {pair for tag in entry.tags for pair in markdown.with_parents(storable(tag)) if pair[0]}
    connection.executemany(
        "INSERT OR IGNORE INTO tagged VALUES (?, ?, ?)", [(tag, entry_id, s) for tag, s in sorted(marks)]
    )


def _earlier(since: int | None, day: int | None) -> int | None:
    """A fact holds from the day its text names; from the day it was written when it names a later end only."""
    return since if since is not None else day


def tokens(entry: Note | Fact, heading: str) -> list[str]:
    """The terms an entry is found by: its text, its headings, its entities and tags."""
    if isinstance(entry, Fact):
        around = " ".join((*entry.entities, *entry.tags))
    else:
        around = " ".join((heading, *entry.trail, *entry.tags))
    return [token for term in terms(f"{entry.text}\n{around}") if (token := token_of(term))]


def _put_names(connection: sqlite3.Connection, file_id: int, document: Document) -> None:
    """Every spelling this file gives: of whom it names, and of whose page it is."""
    named = [item.entities for item in document.notes] + [item.entities for item in document.facts]
    spellings = {name: "" for names in named for name in names}
    if document.entity:
        spellings |= dict.fromkeys((document.entity, document.title, *document.aliases), slug_of(document.entity))
    rows = [
        (first, slug_of(name), storable(name)[:_MOST_NAME], page, file_id)
        for name, page in spellings.items()
        if slug_of(name) and (first := first_term(name))
    ]
    connection.executemany("INSERT OR IGNORE INTO names VALUES (?, ?, ?, ?, ?)", rows)


def first_term(name: str) -> str:
    """The term by which a name is looked up in a question: its first that is no stop word."""
    found = [token_of(term) for term in terms(name)]
    return next((term for term in found if term and not is_stop(term)), "")


def resolve(connection: sqlite3.Connection, touched: Iterable[str]) -> None:
    """Say for the facts of these attributes by which day a later one replaced them.

    Later is: a later day; on one day a later place in the file, then a later path. Undated and generated facts neither
    replace nor are replaced. The spellings that share a page are one subject.
    """
    done: set[str] = set()
    for attribute in sorted(touched):
        if attribute in done:
            continue
        same = _same_subject(connection, attribute)
        done |= same
        rows = connection.execute(
            "SELECT e.entry_id, e.since, e.attribute FROM json_each(?) j CROSS JOIN entries e ON e.attribute = j.value"
            " JOIN files f USING (file_id) WHERE e.attribute != '' AND e.since IS NOT NULL AND e.generated = 0"
            " ORDER BY e.since, f.path, e.line, e.sorting",
            (json.dumps(sorted(same)),),
        ).fetchall()
        connection.executemany(
            "UPDATE entries SET replaced = ? WHERE entry_id = ? AND replaced IS NOT ?",
            [(day, entry_id, day) for entry_id, day in _replaced(rows)],
        )


def _replaced(rows: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int | None]]:
    """Each entry and since when a later one holds. On one day only the same spelling replaces: both may say the same."""
    later: int | None = None
    same_day: dict[str, int] = {}
    day: int | None = None
    for entry_id, since, attribute in reversed(rows):
        if since != day:
            later, day, same_day = day, since, {}
        yield entry_id, same_day.get(attribute, later)
        same_day[attribute] = since


def _same_subject(connection: sqlite3.Connection, attribute: str) -> set[str]:
    """The attribute, and the same one of every other spelling of its subject."""
    kind, slug, what = attribute.split("/", 2)
    others = connection.execute(
        "SELECT DISTINCT slug FROM names WHERE page != ''"
        " AND page IN (SELECT page FROM names WHERE slug = ? AND page != '')",
        (slug,),
    ).fetchall()
    return {attribute} | {f"{kind}/{other}/{what}" for (other,) in others}


def _attributes_of(connection: sqlite3.Connection, file_id: int) -> set[str]:
    """What is told of those whose page this file is: it is resolved again when their spellings change."""
    rows = connection.execute(
        "SELECT DISTINCT e.attribute FROM names n CROSS JOIN mentions m ON m.slug = n.slug CROSS JOIN entries e"
        " ON e.entry_id = m.entry_id WHERE n.file_id = ? AND n.page != '' AND e.attribute != ''",
        (file_id,),
    ).fetchall()
    return {attribute for (attribute,) in rows}


def _count(connection: sqlite3.Connection, entries: int, words: int) -> None:
    connection.execute("UPDATE totals SET entries = entries + ?, words = words + ?", (entries, words))


def _json(value: object) -> str:
    return storable(json.dumps(value, ensure_ascii=False))
