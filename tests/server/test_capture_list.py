"""A capture list on a real Valkey: every turn of it is kept once, whoever dies in between, and nothing is lost from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis

from openclaw_neuralstream.errors import BadRequest, StateError
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.server import capture_list, client, moments
from openclaw_neuralstream.server.capture_list import CaptureList
from openclaw_neuralstream.state import StateDir
from tests.valkey import ValkeyServer
from tests.waiting import until

pytestmark = pytest.mark.server
NINE = round(datetime(2026, 11, 21, 9, 0, tzinfo=UTC).timestamp() * 1000)


@dataclass
class World:
    """A list on a server, and memories that read it."""

    server: ValkeyServer
    raw: redis.Redis
    folder: Path
    environ: dict[str, str]
    opened: list[tuple[Memory, CaptureList]]

    def reader(self, **settings: str) -> CaptureList:
        environ = {**self.environ, **{f"NEURALSTREAM_{name.upper()}": value for name, value in settings.items()}}
        memory = wiring.open_memory(StateDir(self.folder / "state"), environ=environ, start=False)
        reader = CaptureList(memory)
        self.opened.append((memory, reader))
        return reader

    def write(self, *items: dict[str, Any] | bytes, key: str = "mem:rob", left: bool = False) -> None:
        for item in items:
            (self.raw.lpush if left else self.raw.rpush)(key, item if isinstance(item, bytes) else json.dumps(item))


@pytest.fixture(scope="module")
def server() -> Iterator[ValkeyServer]:
    started = ValkeyServer().start()
    yield started
    started.stop()


@pytest.fixture
def world(server: ValkeyServer, tmp_path: Path) -> Iterator[World]:
    raw = redis.Redis.from_url(server.url)
    raw.flushall()
    environ = {
        "NEURALSTREAM_CAPTURE_LIST": "mem:rob",
        "NEURALSTREAM_CAPTURE_LIST_URL": server.url,
        "NEURALSTREAM_REDIS": '{"socket_timeout": 30}',
        "NEURALSTREAM_EMBEDDER": "embedded",
    }
    made = World(server, raw, tmp_path, environ, [])
    yield made
    for memory, reader in made.opened:
        reader.close()
        memory.close()
    raw.close()


def message(number: int, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": f"{role} says {number}", "user_id": "rob", "timestamp": NINE + 1000 * number, **more}


def dialogue(turns: int) -> list[dict[str, Any]]:
    return [message(n, role) for n in range(turns) for role in ("user", "assistant")]


def kept(reader: CaptureList) -> list[str]:
    """What the owner said in the turns that wait, in their order."""
    batches: list[str] = []
    for buffer, backlog in reader.memory.distiller.backlogs():
        while batch := buffer.claim(backlog.session, limit=500, lease=capture_lease(), now=reader.memory.now(), trigger=moments.Trigger.MANUAL):
            batches += [turn.text_of("owner") for turn in batch.turns]
    return batches


def capture_lease() -> Any:
    from datetime import timedelta

    return timedelta(minutes=5)


def said(*numbers: int) -> list[str]:
    return [f"user says {number}" for number in numbers]


@pytest.mark.parametrize("left", [False, True], ids=["pushed right", "pushed left"])
@pytest.mark.parametrize("mode", ["read", "take"])
def test_every_turn_is_kept_once_in_its_order(world: World, mode: str, left: bool) -> None:
    world.write(*dialogue(7), left=left)
    reader = world.reader(capture_list_mode=mode)
    assert [reader.take_in().new for _ in range(3)] == [7, 0, 0]
    world.write(message(7), left=left)
    world.write(message(7, "assistant"), left=left)
    assert reader.take_in().new == 1
    assert kept(reader) == said(*range(8))
    assert world.raw.llen("mem:rob") == (16 if mode == "read" else 0)


def test_reading_leaves_the_list_byte_for_byte(world: World) -> None:
    world.write(*dialogue(3), b"no JSON", {"strange": True})
    before = world.raw.lrange("mem:rob", 0, -1)
    reader = world.reader()
    reader.take_in()
    assert world.raw.lrange("mem:rob", 0, -1) == before


@pytest.mark.parametrize("mode", ["read", "take"])
def test_items_of_an_unknown_shape_are_set_aside_once_and_kept(world: World, mode: str) -> None:
    world.write(b"no JSON", *dialogue(1), {"strange": True})
    reader = world.reader(capture_list_mode=mode)
    first, second = reader.take_in(), reader.take_in()
    assert (first.new, first.aside, second.aside) == (1, 2, 0)
    assert reader.memory.truth.counters()["capture_list.aside"] == 2
    if mode == "take":
        (aside,) = world.raw.keys("*:aside")
        assert world.raw.lrange(aside, 0, -1) == [b"no JSON", b'{"strange": true}']


@pytest.mark.parametrize("mode", ["read", "take"])
@pytest.mark.parametrize("dies", ["before it is kept", "after it is kept"])
def test_a_reader_that_dies_in_between_loses_nothing_and_doubles_nothing(
    world: World, mode: str, dies: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write(*dialogue(5))
    real, calls = moments.turn_end, iter(range(100))

    def dying(memory: Memory, event: Any) -> Any:
        if next(calls) == 2:
            if dies == "after it is kept":
                real(memory, event)
            raise StateError("killed")
        return real(memory, event)

    monkeypatch.setattr(capture_list.moments, "turn_end", dying)
    with pytest.raises(StateError):
        world.reader(capture_list_mode=mode).take_in()
    monkeypatch.setattr(capture_list.moments, "turn_end", real)
    second = world.reader(capture_list_mode=mode)
    second.take_in()
    assert kept(second) == said(*range(5))
    assert second.take_in().new == 0


def test_the_last_turn_waits_for_its_answer(world: World) -> None:
    clock = iter(range(0, 10_000, 100))
    world.write({"role": "user", "content": "user says 1"})
    reader = world.reader()
    reader.monotonic = lambda: float(next(clock))
    assert (reader.take_in().waiting, reader.take_in().new) == (1, 0)
    world.write({"role": "assistant", "content": "assistant says 1"})
    assert reader.take_in().waiting == 1  # it has just changed
    assert reader.take_in().new == 1
    assert kept(reader) == ["user says 1"]


def test_a_stream_is_read_through_a_group_and_left_as_it_is(world: World) -> None:
    for item in dialogue(3):
        world.raw.xadd("mem:rob", {"data": json.dumps(item)})
    world.raw.xadd("mem:rob", {name: str(value) for name, value in message(3).items()})
    world.raw.xadd("mem:rob", {"what": "is this"})
    reader = world.reader()
    first = reader.take_in()
    assert (first.new, first.aside, reader.take_in().new) == (4, 1, 0)
    assert kept(reader) == said(0, 1, 2, 3)
    assert world.raw.xlen("mem:rob") == 8


def test_a_taken_stream_keeps_only_what_was_not_understood(world: World) -> None:
    for item in dialogue(2):
        world.raw.xadd("mem:rob", {"data": json.dumps(item)})
    world.raw.xadd("mem:rob", {"what": "is this"})
    assert world.reader(capture_list_mode="take").take_in().new == 2
    assert [fields for _, fields in world.raw.xrange("mem:rob")] == [{b"what": b"is this"}]


def test_a_long_list_is_read_in_steps_and_then_only_from_its_ends(world: World) -> None:
    world.write(*dialogue(1_200))
    reader = world.reader()
    reader.look()
    assert reader.memory.truth.counters()["capture_list.new"] == 1_200
    assert reader.take_in().new == 0
    world.write(*[message(n, role) for n in range(1_200, 1_210) for role in ("user", "assistant")])
    before = world.raw.info("commandstats")["cmdstat_lrange"]["calls"]
    assert reader.take_in().new == 10
    assert world.raw.info("commandstats")["cmdstat_lrange"]["calls"] - before <= 4


@pytest.mark.parametrize("left", [False, True], ids=["pushed right", "pushed left"])
def test_a_turn_that_stands_across_two_looks_is_one(world: World, left: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_list, "_MOST", 5)
    world.write(*dialogue(9), left=left)
    reader = world.reader()
    looks = [reader.take_in() for _ in range(8)]
    assert (sum(look.new for look in looks), sum(look.skipped for look in looks)) == (9, 0)


def test_another_persons_items_are_kept_apart(world: World) -> None:
    world.write({"user": "The door code is on the blue card.", "assistant": "ok", "user_id": "eve"})
    reader = world.reader()
    reader.take_in()
    (backlog,) = [backlog for _, backlog in reader.memory.distiller.backlogs()]
    batch = reader.memory.truth.claim(backlog.session, limit=5, lease=capture_lease(), now=reader.memory.now(), trigger=moments.Trigger.MANUAL)
    assert batch
    assert (batch.turns[0].scope.user, batch.turns[0].utterances[0].speaker) == ("capture:eve", "third-party")


def test_a_key_of_another_kind_is_told(world: World) -> None:
    world.raw.set("mem:rob", "text")
    with pytest.raises(BadRequest, match="is a string in Redis"):
        world.reader().take_in()


def test_a_dry_run_says_what_is_there_and_changes_nothing(world: World) -> None:
    world.write(*dialogue(2), {"strange": 1}, {"user": "hi", "assistant": "ho", "user_id": "eve"})
    before = sorted(world.raw.keys("*"))
    (found,) = world.reader(capture_list_mode="take").dry_run()
    assert (found["items"], found["turns"], found["of_the_owner"], found["unknown_shape"]) == (6, 3, 2, 1)
    assert found["users"] == ["eve", "rob"]
    assert sorted(world.raw.keys("*")) == before


def test_the_process_reads_the_list_by_itself_and_gems_come_of_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**world.environ, "NEURALSTREAM_BATCH_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    state = StateDir(world.folder / "served")
    door = client.connect(state)
    try:
        world.write({"user": "We decided to keep the backups of the photo archive on the NAS in the cellar.", "assistant": "Noted."})
        until(lambda: door.call("status")["gems"]["total"] == 1)
        world.server.kill()
        until(lambda: "capture list" in door.call("status")["away"])
        world.server.start()
    finally:
        door.close()
        client.stop(state)
