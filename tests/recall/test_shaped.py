"""An order of events comes in its order, a summary with more than ten records, and days that are named bring their own."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from tests.recall.worlds import World, whys, world
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


def test_a_summary_has_room_for_more_and_nothing_of_what_nobody_spoke_of(tmp_path: Path) -> None:
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
        assert made.ask("Summarise what you know about the stock market").records == ()
        assert "below-threshold" in set(whys(made.ask("Summarise what you know about the stock market")).values())


def test_what_was_understood_is_told(memory: World) -> None:
    told = memory.ask("In what order were my trips to Rome and Oslo last year?").understood
    assert (told["kind"], told["shape"], told["language"]) == ("question", "timeline", "en")
    assert told["days"] == f"{NOW.year - 1}-01-01/{NOW.year - 1}-12-31"
    assert told["hash"]
