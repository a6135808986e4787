"""A note written into the workspace is part of the next answer, with its citation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.server import methods
from openclaw_neuralstream.state import StateDir
from tests.waiting import until
from tests.workspace.files import write
from tests.worlds import prompt_event


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("NEURALSTREAM_EMBEDDER", "embedded")
    monkeypatch.setenv("NEURALSTREAM_RECALL_DEADLINE_MS", "10000")  # a busy machine answers in time, too
    memory = wiring.open_memory(StateDir(tmp_path / "state"))
    yield memory
    memory.close()


def asked(memory: Memory, question: str, root: Path, **more: object) -> str:
    told = methods.call(memory, "prompt_build", prompt_event(question, workspace=str(root), **more))
    return str(told["brief"] + told["text"])


def test_the_event_names_the_workspace_and_the_next_prompt_holds_its_notes(memory: Memory, root: Path) -> None:
    write(
        root,
        "memory/2026-11-20.md",
        "# Friday\n\n## Retain\n- W @Miriam: The guest wifi of the Lindenstrasse office is called Oleander.\n",
    )
    question = "What is the guest wifi of the Lindenstrasse office called?"
    asked(memory, "hello", root)
    until(lambda: memory.parts.workspaces.for_agent("main").settled)
    answer = asked(memory, question, root)
    assert "Oleander" in answer
    assert "memory/2026-11-20.md#L4" in answer
    write(
        root,
        "memory/2026-11-20.md",
        "# Friday\n\nNothing of it.\n\n## Retain\n- W @Miriam: The guest wifi of the Lindenstrasse office is called Juniper.\n",
    )
    until(lambda: "Juniper" in asked(memory, question, root))
    block = methods.call(memory, "prompt_build", prompt_event(question, workspace=str(root)))["text"]
    assert "Oleander" not in block  # the brief may: it stands as it was when the window began
    stranger = {"id": "4711", "owner": False}
    assert "Juniper" not in asked(memory, question, root, sender=stranger, channel="telegram")
    assert "Juniper" not in asked(memory, question, root / "nowhere", agent="work")


def test_the_agents_tool_keeps_a_fact_in_todays_log(memory: Memory, root: Path) -> None:
    asked(memory, "hello", root)
    told = methods.call(memory, "tool.retain", {"text": "O(c=0.8) @Peter: Prefers the window seat", "agent": "main"})
    assert told["text"].startswith(f"Kept in {told['path']}#L4: - O(c=0.8) @Peter")
    assert "- O(c=0.8) @Peter: Prefers the window seat" in (root / told["path"]).read_text()
    until(lambda: "window seat" in asked(memory, "Which seat does Peter prefer?", root))


def test_an_outsider_writes_nothing_into_the_owners_files(memory: Memory, root: Path) -> None:
    asked(memory, "hello", root)
    with pytest.raises(Exception, match="only the owner"):
        methods.call(memory, "tool.retain", {"text": "W: x", "agent": "main", "user": "telegram:1"})
    assert not (root / "memory").exists()


def test_status_and_harvest_tell_of_the_workspaces(memory: Memory, root: Path) -> None:
    asked(memory, "hello", root)
    write(root, "memory/a.md", "a")
    until(lambda: methods.call(memory, "status", {})["workspaces"][0]["files"] == 1)
    (done,) = methods.call(memory, "harvest", {"force": True})["harvested"]
    assert done["indexed"] == ["memory-file:memory/a.md"]
    assert methods.call(memory, "workspaces", {})["workspaces"][0]["agents"] == ["main"]
