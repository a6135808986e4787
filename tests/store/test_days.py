"""Gems by day: what is read is bounded, what comes is the best of each day, and the labels follow the gems."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.model import Gem, Origin, Scope, Session, Turn, Utterance
from openclaw_neuralstream.ports import Vectors
from openclaw_neuralstream.store import labels
from openclaw_neuralstream.store.labels import days_of
from openclaw_neuralstream.store.passages import PassageIndex
from openclaw_neuralstream.store.truth import Truth
from tests.passages import add
from tests.values import MAIN, NOW, SMALL, gem

START = date(2024, 1, 1)


def of(day: date, name: str, importance: float = 0.5, content: str = "The tea was hot.", **fields: object) -> Gem:
    at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    return gem(name, content, valid_from=at, created_at=at, importance=importance, **fields)


def keep(truth: Truth, *gems: Gem) -> None:
    truth.import_gems([(one, None) for one in gems], None, NOW)


GEMS = [of(START + timedelta(days=(n * 37) % 700), f"g{n}", ((n * 29) % 100) / 100) for n in range(600)]


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Truth]:
    made = Truth.open(tmp_path_factory.mktemp("days") / "memory.sqlite")
    keep(made, *GEMS)
    yield made
    made.close()


@settings(deadline=None, max_examples=60)
@given(st.integers(-20, 720), st.integers(0, 720), st.integers(1, 40))
def test_each_day_or_month_gives_its_most_important(
    truth: Truth, offset: int, length: int, limit: int
) -> None:
    first = START + timedelta(days=offset)
    last = first + timedelta(days=length)
    found = truth.gems_of_days(MAIN, first, last, limit=limit)
    by_id = {one.gem_id: one for one in GEMS}
    within = {one.gem_id for one in GEMS if first <= _day(one) <= last}
    assert {one.gem_id for one in found} <= within
    assert len(found) >= min(limit, len(within))
    assert len(found) <= 2 * limit + 4 * 120
    for unit in {one.unit for one in found}:
        held = [one for one in found if one.unit == unit]
        others = [one for one in GEMS if one.gem_id in within and _day(one).isoformat().startswith(unit)]
        assert min(one.importance for one in held) >= max(
            (one.importance for one in others if one.gem_id not in {item.gem_id for item in held}), default=0.0
        ) - 0.001
        assert [one.importance for one in held] == sorted((one.importance for one in held), reverse=True)
    assert all(one.importance == pytest.approx(by_id[one.gem_id].importance, abs=0.001) for one in found)


def test_an_open_period_has_all_that_came_before_or_after(truth: Truth) -> None:
    before = truth.gems_of_days(MAIN, None, START + timedelta(days=9), limit=100)
    assert {one.gem_id for one in before} == {one.gem_id for one in GEMS if _day(one) <= START + timedelta(days=9)}
    after = truth.gems_of_days(MAIN, START + timedelta(days=690), None, limit=100)
    assert {one.gem_id for one in after} == {one.gem_id for one in GEMS if _day(one) >= START + timedelta(days=690)}
    assert {one.unit for one in truth.gems_of_days(MAIN, None, None, limit=100)} >= {"2024-01", "2025-11"}


def test_nothing_but_the_key_of_the_labels_is_walked(truth: Truth) -> None:
    """No scan and no sorting, whatever the number of gems: each statement steps into the index and reads a few rows."""
    asked: list[str] = []
    with sqlite3.connect(truth.path) as connection:
        connection.set_trace_callback(asked.append)
        labels.best(connection, MAIN, 1, (START, None), limit=40, superseded=False)
        connection.set_trace_callback(None)
        assert asked
        for statement in asked:
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()]
            assert not [step for step in plan if "SCAN" in step or "TEMP B-TREE" in step], plan
    assert len(asked) <= 2 * 120 + 4


def test_a_gem_is_of_the_day_it_was_said_ended_and_names() -> None:
    told = of(date(2026, 4, 10), "t", content="On 14 March 2026 the parcel was lost.")
    assert days_of(told) == ({"2026-04-10", "2026-03-14"}, {"2026-04", "2026-03"})
    trip = replace(of(date(2026, 5, 30), "trip"), valid_to=datetime(2026, 7, 2, tzinfo=UTC))
    assert days_of(trip) == ({"2026-05-30", "2026-07-02"}, {"2026-05", "2026-06", "2026-07"})
    life = replace(of(date(2001, 1, 1), "life"), valid_to=datetime(9999, 12, 31, tzinfo=UTC))
    assert len(days_of(life)[1]) <= 13


def test_scope_project_and_what_was_replaced_are_minded(tmp_path: Path) -> None:
    truth = Truth.open(tmp_path / "memory.sqlite")
    keep(
        truth,
        of(START, "mine"),
        of(START, "old", superseded_by="mine"),
        of(START, "theirs", scope=Scope("other")),
        of(START, "house", scope=Scope("main", project="house")),
        of(START, "boat", scope=Scope("main", project="boat")),
    )

    def found(scope: Scope = MAIN, *, superseded: bool = False) -> set[str]:
        return {one.gem_id for one in truth.gems_of_days(scope, START, START, limit=10, superseded=superseded)}

    assert found() == {"mine", "house", "boat"}
    assert found(superseded=True) == {"mine", "house", "boat", "old"}
    assert found(Scope("main", project="house")) == {"mine", "house"}
    assert found(Scope("nobody")) == set()
    truth.erasing.erase(["mine"], [], {}, NOW)
    assert found() == {"house", "boat"}
    truth.close()


def test_a_file_of_before_learns_the_days_of_its_gems_a_step_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    truth = Truth.open(path)
    keep(truth, *(of(START, f"g{n}", tags=("fact", "tea")) for n in range(5)))
    truth.close()
    with sqlite3.connect(path) as connection:  # as the version before left it
        connection.execute("DELETE FROM labels WHERE kind IN (4, 5)")
        connection.execute("DELETE FROM meta WHERE key IN ('labels.form', 'tags.infer_from')")
    truth = Truth.open(path)
    truth.tags.allow(3)
    assert truth.gems_of_days(MAIN, START, START, limit=9) == []
    while truth.tags.infer_some(2):
        pass
    assert len(truth.gems_of_days(MAIN, START, START, limit=9)) == 5
    assert len(truth.gems(MAIN, tag="tea")) == 5
    truth.tags.allow(3)
    assert truth.tags.left() == 0
    truth.close()


# --- passages -------------------------------------------------------------------------------------------------------------


def said(number: int, at: datetime, scope: Scope = MAIN) -> Turn:
    session = Session(scope.agent, f"agent:{scope.agent}:main", "host-1")
    text = f"Entry {number} is about stop {number}."
    return Turn(f"{scope.agent}{number}", scope, session, at, (Utterance("owner", Origin.OWNER, text, at),), run_id=f"r{number}")


@pytest.fixture(scope="module")
def passages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PassageIndex]:
    index = PassageIndex(tmp_path_factory.mktemp("passages"), SMALL)
    add(index, [said(n, NOW + timedelta(hours=n)) for n in range(200)], _no_vectors)
    add(index, [said(n, NOW, Scope("other")) for n in range(3)], _no_vectors)
    yield index
    index.close()


def test_every_part_of_a_time_gives_what_was_said_first_in_it(passages: PassageIndex) -> None:
    since, until = NOW + timedelta(hours=20), NOW + timedelta(hours=120)
    parts = passages.said_between(since, until, MAIN, parts=10, each=3)
    told = [[_number(passages, id_) for id_, _ in part] for part in parts]
    assert len(told) == 10
    assert all(len(part) == 3 and part == list(range(part[0], part[0] + 3)) for part in told)
    assert (told[0][0], max(told[-1])) == (20, 112)  # 99 hours in ten parts: the last one begins after hour 109
    assert min(number for part in told for number in part) >= 20


def test_the_last_moment_is_not_in_it_any_more_and_an_open_end_is_the_end(passages: PassageIndex) -> None:
    alone = passages.said_between(NOW + timedelta(hours=7), NOW + timedelta(hours=8), MAIN, parts=10, each=3)
    assert [[_number(passages, id_) for id_, _ in part] for part in alone] == [[7]]
    everything = passages.said_between(None, None, MAIN, parts=1, each=999)
    assert sorted(_number(passages, id_) for id_, _ in everything[0]) == list(range(200))
    assert passages.said_between(NOW - timedelta(days=9), NOW, MAIN, parts=4, each=3) == []
    assert passages.said_between(None, None, Scope("nobody"), parts=4, each=3) == []


def _number(passages: PassageIndex, id_: str) -> int:
    return int(passages.passages([id_], MAIN)[0].text.split()[1])


def _no_vectors(texts: Sequence[str]) -> Vectors:
    return np.zeros((len(texts), SMALL.dimensions), np.float32)


def _day(one: Gem) -> date:
    assert one.valid_from
    return one.valid_from.date()
