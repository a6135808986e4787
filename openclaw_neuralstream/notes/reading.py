"""Reading the index without words: by id, by day, by entity; lists of entities, tags and problems."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from openclaw_neuralstream.lexicon import terms
from openclaw_neuralstream.model import Entity, Fact, Note, Problem, Wanted
from openclaw_neuralstream.notes.codec import day_of, from_json
from openclaw_neuralstream.notes.search import as_json, condition
from openclaw_neuralstream.postings import token_of

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


def tags(connection: sqlite3.Connection) -> dict[str, int]:
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
