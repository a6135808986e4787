"""Recall is pure over its sources: a new one needs no change, a failing one is left out and named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from openclaw_neuralstream.errors import NeuralStreamError, StateDamaged, VendorAway
from openclaw_neuralstream.model import Origin, Query, Recall
from openclaw_neuralstream.recall import Candidate, Found, Source, Understood, recall
from openclaw_neuralstream.recall.source import COVERAGE, MEANING, WORDS
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.text.tokens import FormulaCounter
from tests.recall.worlds import Fixed, ShelfOf, record, texts
from tests.values import MAIN, NOW

SHELF = ShelfOf(
    Found(record("cat", "The cat is called Miso")),
    Found(record("dog", "The dog next door barks", origin=Origin.UNTRUSTED, importance=0.2)),
    Found(record("old", "The cat is called Tofu"), outdated="superseded"),
)
GOOD = Fixed(
    *(Candidate("cat", SHELF, signal, 0.9) for signal in (WORDS, MEANING, COVERAGE)),
    *(Candidate("dog", SHELF, signal, 0.2) for signal in (WORDS, MEANING, COVERAGE)),
    *(Candidate("old", SHELF, signal, 0.8) for signal in (WORDS, MEANING, COVERAGE)),
)


class Broken:
    name = "broken"

    def __init__(self, error: NeuralStreamError) -> None:
        self._error = error

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        raise self._error


def ask(*sources: Source, **knobs: float) -> Recall:
    query = Query("What is the cat called?", MAIN, NOW)
    return recall(query, sources=sources, settings=Settings(**knobs), counter=FormulaCounter())  # type: ignore[arg-type]


def test_the_explanation_reads_the_same(snapshot: SnapshotAssertion) -> None:
    found = ask(GOOD)
    lines = [f"{item.id}: {item.score:.3f} {item.factors}" for item in found.records]
    lines += [f"{d.record.id}: {d.why} {d.record.factors}" for d in found.dropped]
    assert "\n".join(lines) == snapshot


@pytest.mark.parametrize("error", [VendorAway("gone"), StateDamaged("torn")])
def test_a_source_that_fails_is_left_out_and_named(error: NeuralStreamError) -> None:
    found = ask(Broken(error), GOOD)
    assert texts(found) == ["The cat is called Miso"]
    assert found.left_out == {"broken": error.what}


def test_no_sources_mean_no_records() -> None:
    found = ask()
    assert (found.records, found.dropped, found.left_out) == ((), (), {})


def test_a_candidate_that_its_shelf_no_longer_has_is_passed_over() -> None:
    gone = Fixed(Candidate("gone", SHELF, WORDS, 1.0), *GOOD.find(None, 99))  # type: ignore[arg-type]
    assert texts(ask(gone)) == ["The cat is called Miso"]


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_lets_more_in(low: float, high: float) -> None:
    lenient, strict = (ask(GOOD, recall_threshold=value) for value in sorted((low, high)))
    assert {item.id for item in strict.records} <= {item.id for item in lenient.records}


def test_what_nobody_vouches_for_ranks_below_the_owners_words() -> None:
    shelf = ShelfOf(
        Found(record("mine", "Blue is the colour")),
        Found(record("theirs", "Red is the colour", origin=Origin.UNTRUSTED)),
    )
    source = Fixed(
        *(Candidate(name, shelf, signal, 0.8) for name in ("theirs", "mine") for signal in (WORDS, MEANING, COVERAGE))
    )
    assert [item.id for item in ask(source).records] == ["mine", "theirs"]


def _with_a_key(shelf: str) -> Source:
    of = ShelfOf(Found(record("key", "The key of the cat's collar is AKIAIOSFODNN7EXAMPLE")), name=shelf)
    return Fixed(*(Candidate("key", of, signal, 0.9) for signal in (WORDS, MEANING, COVERAGE)))


@pytest.mark.parametrize(
    ("shelf", "looked_through", "shown"),
    [("gems", True, True), ("gems", False, False), ("notes", True, False), ("plugins", True, False)],
)
def test_what_was_not_looked_through_for_secrets_by_the_rules_in_force_is_before_it_is_shown(
    shelf: str, looked_through: bool, shown: bool
) -> None:
    query = Query("What is the key of the cat's collar?", MAIN, NOW)
    found = recall(
        query,
        sources=[_with_a_key(shelf)],
        settings=Settings(),
        counter=FormulaCounter(),
        looked_through=looked_through,
    )
    assert [("AKIA" in text) for text in texts(found)] == [shown]


def test_more_candidates_are_judged_where_more_records_are_wanted() -> None:
    shelf = ShelfOf(*(Found(record(f"r{n}", f"Cat number {n} is called Miso{n}")) for n in range(300)))
    many = Fixed(*(Candidate(f"r{n}", shelf, signal, 0.9) for n in range(300) for signal in (WORDS, MEANING, COVERAGE)))
    query = Query("What are the cats called?", MAIN, NOW, limit=120, token_budget=100_000)
    found = recall(query, sources=[many], settings=Settings(), counter=FormulaCounter())
    assert len(found.records) == 120
