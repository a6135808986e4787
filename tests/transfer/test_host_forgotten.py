"""`openclaw memory forget` tells nobody; what it notes in the host's session store is followed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.server.moments import HostForgotten
from openclaw_neuralstream.state import StateDir
from tests.worlds import turn_event

RULES = {"NEURALSTREAM_EXTRACTOR": "rules", "NEURALSTREAM_EMBEDDER": "embedded"}
KEPT, GONE = "We decided to plant two cherry trees behind the workshop.", "We decided to paint the gate dark green."
T0 = 1_760_000_000_000
WINDOWS = "CREATE TABLE session_windows(session_id TEXT PRIMARY KEY, session_key TEXT, created_at INTEGER)"
TOMBSTONES = "CREATE TABLE memory_session_tombstones(session_id TEXT PRIMARY KEY, agent_id TEXT, reason TEXT, created_at INTEGER)"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    memory = wiring.open_memory(StateDir(tmp_path / "host" / "neuralstream"), environ=RULES, start=False)
    yield memory
    memory.close()


def store(memory: Memory) -> Path:
    path = memory.parts.state.path.parent / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(WINDOWS)
    return path


def begins(memory: Memory, session_id: str, key: str, at: int) -> None:
    with closing(sqlite3.connect(store(memory))) as connection, connection:
        connection.execute("INSERT INTO session_windows VALUES (?, ?, ?)", (session_id, key, at))


def forget(memory: Memory, session_id: str, at: int) -> None:
    with closing(sqlite3.connect(store(memory))) as connection, connection:
        connection.execute(TOMBSTONES.replace("TABLE", "TABLE IF NOT EXISTS"))
        connection.execute("INSERT INTO memory_session_tombstones VALUES (?, 'main', 'forgotten', ?)", (session_id, at))


def says(memory: Memory, key: str, words: str, at: int, session_id: str = "s") -> None:
    event = {**turn_event(words, run=f"{key}-{at}", at=at), "session_key": key, "session_id": session_id}
    assert moments.turn_end(memory, event)["accepted"] == "new"


def known(memory: Memory) -> set[str]:
    memory.flush()
    memory.eraser.resume()
    return {gem.content for gem in memory.truth.gems(limit=100)}


def test_what_was_derived_from_a_session_that_the_host_forgot_goes_with_it(memory: Memory) -> None:
    begins(memory, "one", "agent:main:one", T0)
    begins(memory, "two", "agent:main:two", T0)
    says(memory, "agent:main:one", KEPT, T0 + 1_000, "one")
    says(memory, "agent:main:two", GONE, T0 + 2_000, "two")
    follower = HostForgotten(memory)
    follower.look()
    assert known(memory) == {KEPT, GONE}
    forget(memory, "two", T0 + 60_000)
    follower.look()
    assert known(memory) == {KEPT}
    assert memory.truth.counters()["forgotten.with_host"] == 1


def test_what_is_said_after_the_deletion_is_remembered_anew_and_a_restart_forgets_nothing_twice(memory: Memory) -> None:
    begins(memory, "one", "agent:main:one", T0)
    says(memory, "agent:main:one", GONE, T0 + 1_000)
    forget(memory, "one", T0 + 60_000)
    HostForgotten(memory).look()
    assert known(memory) == set()
    says(memory, "agent:main:one", KEPT, T0 + 120_000)
    HostForgotten(memory).look()
    assert known(memory) == {KEPT}
    assert memory.truth.counters()["forgotten.with_host"] == 1


def test_of_two_sessions_that_had_the_same_key_only_the_one_meant_goes(memory: Memory) -> None:
    begins(memory, "yesterday", "agent:main:main", T0)
    begins(memory, "today", "agent:main:main", T0 + 100_000)
    says(memory, "agent:main:main", GONE, T0 + 1_000, "yesterday")
    says(memory, "agent:main:main", KEPT, T0 + 101_000, "today")
    forget(memory, "yesterday", T0 + 200_000)
    HostForgotten(memory).look()
    assert known(memory) == {KEPT}


def test_a_session_that_the_host_knows_no_more_is_found_by_its_id(memory: Memory) -> None:
    store(memory)
    says(memory, "agent:main:one", GONE, T0 + 1_000, "only-id")
    forget(memory, "only-id", T0 + 60_000)
    HostForgotten(memory).look()
    assert known(memory) == set()


def test_a_store_of_another_make_is_left_alone_and_the_setting_switches_it_off(memory: Memory) -> None:
    path = store(memory)
    says(memory, "agent:main:one", KEPT, T0 + 1_000, "one")
    path.write_bytes(b"not a database")
    HostForgotten(memory).look()
    path.unlink()
    forget(memory, "one", T0 + 60_000)
    memory.settings = memory.settings.model_copy(update={"forget_with_host": False})
    HostForgotten(memory).look()
    assert known(memory) == {KEPT}
