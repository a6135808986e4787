"""What supports and what contradicts, in three languages."""

import pytest

from openclaw_neuralstream.workspace.opinions import Stance, stance

FOR, AGAINST, NEITHER = Stance.SUPPORTS, Stance.CONTRADICTS, Stance.UNRELATED

CASES = [
    ("Prefers concise replies on WhatsApp", "Asked for short replies on WhatsApp again", FOR),
    ("Prefers concise replies on WhatsApp", "Wants long, detailed replies on WhatsApp", AGAINST),
    ("Likes green tea", "Doesn't like green tea", AGAINST),
    ("Likes green tea", "Loves green tea in the morning", FOR),
    ("Likes green tea", "Hates green tea", AGAINST),
    ("Hates green tea", "Does not hate green tea", AGAINST),
    ("Prefers tabs over spaces", "Prefers spaces over tabs", AGAINST),
    ("Prefers tabs", "Prefers spaces", AGAINST),
    ("Prefers tabs over spaces", "Hates tabs", AGAINST),
    ("Prefers Postgres to MySQL", "Prefers Postgres over MySQL for new services", FOR),
    ("Prefers Postgres to MySQL", "Prefers MySQL to Postgres", AGAINST),
    ("No longer eats meat", "Eats meat every day", AGAINST),
    ("Likes green tea", "Works at the harbour", NEITHER),
    ("喜欢喝绿茶", "不喜欢喝绿茶", AGAINST),
    ("喜欢喝绿茶", "很喜欢绿茶", FOR),
    ("喜欢喝绿茶", "讨厌绿茶", AGAINST),
    ("觉得这本书不错", "喜欢这本书", FOR),
    ("比起咖啡更喜欢绿茶", "比起绿茶更喜欢咖啡", AGAINST),
    ("偏爱深色主题", "喜欢浅色主题", AGAINST),
    ("喜欢喝绿茶", "在港口工作", NEITHER),
    ("Любит зелёный чай", "Не любит зелёный чай", AGAINST),
    ("Любит зелёный чай", "Ненавидит зелёный чай", AGAINST),
    ("Любит зелёный чай", "Очень любит зеленый чай", FOR),
    ("Предпочитает краткие ответы", "Просит подробные ответы", AGAINST),
    ("Предпочитает чай вместо кофе", "Предпочитает кофе вместо чая", AGAINST),
    ("Больше не ест мясо", "Ест мясо каждый день", AGAINST),
    ("Любит зелёный чай", "Работает в порту", NEITHER),
]


@pytest.mark.parametrize(("statement", "evidence", "expected"), CASES)
def test_a_statement_is_read_for_what_it_says_about_another(statement: str, evidence: str, expected: Stance) -> None:
    assert stance(statement, evidence) == expected


def test_a_plain_fact_that_shares_one_word_says_nothing() -> None:
    assert stance("Likes coffee", "Bought coffee beans for the office", plain_fact=True) == NEITHER


def test_a_name_is_no_common_ground() -> None:
    assert stance("Peter likes tea", "Peter likes rowing", names=("Peter",)) == NEITHER


def test_vectors_find_what_words_do_not() -> None:
    assert stance("Prefers working remotely", "Would rather stay in his cabin", similar=lambda *_: 0.9) == FOR
