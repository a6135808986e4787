"""Labels and days of records, for filters."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from openclaw_neuralstream.model import Gem, Scope
from openclaw_neuralstream.store.database import storable
from openclaw_neuralstream.store.tags import is_mark, key_of, mentions, tidy
from openclaw_neuralstream.text.when import dates_in


def get(connection: sqlite3.Connection, key: str) -> str:
    """The value of a key; "" when it was never set."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def put(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Set a key; an empty value removes it."""
    if value:
        connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)", (key, storable(value)))
    else:
        connection.execute("DELETE FROM meta WHERE key = ?", (key,))


def put_once(connection: sqlite3.Connection, key: str, value: str) -> str:
    """Set a key that has no value yet; returns the value that it has."""
    connection.execute("INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT DO NOTHING", (key, value))
    return get(connection, key)


def add(connection: sqlite3.Connection, counts: Mapping[str, int]) -> None:
    """Add to the counters."""
    connection.executemany(
        "INSERT INTO counters(name, count) VALUES (?, ?)"
        " ON CONFLICT(name) DO UPDATE SET count = count + excluded.count",
        [(storable(name), by) for name, by in counts.items()],
    )


def counters(connection: sqlite3.Connection) -> dict[str, int]:
    """Every counter by name."""
    return dict(connection.execute("SELECT name, count FROM counters ORDER BY name").fetchall())


DAY, MONTH = 4, 5
"""Kinds of labels, after those of `labels`. Their key is the day or month, then how little the gem matters: "2026-03-05/0400"."""

LOOKED_AT = 600
"""Characters of a gem in which a day is looked for: what happened when stands at its beginning."""

_MONTHS = 12  # of a longer range that are labelled, beside the last one
_MOST_UNITS = 120  # days and months that are looked at, the latest of the period
_LEAST = 4  # gems that are looked at in each of them
_FINEST = 1_000  # steps of importance


@dataclass(frozen=True, slots=True)
class OfDay:
    """A gem of the days asked for. unit: the day or month it was found in; place: how many of that matter more."""

    gem_id: str
    unit: str
    place: int
    importance: float
    kind: str


def put_days(connection: sqlite3.Connection, scope_id: int, row: int, gem: Gem) -> None:
    """Label a gem, that has no such labels, with its days and months."""
    weight = f"{_FINEST - round(_FINEST * min(1.0, max(0.0, gem.importance))):04d}"
    days, months = days_of(gem)
    connection.executemany(
        "INSERT OR IGNORE INTO labels(scope_id, kind, key, gem, name) VALUES (?, ?, ?, ?, '')",
        [(scope_id, kind, f"{unit}/{weight}", row) for kind, units in ((DAY, days), (MONTH, months)) for unit in units],
    )


def days_of(gem: Gem) -> tuple[set[str], set[str]]:
    """The days and months that a gem is of: when it was said or happened, when it ended, what it names by date.

    Of more than one day, the first and the last; all months from one to the other, twelve at most and the last one.
    """
    said = (gem.valid_from or gem.created_at).date()
    spans = [(said, said), (said, gem.valid_to.date() if gem.valid_to else said)]
    if named := dates_in(gem.content[:LOOKED_AT], said):
        spans.append(named)
    days: set[str] = set()
    months: set[str] = set()
    for first, last in spans:
        days |= {first.isoformat(), last.isoformat()}
        months |= _months(first, last)
    return days, months


def best(
    connection: sqlite3.Connection,
    scope: Scope,
    scope_id: int,
    period: tuple[date | None, date | None],
    *,
    limit: int,
    superseded: bool,
) -> list[OfDay]:
    """The most important gems of each day, or of each month of a long period; some more than `limit` where there are so many.

    What is read grows with `limit` and the days or months of the period that have gems, `_MOST_UNITS` at most, never
    with the number of gems. period: first and last day, None = open.
    """
    whose = _Whose(scope_id, storable(scope.project), superseded)
    units = list(_units(connection, scope_id, *period))
    each = min(limit, max(_LEAST, math.ceil(2 * limit / max(len(units), 1))))
    found: dict[str, OfDay] = {}
    full = _read(connection, whose, units, each, found)
    if len(found) < limit and full:  # few days have all the gems: these units are fewer than limit / each
        _read(connection, whose, full, limit, found)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Whose:
    """Whose gems are meant, of which project ("" = any), and whether those that were replaced are, too."""

    scope_id: int
    project: str
    superseded: bool


def _read(
    connection: sqlite3.Connection,
    whose: _Whose,
    units: Sequence[tuple[int, str]],
    each: int,
    found: dict[str, OfDay],
) -> list[tuple[int, str]]:
    """Add the best of each unit to what was found; returns those units that may have more."""
    full: list[tuple[int, str]] = []
    for kind, unit in units:
        held = _of_unit(connection, whose, kind, unit, each)
        if len(held) == each:
            full.append((kind, unit))
        for one in held:
            if one.gem_id not in found or one.place < found[one.gem_id].place:
                found[one.gem_id] = one
    return full


def _units(
    connection: sqlite3.Connection, scope_id: int, first: date | None, last: date | None
) -> Iterator[tuple[int, str]]:
    """The latest days and months of a period that have gems: months where they are whole and the period is long."""
    left = _MOST_UNITS
    for kind, start, end in _segments(first or date.min, last or date.max):
        for unit in _held(connection, scope_id, kind, start, end):
            if not left:
                return
            left -= 1
            yield kind, unit


def _segments(first: date, last: date) -> list[tuple[int, str, str]]:
    """A period in parts, the latest first: (kind, first unit, last unit)."""
    if (last - first).days <= 2 * 31:
        return [(DAY, first.isoformat(), last.isoformat())]
    from_month = first if first.day == 1 else _after(first)
    to_month = last if last == date.max or (last + timedelta(days=1)).day == 1 else last.replace(day=1) - timedelta(1)
    parts = [(MONTH, _month(from_month), _month(to_month))]
    if to_month < last:
        parts.insert(0, (DAY, last.replace(day=1).isoformat(), last.isoformat()))
    if first < from_month:
        parts.append((DAY, first.isoformat(), (from_month - timedelta(1)).isoformat()))
    return parts


def _held(connection: sqlite3.Connection, scope_id: int, kind: int, first: str, last: str) -> Iterator[str]:
    """The units between these that have gems, the latest first; one step into the index for each."""
    end = f"{last}0"  # "0" is the sign after "/"
    while True:
        row = connection.execute(
            "SELECT key FROM labels WHERE scope_id = ? AND kind = ? AND key >= ? AND key < ? ORDER BY key DESC LIMIT 1",
            (scope_id, kind, first, end),
        ).fetchone()
        if row is None:
            return
        unit, _, _ = row[0].partition("/")
        yield unit
        end = f"{unit}/"


def _of_unit(connection: sqlite3.Connection, whose: _Whose, kind: int, unit: str, limit: int) -> list[OfDay]:
    rows = connection.execute(
        "SELECT g.gem_id, l.key, coalesce(g.body ->> '$.kind', '') FROM labels l CROSS JOIN gems g ON g.seq = l.gem"
        " WHERE l.scope_id = ? AND l.kind = ? AND l.key >= ? AND l.key < ? AND (? OR g.superseded = 0)"
        " AND (? = '' OR g.project IN ('', ?)) ORDER BY l.key, l.gem LIMIT ?",
        (whose.scope_id, kind, f"{unit}/", f"{unit}0", whose.superseded, whose.project, whose.project, limit),
    ).fetchall()
    return [
        OfDay(gem_id, unit, place, 1 - int(key.rpartition("/")[2]) / _FINEST, kind_)
        for place, (gem_id, key, kind_) in enumerate(rows)
    ]


def _months(first: date, last: date) -> set[str]:
    found = {_month(first), _month(last)}
    while len(found) < _MONTHS and (first := _after(first)) < last:
        found.add(_month(first))
    return found


def _after(day: date) -> date:
    """The first day of the next month; the last day of all where there is none."""
    if (day.year, day.month) == (date.max.year, 12):
        return date.max
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def _month(day: date) -> str:
    return day.isoformat()[:7]


SAID, INFERRED, ENTITY, TOPIC = range(4)
"""What a label is: a tag of the gem, one that its text mentions, whom it names, one of its topics in a tag's place."""

TAGS = (SAID, INFERRED, TOPIC)
MOST = "tags.inferred"
"""The note of how many tags may be inferred for one gem."""

CURSOR = "tags.infer_from"
"""The note of the gem after which tags are still to be inferred anew; none = all is done."""

FORM = "labels.form"
"""The note of which labels the gems were given; another one than `PRESENT` has all of them labelled again."""

PRESENT = "2"
"""1: tags and entities. 2: days and months, too."""

VERSION = "tags.version"
"""The note that is another one after every change of what a person has said, and when a tag is said no more."""

DEFAULT_MOST = 3


@dataclass(frozen=True, slots=True)
class Label:
    """A tag or entity of a scope: how many gems that hold carry it, as said and as inferred, and how it is written."""

    key: str
    name: str
    said: int = 0
    inferred: int = 0


def put_labels(connection: sqlite3.Connection, row: int, gem: Gem) -> None:
    """Label a gem anew; the labels that it had go."""
    connection.execute("DELETE FROM labels WHERE gem = ?", (row,))
    scope_id = connection.execute("SELECT scope_id FROM gems WHERE seq = ?", (row,)).fetchone()[0]
    _insert(connection, scope_id, row, SAID, gem.tags)
    _insert(connection, scope_id, row, ENTITY, gem.entities)
    _infer(connection, scope_id, row, gem)
    put_days(connection, scope_id, row, gem)


def make(connection: sqlite3.Connection) -> None:
    """Label every gem with what it says of itself; what is inferred, and its days, come later, a step at a time (`infer_some`)."""
    rows = connection.execute(
        "SELECT seq, scope_id, body -> '$.tags', body -> '$.entities' FROM gems WHERE json_valid(body)"
    ).fetchall()
    for seq, scope_id, tags, entities in rows:
        _insert(connection, scope_id, seq, SAID, _texts(tags))
        _insert(connection, scope_id, seq, ENTITY, _texts(entities))
    infer_anew(connection)


def infer_anew(connection: sqlite3.Connection) -> None:
    """Tags are to be inferred again for all gems, because others are known now or more are allowed."""
    put(connection, CURSOR, "0")


def infer_some(connection: sqlite3.Connection, gems: Sequence[tuple[int, Gem]]) -> None:
    """Draw what is derived from these gems, by row, as it would be now: inferred tags, days."""
    for row, gem in gems:
        connection.execute("DELETE FROM labels WHERE gem = ? AND kind NOT IN (?, ?)", (row, SAID, ENTITY))
        found = connection.execute("SELECT scope_id FROM gems WHERE seq = ?", (row,)).fetchone()
        if found:
            _infer(connection, found[0], row, gem)
            put_days(connection, found[0], row, gem)


def keys_said(connection: sqlite3.Connection, row: int) -> set[tuple[int, str]]:
    """(scope, key) of the tags that a gem has of its own."""
    return set(connection.execute("SELECT scope_id, key FROM labels WHERE gem = ? AND kind = ?", (row, SAID)))


def forget(connection: sqlite3.Connection, keys: Iterable[tuple[int, str]]) -> None:
    """Where no gem says a tag any more and no person has named it, nothing is inferred from it either."""
    for scope_id, key in keys:
        if not is_mark(key) and not many(connection, scope_id, key, (SAID,), 1):
            renumber(connection)
        connection.execute(
            "DELETE FROM labels WHERE scope_id = ?1 AND kind = ?2 AND key = ?3"
            " AND NOT EXISTS (SELECT 1 FROM labels o WHERE o.scope_id = ?1 AND o.kind = ?4 AND o.key = ?3)"
            " AND NOT EXISTS (SELECT 1 FROM tags WHERE key = ?3)",
            (scope_id, INFERRED, key, SAID),
        )


def renumber(connection: sqlite3.Connection) -> None:
    """What was inferred by the tags known before is to be inferred again."""
    put(connection, VERSION, str(int(get(connection, VERSION) or 0) + 1))


def among(connection: sqlite3.Connection, scope_id: int, kind: int, keys: Collection[str]) -> dict[str, str]:
    """Those of the keys that gems of the scope carry as this kind of label, with one of their spellings."""
    rows = connection.execute(
        "SELECT j.value, (SELECT name FROM labels WHERE scope_id = ? AND kind = ? AND key = j.value LIMIT 1)"
        " FROM json_each(?) j",
        (scope_id, kind, _json(keys)),
    ).fetchall()
    return {key: name for key, name in rows if name is not None}


def nested(connection: sqlite3.Connection, scope_ids: Iterable[int], key: str) -> set[str]:
    """The keys below a tag by their very names: "a" has "a/b" and "a/b/c"."""
    found: set[str] = set()
    for scope_id in scope_ids:
        rows = connection.execute(
            "SELECT DISTINCT key FROM labels WHERE scope_id = ? AND kind = ? AND key > ? AND key < ?",
            (scope_id, SAID, f"{key}/", f"{key}0"),  # "0" is the sign after "/"
        ).fetchall()
        found.update(key for (key,) in rows)
    return found


def newest(
    connection: sqlite3.Connection,
    scope: Scope,
    scope_id: int,
    key: str,
    *,
    kinds: Sequence[int],
    limit: int,
    superseded: bool,
) -> list[tuple[int, str]]:
    """Row and id of the newest gems of the scope that carry one key."""
    project = storable(scope.project)
    found: dict[int, str] = {}
    for kind in kinds:
        found |= dict(
            connection.execute(
                "SELECT g.seq, g.gem_id FROM labels l CROSS JOIN gems g ON g.seq = l.gem"
                " WHERE l.scope_id = ? AND l.kind = ? AND l.key = ? AND (? OR g.superseded = 0)"
                " AND (? = '' OR g.project IN ('', ?)) ORDER BY l.gem DESC LIMIT ?",
                (scope_id, kind, key, superseded, project, project, limit),
            ).fetchall()
        )
    return sorted(found.items(), reverse=True)[:limit]


def many(connection: sqlite3.Connection, scope_id: int, key: str, kinds: Sequence[int], most: int) -> int:
    """How many gems of a scope carry a key, counted up to `most`."""
    return sum(
        int(
            connection.execute(
                "SELECT count(*) FROM (SELECT 1 FROM labels WHERE scope_id = ? AND kind = ? AND key = ? LIMIT ?)",
                (scope_id, kind, key, most),
            ).fetchone()[0]
        )
        for kind in kinds
    )


def counts(connection: sqlite3.Connection, scope_id: int, kinds: Sequence[int] = TAGS) -> list[Label]:
    """Every tag (or other kind of label) that a gem of the scope carries which still holds; the most frequent spelling names it."""
    rows = connection.execute(
        "SELECT l.kind, l.key, l.name, count(*) FROM labels l CROSS JOIN gems g ON g.seq = l.gem"
        " WHERE l.scope_id = ? AND l.kind IN (SELECT value FROM json_each(?)) AND g.superseded = 0"
        " GROUP BY l.kind, l.key, l.name",
        (scope_id, json.dumps(list(kinds))),
    ).fetchall()
    told: dict[str, dict[str, int]] = {}
    sums: dict[str, list[int]] = {}
    for kind, key, name, count in rows:
        spelt = told.setdefault(key, {})
        spelt[name] = spelt.get(name, 0) + count
        sums.setdefault(key, [0, 0])[kind in (INFERRED, TOPIC)] += count
    return [
        Label(key, min(spelt, key=lambda name: (-spelt[name], name)), *sums[key]) for key, spelt in sorted(told.items())
    ]


def total(connection: sqlite3.Connection, scope_id: int, keys: Collection[str], kinds: Sequence[int]) -> int:
    """How many gems of the scope that hold carry one of these keys, each counted once."""
    found = connection.execute(
        "SELECT count(DISTINCT l.gem) FROM json_each(?) m CROSS JOIN json_each(?) j CROSS JOIN labels l"
        " ON l.scope_id = ? AND l.kind = m.value AND l.key = j.value CROSS JOIN gems g ON g.seq = l.gem"
        " WHERE g.superseded = 0",
        (json.dumps(list(kinds)), _json(keys), scope_id),
    ).fetchone()
    return int(found[0])


def inferred(connection: sqlite3.Connection, gem_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The inferred tags of these gems, as they are written; gems without any are left out."""
    rows = connection.execute(
        "SELECT g.gem_id, l.name FROM json_each(?) j CROSS JOIN gems g ON g.gem_id = j.value"
        " CROSS JOIN labels l ON l.gem = g.seq WHERE l.kind IN (?, ?) ORDER BY l.kind, l.name",
        (_json(gem_ids), INFERRED, TOPIC),
    ).fetchall()
    found: dict[str, list[str]] = {}
    for gem_id, name in rows:
        found.setdefault(gem_id, []).append(name)
    return {gem_id: tuple(names) for gem_id, names in found.items()}


def _infer(connection: sqlite3.Connection, scope_id: int, row: int, gem: Gem) -> None:
    """Known tags that its words, topics and entities mention, the longest first; then its topics. Only for a gem without tags."""
    most = int(get(connection, MOST) or DEFAULT_MOST)
    if not most or any(not is_mark(tag) for tag in gem.tags):
        return
    said = mentions("\n".join((gem.content, *gem.topics, *gem.entities)))
    known = {key: name for key, name in among(connection, scope_id, SAID, said).items() if not is_mark(name)}
    known |= named(connection, said)
    chosen = sorted(known, key=lambda key: (-len(said[key]), key))[:most]
    _insert(connection, scope_id, row, INFERRED, [known[key] for key in chosen])
    topics = [topic for topic in gem.topics if key_of(topic) not in chosen][: most - len(chosen)]
    _insert(connection, scope_id, row, TOPIC, [tidy(topic) for topic in topics])


def named(connection: sqlite3.Connection, keys: Collection[str]) -> dict[str, str]:
    """Those of the keys that a person has named, with their names."""
    rows = connection.execute(
        "SELECT t.key, t.name FROM json_each(?) j CROSS JOIN tags t ON t.key = j.value", (_json(keys),)
    ).fetchall()
    return dict(rows)


def _insert(connection: sqlite3.Connection, scope_id: int, row: int, kind: int, names: Iterable[str]) -> None:
    marked = {key: name for name in names if (key := storable(key_of(name)))}
    connection.executemany(
        "INSERT OR IGNORE INTO labels(scope_id, kind, key, gem, name) VALUES (?, ?, ?, ?, ?)",
        [(scope_id, kind, key, row, storable(name)) for key, name in marked.items()],
    )


def _texts(found: str | None) -> list[str]:
    value = json.loads(found) if found else []
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _json(values: Iterable[str]) -> str:
    return json.dumps([storable(value) for value in values])
