"""What kind of question a message is, in three languages: precise rather than eager."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.recall.query import asks_when, held_then, is_question, shape_of, subject_of
from openclaw_neuralstream.recall.source import Shape

TIMELINES = (
    "In what order did I visit Rome, Oslo and Kyiv?",
    "What happened first, the move or the new job?",
    "Which came first: the flood or the fire?",
    "Give me a timeline of the kitchen renovation",
    "Did I sell the car before or after the move?",
    "How did my opinion on the diet evolve?",
    "What happened after that?",
    "В каком порядке мы делали ремонт?",
    "Что было раньше: переезд или свадьба?",
    "Когда я сначала переехал, а потом сменил работу, что было между?",
    "Составь хронологию переезда",
    "Как развивался проект?",
    "我是先搬家后换工作的吗？",
    "我先学了钢琴，然后又学了什么？",
    "按时间顺序列出我的旅行",
    "哪件事先发生？",
    "是在搬家之前还是之后？",
)
SUMMARIES = (
    "Summarise what you know about the move",
    "What do you know about my sister?",
    "Give me an overview of the kitchen project",
    "Tell me everything you know about Anna",
    "catch me up on the migration",
    "Подведи итог по переезду",
    "Что ты знаешь о моей сестре?",
    "Расскажи всё, что ты знаешь про Анну",
    "Сделай краткий обзор проекта кухни",
    "总结一下搬家的事",
    "帮我概括一下厨房项目",
    "关于安娜你都知道些什么？",
    "给我梳理一下旅行计划",
)
PLAIN = (
    "Summarise this article: https://example.org/a",
    "Summarize the following text",
    "Кратко изложи этот текст",
    "总结一下这篇文章",
    "What is my first name?",
    "Who won first prize?",
    "My mom and I had a race to see who could finish first, and I won!",
    "First, wash the rice, and then cook it.",
    "Always answer first in English",
    "What did Caroline do after her road trip?",
    "先生，您好吗？",
    "我先生的生日是什么时候？",
    "我想先吃饭",
    "总结会议是什么时候？",
    "Какие итоги квартала?",
    "Раньше я жил в Риме",
    "Сколько времени сейчас?",
)


ALSO_TIMELINES = (
    "Put my appointments into the order of their dates",
    "Tell me what we did in the order that it happened",
    "How did the garden come about?",
    "Восстанови ход событий: что за чем было?",
    "Отпуск, экзамен, переезд: что раньше, что позже?",
)
ALSO_SUMMARIES = (
    "Summarise everything about the garden for a newspaper",
    "What does a guest need to know? Tell me everything one needs to know about the house",
    "List everyone who helps with the garden",
    "Расскажи вкратце про дом",
    "Перечисли всех, кто помогает в саду",
    "把花园的所有事情概括一下",
    "总结一下我的论文的进展",
)
ALSO_PLAIN = (
    "Summarise this paper for my class",
    "总结一下这篇论文",
    "Please write an email in order to cancel the trip",
    "List all files in the folder",
    "Обобщи этот текст для отчёта",
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, Shape.TIMELINE) for text in ALSO_TIMELINES),
        *((text, Shape.SUMMARY) for text in ALSO_SUMMARIES),
        *((text, Shape.PLAIN) for text in ALSO_PLAIN),
        *((text, Shape.TIMELINE) for text in TIMELINES),
        *((text, Shape.SUMMARY) for text in SUMMARIES),
        *((text, Shape.PLAIN) for text in PLAIN),
    ],
)
def test_an_order_or_a_summary_is_wanted_only_where_the_words_say_so(text: str, expected: Shape) -> None:
    assert shape_of(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which port is it?", True),
        ("tell me about the port", True),
        ("Какой порт у базы", True),
        ("Знаешь ли ты порт", True),
        ("数据库用哪个端口", True),
        ("你还记得我的猫吗", True),
        ("The port is 5433.", False),
        ("Порт изменился на 5433.", False),
        ("端口改成了5433。", False),
        ("Thanks!", False),
    ],
)
def test_a_question_is_told_from_a_statement(text: str, expected: bool) -> None:
    assert is_question(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "When did I move?",
        "How long ago was the surgery?",
        "Когда я переехал?",
        "Как давно это было?",
        "我什么时候搬的家？",
    ],
)
def test_a_question_for_a_day_is_known(text: str) -> None:
    assert asks_when(text)
    assert not asks_when("Where did I move? 我搬到哪里了")


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Summarise what you know about the move", "the move"),
        ("Which came first: the flood or the fire?", "the flood or the fire"),
        ("Подведи итог по переезду", "по переезду"),
        ("总结一下搬家的事", "搬家的事"),
        ("What happened first?", "What happened first?"),
        ("Which port is it?", "Which port is it?"),
    ],
)
def test_the_subject_of_a_summary_or_an_order_is_searched_for_without_the_words_that_ask_for_it(
    text: str, subject: str
) -> None:
    assert subject_of(text, shape_of(text)) == subject


def test_what_was_true_then_is_not_what_happened_then() -> None:
    assert all(map(held_then, ("What was true in November 2025", "что было верно в ноябре", "十一月什么是真的")))
    assert not held_then("What happened in November 2025?")


@given(st.text(st.characters(codec=None), max_size=300))
def test_any_text_has_a_shape_and_a_subject(text: str) -> None:
    assert isinstance(shape_of(text), Shape)
    for shape in Shape:
        assert subject_of(text, shape) or not text.strip()
