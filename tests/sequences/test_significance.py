"""The formula of significance, and which answers it keeps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.model import Pair
from openclaw_neuralstream.sequences.pairing import (
    WEIGHTS,
    context_density,
    emotional_weight,
    interests_of,
    reason,
    significance,
    uniqueness,
    user_action,
    with_interest,
    without_interest,
)
from tests.values import MAIN, NOW

SHARES = st.floats(0, 1)
TEXT = st.text(max_size=300)
TERMS = st.frozensets(st.sampled_from("abcdefgh"), max_size=6)


@given(st.fixed_dictionaries(dict.fromkeys(WEIGHTS, SHARES)))
def test_it_is_the_weighted_sum_of_its_four_factors(factors: dict[str, float]):
    expected = (
        0.3 * factors["uniqueness"]
        + 0.2 * factors["user_action"]
        + 0.25 * factors["context_density"]
        + 0.25 * factors["emotional_weight"]
    )
    assert significance(factors) == pytest.approx(expected, abs=1e-4)
    assert 0 <= significance(factors) <= 1


@given(st.tuples(TEXT, TEXT, TEXT), st.booleans(), TERMS, st.lists(TERMS, max_size=4))
def test_every_factor_is_a_share_whatever_is_said(said: tuple[str, str, str], tools: bool, own: frozenset[str], others: list[frozenset[str]]):
    question, answer, then = said
    factors = (
        uniqueness(own, others),
        user_action(question, tools=tools, next_said=then),
        context_density(question, answer),
        emotional_weight(question, answer),
    )
    assert all(0 <= factor <= 1 for factor in factors)


@given(TERMS, st.lists(TERMS, max_size=4), TERMS)
def test_one_more_earlier_question_never_makes_it_more_unique(own: frozenset[str], others: list[frozenset[str]], more: frozenset[str]):
    assert uniqueness(own, [*others, more]) <= uniqueness(own, others)


@pytest.mark.parametrize("then", ["done, it works now", "搞定了，谢谢", "сделал, заработало!"])
def test_what_the_user_acts_on_counts_most(then: str):
    assert user_action("how?", tools=False, next_said=then) == 1.0
    assert user_action("how?", tools=False) == 0.0


@pytest.mark.parametrize(
    ("dense", "thin"),
    [
        ("Which port? PostgreSQL 16 listens on port 5433 of db-2.example.org, the backup runs at 03:15.", "ok yes that is so"),
        ("用哪个端口？PostgreSQL 16在5433端口，备份每天3点15分运行，服务器是db-2。", "好的是的"),
        ("Какой порт? PostgreSQL 16 слушает порт 5433 на db-2, резервная копия в 03:15.", "ну да так и есть"),
    ],
)
def test_what_is_concrete_is_denser_than_what_says_nothing(dense: str, thin: str):
    assert context_density(dense, "") > context_density(thin, "") + 0.3


@pytest.mark.parametrize("felt", ["I am so worried about my mother!", "我很担心妈妈！", "Я очень переживаю за маму!"])
def test_feeling_is_felt_in_three_languages(felt: str):
    assert emotional_weight(felt) >= 0.5
    assert emotional_weight("the file is in the folder") == emotional_weight("文件在文件夹里") == 0.0


def pair(question: str, *topics: str, **fields: object) -> Pair:
    return Pair(**{"turn_id": "t", "scope": MAIN, "sequence": "s", "seq": 1, "question": question, "at": NOW, "topics": topics, **fields})


def test_an_answer_is_kept_when_it_matters_is_about_a_topic_or_a_person_says_so():
    interests = interests_of("# mine\nmachine learning\n数据库\nотпуск\n")
    assert reason(pair("x", significance=0.61), threshold=0.6, interests=()) == "significance"
    assert reason(pair("x", significance=0.6), threshold=0.6, interests=()) == ""
    assert reason(pair("What is learning rate in machine learning?"), threshold=0.6, interests=interests) == "interest"
    assert reason(pair("数据库怎么备份"), threshold=0.6, interests=interests) == "interest"
    assert reason(pair("Когда у меня отпуска?"), threshold=0.6, interests=interests) == "interest"
    assert reason(pair("What is a washing machine?"), threshold=0.6, interests=interests) == ""
    assert reason(pair("x", mark="keep"), threshold=0.6, interests=()) == "hand"
    assert reason(pair("x", significance=0.9, mark="drop"), threshold=0.6, interests=()) == ""


@given(st.lists(st.sampled_from(["redis", "machine learning", "数据库", "отпуск", "travel"]), max_size=5), st.text(max_size=60))
def test_a_topic_that_is_added_and_removed_leaves_the_users_own_lines(names: list[str], own: str):
    before = "# my own words\n" + "".join(f"# {line}\n" for line in own.splitlines())
    text = before
    for name in names:
        text = with_interest(text, name)
    assert {i.name for i in interests_of(text)} == set(names)
    for name in names:
        text = without_interest(text, name)
    assert text == before
