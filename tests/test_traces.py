"""Where a text names somebody: with other endings, but not by a word that only a search takes for the same."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.traces import names, naming


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
    assert names(text, words)


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
    assert not names(text, words)
    assert naming(f"{text} The kettle is blue.", words) == []
