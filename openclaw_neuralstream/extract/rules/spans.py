"""Spans of days reckoned from the day on which something was said."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

Span = tuple[date, date]
"""First and last day."""


@dataclass(frozen=True, slots=True)
class Told:
    """When something was said, and whether it tells of the past, which decides about a bare weekday."""

    today: date
    past: bool


def day(one: date) -> Span:
    """A single day as a span."""
    return one, one


def week(one: date) -> Span:
    """The week of this day, from Monday."""
    monday = one - timedelta(days=one.weekday())
    return monday, monday + timedelta(days=6)


def month(year: int, number: int) -> Span:
    """A whole month; a number outside 1 to 12 counts on into the years beside."""
    year, number = year + (number - 1) // 12, (number - 1) % 12 + 1
    return date(year, number, 1), date(year, number, monthrange(year, number)[1])


def unit(name: str, count: int, today: date) -> Span | None:
    """`count` days, weeks, months or years from today; of the larger units the day is only nearly known."""
    if name == "day":
        return day(today + timedelta(days=count))
    if name == "week":
        return day(today + timedelta(weeks=count)) if abs(count) <= 520 else None
    if name == "month":
        return month(today.year, today.month + count)
    return date(today.year + count, 1, 1), date(today.year + count, 12, 31)


def period(name: str, count: int, today: date) -> Span | None:
    """This, next or last week, month or year as a whole."""
    return week(today + timedelta(weeks=count)) if name == "week" else unit(name, count, today)


def weekday(index: int, shift: int | None, told: Told) -> Span:
    """A day of the week, 0 = Monday. shift: weeks from this one; None = the nearest, before or after by the tense."""
    if shift is not None:
        return day(told.today - timedelta(days=told.today.weekday()) + timedelta(days=index, weeks=shift))
    ahead = (index - told.today.weekday()) % 7 or 7
    return day(told.today + timedelta(days=ahead - 7 if told.past else ahead))


def weekend(shift: int, told: Told) -> Span:
    """Saturday and Sunday of the week that is `shift` weeks from this one."""
    saturday = weekday(5, shift, told)[0]
    return saturday, saturday + timedelta(days=1)


def in_year(number: int, of_month: int, told: Told) -> Span | None:
    """Such a day without its year: the last one when the past is told, else the nearest. None for 31 February."""
    years = (told.today.year - 1, told.today.year, told.today.year + 1)
    days = [date(year, number, of_month) for year in years if _exists(year, number, of_month)]
    past = [one for one in days if one <= told.today]
    if told.past and past:
        return day(past[-1])
    return day(min(days, key=lambda one: abs((one - told.today).days))) if days else None


def _exists(year: int, number: int, of_month: int) -> bool:
    return 1 <= number <= 12 and 1 <= of_month <= monthrange(year, number)[1]


def written(span: Span) -> str:
    """A day, a whole month or year, or first and last day: "2026-11-22", "2026-11", "2026", "2026-11-23 – 2026-11-29"."""
    first, last = span
    if first == last:
        return str(first)
    if span == (date(first.year, 1, 1), date(first.year, 12, 31)):
        return f"{first.year:04}"
    return f"{first:%Y-%m}" if span == month(first.year, first.month) else f"{first} – {last}"
