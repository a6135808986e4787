"""Fusion is a plain weighted sum: in order of the signals, blind to the order of the candidates."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.recall.rank import UNSEEN, Coverage, fuse, likeliest, rarity, relevance, share, weights
from openclaw_neuralstream.recall.source import COVERAGE, MEANING, WORDS, Candidate, Found
from tests.recall.worlds import ShelfOf, record

SHELF = ShelfOf()
SHARE = st.floats(0, 1, allow_nan=False)
SIGNALS = st.lists(st.tuples(SHARE, SHARE), min_size=1, max_size=12)


def candidates(signals: list[tuple[float, float]]) -> list[Candidate]:
    return [
        candidate
        for number, (words, meaning) in enumerate(signals)
        for candidate in (
            Candidate(f"r{number}", SHELF, WORDS, words),
            Candidate(f"r{number}", SHELF, MEANING, meaning),
        )
    ]


def latin(_: str) -> str:
    return "latin"


@given(SIGNALS, SHARE)
def test_the_score_is_the_weighted_mean_and_stays_between_its_signals(
    signals: list[tuple[float, float]], lexical: float
) -> None:
    fused = {item.id: item.score for item in fuse(candidates(signals), weights=weights(lexical), script=latin)}
    for number, (words, meaning) in enumerate(signals):
        assert abs(fused[f"r{number}"] - (lexical * words + (1 - lexical) * meaning)) < 1e-9
        assert min(words, meaning) - 1e-9 <= fused[f"r{number}"] <= max(words, meaning) + 1e-9


@given(SIGNALS, st.randoms())
def test_the_order_of_the_candidates_does_not_matter(signals: list[tuple[float, float]], rng: random.Random) -> None:
    given_ = candidates(signals)
    mixed = list(given_)
    rng.shuffle(mixed)
    one, other = (fuse(order, weights=weights(0.6), script=latin) for order in (given_, mixed))
    assert [(item.id, item.score) for item in one] == [(item.id, item.score) for item in other]


@given(SIGNALS, st.integers(0, 11), SHARE)
def test_more_of_a_signal_never_lowers_a_record(signals: list[tuple[float, float]], at: int, more: float) -> None:
    place = at % len(signals)
    raised = list(signals)
    raised[place] = (min(1.0, raised[place][0] + more), raised[place][1])
    ranks = [
        [item.id for item in fuse(candidates(given_), weights=weights(0.6), script=latin)].index(f"r{place}")
        for given_ in (signals, raised)
    ]
    assert ranks[1] <= ranks[0]


def test_a_cosine_is_counted_from_what_unrelated_texts_of_its_script_reach() -> None:
    scripts = {"a": "latin", "b": "cjk"}
    zero = {"latin": 0.5, "cjk": 0.8, "other": 0.6}
    given_ = [Candidate("a", SHELF, MEANING, 0.75, zero), Candidate("b", SHELF, MEANING, 0.9, zero)]
    fused = {i.id: round(i.signals[MEANING], 6) for i in fuse(given_, weights=weights(0), script=scripts.__getitem__)}
    assert fused == {"a": 0.5, "b": 0.5}


def test_a_record_found_by_words_alone_gets_the_least_meaning_that_was_seen() -> None:
    given_ = [
        Candidate("a", SHELF, MEANING, 0.4),
        Candidate("b", SHELF, MEANING, 0.2),
        Candidate("c", SHELF, WORDS, 0.5),
    ]
    assert {item.id: item.signals[MEANING] for item in fuse(given_, weights=weights(0.5), script=latin)}["c"] == 0.2


def found_by_words(*, cut: bool) -> list[Candidate]:
    return [
        Candidate("a", SHELF, WORDS, 0.5, cut=cut),
        Candidate("b", SHELF, WORDS, 0.25, cut=cut),
        Candidate("c", SHELF, MEANING, 0.4),
        Candidate("d", SHELF, MEANING, 0.4),
    ]


def test_a_record_found_by_meaning_alone_may_have_words_where_there_was_no_room_for_all_that_have_some() -> None:
    fused = fuse(found_by_words(cut=True), weights=weights(0.5), script={**dict.fromkeys("abc", "latin"), "d": "cjk"}.__getitem__)
    words = {item.id: item.signals.get(WORDS, 0.0) for item in fused}
    assert words == {"a": 0.5, "b": 0.25, "c": UNSEEN * 0.25, "d": 0.0}


def test_a_record_has_no_words_where_all_that_have_some_were_found() -> None:
    fused = fuse(found_by_words(cut=False), weights=weights(0.5), script=latin)
    assert {item.id for item in fused if WORDS in item.signals} == {"a", "b"}


TERMS = st.dictionaries(st.text("abcdef", min_size=1, max_size=3), st.floats(0.01, 1), min_size=1, max_size=20)


@given(TERMS, st.integers(1, 10_000), st.floats(0.1, 100))
def test_what_a_question_says_does_not_depend_on_the_scale_of_its_weights(
    said: dict[str, float], stored: int, scale: float
) -> None:
    held = list(said)[: len(said) // 2 + 1]
    plain = rarity(said, {}, stored)
    scaled = rarity({term: weight * scale for term, weight in said.items()}, {}, stored)
    assert abs(Coverage(plain)(held) - Coverage(scaled)(held)) < 1e-6
    assert abs(share(3.0, plain) - share(3.0 * scale, scaled)) < 1e-6


@given(TERMS, st.integers(1, 10_000))
def test_coverage_grows_with_what_is_held_and_stays_a_share(said: dict[str, float], stored: int) -> None:
    rarities = rarity(said, {}, stored)
    shares = [Coverage(rarities)(list(said)[:count]) for count in range(len(said) + 1)]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert 0.99 < shares[-1] <= 1


@given(TERMS, st.integers(1, 10_000), st.randoms(use_true_random=False))
def test_equals_stay_equal_in_whatever_order_their_terms_come(
    said: dict[str, float], stored: int, chance: random.Random
) -> None:
    covers = Coverage(rarity(said, {}, stored))
    assert covers(chance.sample(list(said), len(said))) == covers(list(said))


def test_a_term_that_nothing_stored_has_says_the_most() -> None:
    rarities = rarity({"common": 1, "rare": 1, "unknown": 1}, {"common": 900, "rare": 3}, 1_000)
    assert rarities["common"] < rarities["rare"] < rarities["unknown"]


@given(SHARE, SHARE)
def test_relevance_is_a_share_and_meaning_alone_decides_across_scripts(covered: float, meaning: float) -> None:
    signals = {COVERAGE: covered, MEANING: meaning}
    assert 0 <= relevance(signals) <= 1
    assert relevance({MEANING: meaning}, same_script=False) == meaning
    assert relevance({MEANING: meaning}) <= meaning
    assert relevance(signals) >= relevance({MEANING: meaning})


def test_found_records_are_those_of_the_shelf() -> None:
    assert list(ShelfOf(Found(record("a"))).fetch(["a", "b"], None)) == ["a"]  # type: ignore[arg-type]


@given(SIGNALS, st.integers(1, 14))
def test_the_likeliest_are_those_that_fusion_puts_first_with_all_that_was_said_of_them(
    signals: list[tuple[float, float]], most: int
) -> None:
    given_ = candidates(signals)
    best = [item.id for item in fuse(given_, weights=weights(0.6), script=lambda _: "latin")[:most]]
    kept = likeliest(given_, weights=weights(0.6), script="latin", most=most)
    assert {candidate.id for candidate in kept} == set(best)
    assert [candidate for candidate in given_ if candidate.id in best] == kept
