"""Days, weeks, months, seasons and years as (first, last) days; every step is total inside the calendar's own range."""

from __future__ import annotations

from datetime import date, timedelta

from openclaw_neuralstream.text.when.tense import Tense

Span = tuple[date, date]
"""First and last day, both included."""

_MUCH_NEARER = 4


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


def season(number: int, today: date, shift: int, tense: Tense = Tense.OPEN) -> Span | None:
    """Winter (0, December to February), spring, summer, autumn, by its tense as a day without a year.

    shift: -1 = the last one that is over, 1 = the next one that begins.
    """
    found = [span for of_year in range(today.year - 2, today.year + 3) if (span := _season_of(number, of_year))]
    over, begun = [one for one in found if one[1] < today], [one for one in found if one[0] <= today]
    to_come, to_begin = [one for one in found if one[1] >= today], [one for one in found if one[0] > today]
    if shift < 0 or not (begun and to_come):
        return over[-1] if over else None
    if shift > 0:
        return to_begin[0] if to_begin else None
    back, ahead = begun[-1], to_come[0]
    return ahead if _ahead((today - back[1]).days, (ahead[0] - today).days, tense) else back


def _season_of(number: int, of_year: int) -> Span | None:
    first = month(of_year - 1 if number == 0 else of_year, 12 if number == 0 else 3 * number)
    last = month(of_year, 3 * number + 2 if number else 2)
    return (first[0], last[1]) if first and last else None


def nearest_year(month_number: int, number: int, today: date, tense: Tense) -> int:
    """The year meant by a day or month named without one: of the last time that it came by, or of the next; today is both."""
    years = [of_year for of_year in (today.year - 1, today.year, today.year + 1) if 1 <= of_year <= 9998]
    days = [whole[0].replace(day=min(number, whole[1].day)) for one in years if (whole := month(one, month_number))]
    back, ahead = [one for one in days if one <= today], [one for one in days if one >= today]
    if not (back and ahead):
        return (back or ahead)[0].year if back or ahead else today.year
    return (ahead[0] if _ahead((today - back[-1]).days, (ahead[0] - today).days, tense) else back[-1]).year


def _ahead(back: int, ahead: int, tense: Tense) -> bool:
    """Whether the coming time is meant, so many days ahead, and not the last one: told by the tense, else the nearer.

    What was arranged is for the coming one where that is much nearer: "I booked the dentist on 5 December", said in November.
    """
    if tense is Tense.ARRANGED:
        return ahead * _MUCH_NEARER <= back
    return tense is Tense.AHEAD or (tense is Tense.OPEN and ahead <= back)
