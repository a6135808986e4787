"""A question is its last message first, then the dialogue, faded; names are told from the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import EmbedderIdentity, Query
from openclaw_neuralstream.recall.query import names, understand
from openclaw_neuralstream.recall.source import LAST_SHARE
from tests.values import MAIN, NOW


def asked(text: str, *dialogue: str) -> Query:
    return Query(text, MAIN, NOW, dialogue=dialogue)


def test_the_last_message_counts_most() -> None:
    understood = understand(asked("Which port?", "The database is slow.", "Let me look."), dialogue_turns=5)
    assert [message.text for message in understood.said] == ["Which port?", "Let me look.", "The database is slow."]
    weights = [message.weight for message in understood.said]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == 1
    assert understood.text.splitlines() == ["The database is slow.", "Let me look.", "Which port?"]


def test_only_so_many_messages_are_part_of_the_question() -> None:
    query = asked("now", "one", "two", "three")
    assert [m.text for m in understand(query, dialogue_turns=2).said] == ["now", "three", "two"]
    assert [m.text for m in understand(query, dialogue_turns=0).said] == ["now"]


def test_a_message_that_is_in_the_dialogue_already_counts_once() -> None:
    assert [m.text for m in understand(asked("now", "before", "now"), dialogue_turns=5).said] == ["now", "before"]


def test_stop_words_ask_only_when_nothing_else_was_said() -> None:
    assert understand(asked("Who am I?"), dialogue_turns=5).said[0].terms == ("who", "am", "i")
    assert understand(asked("And then?", "The boiler broke."), dialogue_turns=5).said[0].terms == ()


def test_a_word_that_the_dialogue_comes_back_to_counts_most() -> None:
    query = asked("What would suit the garden?", "The garden needs a fence.", "A fence? For the garden?", "Yes, oak.")
    weights = understand(query, dialogue_turns=5).weights()
    assert weights["garden"] == 1 == max(weights.values())
    assert weights["garden"] > weights["fenc"] > weights["suit"] > weights["oak"]


@pytest.mark.parametrize(
    ("dialogue", "label"),
    [
        (("Anna: The piano arrived.", "Assistant: Where does it stand?", "Anna: In the hall."), "anna"),
        (("Мария: Пианино привезли.", "Ассистент: Где оно стоит?", "Мария: В прихожей."), "мар"),
        (("小明: 钢琴到了。", "助手: 放在哪里？", "小明: 在客厅。"), "小明"),
    ],
)
def test_who_speaks_in_a_dialogue_tells_whom_is_meant_and_is_not_searched_for(
    dialogue: tuple[str, ...], label: str
) -> None:
    understood = understand(asked(dialogue[-1], *dialogue[:-1]), dialogue_turns=5)
    assert understood.text.splitlines() == [text.split(": ", 1)[1] for text in dialogue]
    assert label in understood.names
    assert label not in understood.weights()


def test_a_colon_in_one_message_is_no_speaker() -> None:
    said = understand(asked("Boiler: the valve leaks.", "Anna: Hello!", "Shall we begin?"), dialogue_turns=5).said
    assert [message.text for message in said] == ["Boiler: the valve leaks.", "Shall we begin?", "Anna: Hello!"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Caroline say to Melanie?", {"carolin", "melani"}),
        ("Bart: 我特别期待那天晚上！", {"bart"}),
        ("Что нарисовала Мария в мае?", {"мар"}),
        ("Assistant: of course", set()),
        ("What is it?", set()),
        ("what was true in November 2025", set()),
        ("what did Anna cook on Friday?", {"anna"}),
        ("did Peter call on Wednesday, or in December", {"peter"}),
        ("что было в Ноябре 2025 у Марии", {"мар"}),
        ("что делал Пётр в Пятницу?", {"петр"}),
        ("2025年11月Peter住在哪里", set()),
        ("Describe the plan.", set()),
    ],
)
def test_names_are_what_is_capitalised_inside_a_sentence_or_labels_a_line(text: str, expected: set[str]) -> None:
    assert names([text]) == expected


@given(st.text(st.characters(codec=None), max_size=200), st.lists(st.text(max_size=60), max_size=6))
def test_any_text_can_be_understood(text: str, dialogue: list[str]) -> None:
    understood = understand(asked(text, *dialogue), dialogue_turns=4)
    assert len(understood.said) <= 5
    assert all(0 < weight <= 1 for weight in understood.weights().values())


def test_an_embedder_that_is_away_is_asked_once_a_question() -> None:
    class Away:
        identity = EmbedderIdentity("away", 2)
        times = 0

        def embed_query(self, text: str) -> Any:
            self.times += 1
            raise VendorAway("it does not answer")

        def embed_documents(self, texts: Any) -> Any:
            raise AssertionError(texts)

    away = Away()
    understood = understand(asked("Where is the key?"), dialogue_turns=4)
    for _ in range(3):
        with pytest.raises(VendorAway):
            understood.vector(away)
    assert away.times == 1


@pytest.mark.parametrize(
    "last",
    ["Which port does the staging database use?", "测试数据库用的是哪个端口？", "Да, вся семья была очень рада."],
)
@pytest.mark.parametrize(("goes_on", "share"), [(None, LAST_SHARE), (1.0, LAST_SHARE), (0.5, 0.6), (0.0, 1.0)])
def test_the_dialogue_counts_as_far_as_the_message_goes_on_with_it(
    last: str, goes_on: float | None, share: float
) -> None:
    class Apart:  # every text is as far from every other one as can be
        identity = EmbedderIdentity("apart", 2)

        def embed_query(self, text: str) -> Any:
            return np.array([0.0, 1.0] if text == last else [1.0, 0.0], np.float32)

        def embed_documents(self, texts: Any) -> Any:
            raise AssertionError(texts)

    told: list[tuple[str, str]] = []

    def coherence(message: str, dialogue: str) -> float:
        told.append((message, dialogue))
        return goes_on or 0.0

    query = asked(last, "The choir sang on the ferry.", "How lovely!")
    understood = understand(query, dialogue_turns=4, coherence=None if goes_on is None else coherence)
    dialogue, message = understood.vector(Apart()).tolist()
    assert (dialogue, message) == pytest.approx(tuple(np.array([1 - share, share]) / np.hypot(1 - share, share)))
    assert ("ferri" in understood.weights()) is (goes_on != 0)
    assert told == ([] if goes_on is None else [(last, "The choir sang on the ferry.\nHow lovely!")])
