"""An order of events comes in its order, a summary with more than ten records, and days that are named bring their own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.recall.worlds import World, world
from tests.values import NOW, gem


def on(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T12:00:00+00:00")


MOVES = (
    gem("oslo", "The trip to Oslo was cold and expensive.", valid_from=on("2026-03-05")),
    gem("rome", "The trip to Rome was far too hot.", valid_from=on("2026-07-20")),
    gem("kyiv", "The trip to Kyiv was short, two days in all.", valid_from=on("2025-12-01")),
    gem("flat-1", "The flat is in Harbour Street.", valid_from=on("2025-02-01"), superseded_by="flat-2"),
    gem("flat-2", "The flat is in Mill Lane.", valid_from=on("2026-06-15")),
)  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(Path(tmp_path_factory.mktemp("shaped"))) as made:
        made.learn(*MOVES)
        yield made


@pytest.mark.parametrize(
    "question",
    ["In what order were my trips to Rome, Oslo and Kyiv?", "Give me a timeline of the trips to Rome, Oslo, Kyiv"],
)
def test_an_order_of_events_comes_earliest_first(memory: World, question: str) -> None:
    found = memory.ask(question)
    assert found.shape == "timeline"
    assert [record.id for record in found.records if record.id in ("kyiv", "oslo", "rome")] == ["kyiv", "oslo", "rome"]


def test_a_plain_question_keeps_its_best_first(memory: World) -> None:
    found = memory.ask("How was the trip to Rome?")
    assert found.shape == "plain"
    assert found.records[0].id == "rome"


def test_what_held_then_is_told_for_then_and_what_holds_now_for_now(memory: World) -> None:
    assert [record.id for record in memory.ask("Where is the flat?").records] == ["flat-2"]
    then = memory.ask("Where was the flat in November 2025?").records
    assert then[0].id == "flat-1"
    assert [r.id for r in memory.ask("What was true of the flat in November 2025?").records] == ["flat-1"]


def test_days_that_are_named_rank_up_and_filter_nothing(memory: World) -> None:
    found = memory.ask("Which trip was cold or hot in July 2026?")
    assert found.records[0].id == "rome"
    assert found.records[0].factors["time"] == 1
    assert "time" not in memory.ask("Which trip was cold or hot?").records[0].factors


def test_a_summary_has_room_for_more(tmp_path: Path) -> None:
    rooms = [
        "kitchen",
        "bathroom",
        "bedroom",
        "cellar",
        "attic",
        "balcony",
        "garage",
        "hallway",
        "nursery",
        "study",
        "pantry",
        "terrace",
        "porch",
        "laundry",
    ]
    with world(tmp_path) as made:
        made.learn(*(gem(f"r{n}", f"Renovation of the house: the {room} is done.") for n, room in enumerate(rooms)))
        found = made.ask("Summarise what you know about the renovation of the house")
        assert found.shape == "summary"
        assert len(found.records) > 10
        assert sum(record.tokens for record in found.records) <= 1_500
        assert len(made.ask("What about the renovation of the house?").records) <= 10


def test_what_was_understood_is_told(memory: World) -> None:
    told = memory.ask("In what order were my trips to Rome and Oslo last year?").understood
    assert (told["kind"], told["shape"], told["language"]) == ("question", "timeline", "en")
    assert told["days"] == f"{NOW.year - 1}-01-01/{NOW.year - 1}-12-31"
    assert told["hash"]


GARDEN = {
    "en": (
        "The tomatoes in the garden got blight in July.", "Roses were planted along the south wall.",
        "We bought a second-hand greenhouse for the back yard.", "The garden hose leaks at the tap.",
        "The rent goes up to 1,250 euros from July.", "The cat is called Miso and is allergic to chicken.",
    ),
    "zh": (
        "花园里的番茄七月得了病。", "南墙边种了玫瑰。", "我们给后院买了一个二手温室。", "花园的水管在水龙头处漏水。",
        "房租七月起涨到1250欧元。", "猫叫味噌，对鸡肉过敏。",
    ),
    "ru": (
        "Помидоры в саду в июле заболели фитофторой.", "Вдоль южной стены посадили розы.", "Мы купили подержанную теплицу для заднего двора.",
        "В саду у крана течёт шланг.", "С июля аренда поднимается до 1250 евро.", "Кошку зовут Мисо, у неё аллергия на курицу.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "Summarise what we discussed about the garden"),
        ("en", "In which order did we plan the garden?"),
        ("zh", "总结一下我们讨论过的花园"),
        ("zh", "我们是按什么顺序规划花园的？"),
        ("ru", "Обобщи, что мы обсуждали про сад"),
        ("ru", "В каком порядке мы планировали сад?"),
    ],
)
def test_how_a_subject_came_up_is_no_part_of_it(tmp_path: Path, language: str, question: str) -> None:
    with world(tmp_path) as made:
        made.learn(*(gem(f"g{n}", text, valid_from=on(f"2026-08-{10 + n}")) for n, text in enumerate(GARDEN[language])))
        found = {record.id for record in made.ask(question, limit=4).records}
        assert {"g0", "g3"} <= found
        assert len(found - {"g4", "g5"}) >= 3


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("What is coming up?", ["audit", "party"]),
        ("Put the upcoming events into chronological order.", ["audit", "party"]),
        ("Расположи предстоящие события по порядку дат.", ["audit", "party"]),
        ("接下来有什么安排？", ["audit", "party"]),
    ],
)
def test_what_is_to_come_is_told_in_its_order_and_nothing_that_is_over(
    tmp_path: Path, question: str, order: list[str]
) -> None:
    first, last = (NOW + timedelta(days=days) for days in (9, 40))
    with world(tmp_path) as made:
        made.learn(
            gem("party", "The release party is at the Boiler Room.", valid_from=last),
            gem("audit", "The security audit takes two days.", valid_from=first),
            gem("move", "We moved the database at night.", valid_from=NOW - timedelta(days=30)),
        )
        assert [record.id for record in made.ask(question).records] == order
