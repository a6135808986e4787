"""The threads behind a memory: who owns them, and what one that fails does to the others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from openclaw_neuralstream.errors import StateError
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget import Eraser
from openclaw_neuralstream.memory.projection import Projection
from openclaw_neuralstream.memory.sequencer import Sequencer
from openclaw_neuralstream.plugins.manager import Hooks
from openclaw_neuralstream.server.capture_list import CaptureList
from openclaw_neuralstream.server.host_model import HostModel
from openclaw_neuralstream.server.moments import HostForgotten
from openclaw_neuralstream.server.server import Server
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store.tagging import TagStore
from openclaw_neuralstream.workspace.index import NoteIndex
from tests.waiting import until
from tests.workspace.files import write


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
    [(Memory, "_distil"), (Memory, "_follow_turns"), (Memory, "_idle"), (Memory, "_reflect"), (Sequencer, "_round")],
)
def test_a_crash_of_any_worker_is_counted(state: StateDir, home: type, work: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, work, failing)
    memory = wiring.open_memory(state, start=False)
    try:
        assert memory.crashes == 0
        memory.start()
        until(lambda: memory.crashes)
    finally:
        memory.close()


def test_a_crash_while_gems_are_embedded_again_is_counted(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.projection, "reembed", failing)
    memory.start_reembedding()
    until(lambda: memory.crashes)


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
        until(lambda: memory.crashes)
    finally:
        memory.close()


@pytest.mark.parametrize(("home", "work"), [(Eraser, "resume"), (Projection, "embed_missing"), (TagStore, "infer_some")])
def test_one_step_of_the_clock_that_fails_starves_no_other(
    state: StateDir, tmp_path: Path, home: type, work: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise StateError("the disk is full")

    monkeypatch.setattr(home, work, refuse)
    write(tmp_path / "ws", "memory/a.md", "## Retain\n- W @Peter: owns a cello.\n")
    with followed(state, monkeypatch, tmp_path / "ws") as memory:
        asked: list[str] = []
        monkeypatch.setattr(Hooks, "each", lambda _, name, **__: asked.append(name) or [])
        memory.start()
        until(lambda: "idle" in asked)
        until(lambda: embedded(memory, "main"))


def test_a_workspace_that_cannot_be_read_keeps_no_other_from_its_vectors(
    state: StateDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for agent in ("main", "other"):
        write(tmp_path / agent, "memory/a.md", "## Retain\n- W @Peter: owns a cello.\n")
    with followed(state, monkeypatch, tmp_path / "main", other=tmp_path / "other") as memory:
        first = memory.parts.workspaces.for_agent("main")
        assert first is not None
        assert first is memory.parts.workspaces.all()[0]

        def refuse(*_: object, **__: object) -> None:
            raise StateError("the disk is full")

        monkeypatch.setattr(first.index, "unembedded", refuse)
        memory.note_projection.catch_up()
        assert (embedded(memory, "main"), embedded(memory, "other")) == (0, 1)


@contextmanager
def followed(state: StateDir, monkeypatch: pytest.MonkeyPatch, root: Path, **others: Path) -> Iterator[Memory]:
    """A memory with its workspaces, every file of them indexed."""
    monkeypatch.setenv("NEURALSTREAM_EMBEDDER", "embedded")
    monkeypatch.setenv("NEURALSTREAM_WATCH", "off")
    monkeypatch.setenv("NEURALSTREAM_WORKSPACE", str(root))
    memory = wiring.open_memory(state, start=False)
    for agent, folder in others.items():
        memory.parts.workspaces.seen(agent, str(folder))
    for workspace in memory.parts.workspaces.all():
        workspace.harvest()
    try:
        yield memory
    finally:
        memory.close()


def embedded(memory: Memory, agent: str) -> int:
    workspace = memory.parts.workspaces.for_agent(agent)
    assert workspace is not None
    assert isinstance(workspace.index, NoteIndex)
    return workspace.index.embedded(str(memory.parts.embedder.identity))
