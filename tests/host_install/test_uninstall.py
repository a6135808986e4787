"""Taking it out again: nothing of ours stays in the host, the memory stays until it is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from openclaw_neuralstream.cli import main
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace.writing import SUFFIX
from tests.waiting import until
from tests.worlds import turn_event


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


OWN = b"# Mine\r\n\r\nThe cellar key hangs behind the clock.\r\n"


@pytest.fixture
def workspace(state: StateDir, tmp_path: Path) -> Path:
    """One in which we have written whatever we write, beside the owner's own notes."""
    root = tmp_path / "workspace"
    for path, text in {
        "MEMORY.md": OWN,
        "bank/entities/Anna.md": b"# Anna\n\nMy sister.\n",
        "memory/2026-11-20.md": b"## Retain\n- W @Peter: Lives in Hamburg.\n- W @Anna: Lives in Kazan.\n- O(c=0.9) @Peter: Prefers tea.\n",
        "memory/sessions/mine.json": b"{}",
        ".memory/mine.txt": b"mine",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text)
    state.prepare()
    state.settings.write_text(f'workspace = "{root}"\nmemory_md = "augment"\nqa_files = true\n')
    door = client.connect(state)
    for number in range(3):
        door.call(
            "turn_end",
            turn_event(f"What about the boiler, part {number}? Always answer briefly.", "It runs at 60 degrees."),
        )
    door.call("flush")
    door.close()
    assert run("reflect").exit_code == 0
    until(lambda: (root / "memory/qa-index.json").exists() and (root / "memory/topics.txt").exists())
    return root


def files(root: Path) -> set[str]:
    """Those that stay: what ends with SUFFIX is being written, and is gone a moment later."""
    found = (path for path in root.rglob("*") if path.is_file() and not path.name.endswith(SUFFIX))
    return {path.relative_to(root).as_posix() for path in found}


def test_our_part_of_memory_md_goes_and_every_other_file_stays_and_is_named(state: StateDir, workspace: Path) -> None:
    assert b"neuralstream:begin" in (workspace / "MEMORY.md").read_bytes()
    before = files(workspace)
    done = told(run("uninstall", "--json"))
    assert (workspace / "MEMORY.md").read_bytes() == OWN
    assert done["memory_md"] == [str(workspace / "MEMORY.md")]
    assert {path for path in before if not path.startswith(".memory/index")} <= files(workspace)
    named = {item["path"]: item["bytes"] for item in done["left"]}
    ours = {
        "bank/entities/Peter.md",
        "bank/entities/Anna.md",
        "memory/qa-index.json",
        "memory/topics.txt",
        ".memory/index.sqlite",
    }
    assert {str(workspace / path) for path in ours} | {str(state.path)} <= set(named)
    assert all(Path(path).stat().st_size == size for path, size in named.items() if Path(path).is_file())
    assert not {
        str(workspace / path) for path in ("memory/2026-11-20.md", "memory/sessions/mine.json", ".memory/mine.txt")
    } & set(named)


def test_a_purge_deletes_what_we_made_and_nothing_else(state: StateDir, workspace: Path) -> None:
    shown = run("uninstall", "--purge", stdin="n\n")
    assert shown.exit_code == 1
    assert str(workspace / "memory/qa-index.json") in shown.stderr
    told(run("uninstall", "--purge", "--yes", "--json"))
    assert files(workspace) == {
        "MEMORY.md",
        "bank/entities/Anna.md",
        "memory/2026-11-20.md",
        "memory/sessions/mine.json",
        ".memory/mine.txt",
    }
    assert (workspace / "bank/entities/Anna.md").read_bytes() == b"# Anna\n\nMy sister.\n"
    assert not state.path.exists()


def test_a_purge_follows_no_link(state: StateDir, workspace: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (workspace / "bank").rename(elsewhere)
    (workspace / "bank").symlink_to(elsewhere)
    pages = files(elsewhere)
    told(run("uninstall", "--purge", "--yes", "--json"))
    assert files(elsewhere) == pages


def test_a_generated_part_that_a_person_has_changed_stays_and_is_named(state: StateDir, workspace: Path) -> None:
    file = workspace / "MEMORY.md"
    file.write_bytes(
        changed := file.read_bytes().replace(b"<!-- neuralstream:end", b"- my own line\r\n<!-- neuralstream:end")
    )
    done = told(run("uninstall", "--purge", "--yes", "--json"))
    assert file.read_bytes() == changed
    assert [(item["path"], item["kept"]) for item in done["left"]] == [(str(file), "changed by hand")]


def test_a_workspace_inside_the_state_directory_is_not_purged(state: StateDir) -> None:
    (state.prepare().path / "notes-of-mine").mkdir()
    assert run("config", "set", "workspace", str(state.path / "notes-of-mine")).exit_code == 0
    assert run("remember", "The kettle is blue.").exit_code == 0
    assert "a workspace lies in the state directory" in run("uninstall", "--purge", "--yes").stderr
    assert state.database.exists()
