"""What a reflection did, or would do: one line for each file, and what it rests on."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Change:
    """One part of one file. outcome: created, updated, removed, unchanged, proposed, waits, left alone, failed; why: in words.

    diff: what changes, as a unified diff; "" where nothing does.
    """

    path: str
    part: str
    outcome: str
    why: str = ""
    diff: str = ""
    proposal: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One run over one workspace. writer: who wrote the summaries ("rules" or a model). dropped: texts that pose as orders."""

    root: str
    changes: tuple[Change, ...]
    facts: int
    gems: int
    opinions: int
    dropped: int
    writer: str
    dry_run: bool = False

    @property
    def written(self) -> tuple[str, ...]:
        """The files that were changed."""
        return tuple(change.path for change in self.changes if change.outcome in ("created", "updated", "removed"))

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)
