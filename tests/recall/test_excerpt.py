"""What of a long turn is shown, and what a turn that only asks is worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.recall.fit import QUESTION_WORTH, excerpt, worth
from openclaw_neuralstream.text.lexicon import content_terms

LONG = {
    "en": ("Berlin was cold that week. " * 20 + "The passport is in the blue drawer. It expires in May. " + "We ate late. " * 20, "where is the passport", "The passport is in the blue drawer."),
    "ru": ("В Берлине было холодно. " * 20 + "Паспорт лежит в синем ящике. Срок до мая. " + "Мы поздно ели. " * 20, "где лежит паспорт", "Паспорт лежит в синем ящике."),
    "zh": ("那一周柏林很冷。" * 30 + "护照放在蓝色的抽屉里。五月到期。" + "我们吃得很晚。" * 30, "护照放在哪里", "护照放在蓝色的抽屉里。"),
}  # fmt: skip


@pytest.mark.parametrize("language", LONG)
def test_of_a_long_turn_the_sentence_that_answers_is_shown(language: str):
    text, question, answer = LONG[language]
    shown = excerpt(text, dict.fromkeys(content_terms(question), 1.0), 120)
    assert answer in shown
    assert len(shown) <= 120
    assert shown.startswith("…")


def test_a_short_turn_is_shown_as_it_is():
    assert excerpt("It is  in the\ndrawer.", {"drawer": 1.0}, 100) == "It is  in the\ndrawer."


def test_one_endless_sentence_is_cut_around_what_is_asked():
    shown = excerpt("word " * 400 + "the passport is in the drawer " + "word " * 400, {"passport": 1.0, "drawer": 1.0}, 150)
    assert "passport is in the drawer" in shown
    assert len(shown) <= 150


@given(st.text(max_size=3_000), st.integers(20, 400), st.lists(st.sampled_from(["a", "drawer", "护照"])))
def test_an_excerpt_is_never_longer_than_allowed(text: str, most: int, asked: list[str]):
    assert len(excerpt(text, dict.fromkeys(asked, 1.0), most)) <= most


@pytest.mark.parametrize(
    "text",
    [
        "What was my dog's name?",
        "what was my dog's name",
        "Hi! Do you remember where we met?",
        "Как звали мою собаку?",
        "где мы познакомились",
        "我的狗叫什么名字？",
        "我们在哪里认识的吗",
        "How was the trip? And did you see the sea?",
    ],
)
def test_a_bare_question_is_worth_less(text: str):
    assert worth(text) == QUESTION_WORTH


@pytest.mark.parametrize(
    "text",
    [
        "My dog is called Rex.",
        "My dog Rex died yesterday, what should I do?",
        "I moved to Lisbon in May. Do you like it?",
        "Мою собаку зовут Рекс. А твою?",
        "我的狗昨天在公园里死了，我该怎么办？",
        "When I was in Paris I bought a violin from an old man near the river.",
        "",
    ],
)
def test_what_states_something_is_worth_all(text: str):
    assert worth(text) == 1.0
