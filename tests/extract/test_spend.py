"""What models cost is written down per day, survives the process, and has a cap."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

import pytest

from openclaw_neuralstream.errors import AnswerRefused, VendorAway, VendorSlow
from openclaw_neuralstream.extract.served import AnswerCut
from openclaw_neuralstream.extract.spend import Ledger, Metered
from openclaw_neuralstream.text.tokens import FormulaCounter

COUNTER = FormulaCounter()


class Notes(dict):
    def meta(self, key: str) -> str:
        return self.get(key, "")

    def set_meta(self, key: str, value: str) -> None:
        self[key] = value


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, 23, 50, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class Says:
    """A completion with one outcome. used: what its server tells of tokens."""

    model = "m"

    def __init__(self, outcome: str | Exception, used: int = 0) -> None:
        self.outcome = outcome
        self.used = used

    def complete(self, system: str, prompt: str, *, schema: dict[str, object] | None = None) -> str:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def spent_on(outcome: str | Exception, used: int = 0) -> tuple[int, int]:
    ledger = Ledger(Notes(), 0, Clock())
    with contextlib.suppress(AnswerRefused, VendorAway):
        Metered(Says(outcome, used), ledger, COUNTER).complete("system", "the prompt")
    return ledger.today().tokens, ledger.today().calls


def test_an_answer_costs_what_the_server_says():
    assert spent_on("answer", used=812) == (812, 1)


def test_where_the_server_says_nothing_it_is_counted_here():
    assert spent_on("answer") == (sum(COUNTER.count_all(("system", "the prompt", "answer"))), 1)


@pytest.mark.parametrize("outcome", [AnswerRefused("no"), AnswerCut("half an"), VendorSlow("too slow")])
def test_an_answer_that_is_no_good_costs_as_well(outcome):
    tokens, calls = spent_on(outcome)
    assert tokens >= COUNTER.count("system") + COUNTER.count("the prompt")
    assert calls == 1


def test_a_server_that_is_away_costs_nothing():
    assert spent_on(VendorAway("nobody there")) == (0, 0)


def test_a_new_day_begins_at_nothing_and_the_old_one_survives_the_process():
    notes, clock = Notes(), Clock()
    Ledger(notes, 1_000, clock).add(1_200)
    again = Ledger(notes, 1_000, clock)
    assert (again.today().tokens, again.today().exhausted) == (1_200, True)
    clock.now += timedelta(minutes=10)
    assert (again.today().day, again.today().tokens, again.today().exhausted) == ("2026-11-22", 0, False)


@pytest.mark.parametrize("cap", [0, 1_201])
def test_below_the_cap_or_without_one_nothing_is_exhausted(cap):
    ledger = Ledger(Notes(), cap, Clock())
    ledger.add(1_200)
    assert not ledger.today().exhausted


@pytest.mark.parametrize("note", ["", "nonsense", "[]", '{"day": "2026-11-21", "tokens": "many"}', '{"day": 3}'])
def test_a_note_that_nobody_understands_is_nothing(note):
    notes = Notes(model_spend=note)
    assert Ledger(notes, 10, Clock()).today().tokens == 0
