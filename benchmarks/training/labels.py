"""The labelled messages and dialogues: `+` memory could help, `-` it cannot; a message a line, dialogues parted by blank lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MESSAGES = Path(__file__).parent / "messages"
DIALOGUES = Path(__file__).parent / "dialogues"
STATEMENTS = Path(__file__).parent / "statements"


@dataclass(frozen=True, slots=True)
class Message:
    """A labelled message: whether memory could help with it."""

    text: str
    needs: bool
    language: str


@dataclass(frozen=True, slots=True)
class Talk:
    """A dialogue, and its last message with its label."""

    before: tuple[str, ...]
    last: Message


def dialogues() -> list[Talk]:
    """The labelled dialogues."""
    found = []
    for file in sorted(DIALOGUES.glob("*.txt")):
        for block in file.read_text(encoding="utf-8").strip().split("\n\n"):
            *before, last = block.strip().splitlines()
            message = Message(last[3:].strip(), last[0] == "+", file.stem)
            found.append(Talk(tuple(line[3:].strip() for line in before), message))
    return found


def statements() -> list[tuple[str, bool]]:
    """Messages of messages/train that need memory, and whether each tells something of its author; the others ask or order."""
    lines = [
        line for file in sorted(STATEMENTS.glob("*.txt")) for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return [(line[2:].strip(), line[0] == "=") for line in lines if line[:2] in ("= ", "? ")]


def messages(part: str) -> list[Message]:
    """The labelled messages of a part (train, dev, heldout)."""
    return [
        Message(line[2:].strip(), line[0] == "+", file.name[:2])
        for file in sorted((MESSAGES / part).glob("*.txt"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if line[:2] in ("- ", "+ ")
    ]


def plain(part: str) -> list[tuple[str, str]]:
    """Short statements written with care (part: train, heldout), each with its kind, "" for what is nothing to keep."""
    folder = Path(__file__).parent / "plain"
    lines = [
        line.split("\t")
        for file in sorted((folder if part == "train" else folder / part).glob("*.txt"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return [(text, "" if kind == "-" else kind) for kind, text in lines]


def frames() -> list[tuple[str, str, str]]:
    """What words beside a statement make of it: language, place (as the head of frames.txt says), words."""
    lines = (Path(__file__).parent / "frames.txt").read_text(encoding="utf-8").splitlines()
    return [
        (language, place, text) for language, place, text in (line.split(" ", 2) for line in lines if line[0] != "#")
    ]
