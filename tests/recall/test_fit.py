"""The budget is never passed, the best go first, and a summary stands in for what is too long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.model import Record
from openclaw_neuralstream.recall.fit import FRAME_TOKENS, fit
from openclaw_neuralstream.text.tokens import FormulaCounter
from tests.recall.worlds import record

COUNTER = FormulaCounter()
RECORDS = st.lists(st.tuples(st.text(max_size=200), st.text(max_size=30)), max_size=15).map(
    lambda pairs: [record(f"r{n}", text, summary=summary) for n, (text, summary) in enumerate(pairs)]
)


@given(RECORDS, st.integers(0, 20), st.integers(0, 800))
def test_limit_and_budget_hold_and_the_order_is_kept(records: list[Record], limit: int, budget: int) -> None:
    fitted = fit(records, limit=limit, budget=budget, counter=COUNTER)
    assert len(fitted.records) <= limit
    assert sum(item.tokens for item in fitted.records) <= max(0, budget - FRAME_TOKENS)
    order = [item.id for item in records]
    assert [item.id for item in fitted.records] == [i for i in order if i in {r.id for r in fitted.records}]


@given(RECORDS, st.integers(0, 20), st.integers(0, 800))
def test_every_record_goes_in_or_is_named(records: list[Record], limit: int, budget: int) -> None:
    fitted = fit(records, limit=limit, budget=budget, counter=COUNTER)
    assert sorted([r.id for r in fitted.records] + [d.record.id for d in fitted.dropped]) == sorted(
        r.id for r in records
    )
    assert {d.why for d in fitted.dropped} <= {"over-limit", "over-budget"}


@given(RECORDS, st.integers(0, 800))
def test_a_record_that_fits_is_shown_in_full(records: list[Record], budget: int) -> None:
    whole = {item.id: (item.text, item.summary) for item in records}
    for item in fit(records, limit=20, budget=budget, counter=COUNTER).records:
        assert item.text in whole[item.id]


def test_the_summary_stands_in_for_a_text_that_is_too_long() -> None:
    long = record("long", "word " * 500, summary="A long story about words.")
    fitted = fit([long], limit=5, budget=160, counter=COUNTER)
    assert [item.text for item in fitted.records] == ["A long story about words."]


def test_a_shorter_record_goes_in_after_one_that_was_too_long() -> None:
    long = record("long", "word " * 500, summary="word " * 400)
    fitted = fit([long, record("short", "A short fact.")], limit=5, budget=160, counter=COUNTER)
    assert [item.id for item in fitted.records] == ["short"]
    assert [(d.record.id, d.why) for d in fitted.dropped] == [("long", "over-budget")]
