"""Each trouble of a workspace has its finding, and the finding says what to do about it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.cli.checks.finding import Finding, Grade
from openclaw_neuralstream.cli.checks.process import workspaces
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace.workspace import Workspace
from tests.waiting import until
from tests.workspace.files import Played, write

Told = Callable[..., list[Finding]]


@pytest.fixture
def told(tmp_path: Path) -> Any:
    """The findings about a real workspace; `listen` plays the system."""
    made = []

    def make(*, listen: Any = None, prepare: Callable[[Path], object] = lambda _: None, **knobs: object) -> list[Finding]:
        root = tmp_path / "ws"
        write(root, "memory/a.md")
        prepare(root)
        settings = Settings(**{"workspace": str(root), "watch_poll": 0.05, **knobs})
        book = wiring.workspaces_of(StateDir(tmp_path / "state").prepare(), settings, environ={})
        made.append(book)
        if listen:
            workspace: Workspace = book.for_agent("main")
            workspace._tools = replace(workspace._tools, listen=listen)
        book.start()
        until(lambda: settings.watch == "off" or not root.is_dir() or all(item.settled for item in book.all()))
        return list(workspaces(book.status()))

    yield make
    for book in made:
        book.close()


def test_a_healthy_workspace_is_one_line(told: Told) -> None:
    (finding,) = told()
    assert finding.grade is Grade.OK
    assert "1 files indexed and followed" in finding.what


def test_no_workspace_says_how_to_name_one() -> None:
    (finding,) = workspaces([])
    assert (finding.grade, finding.fix) == (Grade.NOTE, "neuralstream config set workspace /folder")


def test_a_workspace_that_is_gone_is_broken(told: Told) -> None:
    (finding,) = told(prepare=lambda root: root.rename(root.with_name("gone")))
    assert finding.grade is Grade.BROKEN
    assert "is not there" in finding.what


def test_missing_watches_name_the_command_that_mends_it(told: Told) -> None:
    (finding,) = told(listen=Played(room=1))
    assert finding.grade is Grade.WARNING
    assert finding.fix.startswith("sudo sysctl fs.inotify.max_user_watches=")


def test_a_system_that_does_not_tell_names_the_command_that_mends_it(told: Told) -> None:
    def none_left(*_: object) -> Played:
        raise OSError(errno.EMFILE, "inotify instance limit reached")

    (finding,) = told(listen=none_left)
    assert finding.grade is Grade.WARNING
    assert finding.fix.startswith("sudo sysctl fs.inotify.max_user_instances=")


def test_a_workspace_that_nobody_follows_is_noted(told: Told) -> None:
    (finding,) = told(watch="off")
    assert finding.fix == "neuralstream config set watch auto"


def test_files_left_out_are_noted_with_a_reason(told: Told) -> None:
    (finding,) = told(prepare=lambda root: (root / "memory" / "b.md").symlink_to(root / "memory" / "a.md"))
    assert "memory/b.md (a link is not followed)" in finding.what


def test_an_index_in_another_place_is_noted(told: Told) -> None:
    (finding,) = told(prepare=lambda root: write(root, ".memory", "a file in our place"))
    assert "the index is in" in finding.why
