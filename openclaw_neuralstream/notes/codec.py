"""Notes and facts as JSON rows and back; days as ordinals."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from openclaw_neuralstream.model import Fact, FactKind, Note


def ordinal(day: date | None) -> int | None:
    """A day as a number."""
    return day.toordinal() if day else None


def day_of(number: int | None) -> date | None:
    """A number as a day."""
    return date.fromordinal(number) if number else None


def to_json(entry: Note | Fact) -> str:
    """A note or fact as one line of JSON."""
    shared = [
        entry.path,
        entry.line,
        entry.end_line,
        entry.text,
        entry.entities,
        entry.tags,
        ordinal(entry.day),
        entry.generated,
    ]
    if isinstance(entry, Fact):
        own: list[Any] = [
            entry.fact_id, entry.kind.value, entry.confidence, ordinal(entry.valid_from), ordinal(entry.valid_to),
            entry.attribute, entry.evidence, entry.against,
        ]  # fmt: skip
    else:
        own = [entry.note_id, "note", entry.trail, entry.category, entry.title]
    return json.dumps(own + shared, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()


def from_json(body: str) -> Note | Fact:
    """What `to_json` wrote."""
    row = json.loads(body)
    path, line, end_line, text, entities, tags, day, generated = row[-8:]
    if row[1] == "note":
        return Note(
            note_id=row[0], path=path, line=line, end_line=end_line, trail=tuple(row[2]), category=row[3], title=row[4],
            text=text, tags=tuple(tags), day=day_of(day), entities=tuple(entities), generated=bool(generated),
        )  # fmt: skip
    return Fact(
        fact_id=row[0], kind=FactKind(row[1]), text=text, entities=tuple(entities), path=path, line=line,
        end_line=end_line, confidence=row[2], day=day_of(day), valid_from=day_of(row[3]), valid_to=day_of(row[4]),
        tags=tuple(tags), attribute=row[5], evidence=tuple(row[6]), against=tuple(row[7]), generated=bool(generated),
    )  # fmt: skip
