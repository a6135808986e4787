"""Notes are embedded while nothing else is to do: a few a round, up to a number, and never against anyone's reply."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.memory import engine, projection, wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Query, Scope
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace.index import NoteIndex
from tests.values import turn
from tests.workspace.files import write


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    root = tmp_path / "ws"
    for number in range(5):
        write(root, f"memory/{number}.md", f"## Retain\n- W @Peter: owns instrument number {number}.\n")
    for name, value in {"EMBEDDER": "embedded", "WORKSPACE": str(root)}.items():
        monkeypatch.setenv(f"NEURALSTREAM_{name}", value)
    monkeypatch.setattr(projection, "A_ROUND", 3)
    monkeypatch.setattr(projection, "MOST_VECTORS", 4)
    memory = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    memory.parts.workspaces.for_agent("main").harvest()
    yield memory
    memory.close()


def embedded(memory: Memory) -> int:
    index = memory.parts.workspaces.for_agent("main").index
    assert isinstance(index, NoteIndex)
    return index.embedded(str(memory.parts.embedder.identity))


def test_each_round_embeds_a_few_until_there_are_as_many_as_wanted(memory: Memory) -> None:
    told = []
    for _ in range(3):
        memory.note_projection.catch_up()
        told.append(embedded(memory))
    assert told == [3, 4, 4]


def test_an_embedder_that_is_away_is_asked_again_in_the_next_round(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: object) -> object:
        raise VendorAway("gone")

    with monkeypatch.context() as patch:
        patch.setattr(memory.parts.embedder, "embed_documents", away)
        memory.note_projection.catch_up()
    assert embedded(memory) == 0
    memory.note_projection.catch_up()
    assert embedded(memory) == 3


def test_an_index_lost_between_two_rounds_is_embedded_again(memory: Memory) -> None:
    memory.note_projection.catch_up()
    workspace = memory.parts.workspaces.for_agent("main")
    workspace.index_file.unlink()
    workspace.harvest()
    assert embedded(memory) == 0
    memory.note_projection.catch_up()
    assert embedded(memory) == 3


def test_a_memory_closed_while_its_models_load_leaves_nothing_that_asks_its_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loading, loaded = threading.Event(), threading.Event()
    memory = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    asked: list[str] = []

    def warm() -> None:
        loading.set()
        loaded.wait(10)

    object.__setattr__(memory.parts, "warm", warm)
    monkeypatch.setattr(memory.projection, "check", lambda: asked.append("checked"))
    memory.start()
    assert loading.wait(10)
    memory.close(deadline=0.05)
    loaded.set()
    memory._warmer.join(10)
    assert not memory._warmer.is_alive()
    assert asked == []


def recalled(memory: Memory, words: str) -> list[str]:
    query = Query(words, Scope("main", "owner"), memory.now())
    return [record.text for record in memory.recall(query).records]


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("- W @Anna: keeps the spare fuses of the van under the left seat.", "where are the spare fuses of the van"),
        ("- W @Анна: хранит запасные ключи от гаража в синей банке.", "где лежат запасные ключи от гаража"),
        ("- W @王芳：把备用钥匙放在蓝色的铁盒里。", "备用钥匙放在哪里"),
    ],
)
@pytest.mark.parametrize("others", ["embedded", "not embedded"])
def test_a_note_is_recalled_as_soon_as_it_is_indexed_before_it_has_a_meaning(
    memory: Memory, line: str, question: str, others: str
) -> None:
    workspace = memory.parts.workspaces.for_agent("main")
    assert workspace is not None
    while others == "embedded" and embedded(memory) < 4:
        memory.note_projection.catch_up()
    write(workspace.root, "memory/2026-11-20.md", f"## Retain\n{line}\n")
    workspace.harvest()
    assert line.removeprefix("- W @").replace("：", ": ").partition(": ")[2] in recalled(memory, question)[0]


def test_what_is_saved_gets_its_meaning_at_once_and_a_burst_waits_for_its_turn(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[int] = []
    monkeypatch.setattr(memory._tick_worker, "wake", lambda: woken.append(1))
    workspace = memory.parts.workspaces.for_agent("main")
    assert workspace is not None
    write(workspace.root, "memory/one.md", "One.\n")
    workspace.harvest()
    assert len(woken) == 1
    for number in range(engine._FEW_FILES + 1):
        write(workspace.root, f"memory/burst-{number}.md", f"Burst {number}.\n")
    workspace.harvest()
    assert len(woken) == 1


def test_the_first_question_embeds_nothing_but_itself(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.retain(turn(1, "I play an instrument on Sundays."))
    memory.flush()
    memory.note_projection.catch_up()
    memory.parts.warm()
    embed, embedded_later = memory.parts.embedder.embed_documents, list[str]()

    def watched(texts: list[str]) -> object:
        embedded_later.extend(texts)
        return embed(texts)

    monkeypatch.setattr(memory.parts.embedder, "embed_documents", watched)
    assert recalled(memory, "Which instrument number does Peter own?")
    assert embedded_later == []
