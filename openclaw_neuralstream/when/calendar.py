"""Days, weeks, months, seasons and years as (first, last) days; every step is total inside the calendar's own range."""

from __future__ import annotations

from datetime import date, timedelta

from openclaw_neuralstream.when.tense import Tense

Span = tuple[date, date]
"""First and last day, both included."""


def day(year: int, month: int, number: int) -> Span | None:
    """One day; None when the calendar has no such day."""
    try:
        found = date(year, month, number)
    except ValueError:
        return None
    return found, found


def month(year: int, number: int) -> Span | None:
    """A whole month; None for a month that does not exist."""
    if not (1 <= number <= 12 and 1 <= year <= 9998):
        return None
    after = date(year + number // 12, number % 12 + 1, 1)
    return date(year, number, 1), after - timedelta(days=1)


def year(number: int) -> Span | None:
    """A whole year."""
    return (date(number, 1, 1), date(number, 12, 31)) if 1 <= number <= 9998 else None


def shifted(start: date, unit: str, count: int) -> date | None:
    """The day that lies `count` days, weeks, months or years after `start`; the last of a month that is shorter."""
    try:
        if unit in {"day", "week"}:
            return start + timedelta(days=count * (7 if unit == "week" else 1))
        months = start.year * 12 + start.month - 1 + count * (12 if unit == "year" else 1)
        whole = month(months // 12, months % 12 + 1)
    except (OverflowError, ValueError):
        return None
    return whole[0].replace(day=min(start.day, whole[1].day)) if whole else None


def around(today: date, unit: str, shift: int) -> Span | None:
    """The calendar day, week (from Monday), weekend, month or year that holds today, or one `shift` units away."""
    moved = shifted(today, "week" if unit == "weekend" else unit, shift)
    if moved is None:
        return None
    if unit == "day":
        return moved, moved
    if unit in {"week", "weekend"}:
        ordinal = moved.toordinal() - moved.weekday()
        if not 1 <= ordinal <= date.max.toordinal() - 6:
            return None
        monday = date.fromordinal(ordinal)
        return (monday + timedelta(days=5 if unit == "weekend" else 0)), monday + timedelta(days=6)
    return month(moved.year, moved.month) if unit == "month" else year(moved.year)


def season(number: int, today: date, shift: int) -> Span | None:
    """Winter (0, December to February), spring, summer, autumn: the one of this year, or of `shift` years away.

    -1 means the last one that is over; 0 the one that holds today, or this year's.
    """
    found = None
    for of_year in range(today.year + 1, today.year - 3, -1):
        first = month(of_year - 1 if number == 0 else of_year, 12 if number == 0 else 3 * number)
        last = month(of_year, 3 * number + 2 if number else 2)
        if first is None or last is None:
            continue
        found = first[0], last[1]
        if (shift < 0 and found[1] < today) or (shift >= 0 and found[0] <= today):
            break
    return found


def nearest_year(month_number: int, number: int, today: date, tense: Tense) -> int:
    """The year meant by a day or month named without one.

    The last time that it came by or the next one, today included; where nothing tells which, the year that puts it nearest to today.
    """
    number = max(1, min(number, 28))
    if tense is Tense.PAST:
        return today.year - ((month_number, number) > (today.month, min(today.day, 28)))
    if tense is Tense.AHEAD:
        return today.year + ((month_number, number) < (today.month, min(today.day, 28)))
    years = [candidate for candidate in (today.year - 1, today.year, today.year + 1) if 1 <= candidate <= 9998]
    return min(years, key=lambda candidate: abs((date(candidate, month_number, number) - today).days))
