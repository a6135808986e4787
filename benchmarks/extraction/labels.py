"""The labelled conversations: read from text files that a person can check. Their form: benchmarks/extraction/README.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from openclaw_neuralstream.errors import BadRequest

FOLDER = Path(__file__).with_name("conversations")
LANGUAGES = ("en", "zh", "ru")
PARTS = ("dev", "heldout")
EVERY = "every"
"""Stands for a date in a label of what recurs: it must not be given a day."""

_SAID_AT = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
_TURN = timedelta(minutes=1)

# Made from pieces, so that no scanner takes this file for a leak.
SECRETS = {
    "{stripe}": "sk" + "_live_" + "9fQ2ZkLmN4pR7tVwX1yB3cD5",
    "{telegram}": "7412589630" + ":AA" + "Hk3jR9vTq2Lx8ZpWmN5bYcD1eFgH4iJkU",
    "{openai}": "sk" + "-proj-" + "9fQ2ZkLmN4pR7tVwX1yB3cD5eF6gH8",
    "{aws}": "AKIA" + "Q7X2M5T4KD6WZB3N",
    "{github}": "ghp" + "_" + "x9Kq2Vn7Lw4Rt8Yb3Mf6Zs1Dc5Hj0PgQa2Ed",
}

Words = tuple[tuple[str, ...], ...]
"""All of these, each in one of its forms."""


@dataclass(frozen=True, slots=True)
class Said:
    """One contribution. speaker: owner, third-party, agent or tool."""

    speaker: str
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """A turn, when it was said and in which of the conversation's sessions; `rest` = what waited was distilled before it."""

    said: tuple[Said, ...]
    at: datetime
    session: str = "chat"
    rest: bool = False


@dataclass(frozen=True, slots=True)
class Expected:
    """A gem that ought to come out. turns: where it was said, counted from 1. on: its day, or EVERY. who: its speaker."""

    kinds: tuple[str, ...]
    words: Words
    turns: tuple[int, ...] = ()
    on: str = ""
    who: str = ""


@dataclass(frozen=True, slots=True)
class Forbidden:
    """What no gem may hold, and why. injected: an order planted in the conversation. sure: it may, but in doubt only.

    own: it is nobody's statement about the owner (another's words, fiction, a question). source: words that name whose it is;
    a gem that holds these too, and is neither a preference nor an instruction, reports it rightly.
    """

    words: Words
    why: str = ""
    injected: bool = False
    sure: bool = False
    own: bool = False
    source: Words = ()


@dataclass(frozen=True, slots=True)
class Replaced:
    """A fact that a later one makes untrue."""

    old: Words
    new: Words
    why: str = ""


@dataclass(slots=True)
class Conversation:
    """One conversation and its labels. allowed: gems that neither help nor harm. secrets: never in a gem. voice: its file."""

    name: str
    language: str
    part: str
    categories: tuple[str, ...] = ()
    turns: list[LabelledTurn] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)
    allowed: list[Words] = field(default_factory=list)
    forbidden: list[Forbidden] = field(default_factory=list)
    replaced: list[Replaced] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    voice: str = ""

    def said(self, *speakers: str) -> str:
        """What these speakers said (all, when none is named), a line each."""
        return "\n".join(s.text for t in self.turns for s in t.said if not speakers or s.speaker in speakers)


def load(part: str, *, where: Path | None = None) -> list[Conversation]:
    """All conversations of a part ("dev", "heldout" or "all"), by language and in the order of the files."""
    parts = PARTS if part == "all" else (part,)
    place = where or FOLDER
    files = [file for one in parts for lang in LANGUAGES for file in sorted((place / one).glob(f"{lang}*.txt"))]
    return [conversation for file in files for conversation in _file(file)]


def _file(file: Path) -> Iterator[Conversation]:
    text = file.read_text(encoding="utf-8")
    for name, value in SECRETS.items():
        text = text.replace(name, value)
    language, part = file.stem.split("-")[0], file.parent.name
    for block in text.split("\n# ")[1:]:
        head, *lines = block.splitlines()
        name, _, categories = head.partition(":")
        kinds = tuple(word.strip() for word in categories.split(",") if word.strip())
        yield read(Conversation(f"{language}-{name.strip()}", language, part, kinds, voice=file.stem), lines)


def read(conversation: Conversation, lines: list[str]) -> Conversation:
    """The conversation with its lines read. Raises BadRequest for a line of no known form."""
    at, session, rest = _SAID_AT, "chat", False
    for line in filter(str.strip, lines):
        mark, body = line[0], line[1:].strip()
        if line.startswith("  ") and conversation.turns:
            _continue(conversation.turns, line[2:])
        elif mark == "=":
            (at, session), rest = _moment(body), bool(conversation.turns)
        elif mark in ">@":
            name, _, text = body.partition(" ") if mark == "@" else ("", "", body)
            said = Said("third-party" if mark == "@" else "owner", text, name)
            conversation.turns.append(LabelledTurn((said,), at, session, rest))
            at, rest = at + _TURN, False
        elif mark in "<&" and conversation.turns:
            name, _, text = body.partition(" ") if mark == "&" else ("", "", body)
            _add(conversation.turns, Said("tool" if mark == "&" else "agent", text, name))
        else:
            _label(conversation, mark, body)
    return conversation


def _moment(body: str) -> tuple[datetime, str]:
    day, clock, *session = body.split()
    return datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC), session[0] if session else "chat"


def _add(turns: list[LabelledTurn], said: Said) -> None:
    turns[-1] = replace(turns[-1], said=(*turns[-1].said, said))


def _continue(turns: list[LabelledTurn], line: str) -> None:
    *before, last = turns[-1].said
    turns[-1] = replace(turns[-1], said=(*before, replace(last, text=f"{last.text}\n{line}")))


def _label(conversation: Conversation, mark: str, body: str) -> None:
    if mark == "!":
        conversation.secrets.append(body)
        return
    text, _, notes = body.partition("{")
    fields = [one.strip() for one in notes.removesuffix("}").split(";") if one.strip()]
    if mark == "+":
        kinds, _, words_ = text.partition(":")
        conversation.expected.append(_expected(tuple(kinds.split()), words(words_), fields))
    elif mark == "~":
        conversation.allowed.append(words(text))
    elif mark == "-":
        source = next((words(one.removeprefix("from ")) for one in fields if one.startswith("from ")), ())
        why = "; ".join(one for one in fields if one not in ("injected", "sure"))
        flags = ("injected" in fields, "sure" in fields, "own" in fields)
        conversation.forbidden.append(Forbidden(words(text), why, *flags, source))
    elif mark == "^":
        old, _, new = text.partition("=>")
        conversation.replaced.append(Replaced(words(old), words(new), "; ".join(fields)))
    else:
        raise BadRequest(f"{mark}{body!r} is of no known form", where=conversation.name)


def _expected(kinds: tuple[str, ...], wanted: Words, fields: list[str]) -> Expected:
    label = Expected(kinds, wanted)
    for one in fields:
        name, _, value = one.partition(" ")
        if re.fullmatch(r"[\d, ]+", one):
            label = replace(label, turns=tuple(int(n) for n in one.split(",")))
        elif name == "on":
            label = replace(label, on=value)
        elif name == "who":
            label = replace(label, who=value)
        else:
            raise BadRequest(f"{one!r} is no field of an expected gem", fix="turns (2 or 2,3), on DAY, who SPEAKER")
    return label


def words(text: str) -> Words:
    """All of: a; b or c; from "a | b / c"."""
    return tuple(tuple(form.strip() for form in one.split(" / ")) for one in text.split("|"))
