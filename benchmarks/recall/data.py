"""The data files: collections of documents, facts and labelled questions (the form is described in README.md)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_TIME = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:\D+?(\d{1,2}):(\d{2}))?")


@dataclass(frozen=True, slots=True)
class Document:
    """A turn or a memory of the collection."""

    id: str
    session: str
    at: datetime
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A one-line observation, a stand-in for a gem. covers: the documents it stands for."""

    id: str
    session: str
    at: datetime
    speaker: str
    text: str
    covers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """relevant: documents, or sessions where `by_session`."""

    id: str
    text: str
    context: tuple[str, ...]
    asked_at: datetime | None
    kind: str
    answerable: bool
    relevant: frozenset[str]
    by_session: bool


@dataclass(frozen=True, slots=True)
class Collection:
    """One memory; nothing of another may be returned."""

    id: str
    language: str
    documents: tuple[Document, ...]
    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]
    sessions: dict[str, str] = field(default_factory=dict)


def load(path: Path) -> tuple[str, list[Collection]]:
    """The dataset's name and its collections."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return data["dataset"], [_collection(raw) for raw in data["collections"]]


def _collection(raw: dict[str, Any]) -> Collection:
    documents = tuple(_document(item) for item in raw["documents"])
    return Collection(
        id=raw["id"],
        language=raw["language"],
        documents=documents,
        facts=tuple(
            Fact(f["id"], f["session"], _moment(f["time"]), f["speaker"], f["text"], tuple(f["covers"]))
            for f in raw.get("facts") or ()
        ),
        questions=tuple(_question(item) for item in raw["questions"]),
        sessions={document.id: document.session for document in documents},
    )


def _document(raw: dict[str, Any]) -> Document:
    return Document(raw["id"], str(raw["session"]), _moment(raw.get("time")), raw.get("speaker") or "", raw["text"])


def _question(raw: dict[str, Any]) -> Question:
    relevant = raw.get("relevant") or ()
    by_session = not relevant and bool(raw.get("relevant_sessions"))
    return Question(
        id=raw["id"],
        text=raw["text"],
        context=tuple(raw.get("context") or ()),
        asked_at=_moment(raw["asked_at"]) if raw.get("asked_at") else None,
        kind=raw.get("type") or "all",
        answerable=bool(raw["answerable"]),
        relevant=frozenset(raw["relevant_sessions"] if by_session else relevant),
        by_session=by_session,
    )


def _moment(text: str | None) -> datetime:
    """ISO, "2023/07/12 (Wed) 10:14" or a bare day, as UTC; the year 2000 when there is none."""
    match = _TIME.search(text or "")
    if not match:
        return datetime(2000, 1, 1, tzinfo=UTC)
    year, month, day, hour, minute = (int(part or 0) for part in match.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)
