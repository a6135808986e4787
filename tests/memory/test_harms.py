"""What can harm the owner is before the model wherever the question touches it, and comes before what he ordered."""

from __future__ import annotations

from pathlib import Path

import pytest

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Query, Scope, Session
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.state import StateDir
from tests.worlds import prompt_event, turn_event

ORDERS = {
    "en": (
        "Always answer in English.",
        "Never use emojis.",
        "Always use metric units.",
        "Never suggest deployments on Friday.",
    ),
    "zh": ("请用中文回答。", "不要用表情符号。", "请务必用公制单位。", "不要在周五安排发布。"),
    "ru": (
        "Всегда отвечай по-русски.",
        "Никогда не используй смайлики.",
        "Всегда используй метрические единицы.",
        "Никогда не предлагай релизы в пятницу.",
    ),
}


def opened(tmp_path: Path, settings: str = "") -> Memory:
    state = StateDir(tmp_path / "state")
    state.prepare()
    (state.path / "settings.toml").write_text(f'extractor = "rules"\nembedder = "embedded"\n{settings}')
    memory = wiring.open_memory(state, start=False)
    memory.parts.warm()
    return memory


def remember(memory: Memory, *texts: str) -> None:
    for text in texts:
        memory.remember(text, Scope("main"), Session("main", "x", "x"))


def standing(memory: Memory, asked: str) -> list[str]:
    return [record.text for record in memory.stands(Query(asked, Scope("main"), memory.now()))]


@pytest.mark.parametrize(
    ("language", "harm", "touching", "other"),
    [
        (
            "en",
            "I am allergic to peanuts.",
            ("What should I cook for dinner tonight?", "Suggest a snack for the hike", "今晚吃什么？"),
            "Which port does staging use?",
        ),
        ("en", "My doctor forbade me alcohol.", ("Which wine goes with paella?",), "Which port does staging use?"),
        ("en", "I am lactose intolerant.", ("Suggest a dessert for the party",), "Which port does staging use?"),
        ("zh", "我对虾过敏。", ("推荐一家海鲜餐厅", "Suggest a recipe for paella"), "数据库用哪个端口？"),
        ("zh", "医生不让我喝酒。", ("晚饭配什么酒？",), "数据库用哪个端口？"),
        (
            "ru",
            "У меня аллергия на креветки.",
            ("Что приготовить на ужин?", "Посоветуй ресторан"),
            "Какой порт у базы?",
        ),
        ("ru", "Врач запретил мне соль.", ("Дай рецепт супа",), "Какой порт у базы?"),
    ],
)
def test_what_can_harm_is_told_where_it_is_touched_and_nowhere_else(
    tmp_path: Path, language: str, harm: str, touching: tuple[str, ...], other: str
) -> None:
    memory = opened(tmp_path)
    try:
        remember(memory, harm, *ORDERS[language])
        for asked in touching:
            assert standing(memory, asked) == [harm]
            told = moments.prompt_build(memory, prompt_event(asked))
            assert (told["brief"] + told["text"]).count(harm) == 1
        assert standing(memory, other) == []
    finally:
        memory.close()


def test_what_can_harm_takes_the_one_place_that_an_order_would_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openclaw_neuralstream.memory.reminding.STANDING_GEMS", 1)
    memory = opened(tmp_path)
    try:
        remember(memory, "Never suggest dinner in front of the TV.")
        assert len(standing(memory, "What should I cook for dinner?")) == 1
        remember(memory, "I am allergic to peanuts.")
        assert standing(memory, "What should I cook for dinner?") == ["I am allergic to peanuts."]
    finally:
        memory.close()


def test_five_allergies_are_all_told_before_a_meal_whatever_is_ordered(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    allergies = [f"I am allergic to {what}." for what in ("peanuts", "shrimp", "sesame", "kiwi", "mustard")]
    try:
        remember(memory, *ORDERS["en"], *allergies)
        told = moments.prompt_build(memory, prompt_event("What should I cook for dinner?"))
        assert [allergy for allergy in allergies if allergy not in told["brief"] + told["text"]] == []
    finally:
        memory.close()



@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("By the way, my doctor told me not to eat grapefruit.", "What shall I have for breakfast?"),
        ("Кстати, врач запретил мне грейпфрут.", "Что приготовить на завтрак?"),
        ("对了，医生说我不能吃柚子。", "早饭吃什么？"),
    ],
)
def test_what_a_doctor_forbade_stands_once_it_was_said_in_a_conversation(tmp_path: Path, said: str, asked: str) -> None:
    memory = opened(tmp_path)
    try:
        moments.turn_end(memory, turn_event(said, key="agent:main:1"))
        memory.flush()
        remember(memory, *ORDERS["en"])
        assert standing(memory, asked)[0].casefold() in said.casefold()
    finally:
        memory.close()
