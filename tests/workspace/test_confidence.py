"""The formula of confidence: properties that hold for any set of evidence."""

from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.workspace.opinions import Vote, confidence

DAY = date(2026, 11, 1)
SMALL_STEP = 0.1
ANCHORS = st.floats(0, 1)
VOTES = st.lists(
    st.builds(
        Vote,
        source=st.text("abc", min_size=1, max_size=3),
        supports=st.booleans(),
        weight=st.floats(0, 1),
        day=st.none() | st.dates(DAY, DAY + timedelta(days=9)),
    ),
    max_size=25,
)


def against(day: int, weight: float = 1.0) -> Vote:
    return Vote(f"against-{day}", supports=False, weight=weight, day=DAY + timedelta(days=day))


def in_favour(day: int, weight: float = 1.0, name: str = "for") -> Vote:
    return Vote(f"{name}-{day}", supports=True, weight=weight, day=DAY + timedelta(days=day))


@given(anchor=ANCHORS, votes=VOTES, mix=st.randoms(use_true_random=False))
def test_the_order_in_which_evidence_is_told_changes_nothing(anchor: float, votes: list[Vote], mix) -> None:
    shuffled = votes + votes[: len(votes) // 2]
    mix.shuffle(shuffled)
    assert confidence(anchor, votes) == confidence(anchor, shuffled)


@given(anchor=ANCHORS, votes=VOTES)
def test_a_confidence_is_never_certain(anchor: float, votes: list[Vote]) -> None:
    assert 0 < confidence(anchor, votes) < 1


@given(anchor=ANCHORS, votes=VOTES, more=VOTES)
def test_support_never_lowers_and_contradiction_never_raises(
    anchor: float, votes: list[Vote], more: list[Vote]
) -> None:
    before = confidence(anchor, votes)
    added = [Vote(f"new-{number}", vote.supports, vote.weight, vote.day) for number, vote in enumerate(more)]
    assert confidence(anchor, votes + [vote for vote in added if vote.supports]) >= before - 1e-12
    assert confidence(anchor, votes + [vote for vote in added if not vote.supports]) <= before + 1e-12


@given(anchor=ANCHORS, votes=VOTES, day=st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=12))
def test_a_new_day_moves_it_by_a_small_step(anchor: float, votes: list[Vote], day: list[tuple[bool, float]]) -> None:
    weak = [Vote(v.source, v.supports, v.weight * 0.1, v.day) if not v.supports else v for v in votes]
    calm = [vote for vote in weak if vote.supports] + [vote for vote in weak if not vote.supports][:5]
    later = DAY + timedelta(days=100)
    said = [Vote(f"new-{n}", supports, weight, later) for n, (supports, weight) in enumerate(day)]
    assert abs(confidence(anchor, calm + said) - confidence(anchor, calm)) <= SMALL_STEP + 1e-9


def test_one_bad_day_does_not_overturn_what_was_long_believed() -> None:
    shouted = [Vote(f"shout-{number}", supports=False, weight=1.0, day=DAY) for number in range(50)]
    assert confidence(0.95, shouted) == pytest.approx(0.927, abs=0.001)


def test_strong_and_repeated_contradiction_overturns_it_within_days() -> None:
    path = [round(confidence(0.95, [against(day) for day in range(days)]), 2) for days in range(5)]
    assert path == [0.95, 0.93, 0.63, 0.34, 0.14]


def test_weak_doubts_however_often_stay_small_steps() -> None:
    path = [confidence(0.95, [against(day, 0.3) for day in range(days)]) for days in range(12)]
    assert max(before - after for before, after in pairwise(path)) <= SMALL_STEP


def test_without_other_evidence_its_author_is_taken_at_his_word() -> None:
    assert confidence(0.8, []) == pytest.approx(0.8)


def test_the_same_evidence_told_twice_counts_once() -> None:
    assert confidence(0.6, [in_favour(1), in_favour(1)]) == confidence(0.6, [in_favour(1)])
