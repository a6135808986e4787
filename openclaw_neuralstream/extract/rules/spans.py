"""Spans of days reckoned from the day on which something was said."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from openclaw_neuralstream.text.when import Tense, nearest_year

Span = tuple[date, date]
"""First and last day."""


@dataclass(frozen=True, slots=True)
class Told:
    """When something was said, and of what it tells, which decides about a bare weekday and a day without its year."""

    today: date
    tense: Tense

    @property
    def past(self) -> bool:
        """Whether it tells of what was."""
        return self.tense is Tense.PAST


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
    """Such a day without its year: the last or the next one by the tense, else the nearest. None for 31 February."""
    if not 1 <= number <= 12:
        return None
    year = nearest_year(number, of_month, told.today, told.tense)
    return day(date(year, number, of_month)) if 1 <= of_month <= monthrange(year, number)[1] else None


def written(span: Span) -> str:
    """A day, a whole month or year, or first and last day: "2026-11-22", "2026-11", "2026", "2026-11-23 – 2026-11-29"."""
    first, last = span
    if first == last:
        return str(first)
    if span == (date(first.year, 1, 1), date(first.year, 12, 31)):
        return f"{first.year:04}"
    return f"{first:%Y-%m}" if span == month(first.year, first.month) else f"{first} – {last}"
