"""A source that is slow is left out, and those behind it; the next question leaves out that source alone."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import Query, Scope
from openclaw_neuralstream.recall import asking
from openclaw_neuralstream.recall.asking import HANGS, NO_TIME, Asker
from openclaw_neuralstream.recall.query import understand
from openclaw_neuralstream.recall.source import Candidate, Source, Understood
from tests.waiting import until

ASKED = understand(
    Query("When was the bicycle repaired?", Scope("main"), datetime(2026, 3, 1, tzinfo=UTC)), dialogue_turns=0
)
LONG, ENOUGH = 30.0, 4.0
"""Seconds: what nobody waits out, and what a busy machine needs to ask sources that answer at once."""


class _Source:
    kind = "gems"

    def __init__(
        self,
        name: str,
        goes_on: threading.Event | None = None,
        error: Exception | None = None,
        sets: threading.Event | None = None,
    ) -> None:
        self.name = name
        self._sets = sets
        self.asked = 0
        self._goes_on = goes_on
        self._error = error

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        self.asked += 1
        if self._goes_on:
            self._goes_on.wait(LONG)
        if self._sets:
            self._sets.set()
        if self._error:
            raise self._error
        return []


def _why(asker: Asker, sources: list[Source], seconds: float) -> dict[str, str]:
    return {answer.source: answer.why for answer in asker.ask(sources, ASKED, 5, seconds)}


def test_a_source_that_hangs_is_left_out_of_this_question_and_of_the_next_until_it_answers() -> None:
    goes_on, asker = threading.Event(), Asker()
    first, slow, last = _Source("first"), _Source("slow", goes_on), _Source("last")
    sources: list[Source] = [first, slow, last]
    assert _why(asker, sources, ENOUGH) == {"first": "", "slow": NO_TIME, "last": ""}
    assert _why(asker, sources, LONG) == {"first": "", "slow": HANGS, "last": ""}
    goes_on.set()
    until(lambda: _why(asker, sources, LONG) == {"first": "", "slow": "", "last": ""})
    assert slow.asked == 2  # nobody queued behind it


def test_many_that_hang_cost_a_question_themselves_alone() -> None:
    goes_on, asker = threading.Event(), Asker()
    sources: list[Source] = [_Source("first"), _Source("slow", goes_on), _Source("dead", goes_on), _Source("last")]
    assert _why(asker, sources, ENOUGH) == {"first": "", "slow": NO_TIME, "dead": NO_TIME, "last": ""}
    assert _why(asker, sources, LONG) == {"first": "", "slow": HANGS, "dead": HANGS, "last": ""}
    goes_on.set()
    until(lambda: set(_why(asker, sources, LONG).values()) == {""})


def test_what_there_is_no_time_for_at_all_is_left_out_and_asked_by_the_next_question(monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, asker = threading.Event(), Asker()
    sources: list[Source] = [_Source("slow", goes_on), _Source("last")]
    with monkeypatch.context() as patch:
        patch.setattr(asking, "_PATIENCE", LONG)  # no other thread comes to ask the last one
        assert _why(asker, sources, ENOUGH) == {"slow": NO_TIME, "last": NO_TIME}
    assert _why(asker, sources, LONG) == {"slow": HANGS, "last": ""}
    goes_on.set()
    until(lambda: set(_why(asker, sources, LONG).values()) == {""})


def test_answers_stand_in_the_order_of_their_sources_whoever_was_ready_first() -> None:
    goes_on = threading.Event()
    sources: list[Source] = [_Source("one", goes_on), _Source("two"), _Source("three", sets=goes_on)]
    assert list(_why(Asker(), sources, LONG)) == ["one", "two", "three"]


def test_a_source_that_is_down_is_left_out_with_its_reason_whoever_asks() -> None:
    down = _Source("down", error=VendorAway("the index is away"))
    for seconds in (0.0, LONG):
        assert _why(Asker(), [down, _Source("other")], seconds) == {"down": "the index is away", "other": ""}


def test_a_mistake_of_ours_in_a_source_is_raised_where_the_question_was_asked() -> None:
    for seconds in (0.0, LONG):
        try:
            Asker().ask([_Source("broken", error=ZeroDivisionError())], ASKED, 5, seconds)
        except ZeroDivisionError:
            continue
        raise AssertionError("nothing was raised")
