"""Conversations of our own in three languages, read from `conversations/*.txt`, with questions and what their answers need.

A file begins with `half:` and `language:`. `== DAY TIME` begins a session, `> …` is what the owner says, `Name> …` what a guest says,
`< …` what the agent answers. `[e1:words]` marks a piece of evidence: found when a block shows these words. After `ask: DAY TIME` come the
questions: `? order | e1 e2 | text` (in the order of the events), `? summary | e1 e2 | text`, `? standing | s1 !s2 | text` (s1 must
stand before it, s2 must not).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parent / "conversations"
KINDS = ("order", "summary", "standing")
HALVES = ("dev", "heldout")
LANGUAGES = ("en", "zh", "ru")

_MARK = re.compile(r"\[(\w+):([^\]]+)\]")
_SAID = re.compile(r"(\w*)> (.+)")
_DAY = re.compile(r" ?\(\d{4}-\d\d-\d\d\)")


class ConversationError(ValueError):
    """A file is not of the form: which, where, and what."""


@dataclass(frozen=True, slots=True)
class Said:
    """A turn. guest: who said it, "" = the owner."""

    at: datetime
    session: int
    guest: str
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its evidence in the right order, and what must not stand before it."""

    kind: str
    text: str
    needed: tuple[str, ...]
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """What one person and the agent said over weeks. evidence: the words that show a piece of it, by its name."""

    name: str
    half: str
    language: str
    turns: tuple[Said, ...]
    evidence: dict[str, str]
    asked_at: datetime
    questions: tuple[Question, ...]


def load(folder: Path = FOLDER) -> tuple[Conversation, ...]:
    """All conversations of a folder, by name. Raises ConversationError."""
    return tuple(parse(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.txt")))


def parse(name: str, text: str) -> Conversation:
    """One conversation. Raises ConversationError."""
    reading = _Reading(name)
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            reading.take(line.strip(), number)
    return reading.done()


@dataclass(slots=True)
class _Reading:
    name: str
    head: dict[str, str] = field(default_factory=dict)
    evidence: dict[str, str] = field(default_factory=dict)
    turns: list[Said] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    at: datetime | None = None
    session: int = 0
    minute: int = 0
    open: tuple[str, str] | None = None  # a guest's name and what was said, until it is answered

    def take(self, line: str, number: int) -> None:
        if line.startswith("== "):
            self.at, self.session, self.minute = _moment(line[3:]), self.session + 1, 0
        elif line.startswith("? "):
            self.asked.append(self._question(line[2:], number))
        elif line.startswith("< "):
            self._answered(line[2:], number)
        elif said := _SAID.fullmatch(line):
            self._expect(self.open is None, number, "nobody answered what stands before it")
            self.open = (said[1], said[2])
        else:
            key, colon, value = line.partition(":")
            self._expect(bool(colon), number, f"unknown line {line!r}")
            self.head[key] = value.strip()

    def done(self) -> Conversation:
        self._expect(self.open is None and bool(self.turns) and bool(self.asked), 0, "not whole")
        return Conversation(
            self.name, self.head["half"], self.head["language"], tuple(self.turns), self.evidence,
            _moment(self.head["ask"]), tuple(self.asked),
        )  # fmt: skip

    def _answered(self, answer: str, number: int) -> None:
        if self.open is None or self.at is None:
            raise ConversationError(f"{self.name}:{number}: an answer to nothing")
        guest, text = self.open
        for mark in _MARK.finditer(text):
            self._expect(mark[1] not in self.evidence, number, f"{mark[1]} is marked twice")
            self.evidence[mark[1]] = mark[2]
        at = self.at.replace(minute=(self.at.minute + self.minute) % 60)
        self.turns.append(Said(at, self.session, guest, _MARK.sub(r"\2", text), answer))
        self.open, self.minute = None, self.minute + 2

    def _question(self, line: str, number: int) -> Question:
        kind, named, text = (part.strip() for part in line.split("|"))
        names = named.split()
        missing = [name for name in names if name.lstrip("!") not in self.evidence]
        self._expect(kind in KINDS and not missing, number, f"no such kind or evidence: {kind} {missing}")
        return Question(
            kind,
            text,
            tuple(name for name in names if not name.startswith("!")),
            tuple(name[1:] for name in names if name.startswith("!")),
        )

    def _expect(self, true: bool, number: int, what: str) -> None:  # noqa: FBT001
        if not true:
            raise ConversationError(f"{self.name}:{number}: {what}")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.strip()).replace(tzinfo=UTC)


def shown_at(block: str, words: str) -> int:
    """Where a text shows these words, -1 = nowhere; case, white space and the day put behind "on Friday" do not matter."""
    return _plain(block).find(_plain(words))


def _plain(text: str) -> str:
    return " ".join(_DAY.sub("", text).casefold().split())


def asked(conversations: Iterable[Conversation]) -> Iterator[tuple[Conversation, Question]]:
    """Every question with its conversation."""
    return ((conversation, question) for conversation in conversations for question in conversation.questions)
