"""Whose files are whose, where they are, and what happens when they move, vanish or cannot be written."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.errors import NotFound, StateError, StateFull
from openclaw_neuralstream.model import Scope, Wanted
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.workspace.book import Workspaces
from openclaw_neuralstream.workspace.where import folders
from openclaw_neuralstream.workspace.workspace import Workspace
from tests.waiting import until
from tests.workspace.files import write

Opened = Callable[..., Workspaces]


def said(workspaces: Workspaces, agent: str = "main") -> list[str]:
    """The facts that this agent's owner finds."""
    found = workspaces.search(Scope(agent))
    return [fact.text for fact in found.facts(Wanted())] if found else []


def fact(root: Path, text: str, path: str = "memory/2026-11-21.md") -> Path:
    return write(root, path, f"# A day\n\n## Retain\n- W @Peter: {text}\n")


# --- where they are -----------------------------------------------------------------------------------------------------


def test_the_settings_win_over_the_host_and_its_events_over_its_configuration(tmp_path: Path) -> None:
    knobs = Settings(workspace=str(tmp_path / "set"), workspaces={"work": str(tmp_path / "w")})
    told = {"main": "/told", "other": str(tmp_path / "told"), "relative": "not/absolute", "nul": "/a\0b"}
    found = folders(knobs, told, {"main": "/config", "third": str(tmp_path / "config"), "other": "/config"})
    assert {agent: item.root for agent, item in found.items()} == {
        "main": tmp_path / "set", "work": tmp_path / "w", "other": tmp_path / "told", "third": tmp_path / "config",
    }  # fmt: skip


def test_the_hosts_configuration_names_them_before_any_turn(tmp_path: Path, opened: Opened) -> None:
    base = tmp_path / "openclaw"
    (base / "neuralstream").mkdir(parents=True)
    config = {"agents": {"defaults": {"workspace": str(tmp_path / "a"), "userTimezone": "Asia/Tokyo"}, "entries": {"work": {"workspace": str(tmp_path / "b")}}}}
    (base / "openclaw.json").write_text(json.dumps(config))
    workspaces = opened(state="openclaw/neuralstream")
    assert {agent: workspaces.for_agent(agent).root for agent in ("main", "work")} == {"main": tmp_path / "a", "work": tmp_path / "b"}


def test_the_usual_folder_is_taken_where_the_host_names_none(tmp_path: Path, opened: Opened) -> None:
    (tmp_path / "openclaw" / "workspace").mkdir(parents=True)
    assert opened(state="openclaw/neuralstream").for_agent("main").root == tmp_path / "openclaw" / "workspace"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"agents": []}', '{"agents": {"defaults": 1, "entries": {"a": null}}}', "// comment\n{}"])
def test_no_configuration_of_the_host_breaks_us(tmp_path: Path, opened: Opened, text: str) -> None:
    file = tmp_path / "openclaw.json"
    file.write_text(text)
    assert opened(environ={"OPENCLAW_CONFIG_PATH": str(file)}).all() == []


def test_what_the_host_named_is_known_in_the_next_life(tmp_path: Path, opened: Opened, root: Path) -> None:
    opened().seen("main", str(root))
    assert opened().for_agent("main").root == root
    assert stat.S_IMODE((tmp_path / "state" / "workspaces.json").stat().st_mode) == 0o600


def test_the_sandbox_of_one_session_is_no_workspace(opened: Opened, tmp_path: Path) -> None:
    workspaces = opened()
    workspaces.seen("main", str(tmp_path / "sandboxes" / "agent-main-x"))
    assert workspaces.for_agent("main") is None


# --- whose they are -----------------------------------------------------------------------------------------------------


def test_one_agent_never_sees_anothers_notes_not_even_in_a_folder_of_its_own(opened: Opened, root: Path) -> None:
    fact(root, "belongs to main.")
    fact(root / "memory" / "work", "belongs to work.")
    workspaces = opened(start=True, workspace=str(root), workspaces={"work": str(root / "memory" / "work")})
    until(lambda: said(workspaces) and said(workspaces, "work"))
    assert said(workspaces) == ["belongs to main."]
    assert said(workspaces, "work") == ["belongs to work."]
    assert said(workspaces, "stranger") == []


def test_a_stranger_who_talks_to_the_agent_does_not_search_the_owners_files(opened: Opened, root: Path) -> None:
    fact(root, "is private.")
    workspaces = opened(workspace=str(root))
    workspaces.for_agent("main").harvest()
    assert workspaces.search(Scope("main")) is not None
    assert workspaces.search(Scope("main", "telegram:4711")) is None


def test_agents_of_one_folder_share_one_index(opened: Opened, root: Path) -> None:
    workspaces = opened(workspace=str(root), workspaces={"twin": str(root / ".." / root.name)})
    assert workspaces.for_agent("main") is workspaces.for_agent("twin")
    assert len(workspaces.all()) == 1


@pytest.mark.parametrize(("agents", "keeper"), [(["anna", "main"], "main"), (["work", "anna"], "anna"), (["anna"], "anna")])
def test_a_shared_folder_is_kept_in_the_name_of_main_or_of_the_first(
    opened: Opened, root: Path, agents: list[str], keeper: str
) -> None:
    workspaces = opened(workspaces=dict.fromkeys(agents, str(root)))
    assert [workspace.keeper for workspace in workspaces.all()] == [keeper]


# --- when they move -----------------------------------------------------------------------------------------------------


def test_a_workspace_that_the_host_moves_is_followed_to_its_new_place(opened: Opened, root: Path, tmp_path: Path) -> None:
    fact(root, "old place.")
    workspaces = opened(start=True)
    workspaces.seen("main", str(root))
    until(lambda: said(workspaces) == ["old place."])
    root.rename(tmp_path / "moved")
    workspaces.seen("main", str(tmp_path / "moved"))
    fact(tmp_path / "moved", "new place.")
    until(lambda: said_or_nothing(workspaces) == ["new place."])
    assert [workspace.root for workspace in workspaces.all()] == [tmp_path / "moved"]


def test_a_workspace_that_vanishes_is_said_and_comes_back_by_itself(opened: Opened, root: Path, tmp_path: Path) -> None:
    fact(root, "is here.")
    workspaces = opened(start=True, workspace=str(root))
    until(lambda: said(workspaces) == ["is here."])
    root.rename(tmp_path / "gone")
    assert said(workspaces) == []
    assert workspaces.status()[0]["here"] is False
    with pytest.raises(NotFound, match="not there"):
        workspaces.for_agent("main").harvest()
    (tmp_path / "gone").rename(root)
    fact(root, "is back.")
    until(lambda: said_or_nothing(workspaces) == ["is back."])
    assert workspaces.crashes == 0


@pytest.mark.parametrize("watched", [False, True], ids=["by hand", "by its watcher"])
def test_a_workspace_that_goes_away_during_a_harvest_is_not_made_anew(
    opened: Opened, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, watched: bool
) -> None:
    from openclaw_neuralstream.workspace.index import NoteIndex

    replacing = NoteIndex.replace

    def replace(self: NoteIndex, *arguments: Any) -> None:
        replacing(self, *arguments)
        root.rename(tmp_path / "gone")

    monkeypatch.setattr(NoteIndex, "replace", replace)
    fact(root, "is elsewhere.")
    workspaces = opened(start=watched, workspace=str(root))
    if watched:
        until((tmp_path / "gone").exists)
        until(lambda: workspaces.status()[0]["watch"] == "poll")  # it listens no more: it has found the folder gone
        assert (workspaces.status()[0]["error"], workspaces.crashes) == ("", 0)
    else:
        with pytest.raises(NotFound, match="not there"):
            workspaces.for_agent("main").harvest()
    assert not root.exists()


def test_a_folder_put_in_the_place_of_another_is_noticed(opened: Opened, root: Path, tmp_path: Path) -> None:
    fact(root, "first.")
    workspaces = opened(start=True, workspace=str(root))
    until(lambda: said(workspaces) == ["first."])
    fact(tmp_path / "other", "second.")
    root.rename(tmp_path / "aside")
    (tmp_path / "other").rename(root)
    until(lambda: said_or_nothing(workspaces) == ["second."])


# --- the index ----------------------------------------------------------------------------------------------------------


def test_the_index_lies_in_the_workspace_owner_only_and_away_from_git(opened: Opened, root: Path) -> None:
    fact(root, "x.")
    opened(workspace=str(root)).for_agent("main").harvest()
    assert (root / ".memory" / ".gitignore").read_text() == "*\n"
    assert stat.S_IMODE((root / ".memory" / "index.sqlite").stat().st_mode) == 0o600


def test_an_index_deleted_at_any_moment_comes_back_the_same(opened: Opened, root: Path) -> None:
    fact(root, "stays.")
    workspaces = opened(start=True, workspace=str(root), watch_sweep=1000)
    until(lambda: said(workspaces) == ["stays."])
    for file in (root / ".memory").glob("index.sqlite*"):
        file.unlink()
    until(lambda: said_or_nothing(workspaces) == ["stays."])
    (root / ".memory" / "index.sqlite").write_bytes(b"no database at all" * 500)
    until(lambda: said_or_nothing(workspaces) == ["stays."])
    assert workspaces.crashes == 0


@pytest.mark.parametrize("lost", [("",), ("-wal",), ("-shm",), ("-wal", "-shm"), ("", "-wal", "-shm"), ("-shm", "-wal", "", ".lock")], ids="+".join)
def test_an_index_lost_again_while_it_is_made_anew_comes_back_whole(opened: Opened, root: Path, lost: tuple[str, ...]) -> None:
    """Whatever of it is deleted, and however often; a file that is not lost with the others is not taken for a new one's."""
    for number in range(6):
        fact(root, f"number {number}.", f"memory/{number}.md")
    workspaces = opened(start=True, workspace=str(root), watch_sweep=1000)
    until(lambda: len(said(workspaces)) == 6)
    for number in range(12):
        for suffix in lost:
            (root / ".memory" / f"index.sqlite{suffix}").unlink(missing_ok=True)
        said_or_nothing(workspaces)
        fact(root, f"after loss {number}.", f"memory/{number % 6}.md")
    until(lambda: said_or_nothing(workspaces) == sorted(f"after loss {number}." for number in range(6, 12)))
    assert workspaces.crashes == 0


def said_or_nothing(workspaces: Workspaces) -> list[str]:
    """What is said now; nothing while the index is being made anew."""
    try:
        return sorted(said(workspaces))
    except StateError:
        return []


def test_a_full_disk_does_not_cost_the_index(opened: Opened, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from openclaw_neuralstream.workspace.index import NoteIndex

    fact(root, "stays.")
    index = NoteIndex.of(root)
    epoch = index.epoch
    index.close()
    opening = NoteIndex.open
    full = [StateFull("the disk is full: nothing was written")] * 2
    monkeypatch.setattr(NoteIndex, "open", lambda file: raised(full.pop()) if full else opening(file))
    workspace = opened(workspace=str(root)).for_agent("main")
    assert workspace.index is None
    with pytest.raises(StateFull):
        workspace.harvest()
    assert not workspace.status()["index_apart"]
    assert workspace.index is not None
    assert workspace.index.epoch == epoch


def raised(error: Exception) -> object:
    raise error


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_workspace_has_its_index_in_the_state_directory_and_says_so(opened: Opened, root: Path, tmp_path: Path) -> None:
    read_only(opened, root, tmp_path, lambda: root.chmod(0o500))
    root.chmod(0o700)


def test_a_workspace_that_takes_no_index_has_it_in_the_state_directory_and_says_so(opened: Opened, root: Path, tmp_path: Path) -> None:
    """A file where our folder should be: nothing can be written there, whoever runs this test."""
    read_only(opened, root, tmp_path, lambda: write(root, ".memory", "a file"))


def read_only(opened: Opened, root: Path, tmp_path: Path, close: Callable[[], object]) -> None:
    fact(root, "is read only.")
    close()
    workspaces = opened(workspace=str(root))
    workspaces.for_agent("main").harvest()
    assert said(workspaces) == ["is read only."]
    (status,) = workspaces.status()
    assert status["index_apart"]
    assert Path(status["index"]).is_relative_to(tmp_path / "state" / "notes")


def test_a_link_in_the_place_of_our_folder_is_not_written_through(opened: Opened, root: Path, tmp_path: Path) -> None:
    fact(root, "x.")
    (tmp_path / "elsewhere").mkdir()
    (root / ".memory").symlink_to(tmp_path / "elsewhere")
    opened(workspace=str(root)).for_agent("main").harvest()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_index_that_cannot_be_written_is_told_and_tried_again(opened: Opened, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from openclaw_neuralstream.workspace.index import NoteIndex

    full = True
    replacing = NoteIndex.replace

    def replace(self: NoteIndex, *arguments: object) -> None:
        if full:
            raise StateError("the disk is full: nothing was written", fix="free some space")
        replacing(self, *arguments)

    monkeypatch.setattr(NoteIndex, "replace", replace)
    fact(root, "waits for room.")
    workspaces = opened(start=True, workspace=str(root))
    until(lambda: "disk is full" in workspaces.status()[0]["error"])
    full = False
    until(lambda: said(workspaces) == ["waits for room."])
    until(lambda: workspaces.status()[0]["error"] == "")  # told after the index is written
    assert workspaces.crashes == 0


def test_two_processes_may_harvest_one_workspace(opened: Opened, root: Path) -> None:
    for number in range(30):
        fact(root, f"number {number}.", f"memory/{number}.md")
    one, two = opened(workspace=str(root)), opened(workspace=str(root), state="state-2")
    indexed = [len(item.for_agent("main").harvest().indexed) for item in (one, two)]
    assert indexed == [30, 0]
    assert said(one) == said(two)


def test_without_a_watcher_only_a_harvest_indexes(opened: Opened, root: Path) -> None:
    workspaces = opened(start=True, workspace=str(root), watch="off")
    fact(root, "harvested.")
    assert said(workspaces) == []
    workspaces.for_agent("main").harvest()
    assert said(workspaces) == ["harvested."]
    assert workspaces.status()[0]["watch"] == "off"


def test_settled_means_that_everything_was_looked_at(opened: Opened, root: Path) -> None:
    fact(root, "x.")
    workspace: Workspace = opened(start=True, workspace=str(root)).for_agent("main")
    until(lambda: workspace.settled)
    assert workspace.status()["files"] == 1
