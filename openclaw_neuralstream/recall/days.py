"""What is of some days, for a question that asks for nothing else: the most important of each of them, then more of each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol

from openclaw_neuralstream.model import Kind, Scope
from openclaw_neuralstream.ports import PassageSearch
from openclaw_neuralstream.questions import only_nods
from openclaw_neuralstream.recall.daywords import asks_decisions
from openclaw_neuralstream.recall.narrow import earlier_too
from openclaw_neuralstream.recall.source import DAY, Candidate, Shelf, Understood

_LEAST, _SAID = 0.4, 0.3
"""What is of the days at all, and how much a verbatim turn adds to that at most; a gem adds up to 0.6 by its importance."""

_FADE = 0.85
"""How much less each further gem of one day (or month) counts than the one before it: days are to be heard in turn."""

_LAST = 0.1
"""What the part of a time that is heard last loses, of a turn; of gems, that have their importance, a fifth of it."""

_PARTS, _EACH = 40, 8
"""Parts of the time from which turns are taken, and how many are looked at in each."""

_LONG = 40
"""Terms of a turn that says much."""

_BARE = 20
"""Terms up to which a turn may say nothing: what has more is not even read for that."""


class OfDay(Protocol):
    """A gem of the days, the part of them that it was found in, and its place there."""

    @property
    def gem_id(self) -> str: ...  # noqa: D102
    @property
    def unit(self) -> str: ...  # noqa: D102
    @property
    def place(self) -> int: ...  # noqa: D102
    @property
    def importance(self) -> float: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102


class Calendar(Protocol):
    """What the truth knows of days."""

    def gems_of_days(
        self, scope: Scope, first: date | None, last: date | None, *, limit: int, superseded: bool = False
    ) -> Sequence[OfDay]:
        """The most important gems of each day or month of a period."""


class DaySource:
    """Gems of the days that a question is about, where it asks for nothing else."""

    name = "days"
    kind = "gems"

    def __init__(self, calendar: Calendar, shelf: Shelf) -> None:
        self._calendar = calendar
        self._shelf = shelf

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` gems, best first, with the signal "day"; [] for a question that asks for more than its days."""
        days = understood.only
        if days is None:
            return []
        found = self._calendar.gems_of_days(
            understood.query.scope, days.start, days.end, limit=limit, superseded=earlier_too(understood)
        )
        decisions = asks_decisions(understood.query.text)
        units = sorted({one.unit for one in found})
        late = dict(zip(units, _in_turn(len(units)), strict=True))
        scores = {
            one.gem_id: _LEAST + (1 - _LEAST) * _worth(one, decisions=decisions) - 0.2 * _LAST * late[one.unit]
            for one in found
        }
        best = sorted(scores, key=lambda gem_id: (-scores[gem_id], gem_id))[:limit]
        return [Candidate(gem_id, self._shelf, DAY, scores[gem_id]) for gem_id in best]


class TurnDaySource:
    """Verbatim turns of those days: from every part of them what says most."""

    name = "turns-of-days"
    kind = "turns"

    def __init__(self, passages: PassageSearch, shelf: Shelf) -> None:
        self._passages = passages
        self._shelf = shelf

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` passages, best first, with the signal "day"."""
        days = understood.only
        if days is None:
            return []
        parts = self._passages.said_between(
            _midnight(days.start),
            _midnight(days.end + timedelta(1)) if days.end and days.end < date.max else None,
            understood.query.scope,
            parts=min(limit, _PARTS),
            each=_EACH,
        )
        bare = self._bare([id_ for part in parts for id_, length in part if length <= _BARE], understood.query.scope)
        parts = [told for part in parts if (told := [one for one in part if one[0] not in bare])]
        scores: dict[str, float] = {}
        for part, late in zip(parts, _in_turn(len(parts)), strict=True):
            longest = sorted(part, key=lambda one: (-one[1], one[0]))
            scores |= {id_: _said(length, place) - _LAST * late for place, (id_, length) in enumerate(longest)}
        best = sorted(scores, key=lambda id_: (-scores[id_], id_))[:limit]
        return [Candidate(id_, self._shelf, DAY, scores[id_]) for id_ in best]

    def _bare(self, ids: Sequence[str], scope: Scope) -> set[str]:
        """Those that only thank, greet or say that they heard: nothing happened."""
        return {passage.id for passage in self._passages.passages(ids, scope) if only_nods(passage.text)}


def note_score(place: int) -> float:
    """The signal of a note or fact of the days, by its place among them, the newest first."""
    return _LEAST + (1 - _LEAST) * 0.6 * _FADE**place


def _in_turn(parts: int) -> list[float]:
    """How late each part of a time has its turn, in [0, 1): however few are heard, they are far from each other.

    The van der Corput sequence: the first, the middle, the quarters, the eighths …
    """
    bits = max(parts - 1, 1).bit_length()
    order = sorted(range(parts), key=lambda at: int(f"{at:0{bits}b}"[::-1], 2))
    late = {at: place / parts for place, at in enumerate(order)}
    return [late[at] for at in range(parts)]


def _worth(one: OfDay, *, decisions: bool) -> float:
    worth = one.importance * _FADE**one.place
    return worth if not decisions else 0.5 * worth + (0.5 if one.kind == Kind.DECISION else 0.0)


def _said(length: int, place: int) -> float:
    return _LEAST + _SAID * min(length / _LONG, 1.0) * _FADE**place


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None
