"""`neuralstream admin harvest` and `retain`, with and without a memory process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace.harvest import BATCH_FILES
from tests.cli.conftest import Cli
from tests.workspace.files import write


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    monkeypatch.setenv("NEURALSTREAM_WORKSPACE", str(folder))
    monkeypatch.setenv("NEURALSTREAM_TIMEZONE", "Asia/Tokyo")
    return folder


@pytest.fixture
def alone(tmp_path: Path) -> Cli:
    """Commands where no process runs, and none is started."""
    return Cli(StateDir(tmp_path / "alone"))


def harvested(cli: Cli, *arguments: str) -> dict:
    (done,) = json.loads(cli.ok("admin", "harvest", "--json", *arguments))["harvested"]
    return done


def test_a_harvest_names_its_records_by_file_and_a_second_one_does_nothing(alone: Cli, root: Path) -> None:
    write(root, "memory/projects/maxrisk.md", "---\ntags: [trading]\n---\n# MaxRisk\n")
    write(root, "MEMORY.md", "core")
    assert harvested(alone)["indexed"] == ["memory-file:MEMORY.md", "memory-file:memory/projects/maxrisk.md"]
    again = harvested(alone)
    assert (again["indexed"], again["removed"], again["same"]) == ([], [], 2)
    assert not alone.state.endpoint.exists()


def test_a_dry_run_says_what_it_would_do(alone: Cli, root: Path) -> None:
    alone.state.prepare()
    write(root, "memory/a.md")
    assert "1 files would be indexed" in alone.ok("admin", "harvest", "--dry-run")
    assert "+ memory/a.md" in alone.ok("admin", "harvest", "--dry-run", "--verbose")
    assert harvested(alone)["indexed"] == ["memory-file:memory/a.md"]


def test_cron_hears_nothing_while_nothing_is_wrong(alone: Cli, root: Path) -> None:
    write(root, "memory/a.md")
    assert alone.ok("admin", "harvest") == ""
    assert "1 files indexed" in alone.ok("admin", "harvest", "--force", "--verbose")


def test_what_is_left_out_is_named_with_its_reason(alone: Cli, root: Path) -> None:
    write(root, "memory/a.md")
    (root / "memory" / "link.md").symlink_to(root / "memory" / "a.md")
    assert "! memory/link.md: a link is not followed" in alone.ok("admin", "harvest", "--verbose")


def test_only_what_is_asked_for_is_harvested(alone: Cli, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        write(root, f"memory/{name}/x.md")
    assert harvested(alone, "--path", str(root / "memory" / "a"))["indexed"] == ["memory-file:memory/a/x.md"]
    monkeypatch.chdir(root / "memory")
    assert harvested(alone, "--path", "b/x.md")["indexed"] == ["memory-file:memory/b/x.md"]
    write(root.parent / "elsewhere", "note.md")
    refused = alone("admin", "harvest", "--path", str(root.parent / "elsewhere" / "note.md"))
    assert refused.exit_code == 1
    assert "lie in no workspace" in refused.stderr
    refused = alone("admin", "harvest", "--path", "/somewhere/else.md")
    assert (refused.exit_code, "no such file" in refused.stderr) == (1, True)
    (root / "memory" / "b" / "x.md").unlink()
    assert harvested(alone, "--path", "b/x.md")["removed"] == ["memory-file:memory/b/x.md"]


def test_without_a_workspace_it_says_how_to_name_one(alone: Cli) -> None:
    refused = alone("admin", "harvest")
    assert refused.exit_code == 1
    assert "neuralstream config set workspace" in refused.stderr


def test_one_workspace_that_is_gone_does_not_keep_the_others_from_being_harvested(
    alone: Cli, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURALSTREAM_WORKSPACES", f"work={tmp_path / 'gone'}")
    write(root, "memory/a.md")
    result = alone("admin", "harvest", "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == 1
    assert told["harvested"][0]["indexed"] == ["memory-file:memory/a.md"]
    assert told["refused"][0]["where"] == str(tmp_path / "gone")
    assert "no workspace of the agent" in alone("admin", "harvest", "--agent", "nobody").stderr


def test_a_person_sees_a_long_harvest_move(alone: Cli, root: Path) -> None:
    for number in range(BATCH_FILES + 10):
        write(root, f"memory/{number}.md", f"# note {number}")
    shown = alone.on_terminal("admin", "harvest")
    assert f"{BATCH_FILES + 10} files indexed" in shown
    assert "━" in shown


def test_what_is_retained_stands_in_todays_log_of_the_user_and_is_indexed(alone: Cli, root: Path) -> None:
    done = json.loads(alone.ok("retain", "--json", "O(c=0.9) @Peter: Prefers short replies"))
    day = done["path"].removeprefix("memory/").removesuffix(".md")
    assert (root / done["path"]).read_text() == f"# {day}\n\n## Retain\n- O(c=0.9) @Peter: Prefers short replies\n"
    assert done["citation"] == f"{done['path']}#L4"
    assert harvested(alone)["indexed"] == []
    assert (root / done["path"]).stat().st_mode & 0o077 == 0
    assert "stands already" in alone.ok("retain", "O(c=0.9) @Peter: Prefers short replies")


def test_a_plain_sentence_becomes_a_bullet_of_the_kind_it_seems_to_be(alone: Cli, root: Path) -> None:
    assert "- O @Anna: Anna предпочитает чай" in alone.ok("retain", "--entity", "Anna", "Anna предпочитает чай")
    assert "- B: I fixed the deployment" in alone.ok("retain", "I", "fixed", "the", "deployment")
    assert "- W: 彼得住在柏林" in alone.ok("retain", "彼得住在柏林")
    assert "- S: x" in alone.ok("retain", "--kind", "observation", "x")


def test_secrets_do_not_reach_the_file(alone: Cli, root: Path) -> None:
    result = alone("retain", "--day", "2026-01-02", "the key is AKIAIOSFODNN7EXAMPLQ")
    assert "a secret was taken out" in result.stderr
    assert "AKIA" not in (root / "memory/2026-01-02.md").read_text()


def test_a_dry_run_of_retain_writes_nothing(alone: Cli, root: Path) -> None:
    alone.state.prepare()
    assert "(not written): - W: x" in alone.ok("retain", "--dry-run", "x")
    assert list(root.iterdir()) == []


def test_a_process_that_runs_finds_at_once_what_was_retained_beside_it(cold: Cli, root: Path) -> None:
    """The process follows the files; retain writes and indexes without asking it."""
    before = json.loads(cold.ok("status", "--json"))["workspaces"]
    assert [item["root"] for item in before] == [str(root)]
    cold.ok("retain", "W @Peter: Lives in Marrakech since November")
    after = json.loads(cold.ok("status", "--json"))["workspaces"]
    assert after[0]["files"] == 1
    assert f"{root} (main): 1 files, followed" in cold.ok("status")


def test_a_dry_run_makes_no_index(alone: Cli, root: Path) -> None:
    alone.state.prepare()
    write(root, "memory/a.md")
    assert "1 files would be indexed" in alone.ok("admin", "harvest", "--dry-run")
    assert sorted(path.name for path in root.iterdir()) == ["memory"]


@pytest.mark.parametrize(
    "said",
    [
        "O(c=5) @Peter: x y",
        "O(c=1.9): x y",
        "O(c=-1) @Пётр: любит чай",
        "O(c=много): любит чай",
        "O(c=2) @小李: 喜欢茶",
    ],
)
def test_a_confidence_that_is_none_is_refused_with_its_range(alone: Cli, root: Path, said: str) -> None:
    result = alone("retain", said)
    assert result.exit_code != 0
    assert "between 0 and 1" in result.output
    assert not (root / "memory").exists()


@pytest.mark.parametrize("said", ["W", "O(c=0.9)", "W @Bob", "О @Анна:", "B:", "...", "。"])
def test_a_bullet_that_says_nothing_is_refused(alone: Cli, root: Path, said: str) -> None:
    assert "nothing to keep" in alone("retain", said).output
    assert not (root / "memory").exists()


@pytest.mark.parametrize("said", ["- W @Bob: has a hen", "- W @Анна: живёт в Казани", "- W @小李: 住在柏林"])
def test_a_sentence_may_come_as_a_bullet(alone: Cli, root: Path, said: str) -> None:
    assert said in alone.ok("retain", said)
    assert said in alone.ok("retain", "-", *said.removeprefix("- ").split())
    assert alone("retain", "--entiy", "Anna", "x").exit_code == 2


def test_what_could_not_be_read_is_named_with_file_and_line_each_time(cold: Cli, tmp_path: Path) -> None:
    workspace = tmp_path / "заметки"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "сломано.md").write_text("---\ntags: [a, b\n---\n# План\n\nПомидоры сажаем в мае.\n")
    cold.ok("config", "set", "workspace", str(workspace))
    for _ in range(2):
        assert "memory/сломано.md, line " in cold.ok("admin", "harvest", "--verbose")
    (found,) = json.loads(cold.ok("admin", "harvest", "--json"))["harvested"]
    assert [item["path"] for item in found["unread"]] == ["memory/сломано.md"]
    assert found["unread"][0]["line"] >= 1
