"""The threads behind a memory: who owns them, and what one that fails does to the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream import wiring
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.sequencing import Sequencer
from openclaw_neuralstream.serve.capture_list import CaptureList
from openclaw_neuralstream.serve.host_forgotten import HostForgotten
from openclaw_neuralstream.serve.host_model import HostModel
from openclaw_neuralstream.serve.server import Server
from openclaw_neuralstream.state import StateDir
from tests.waiting import until


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir(tmp_path / "state")


@pytest.fixture
def memory(state: StateDir, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("NEURALSTREAM_EMBEDDER", "embedded")
    memory = wiring.open_memory(state, start=False)
    yield memory
    memory.close()


def failing(_: object) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("home", "work"),
    [(Memory, "_distil"), (Memory, "_follow_turns"), (Memory, "_tick"), (Memory, "_reflect"), (Sequencer, "_round")],
)
def test_a_crash_of_any_worker_is_counted(state: StateDir, home: type, work: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, work, failing)
    memory = wiring.open_memory(state, start=False)
    try:
        assert memory.crashes == 0
        memory.start()
        until(lambda: memory.crashes == 1)
    finally:
        memory.close()


def test_a_crash_while_gems_are_embedded_again_is_counted(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.projection, "reembed", failing)
    memory.start_reembedding()
    until(lambda: memory.crashes == 1)


@pytest.mark.parametrize("home", [HostForgotten, CaptureList])
def test_a_crash_of_the_processs_own_workers_is_counted(
    state: StateDir, home: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "look", failing)
    monkeypatch.setenv("NEURALSTREAM_CAPTURE_LIST", "mem:turns")
    memory = wiring.open_memory(state, start=False)
    Server(state, memory, HostModel(1.0))
    try:
        memory.start()
        until(lambda: memory.crashes == 1)
    finally:
        memory.close()
