"""A statement of several facts becomes a gem for each, in three languages; nothing that was said is lost or made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.extract.rules import RulesExtractor
from openclaw_neuralstream.extract.rules.parting import parted
from openclaw_neuralstream.lexicon import content_terms
from tests.extract.conversations import owner_says

COMPOUND = [
    (
        "We picked the staging database for the trial. It listens on port 5433.",
        ["We picked the staging database for the trial.", "The staging database listens on port 5433."],
    ),
    (
        "We decided to move to Postgres 16. It listens on port 5433.",
        ["We decided to move to Postgres 16.", "Postgres 16 listens on port 5433."],
    ),
    ("I work at Siemens and live in Berlin.", ["I work at Siemens", "I live in Berlin."]),
    ("My desk is on the fourth floor and my badge is 4471.", ["My desk is on the fourth floor", "My badge is 4471."]),
    ("Я работаю в Сбере, живу в Казани.", ["Я работаю в Сбере", "Живу в Казани."]),
    ("Мой номер 4471, а наш офис на Лесной.", ["Мой номер 4471", "Наш офис на Лесной."]),
    ("我在华为工作，我住在深圳。", ["我在华为工作", "我住在深圳。"]),
    ("测试数据库在成都机房。它监听5433端口。", ["测试数据库在成都机房。", "测试数据库监听5433端口。"]),
]
WHOLE = [
    "I don't drink coffee because I sleep badly.",
    "If I call you on Monday, I want the list of open bills.",
    "I sold the Civic, I drive a Mazda 3 now.",
    "We moved the office and the server to Graz. It cost 900 euros.",  # which one cost it?
    "Я не пью кофе, потому что плохо сплю.",
    "我不喝咖啡，因为我睡不好。",
]


@pytest.mark.parametrize(("text", "parts"), COMPOUND)
def test_each_fact_stands_by_itself(text: str, parts: list[str]) -> None:
    drafts = RulesExtractor().extract(owner_says(text))
    assert [draft.content for draft in drafts] == parts
    assert {draft.evidence for draft in drafts} == {("turn-1",)}


@pytest.mark.parametrize("text", WHOLE)
def test_what_belongs_together_stays_together(text: str) -> None:
    assert parted(text, lambda _: True) == [text]


@given(
    st.lists(
        st.sampled_from(
            [
                "I live in Berlin",
                "my desk is on floor 4",
                "we use Redis",
                "я работаю в Сбере",
                "у меня есть кот",
                "我住在深圳",
                "我的工号是4471",
                "it rains",
            ]
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([" and ", ", ", "; ", ". ", "，", " и "]),
)
def test_nothing_is_lost_and_nothing_is_made_up(facts: list[str], joint: str) -> None:
    text = joint.join(facts)
    assert content_terms(" ".join(parted(text, lambda _: True))) == content_terms(text)


@given(st.text(max_size=120))
def test_any_text_can_be_parted_and_what_is_worth_nothing_stays_whole(text: str) -> None:
    assert parted(text, lambda _: True)
    assert parted(text, lambda _: False) == [text]
