"""A memory whose agent has a workspace: real files, the real parser, the real index, the real watcher."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace.book import Workspaces


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., Workspaces]]:
    """Opens the workspaces of a state directory; settings by name, `start=True` follows them."""
    made: list[Workspaces] = []

    def make(*, start: bool = False, state: str = "state", environ: dict[str, str] | None = None, **knobs: object) -> Workspaces:
        settings = Settings(**{"watch_poll": 0.05, **knobs})
        made.append(wiring.workspaces_of(StateDir(tmp_path / state).prepare(), settings, environ=environ or {}))
        if start:
            made[-1].start()
        return made[-1]

    yield make
    for item in made:
        item.close()
