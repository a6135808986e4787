"""Where a text says words as they are, or names somebody: with other endings, but not by a word that only a search takes for the same."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.text.traces import mentions, names, other_forms


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We met Drew's sister.", "Drew"),
        ("Two saws hang in the shed.", "saw"),
        ("Подарок для Анны.", "Анна"),
        ("我们跟王芳去北京。", "王芳"),
        ("The children of Ann Li sing.", "ann li"),
    ],
)
def test_a_text_names_somebody_with_any_ending(text: str, words: str) -> None:
    assert mentions(text, words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I draw on Sundays.", "Drew"),
        ("We sing in a choir.", "Sang"),
        ("I see a doctor.", "saw"),
        ("She drew a cat.", "draw"),
        ("Annapolis is far away.", "Anna"),
        ("Нашла ключи.", "найти"),
    ],
)
def test_a_word_that_a_search_takes_for_the_same_is_not_what_is_named(text: str, words: str) -> None:
    assert not mentions(text, words)


@pytest.mark.parametrize(
    ("text", "words", "holds"),
    [
        ("Rob's robot is here.", "rob", True),
        ("The robot is here.", "rob", False),
        ("He robs nobody.", "rob", False),
        ("This is his salary of Peter’s time.", "Salary  of peter", True),
        ("Кот спит.", "кот", True),
        ("Человек, который спит.", "кот", False),
        ("Мы видели кота.", "кот", False),
        ("我用rob做的", "rob", True),
        ("钥匙在王芳家。", "王芳", True),
        ("ключ от сейфа", "?!", False),
    ],
)
def test_words_are_whole_words_as_they_are_written(text: str, words: str, holds: bool) -> None:
    assert names(text, words) is holds


def test_other_endings_of_words_are_told_apart():
    assert other_forms("Rob robs a robot, and who robbed Rob?", "rob") == {"robs", "robbed"}
    assert other_forms("Мы видели кота, а кот нас.", "кот") == {"кота"}
