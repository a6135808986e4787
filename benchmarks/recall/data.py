"""The data files: collections of documents, facts and labelled questions (the form is described in README.md)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_TIME = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:\D+?(\d{1,2}):(\d{2}))?")
_WORDS = re.compile(
    r"(?:(\d{1,2})\D{1,4})?\b([a-z]{3})[a-z]*\b[\s.\-,]*(?:(\d{1,2})(?:st|nd|rd|th)?\b)?[\s\-,]*(\d{4})", re.IGNORECASE
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)


class DataError(ValueError):
    """A file that is not of the form: what is wrong, where, and what belongs there."""


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
    """relevant: documents, or sessions where `by_session`. context: the dialogue so far, where there is one."""

    id: str
    text: str
    context: tuple[str, ...]
    asked_at: datetime | None
    kind: str
    answerable: bool
    relevant: frozenset[str]
    by_session: bool

    @property
    def dialogue(self) -> tuple[str, ...]:
        """The context with the question as its last message, once."""
        ends = bool(self.context) and self.context[-1].strip().endswith(self.text.strip())
        return self.context if ends else (*self.context, self.text)


@dataclass(frozen=True, slots=True)
class Collection:
    """One memory; nothing of another may be returned. strays: labels that name no document of it."""

    id: str
    language: str
    documents: tuple[Document, ...]
    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]
    sessions: dict[str, str] = field(default_factory=dict)
    strays: int = 0


def load(path: Path) -> tuple[str, list[Collection]]:
    """The dataset's name and its collections. Raises DataError where the file is not of the form."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise DataError(f"{path} is no JSON in UTF-8: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("collections"), list):
        raise DataError(
            f'{path}: no list "collections" at the top; the form is described in benchmarks/recall/README.md'
        )
    collections = [_collection(raw, f"collections[{n}]") for n, raw in enumerate(data["collections"])]
    _once((collection.id for collection in collections), f"{path}: collections")
    return str(data.get("dataset") or path.stem), collections


def _collection(raw: Any, where: str) -> Collection:
    name = _text(raw, "id", where)
    where = f"{where} ({name})"
    documents = tuple(_document(item, at) for item, at in _items(raw, "documents", where))
    _once((document.id for document in documents), f"{where}.documents")
    sessions = {document.id: document.session for document in documents}
    facts = tuple(_fact(item, at) for item, at in _items(raw, "facts", where))
    questions = tuple(_question(item, at) for item, at in _items(raw, "questions", where))
    known = {True: frozenset(sessions.values()), False: frozenset(sessions)}
    strays = sum(len(question.relevant - known[question.by_session]) for question in questions)
    return Collection(name, str(raw.get("language") or ""), documents, facts, questions, sessions, strays)


def _document(raw: Any, where: str) -> Document:
    return Document(
        _text(raw, "id", where),
        str(raw.get("session") or "1"),
        _moment(raw.get("time")),
        str(raw.get("speaker") or ""),
        _text(raw, "text", where),
    )


def _fact(raw: Any, where: str) -> Fact:
    covers = tuple(map(str, raw.get("covers") or ())) if isinstance(raw, Mapping) else ()
    document = _document(raw, where)
    return Fact(document.id, document.session, document.at, document.speaker, document.text, covers)


def _question(raw: Any, where: str) -> Question:
    text = _text(raw, "text", where)
    relevant, of_sessions = raw.get("relevant") or (), raw.get("relevant_sessions") or ()
    by_session = not relevant and bool(of_sessions)
    labels = frozenset(map(str, of_sessions if by_session else relevant))
    return Question(
        id=_text(raw, "id", where),
        text=text,
        context=tuple(_message(item) for item in raw.get("context") or ()),
        asked_at=_moment(raw["asked_at"]) if raw.get("asked_at") else None,
        kind=str(raw.get("type") or "all"),
        answerable=bool(raw.get("answerable", bool(labels))),
        relevant=labels,
        by_session=by_session,
    )


def _items(raw: Mapping[str, Any], key: str, where: str) -> Iterable[tuple[Any, str]]:
    found = raw.get(key) or []
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise DataError(f'{where}: "{key}" must be a list')
    return [(item, f"{where}.{key}[{n}]") for n, item in enumerate(found)]


def _text(raw: Any, key: str, where: str) -> str:
    value = raw.get(key) if isinstance(raw, Mapping) else None
    if not isinstance(value, str | int):
        raise DataError(f'{where}: "{key}" is missing; it must be a text')
    return str(value)


def _message(raw: Any) -> str:
    if not isinstance(raw, Mapping):
        return str(raw)
    speaker = raw.get("speaker") or raw.get("role") or ""
    text = raw.get("text") or raw.get("content") or ""
    return f"{speaker}: {text}" if speaker else str(text)


def _once(ids: Iterable[str], where: str) -> None:
    twice = [id_ for id_, count in Counter(ids).items() if count > 1]
    if twice:
        raise DataError(f'{where}: the id "{twice[0]}" stands there more than once; ids must differ')


def _moment(raw: Any) -> datetime:
    """ISO, "2023/07/12 (Wed) 10:14", a bare day or a day in words, as UTC; the year 2000 when there is none."""
    if isinstance(raw, int | float):
        return datetime.fromtimestamp(raw / 1_000 if raw > 1e11 else raw, UTC)
    text = str(raw or "")
    match = _TIME.search(text)
    try:
        if match:
            year, month, day, hour, minute = (int(part or 0) for part in match.groups())
            return datetime(year, month, day, hour, minute, tzinfo=UTC)
        for before, month, after, year in _WORDS.findall(text):
            if month.lower() in _MONTHS:
                return datetime(int(year), _MONTHS.index(month.lower()) + 1, int(before or after or 1), tzinfo=UTC)
    except ValueError:
        pass
    return _NO_DAY
