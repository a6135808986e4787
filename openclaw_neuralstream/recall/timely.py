"""Days in recall: how well a record meets those that a question names, when it happened, and what stands in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache

from openclaw_neuralstream.model import Period, Record
from openclaw_neuralstream.recall.daywords import asks_happenings
from openclaw_neuralstream.recall.source import TIME, Candidate, Found, Understood
from openclaw_neuralstream.when import mentions, tells_past

HELD = 0.5
"""What it counts that something held all through the days asked for, beside what happened in them (1)."""

_LOOKED_AT = 600
"""Characters of a record in which days are looked for: what happened when stands at its beginning."""

Days = tuple[date | None, date | None]


def time_signals(
    candidates: Sequence[Candidate], found: Mapping[str, Found], understood: Understood
) -> list[Candidate]:
    """How well each record's days meet those of the question; [] for a question that names none.

    Records of a shelf that knows their days are left alone: notes and facts, whose source knows the days of each line.
    """
    asked = understood.only or understood.period
    if asked is None:
        return []
    shelves = {candidate.id: candidate.shelf for candidate in candidates if not candidate.shelf.knows_days}
    happenings = understood.only is not None and asks_happenings(understood.query.text)
    told = {id_: meeting(found[id_], asked, happenings=happenings) for id_ in shelves}
    return [Candidate(id_, shelves[id_], TIME, told[id_]) for id_ in shelves if told[id_]]


def meeting(found: Found, asked: Period, *, happenings: bool = False) -> float:
    """1 for what was said or happened in the days asked for, `HELD` for what held all through them, else 0.

    happenings: it is asked what happened, not what was said: what was only said then, of other days, is worth `HELD`;
    what was done then about later ones ("booked a flight for 12 March") happened.
    """
    record = found.record
    day = record.at.date()
    if asked.meets(day, day):
        return HELD if happenings and _elsewhere(record.text[:_LOOKED_AT], day, asked) else 1.0
    first, last = found.held
    if last is not None and first is not None and first != last and asked.meets(first, last):
        return 1.0  # it came to an end: these days are among those in which it held
    named = named_days(record.text[:_LOOKED_AT], day)
    if named is not None:
        return 1.0 if asked.meets(*named) else 0.0
    began_before = first is not None and asked.end is not None and first <= asked.end
    return HELD if began_before and last is None and not found.verbatim else 0.0


def tells_of_others(record: Record, asked: Period) -> bool:
    """Whether it was said in the days asked for, and all that it tells lies in others."""
    day = record.at.date()
    return asked.meets(day, day) and _elsewhere(record.text[:_LOOKED_AT], day, asked)


def _elsewhere(text: str, day: date, asked: Period) -> bool:
    """Whether all that a text tells lies in other days than those."""
    named = named_days(text, day)
    if (
        named is None
        or asked.meets(*named)
        or any(asked.meets(one.first, one.last) for one in mentions(text, day, past=False))
    ):
        return False
    return named[0] <= day or not tells_past(text)


def happened(found: Found) -> tuple[date, date]:
    """The day on which it happened, or the first and last: the one it names, else the one it was said on."""
    record = found.record
    start, _, end = record.when.partition("/")
    if start:
        return date.fromisoformat(start), date.fromisoformat(end or start)
    day = record.at.date()
    return named_days(record.text[:_LOOKED_AT], day) or (day, day)


def in_order(records: Iterable[Record], found: Mapping[str, Found]) -> list[Record]:
    """The records as they happened, earliest first, each with its day; those of one day as they were said."""
    told = [(happened(found[record.id]), record) for record in records]
    told.sort(key=lambda item: (item[0], item[1].at.timestamp(), item[1].id))
    return [replace(record, when=_when(days, record)) for days, record in told]


def _when(days: tuple[date, date], record: Record) -> str:
    first, last = days
    if first != last:
        return f"{first}/{last}"
    return record.when or ("" if first == record.at.date() else str(first))


@lru_cache(maxsize=4_096)
def named_days(text: str, said_on: date) -> tuple[date, date] | None:
    """The first day or range that a text names by date, for a text said on that day; None when it names none."""
    for mention in mentions(text, said_on, past=False):
        return mention.first, mention.last
    return None
