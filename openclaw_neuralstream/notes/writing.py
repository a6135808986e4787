"""Documents into the index and out of it, inside a transaction of the caller; what replaces what is worked out here."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from openclaw_neuralstream.database import storable
from openclaw_neuralstream.lexicon import is_stop, terms
from openclaw_neuralstream.model import Document, Fact, Known, Note, slug_of
from openclaw_neuralstream.notes import tags
from openclaw_neuralstream.notes.codec import ordinal, to_json
from openclaw_neuralstream.postings import token_of

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
    marks = {pair for tag in entry.tags for pair in tags.with_parents(storable(tag)) if pair[0]}
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
