"""The canary names the step that breaks and the command that mends it. The host is a stand-in, the memory is real."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from openclaw_neuralstream.cli import main
from openclaw_neuralstream.cli.host import canary
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not come at once does not come from a stand-in."""
    for name in ("_CAPTURE_SECONDS", "_LATE_SECONDS"):
        monkeypatch.setattr(canary, name, 0.5)


def fly(fault: str = "", monkeypatch: pytest.MonkeyPatch | None = None) -> Result:
    if monkeypatch:
        monkeypatch.setenv("FAKE_FAULT", fault)
    return CliRunner().invoke(main, ["admin", "canary", "--json"])


def gems(state: StateDir) -> list[str]:
    door = client.connect(state)
    try:
        return [gem["content"] for gem in door.call("gems.list")["gems"]]
    finally:
        door.close()


def test_a_sound_memory_brings_the_canary_back_and_keeps_nothing_of_it(state: StateDir) -> None:
    result = fly()
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["alive"] is True
    assert [step["step"] for step in told["steps"]] == ["process", "host", "write", "capture", "distil", "recall", "ask", "seen", "forget"]
    assert gems(state) == []


def test_it_takes_two_turns_and_the_second_is_told_by_recall(state: StateDir) -> None:
    assert fly().exit_code == 0
    turns = [json.loads(line) for line in (state.path.parent / "turns.jsonl").read_text().splitlines()]
    assert len(turns) == 2
    assert canary.PREFIX in turns[1]["text"]
    assert turns[1]["brief"] == ""


def test_what_was_remembered_before_is_still_there(state: StateDir) -> None:
    CliRunner().invoke(main, ["remember", "The canary of the mine was called Yuri."])
    assert fly().exit_code == 0
    assert gems(state) == ["The canary of the mine was called Yuri."]


@pytest.mark.parametrize(
    ("fault", "step", "fix"),
    [
        ("model", "write", "openclaw agent"),
        ("capture", "capture", "openclaw config set plugins.entries.neuralstream.hooks.allowConversationAccess true"),
        ("inject", "seen", "NEURALSTREAM_STATE_DIR"),
    ],
)
def test_the_broken_step_is_named_with_what_mends_it(state: StateDir, monkeypatch: pytest.MonkeyPatch, fault: str, step: str, fix: str) -> None:
    result = fly(fault, monkeypatch)
    assert result.exit_code == 1
    failed = [found for found in json.loads(result.stdout)["steps"] if found["state"] == "failed"]
    assert [found["step"] for found in failed] == [step]
    assert fix in failed[0]["fix"]
    assert fix in result.stderr
    assert gems(state) == []


@pytest.mark.parametrize(
    ("settings", "step", "fix"),
    [
        ("capture = false\n", "process", "neuralstream config set capture true"),
        ("inject = false\n", "process", "neuralstream config set inject true"),
        ("min_importance = 1.0\n", "distil", "neuralstream config list --changed"),
        ("recall_threshold = 1.0\nweight_lexical = 0.0\n", "recall", "neuralstream explain"),
        ("extractor = 'ollama'\n", "distil", "ollama serve"),
    ],
)
def test_settings_that_stand_in_its_way_are_named(state: StateDir, settings: str, step: str, fix: str) -> None:
    state.prepare()
    (state.path / "settings.toml").write_text(settings)
    result = fly()
    assert result.exit_code == 1
    failed = [found for found in json.loads(result.stdout)["steps"] if found["state"] == "failed"]
    assert [found["step"] for found in failed] == [step], result.stdout
    assert fix in failed[0]["fix"]


def test_without_a_host_it_says_how_to_name_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(main, ["admin", "canary"])
    assert result.exit_code == 1
    assert "OpenClaw was not found" in result.stderr
    assert "--openclaw" in result.stderr
