"""The conversations: sessions of messy talk, and questions asked weeks later; their form is described in README.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.extraction.labels import Words, words

HALVES = ("dev", "heldout")
LANGUAGES = ("en", "zh", "ru")
_FOLDER = Path(__file__).parent / "conversations"


@dataclass(frozen=True, slots=True)
class Turn:
    """What the person said and the agent replied, in which session and when that session began."""

    session: str
    at: datetime
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Question:
    """place: "first" (opens a session) or "deep" (after the talk about something else). wanted: words that answer it."""

    place: str
    at: datetime
    text: str
    wanted: Words


@dataclass(slots=True)
class Conversation:
    """One person. talk: ten turns about something else, (message, reply)."""

    name: str
    language: str
    half: str
    turns: list[Turn] = field(default_factory=list)
    talk: list[tuple[str, str]] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def load(half: str) -> list[Conversation]:
    """All conversations of a half, by language and in the order of the files. Raises ValueError for a line of no known form."""
    return [
        _read(block, language, half)
        for language in LANGUAGES
        for block in (_FOLDER / half / f"{language}.txt").read_text(encoding="utf-8").split("\n# ")
        if block.strip().lstrip("# ")
    ]


def _read(block: str, language: str, half: str) -> Conversation:
    head, *lines = block.strip().lstrip("# ").splitlines()
    found = Conversation(f"{language}-{head.partition(':')[0].strip()}", language, half)
    session, at, said = "", datetime.min.replace(tzinfo=UTC), ""
    for line in filter(str.strip, lines):
        mark, _, body = line.partition(" ")
        if mark == "=":
            day, clock, session = body.split()
            at = _moment(day, clock)
        elif mark in (">", "%"):
            said = body
        elif mark == "<":
            found.turns.append(Turn(session, at, said, body))
        elif mark == "%%":
            found.talk.append((said, body))
        elif mark == "?":
            asked, _, wanted = body.partition("=>")
            place, day, rest = asked.split(" ", 2)
            clock, _, text = rest.partition(": ")
            found.questions.append(Question(place, _moment(day, clock), text.strip(), words(wanted.strip())))
        else:
            raise ValueError(f"{found.name}: {line!r} is of no known form")
    return found


def _moment(day: str, clock: str) -> datetime:
    return datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC)
