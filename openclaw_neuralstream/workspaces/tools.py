"""What every workspace is given: how files are parsed, indexes opened, news heard; and what an index has to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from openclaw_neuralstream.clock import Clock
from openclaw_neuralstream.model import Problem
from openclaw_neuralstream.notes.harvest import Parse, Shelf
from openclaw_neuralstream.notes.ignore import Choice
from openclaw_neuralstream.notes.index import Counts
from openclaw_neuralstream.notes.notify import Listen, listen
from openclaw_neuralstream.ports import NoteSearch, NoteVectors
from openclaw_neuralstream.settings import Settings


class Index(Shelf, NoteSearch, NoteVectors, Protocol):
    """What a workspace needs of its index: to be written by harvests, to be asked by recall."""

    @property
    def epoch(self) -> str:
        """Another text whenever it began empty again."""

    def count(self) -> Counts:
        """How much it holds."""

    def problems(self) -> list[Problem]:
        """What could not be read as it was meant."""

    def wipe(self) -> None:
        """Overwrite what removed text left behind."""

    def close(self) -> None:
        """Release the file."""


OpenIndex = Callable[[Path], Index]
"""Opens or makes the index file. Raises StateError and its kin."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What every workspace is given: how files are parsed, indexes opened, news heard, and what time it is."""

    parse: Parse
    open_index: OpenIndex
    clock: Clock
    listen: Listen = listen
    spare: Path = field(default_factory=Path)
    """Folder for the indexes of workspaces that cannot be written."""


def choice_of(knobs: Settings, apart: frozenset[str] = frozenset()) -> Choice:
    """What the settings want of a workspace to be notes."""
    return Choice(
        include=tuple(knobs.workspace_include.split(",")),
        exclude=tuple(knobs.workspace_exclude.split(",")),
        gitignore=knobs.workspace_gitignore,
        apart=apart,
    )
