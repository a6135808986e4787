"""The words, topics and hash of a question, alike in three languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.text.lexicon import content_terms, terms
from openclaw_neuralstream.text.questions import (
    NEAR,
    asked_topics,
    bands,
    distance,
    leans,
    likeness,
    only_points,
    points_back,
    question_hash,
    words_of,
)

ANY_TEXT = st.text(st.characters(codec=None), max_size=200)
HASHES = st.integers(0, 2**64 - 1).map(lambda value: f"{value:016x}")

AGAIN = [
    ("How do I configure Discord mentions?", "how can I configure the Discord mention"),
    ("What is the port of the staging database?", "which port is the staging database on"),
    ("How many days until the trip to Lisbon?", "How many days are there until our Lisbon trip?"),
    ("在Discord里面如何避免每次都要艾特你", "想知道在Discord里面怎么避免每次都艾特你"),
    ("酒店的密码是什么", "请问酒店密码是多少"),
    ("Какой пароль от сейфа?", "пароль сейфа какой"),
    ("Когда у меня приём у врача?", "а когда приём у врача"),
]
OTHERS = [
    ("What is the port of the staging database?", "What is the port of the production database?"),
    ("restart server 5", "restart server 6"),
    ("猫叫什么名字", "狗叫什么名字"),
    ("Какой пароль от сейфа?", "Какой пароль от почты?"),
    ("how to bake bread", "when does the flight leave"),
]


@pytest.mark.parametrize(("once", "again"), AGAIN)
def test_the_same_question_in_other_words_of_grammar_has_the_same_hash(once: str, again: str):
    assert question_hash(once) == question_hash(again)


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_questions_about_something_else_are_apart(one: str, other: str):
    assert distance(question_hash(one), question_hash(other)) > NEAR


def test_a_typo_stays_nearer_than_another_question():
    right, typo = question_hash("configure discord mentions in the server"), question_hash("configre discord mentions in the server")
    assert distance(right, typo) < distance(right, question_hash("configure slack reactions in the office"))


@given(ANY_TEXT)
def test_every_text_has_a_hash_or_says_nothing(text: str):
    hash_ = question_hash(text)
    assert hash_ == question_hash(text)
    assert bool(hash_) == bool(terms(text) or content_terms(text))
    assert words_of(text) == tuple(dict.fromkeys(words_of(text)))


@given(st.permutations(["lisbon", "hotel", "river", "breakfast"]))
def test_the_order_of_words_counts_nothing(words: list[str]):
    assert question_hash(" ".join(words)) == question_hash("lisbon hotel river breakfast")


@given(HASHES, st.sets(st.integers(0, 63), max_size=7))
def test_hashes_that_differ_in_fewer_bits_than_there_are_pieces_share_one(hash_: str, flipped: set[int]):
    other = f"{int(hash_, 16) ^ sum(1 << bit for bit in flipped):016x}"
    assert distance(hash_, other) == len(flipped)
    assert set(bands(hash_)) & set(bands(other))
    assert 0.75 < likeness(hash_, other) <= 1


def test_chinese_words_come_as_the_specification_shows_them():
    assert {"discord", "艾特", "消息", "配置"} <= set(words_of("想知道在Discord里面如何避免每次都要艾特你"))


@pytest.mark.parametrize(
    "text", ["How do I set up Discord mentions?", "在Discord里怎么设置艾特", "Как настроить упоминания в Discord?"]
)
def test_a_topic_has_one_name_in_all_languages(text: str):
    assert {"messaging", "configuration", "discord"} <= set(asked_topics(text))


@pytest.mark.parametrize(
    "text", ["and the second one?", "what about the cheaper one?", "why?", "那第二个呢", "继续", "а второй?", "а почему?"]
)
def test_a_message_that_leans_on_what_was_said_points_back(text: str):
    assert points_back(text)


@pytest.mark.parametrize("text", ["Does she like it there?", "那次是什么时候？", "Какой у неё адрес?", "and in March?", "上海呢？"])
def test_what_leans_points_back_where_it_says_little_else(text: str):
    assert leans(text)
    assert points_back(text)


@pytest.mark.parametrize("text", ["why?", "为什么", "почему?", "continue", "继续", "那是星期几来着？"])
def test_a_bare_word_points_back_and_needs_nothing_said_before_to_be_understood(text: str):
    assert points_back(text)
    assert not leans(text)


@pytest.mark.parametrize(
    "text", ["thanks", "ok", "好的谢谢", "спасибо, отлично", "", "Where is the office of the tax advisor in Berlin Mitte?", "Is it going to rain tomorrow?"]
)
def test_thanks_and_questions_of_their_own_do_not(text: str):
    assert not points_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "and the second one?", "why?", "why is that?", "tell me more", "how much was it?", "where were we?", "go on", "what else?",
        "а второй?", "а почему?", "почему?", "расскажи подробнее", "на чём мы остановились?", "что дальше?", "ещё?",
        "那个呢？", "那第二个呢", "为什么？", "继续", "再说说", "那是星期几来着？", "那是一天几次来着？",
    ],
)  # fmt: skip
def test_what_names_nothing_of_its_own_only_points_back(text: str):
    assert only_points(text)


@pytest.mark.parametrize(
    "text",
    [
        "who is the president of France?", "who wrote Hamlet?", "why is the sky blue?", "where is my umbrella?", "who is the pope?",
        "how many planets are there?", "what else is blue?", "кто написал Гамлета?", "почему небо синее?", "где мой зонт?",
        "сколько планет?", "когда день рождения у Анны?", "为什么天空是蓝的？", "法国总统是谁？", "谁写了哈姆雷特？", "thanks", "",
    ],
)  # fmt: skip
def test_what_names_something_of_its_own_does_not_only_point_back(text: str):
    assert not only_points(text)
