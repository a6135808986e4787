"""Opinions: what says the same is one, what contradicts moves it, and no order has a say."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.workspace.opinions import Evidence, opinions
from tests.workspace.values import experience, thinks, world

TEXTS = [
    "Prefers concise replies", "Wants detailed replies", "Likes green tea", "Hates green tea", "Любит зелёный чай",
    "Не любит зелёный чай", "喜欢喝绿茶", "不喜欢喝绿茶", "Works at the harbour", "Asked for short replies again",
]  # fmt: skip
EVIDENCE = st.builds(
    lambda make, text, on, about, stated: make(text, on, about, stated=stated),
    st.sampled_from([thinks, world, experience]),
    st.sampled_from(TEXTS),
    st.integers(1, 28),
    st.sampled_from(["Peter", "Анна", "小李"]),
    st.none() | st.floats(0, 1),
)


@settings(max_examples=60)
@given(items=st.lists(EVIDENCE, max_size=14), mix=st.randoms(use_true_random=False))
def test_the_same_facts_in_any_order_of_files_give_the_same_opinions(items: list[Evidence], mix: Any) -> None:
    shuffled = items + items[:3]
    mix.shuffle(shuffled)
    assert opinions(shuffled) == opinions(items)


def test_what_says_the_same_is_one_opinion_with_its_evidence() -> None:
    (opinion,) = opinions(
        [
            thinks("Prefers concise replies", 3, "Peter", stated=0.8),
            experience("Asked again for concise replies", 9, "Peter"),
            thinks("Prefers short, concise replies", 12, "peter"),
        ]
    )
    assert (opinion.statement, opinion.updated) == ("Prefers concise replies", experience("", 12).day)
    assert opinion.confidence > 0.8
    assert [item.text for item in opinion.supporting[1:]] == ["Asked again for concise replies", "Prefers short, concise replies"]


def test_one_contradiction_is_a_small_step() -> None:
    (opinion,) = opinions([thinks("Likes green tea", 3, "Peter", stated=0.9), thinks("Hates green tea", 9, "Peter")])
    assert 0.8 <= opinion.confidence < 0.9
    assert [item.text for item in opinion.contradicting] == ["Hates green tea"]


def test_contradicted_often_enough_the_opposite_is_the_opinion() -> None:
    said = [thinks("Likes green tea", 3, "Peter", stated=0.9)]
    said += [thinks("Hates green tea", on, "Peter") for on in (9, 12, 15, 18)]
    (opinion,) = opinions(said)
    assert opinion.statement == "Hates green tea"
    assert opinion.confidence > 0.5
    assert [item.text for item in opinion.contradicting] == ["Likes green tea"]


def test_what_another_person_likes_is_another_opinion() -> None:
    found = opinions([thinks("Likes green tea", 3, "Peter"), thinks("Hates green tea", 4, "Ann")])
    assert [(one.entities, one.contradicting) for one in found] == [(("Ann",), ()), (("Peter",), ())]


def test_an_opinion_its_own_author_doubts_speaks_against_it() -> None:
    (opinion,) = opinions([thinks("Likes tea", 3, "Peter", stated=0.8), thinks("Likes tea", 5, "Peter", stated=0.1)])
    assert opinion.confidence < 0.8
    assert len(opinion.contradicting) == 1


def test_facts_alone_make_no_opinion() -> None:
    assert opinions([world("Lives in Malmö", 3, "Peter")]) == []
