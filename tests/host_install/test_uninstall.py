"""Taking it out again: nothing of ours stays in the host, the memory stays until it is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from openclaw_neuralstream.cli import main
from openclaw_neuralstream.state import StateDir


def run(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(main, list(arguments), input=stdin or None)


def told(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def test_the_entries_that_the_host_leaves_behind_are_removed_too(state: StateDir, tmp_path: Path) -> None:
    (tmp_path / "openclaw.json").write_text("{}")
    assert told(run("uninstall", "--json"))["removed"] is True
    assert not (tmp_path / "openclaw.json").exists()


def test_where_there_is_nothing_it_says_so(state: StateDir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_FAULT", "missing")
    assert told(run("uninstall", "--json"))["removed"] is False
    assert "there was nothing to remove" in run("uninstall").stdout


def test_the_memory_is_kept_and_the_host_s_settings_go(state: StateDir) -> None:
    state.prepare()
    state.host_config.write_text('{"batch_size": 3}')
    assert run("remember", "The kettle is blue.").exit_code == 0
    assert run("uninstall").exit_code == 0
    assert "The kettle is blue." in run("gems", "list").stdout
    assert run("config", "get", "batch_size").stdout == "5\n"


def test_a_purge_asks_first_and_a_no_changes_nothing(state: StateDir) -> None:
    assert run("remember", "The kettle is blue.").exit_code == 0
    assert run("uninstall", "--purge", stdin="n\n").exit_code == 1
    assert state.database.exists()
    assert told(run("uninstall", "--purge", "--yes", "--json"))["purged"] is True
    assert not state.path.exists()


def test_a_purge_never_deletes_a_folder_that_is_none_of_ours(state: StateDir) -> None:
    state.path.mkdir()
    (state.path / "thesis.txt").write_text("years of work")
    result = run("uninstall", "--purge", "--yes")
    assert result.exit_code == 1
    assert "does not look like a state directory" in result.stderr
    assert (state.path / "thesis.txt").exists()
