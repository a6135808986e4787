"""A workspace in a temporary folder with a real memory beside it, and an index that is read anew each time it is asked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.model import Entity, Fact, Known, Note, Wanted, slug_of
from openclaw_neuralstream.notes.parse import parse
from openclaw_neuralstream.reflect.report import Change, Report
from openclaw_neuralstream.reflection import Reflector
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.wiring import open_memory

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)


class Shelf:
    """What reflection asks of a notes index, answered from the files as they are now."""

    def __init__(self, root: Path) -> None:
        files = sorted(path for path in root.rglob("*.md") if ".memory" not in path.parts)
        self._paths = [path.relative_to(root).as_posix() for path in files]
        self._documents = [parse(name, (root / name).read_bytes()) for name in self._paths]

    def known(self) -> dict[str, Known]:
        return {path: Known("", 0, 0) for path in self._paths}

    def facts(self, wanted: Wanted, *, limit: int = 0) -> list[Fact]:
        return [fact for document in self._documents for fact in document.facts]

    def outdated(self, ids: Sequence[str], wanted: Wanted) -> dict[str, str]:
        return {}

    def entities(self, *, limit: int = 0) -> list[Entity]:
        pages = (document for document in self._documents if document.entity)
        return [Entity(slug_of(d.entity), d.entity, d.aliases, d.path) for d in pages]

    def newest(self, wanted: Wanted, *, limit: int) -> list[str]:
        return [note.note_id for document in self._documents for note in document.notes][:limit]

    def fetch(self, ids: Sequence[str]) -> dict[str, Note | Fact]:
        return {note.note_id: note for document in self._documents for note in document.notes if note.note_id in ids}


class Folder:
    """A workspace as reflection sees it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(exist_ok=True)

    @property
    def index(self) -> Any:
        return Shelf(self.root)

    def harvest(self, paths: set[str] | None = None) -> None:
        pass

    def keep(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def files(self) -> list[str]:
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file())


class World:
    """A workspace, a memory and whoever reflects over them; the clock stands still until it is moved."""

    def __init__(self, root: Path, memory: Memory, clock: list[datetime]) -> None:
        self.folder = Folder(root)
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
    try:
        yield World(tmp / "ws", memory, clock)
    finally:
        memory.close()
