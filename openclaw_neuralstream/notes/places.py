"""What a path says about a file: its category, its day, whose page it is, which kind its bullets are."""

from __future__ import annotations

from datetime import date
from pathlib import PurePosixPath

from openclaw_neuralstream.model import FactKind
from openclaw_neuralstream.patterns import lazy

_DAY = lazy(r"(?<!\d)((?:19|20)\d\d)[-_./]?(0[1-9]|1[0-2])[-_./]?(0[1-9]|[12]\d|3[01])(?!\d)")
_BANK = {
    "world": FactKind.WORLD,
    "experience": FactKind.EXPERIENCE,
    "opinions": FactKind.OPINION,
    "observations": FactKind.OBSERVATION,
}
_ONE = {"projects": "project", "decisions": "decision", "contacts": "contact", "people": "contact", "daily": "daily"}


def day_of(path: str) -> date | None:
    """The day in a file's name, or in its folders: memory/2025-11-27-standup.md, memory/2025/11/27.md."""
    bare = path.removesuffix(".md")
    for part in (PurePosixPath(bare).name, bare):
        for found in _DAY.finditer(part):
            try:
                return date(int(found[1]), int(found[2]), int(found[3]))
            except ValueError:
                continue
    return None


def category_of(path: str) -> str:
    """What a file is about: "core", "daily", "world", "entity", "project" … or its folder; "note" at the top."""
    parts = PurePosixPath(path.lower()).parts
    if len(parts) == 1:
        return "core" if parts[0] == "memory.md" else "note"
    if parts[:2] == ("bank", "entities"):
        return "entity"
    if parts[0] == "bank" and len(parts) == 2:
        return PurePosixPath(parts[1]).stem
    if parts[0] == "memory" and day_of(parts[-1]):
        return "daily"
    folder = parts[1] if parts[0] == "memory" and len(parts) > 2 else parts[0]
    return _ONE.get(folder, "note" if folder == "memory" else folder)


def entity_of(path: str) -> str:
    """Whose page a file is, by its name ("" = nobody's): bank/entities/Peter-Steinberger.md, memory/contacts/anna.md."""
    if category_of(path) not in {"entity", "contact"}:
        return ""
    return PurePosixPath(path).stem.replace("_", " ").replace("-", " ").strip()


def kind_of(path: str) -> FactKind | None:
    """The kind that bullets without a letter have in this file; None = they are no facts."""
    parts = PurePosixPath(path.lower()).parts
    if len(parts) == 2 and parts[0] == "bank":
        return _BANK.get(PurePosixPath(parts[1]).stem)
    return None
