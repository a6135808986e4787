"""A short follow-up is searched with what it goes on with; a new question stands alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream.recall.query import understand
from openclaw_neuralstream.text.questions import leans, pointed_at
from tests.recall.test_understand import asked
from tests.recall.worlds import World, world
from tests.values import gem

LIST = "Here are three hotels:\n1. Hotel Astoria, 120 euros\n2. Hotel Luna, 90 euros\n3. Hostel Sol, 40 euros"


@pytest.mark.parametrize(
    "text",
    [
        "How much does it cost?", "And the second one?", "What about Berlin?", "and in March?", "Does he like it there?",
        "Which of them is bigger?", "option 2 please", "And then?",
        "А сколько он стоит?", "А второй?", "А в Берлине?", "Когда это было?", "А тот?", "Какой у неё адрес?",
        "что насчёт третьего варианта?", "它多少钱？", "那个呢？", "第二个呢？", "上海呢？", "那次是什么时候？", "他住在哪里？", "那三月呢？",
    ],
)  # fmt: skip
def test_a_follow_up_leans_on_what_was_said(text: str) -> None:
    assert leans(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of Australia?", "Is it going to rain tomorrow?", "What time is it?", "Thanks, that was helpful!",
        "By the way, which port does the production database use?", "And when is my flight to Tbilisi, on 14 May?",
        "Что было на этой неделе?", "Что нового в этом месяце?", "这个星期发生了什么事？", "那个星期六我见了谁？",
        "Как зовут мою кошку?", "Что делал Пётр в пятницу?", "Сколько планет в Солнечной системе?", "我的猫叫什么名字？", "写一首关于大海的俳句。", "",
    ],
)  # fmt: skip
def test_what_says_itself_what_it_is_about_does_not(text: str) -> None:
    assert not leans(text)


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("What about the second one?", "Hotel Luna, 90 euros"),
        ("the last one?", "Hostel Sol, 40 euros"),
        ("А третий?", "Hostel Sol, 40 euros"),
        ("第一个呢？", "Hotel Astoria, 120 euros"),
        ("option 2", "Hotel Luna, 90 euros"),
        ("and the fifth one?", ""),
        ("When is the second of May?", ""),
    ],
)
def test_an_item_of_a_list_is_pointed_at(text: str, item: str) -> None:
    assert pointed_at(text, [LIST, "Which hotels did we look at?"]) == item


def test_the_item_pointed_at_is_part_of_the_question() -> None:
    understood = understand(asked("Where is the second one?", "Which hotels did we look at?", LIST), dialogue_turns=12)
    assert understood.leans
    assert "luna" in understood.said[1].terms
    assert "luna" not in understand(asked("Where is the pharmacy?", LIST), dialogue_turns=12).said[0].terms


def test_whom_a_follow_up_is_about_was_named_just_before() -> None:
    talk = ("Does Peter live in Lisbon?", "Yes, Peter moved there.", "And what does our Maria do?", "She paints.")
    assert understand(asked("Does she like it there?", *talk), dialogue_turns=12).names == {"maria"}


SMALL_TALK = (
    "Could you help me with a recipe for pancakes?", "Of course: 200 g flour, two eggs, 300 ml milk, a pinch of salt.",
    "How long do they need?", "Two minutes on each side, over medium heat.",
)  # fmt: skip
GEMS = (
    gem("bike", "The bicycle is a green Kona and cost 900 euros."),
    gem("bike-place", "The bicycle stands in the cellar of the neighbour."),
    gem("lada", "Старая Лада продана соседу за 70 тысяч рублей.", language="ru"),
    gem("piano", "钢琴是二手的雅马哈，放在客厅里。", language="zh"),
    gem("rent", "Rent goes up to 1,250 euros from July."),
    gem("dentist", "Dr Okafor is the dentist; the practice is in Mill Lane."),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(Path(tmp_path_factory.mktemp("followups"))) as made:
        made.learn(*GEMS)
        yield made


@pytest.mark.parametrize(
    ("talk", "question", "answer"),
    [
        (("What bicycle do I ride?", "A green one."), "How much did it cost?", "bike"),
        (("What bicycle do I ride?", "A green one."), "And where does it stand?", "bike-place"),
        (("Что стало со старой Ладой?", "Её больше нет."), "А за сколько её продали?", "lada"),
        (("你知道我的钢琴吗？", "知道，是一架旧琴。"), "它放在哪里？", "piano"),
        (("Who is my dentist?", "Dr Okafor."), "Where is his practice?", "dentist"),
    ],
)
def test_a_follow_up_finds_what_it_is_about_after_talk_of_something_else(
    memory: World, talk: tuple[str, ...], question: str, answer: str
) -> None:
    found = memory.ask(question, dialogue=(*SMALL_TALK, *talk))
    assert answer in [record.id for record in found.records][:2]
