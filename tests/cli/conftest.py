"""The commands as people run them: a real process of their own, a real socket, output as in a pipe or on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from openclaw_neuralstream.cli import main
from openclaw_neuralstream.server import client
from openclaw_neuralstream.server.client import SocketDoor
from openclaw_neuralstream.state import StateDir
from tests.worlds import turn_event


@dataclass
class Cli:
    """Runs commands in this Python, against the memory of this test."""

    state: StateDir

    def __call__(self, *arguments: str, stdin: str = "") -> Result:
        return CliRunner().invoke(main, ["--state-dir", str(self.state.path), *arguments], input=stdin or None)

    def ok(self, *arguments: str, stdin: str = "") -> str:
        """What it printed; it must succeed."""
        result = self(*arguments, stdin=stdin)
        assert result.exit_code == 0, result.output
        return result.stdout

    def tell(self, *said: str, key: str = "agent:main:telegram:42") -> None:
        """Turns as the bridge delivers them, distilled."""
        with_door(self.state, lambda door: [door.call("turn_end", turn_event(text, key=key)) for text in said])
        self.ok("admin", "flush")

    def on_terminal(self, *arguments: str, env: dict[str, str] | None = None) -> str:
        """What it writes when a person looks: stdout and stderr of a pseudo-terminal."""
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "openclaw_neuralstream", "--state-dir", str(self.state.path), *arguments]
        environ = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", **(env or {})}
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environ)
        os.close(theirs)
        written = b""
        try:
            while chunk := os.read(ours, 65_536):
                written += chunk
        except OSError:
            pass  # Linux says so when the other side of the terminal is closed
        process.wait(30)
        os.close(ours)
        return written.decode()


def with_door(state: StateDir, work: Callable[[SocketDoor], Any]) -> Any:
    door = client.connect(state)
    try:
        return work(door)
    finally:
        door.close()


@pytest.fixture(scope="session")
def _warm_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StateDir]:
    """One memory process for most tests of this folder; each empties it first."""
    patch = pytest.MonkeyPatch()
    patch.setenv("NEURALSTREAM_OLLAMA_URL", "http://127.0.0.1:9")
    patch.setenv("NEURALSTREAM_RECALL_DEADLINE_MS", "10000")  # a busy machine answers in time, too
    state = StateDir(tmp_path_factory.mktemp("cli") / "state")
    client.connect(state).close()
    patch.undo()
    yield state
    client.stop(state)


@pytest.fixture
def cli(_warm_process: StateDir) -> Cli:
    """Commands over an empty memory whose process is warm."""
    state = _warm_process

    def empty(door: SocketDoor) -> None:
        ids = [gem["gem_id"] for gem in door.call("gems.list", {"limit": 10_000, "superseded": True})["gems"]]
        door.call("gems.forget", {"ids": ids})

    with_door(state, empty)
    return Cli(state)


@pytest.fixture
def cold(tmp_path: Path) -> Iterator[Cli]:
    """Commands over a state directory in which nothing is kept yet; the process is ended at the end."""
    own = Cli(StateDir(tmp_path / "cold").prepare())
    yield own
    client.stop(own.state)
