"""What reflection needs of a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from openclaw_neuralstream.model import Known
from openclaw_neuralstream.ports import NoteSearch


class Shelf(NoteSearch, Protocol):
    """The notes index, as reflection asks it."""

    def known(self) -> dict[str, Known]:
        """Every indexed path."""


class Workspace(Protocol):
    """A folder of Markdown and its index."""

    @property
    def root(self) -> Path:
        """Where it is."""

    @property
    def index(self) -> Shelf | None:
        """None while it cannot be opened."""

    def harvest(self, paths: set[str] | None = None) -> object:
        """Index what changed."""
