"""A text falls into the sentences that a reader would see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.text.lexicon import first_sentence, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Smith paid $3.50. He left!", ["Mr. Smith paid $3.50.", "He left!"]),
        ("We use e.g. Redis. Really?", ["We use e.g. Redis.", "Really?"]),
        ("今天很好。我们去吧！好吗？", ["今天很好。", "我们去吧！", "好吗？"]),
        ("Это, т. е. план, готов. Начнём?", ["Это, т. е. план, готов.", "Начнём?"]),
        ("one line that\ngoes on here.\nAnd another", ["one line that goes on here.", "And another"]),
        ("- first item\n- second item", ["- first item", "- second item"]),
        ("See:\n```py\na = 1. \n\nb = 2\n```\nDone.", ["See:", "```py\na = 1. \n\nb = 2\n```", "Done."]),
        ("Wait… what?", ["Wait…", "what?"]),
        ("version 2.6.3 of node.js", ["version 2.6.3 of node.js"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_are_told_apart(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(st.characters(codec=None), max_size=400))
def test_nothing_but_blanks_is_lost(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(st.text(max_size=200))
def test_no_sentence_is_blank(text: str) -> None:
    assert all(sentence.strip() == sentence and sentence for sentence in sentences(text))


@given(st.text("ab .!?。\n\t`-1", max_size=80))
def test_the_first_sentence_is_the_first_of_all(text: str) -> None:
    assert first_sentence(text) == next(iter(sentences(text)), "")
