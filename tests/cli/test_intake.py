"""`neuralstream intake` as a person types it, on a real Valkey."""

from __future__ import annotations

import json

import pytest
import redis

from tests.cli.conftest import Cli
from tests.valkey import ValkeyServer

pytestmark = pytest.mark.server


def test_a_list_is_looked_at_and_taken_in(cold: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ValkeyServer().start()
    try:
        monkeypatch.setenv("NEURALSTREAM_CAPTURE_LIST_URL", server.url)
        cold.ok("config", "set", "capture_list", "mem:rob")
        with redis.Redis.from_url(server.url) as raw:
            for number in range(3):
                raw.rpush("mem:rob", json.dumps({"user": f"Box {number} stands in the hall.", "assistant": "ok", "user_id": "rob"}))
            raw.rpush("mem:rob", "words")
        planned = cold.ok("intake", "--dry-run")
        assert ("turns\t3: 3 of the owner, 0 of others" in planned, "unknown shape\t1" in planned) == (True, True)
        done = json.loads(cold.ok("intake", "--json"))
        counters = json.loads(cold.ok("status", "--json"))["counters"]  # the process may have been faster than we
        assert (counters["capture_list.new"], counters["capture_list.aside"], done["new"] <= 3) == (3, 1, True)
        assert "capture list: mem:rob (read); 3 turns; 1 items of an unknown shape set aside" in cold.ok("status")
    finally:
        server.stop()


def test_without_a_list_it_says_how_to_name_one(cold: Cli) -> None:
    result = cold("intake")
    assert (result.exit_code, "neuralstream config set capture_list" in result.stderr) == (1, True)
