"""The labelled conversations: read from text files that a person can check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from openclaw_neuralstream.model import Batch, Origin, Scope, Session, Turn, Utterance
from openclaw_neuralstream.ports import Reading
from openclaw_neuralstream.secrets import redact

FOLDER = Path(__file__).parent / "conversations"
LANGUAGES = ("en", "zh", "ru")
PARTS = ("dev", "heldout")
SAID_AT = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)

# Made from pieces, so that no scanner takes this file for a leak.
SECRETS = {
    "{stripe}": "sk" + "_live_" + "9fQ2ZkLmN4pR7tVwX1yB3cD5",
    "{telegram}": "7412589630" + ":AA" + "Hk3jR9vTq2Lx8ZpWmN5bYcD1eFgH4iJkU",
    "{openai}": "sk" + "-proj-" + "9fQ2ZkLmN4pR7tVwX1yB3cD5eF6gH8",
}


@dataclass(frozen=True)
class Expected:
    """A gem that a good extractor makes: one of these kinds, with all of these words in it."""

    kinds: tuple[str, ...]
    words: tuple[str, ...]


@dataclass
class Conversation:
    """One conversation and its labels.

    allowed: words of gems that neither help nor harm. forbidden: words that no gem may hold. secrets: never in a gem.
    """

    name: str
    language: str
    part: str
    turns: list[list[tuple[str, str, str]]] = field(default_factory=list)
    expected: list[Expected] = field(default_factory=list)
    allowed: list[tuple[str, ...]] = field(default_factory=list)
    forbidden: list[tuple[str, ...]] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)


def load(part: str) -> list[Conversation]:
    """All conversations of a part ("dev", "heldout" or "all"), by language and in the order of the files."""
    parts = PARTS if part == "all" else (part,)
    return [conversation for p in parts for language in LANGUAGES for conversation in _file(language, p)]


def reading(conversation: Conversation) -> Reading:
    """The conversation as one batch, redacted as capture does it."""
    session = Session("main", f"agent:main:{conversation.name}", conversation.name)
    turns = tuple(_turn(said, number, session) for number, said in enumerate(conversation.turns, 1))
    return Reading(Batch(f"batch-{conversation.name}", session, turns, "token", SAID_AT))


def _turn(said: list[tuple[str, str, str]], number: int, session: Session) -> Turn:
    origins = {"owner": Origin.OWNER, "agent": Origin.AGENT, "third-party": Origin.UNTRUSTED}
    utterances = tuple(Utterance(s, origins[s], redact(text).text, SAID_AT, name) for s, text, name in said)
    user = next((name for speaker, _, name in said if speaker == "third-party"), "owner")
    return Turn(f"{session.host_id}-{number}", Scope("main", user), session, SAID_AT, utterances, number)


def _file(language: str, part: str) -> Iterator[Conversation]:
    text = (FOLDER / f"{language}-{part}.txt").read_text(encoding="utf-8")
    for name, value in SECRETS.items():
        text = text.replace(name, value)
    blocks = text.split("\n# ")[1:]
    for block in blocks:
        name, *lines = block.splitlines()
        yield _conversation(Conversation(f"{language}-{name.strip()}", language, part), lines)


def _conversation(conversation: Conversation, lines: list[str]) -> Conversation:
    for line in filter(None, lines):
        mark, rest = line[0], line[1:].strip()
        if mark in ">@":
            name, _, text = rest.partition(" ") if mark == "@" else ("", "", rest)
            conversation.turns.append([("third-party" if mark == "@" else "owner", text, name)])
        elif mark == "<":
            conversation.turns[-1].append(("agent", rest, ""))
        elif mark == "+":
            kinds, _, words = rest.partition(":")
            conversation.expected.append(Expected(tuple(kinds.split()), _words(words)))
        elif mark == "~":
            conversation.allowed.append(_words(rest))
        elif mark == "-":
            conversation.forbidden.append(_words(rest))
        elif mark == "!":
            conversation.secrets.append(rest)
        else:
            message = f"{conversation.name}: {line!r} is of no known form"
            raise ValueError(message)
    return conversation


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip().casefold() for word in text.split("|"))
