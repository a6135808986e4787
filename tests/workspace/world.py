"""A workspace in a temporary folder with its real index, and a real memory beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.reflector import Reflector
from openclaw_neuralstream.memory.wiring import open_memory
from openclaw_neuralstream.model import Fact, Wanted
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace.index import NoteIndex
from openclaw_neuralstream.workspace.pages import Change, Report
from openclaw_neuralstream.workspace.parse import parse
from openclaw_neuralstream.workspace.where import Tools
from openclaw_neuralstream.workspace.workspace import Workspace

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


class Folder(Workspace):
    """A real workspace with a real index; nobody watches it."""

    def __init__(self, root: Path, knobs: Settings) -> None:
        root.mkdir(exist_ok=True)
        super().__init__(root, knobs, Tools(parse, NoteIndex.open, lambda: NOW))

    def keep(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def files(self) -> list[str]:
        found = (path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file())
        return sorted(path for path in found if not path.startswith(".memory/"))

    def facts(self, path: str) -> list[Fact]:
        self.harvest()
        assert self.index is not None
        return [fact for fact in self.index.facts(Wanted(superseded=True)) if fact.path == path]


class World:
    """A workspace, a memory and whoever reflects over them; the clock stands still until it is moved."""

    def __init__(self, root: Path, memory: Memory, clock: list[datetime]) -> None:
        self.folder = Folder(root, memory.settings)
        self.memory = memory
        self._clock = clock
        self.reflector = Reflector(memory.parts)
        self.book = self.reflector.book(self.folder)

    def later(self, **by: float) -> None:
        self._clock[0] += timedelta(**by)

    def reflect(self, *, days: float | None = 30, dry_run: bool = False) -> Report:
        since = timedelta(days=days) if days is not None else None
        return self.reflector.reflect(self.folder, "main", since=since, dry_run=dry_run)

    def change(self, path: str, **how: Any) -> Change:
        return next(change for change in self.reflect(**how).changes if change.path == path)


@contextmanager
def world(tmp: Path, **knobs: Any) -> Iterator[World]:
    """A world of its own; knobs are settings."""
    given = {"extractor": "rules", "embedder": "embedded", **knobs}
    environ = {f"NEURALSTREAM_{name.upper()}": str(value) for name, value in given.items()}
    clock = [NOW]
    memory = open_memory(
        StateDir(tmp / "state"), environ={**environ, "PATH": os.environ["PATH"]}, clock=lambda: clock[0], start=False
    )
    made = World(tmp / "ws", memory, clock)
    try:
        yield made
    finally:
        made.folder.close()
        memory.close()
