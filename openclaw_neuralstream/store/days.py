"""Which gems are of which days and months: labels beside those of tags, in each day and month the most important first."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from openclaw_neuralstream.database import storable
from openclaw_neuralstream.model import Gem, Scope
from openclaw_neuralstream.when import dates_in

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


def put(connection: sqlite3.Connection, scope_id: int, row: int, gem: Gem) -> None:
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
