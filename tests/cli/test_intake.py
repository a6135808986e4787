"""`neuralstream admin intake` as a person types it, on a real Valkey."""

from __future__ import annotations

import json

import pytest
import redis

from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from tests.cli.conftest import Cli, with_door
from tests.valkey import ValkeyServer
from tests.waiting import until

pytestmark = pytest.mark.server


def test_a_list_is_looked_at_and_taken_in(cold: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ValkeyServer().start()
    try:
        monkeypatch.setenv("NEURALSTREAM_CAPTURE_LIST_URL", server.url)
        cold.ok("config", "set", "capture_list", "mem:rob")
        with redis.Redis.from_url(server.url) as raw:
            for number in range(3):
                raw.rpush(
                    "mem:rob",
                    json.dumps({"user": f"Box {number} stands in the hall.", "assistant": "ok", "user_id": "rob"}),
                )
            raw.rpush("mem:rob", "words")
        planned = cold.ok("admin", "intake", "--dry-run")
        assert ("turns\t3: 3 of the owner, 0 of others" in planned, "unknown shape\t1" in planned) == (True, True)
        cold.ok("admin", "intake", "--json")
        counters = json.loads(cold.ok("status", "--json"))["counters"]
        assert (counters["capture_list.new"], counters["capture_list.aside"]) == (3, 1)
        assert "capture list: mem:rob (read); 3 turns; 1 items of an unknown shape set aside" in cold.ok("status")
    finally:
        server.stop()


def test_what_the_process_that_it_started_took_first_is_counted(cold: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def quick(state: StateDir) -> None:
        start(state)
        until(lambda: "capture_list.aside" in with_door(state, lambda door: door.call("status"))["counters"])

    start, server = client.start, ValkeyServer().start()
    monkeypatch.setattr(client, "start", quick)
    try:
        monkeypatch.setenv("NEURALSTREAM_CAPTURE_LIST_URL", server.url)
        cold.ok("config", "set", "capture_list", "mem:rob")
        with redis.Redis.from_url(server.url) as raw:
            turn = {"user": "Box 7 stands in the hall.", "assistant": "ok", "user_id": "rob"}
            raw.rpush("mem:rob", json.dumps(turn), "words")
        done = [json.loads(cold.ok("admin", "intake", "--json")) for _ in range(2)]
        assert [(one["new"], one["aside"]) for one in done] == [(1, 1), (0, 0)]
    finally:
        server.stop()


def test_without_a_list_it_says_how_to_name_one(cold: Cli) -> None:
    result = cold("admin", "intake")
    assert (result.exit_code, "neuralstream config set capture_list" in result.stderr) == (1, True)
