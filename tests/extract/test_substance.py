"""Friendly talk that says nothing in particular makes no gem; what is about somebody's own life does, in three languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.extract.rules import RulesExtractor
from openclaw_neuralstream.extract.rules.substance import says_nothing, spoken_to
from tests.extract.conversations import contents, owner_says

EMPTY = [
    "We can make a difference in people's lives.",
    "Agree, John! It's great to feel this sense of community.",
    "I totally agree, Melanie.",
    "Last week was really eye-opening.",
    "I'm super excited to be involved and help out!",
    "Pottery's a great way to relax.",
    "Since I was so young.",
    "Always here to help!",
    "Thanks, that is all for now.",
    "Вот и всё на сегодня.",
    "先这样吧。",
    "I had a similar experience.",
    "Мы вместе можем изменить мир к лучшему.",
    "Я очень рад и благодарен за поддержку.",
    "我们一起努力，让生活变得更美好。",
    "我真的很感动，也很开心。",
]
TELLING = [
    "I work as a nurse.",
    "I'm 34.",
    "My mother is a teacher.",
    "I have two kids.",
    "I love creating art with clay!",
    "Thanks for asking, we got another cat named Bailey.",
    "My kids are Mia, Max.",
    "Я работаю медсестрой.",
    "У меня двое детей.",
    "我在医院当护士。",
    "我有两个孩子。",
]


@pytest.mark.parametrize("text", EMPTY)
def test_what_anybody_says_of_anything_is_no_gem(text: str) -> None:
    assert contents(RulesExtractor().extract(owner_says(text))) == []


@pytest.mark.parametrize("text", TELLING)
def test_what_is_about_ones_own_life_is_a_gem(text: str) -> None:
    assert len(RulesExtractor().extract(owner_says(text))) == 1


def test_whom_it_is_said_to_is_no_part_of_it_and_a_list_of_names_is_no_address() -> None:
    assert spoken_to("Agree, John!") == "Agree!"
    assert spoken_to("My kids are Mia, Max.") == "My kids are Mia, Max."


@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    assert says_nothing(text) in (True, False)
