"""A command waits for a process that is still starting, and says what is missing when that takes too long."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.cli import door
from openclaw_neuralstream.state import StateDir


class Starting:
    """A process that is ready after some looks at it."""

    def __init__(self, looks: int) -> None:
        self.looks = looks
        self.asked: list[str] = []

    def call(self, method: str, params: Any = None, *, timeout: float = 60) -> Any:
        self.asked.append(method)
        if method == "starting":
            self.looks -= 1
            return {"starting": ["the workspace is being indexed"] if self.looks >= 0 else []}
        return {"records": []}


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setattr(door, "_LOOK_SECONDS", 0)

    def asked(process: Starting, **how: Any) -> Any:
        @contextmanager
        def opened(_: StateDir) -> Any:
            yield process

        monkeypatch.setattr(door, "opened", opened)
        return door.ask_ready(StateDir(tmp_path), "recall", {"query": "x"}, **how)

    return asked


def test_a_question_is_asked_once_everything_is_there(ask: Any) -> None:
    process = Starting(looks=3)
    assert ask(process) == ({"records": []}, [])
    assert process.asked == ["starting"] * 4 + ["recall"]


def test_a_process_that_is_ready_is_asked_at_once(ask: Any) -> None:
    process = Starting(looks=0)
    ask(process)
    assert process.asked == ["starting", "recall"]


def test_when_patience_ends_the_answer_says_what_is_missing(ask: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _, late = ask(Starting(looks=10**9), patience=0.01)
    door.say_late(late)
    assert "something may be missing: the workspace is being indexed" in capsys.readouterr().err


def test_the_first_commands_of_a_cold_process_find_what_the_files_say(
    cold: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "ws"
    (root / "memory").mkdir(parents=True)
    for number in range(200):
        (root / "memory" / f"n{number}.md").write_text(
            f"# Note {number}\n\nHere @Person{number} met #tag{number}.\n" * 20
        )
    monkeypatch.setenv("NEURALSTREAM_WORKSPACE", str(root))
    assert cold.ok("entities", "--json").count('"name"') == 200
    assert "tag199" in cold.ok("tags")
