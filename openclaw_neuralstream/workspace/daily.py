"""Today's log: which file it is, a sentence as a Retain bullet, and where in the file that bullet goes. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from openclaw_neuralstream.model import FactKind
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.fences import BOM, generated_lines, is_generated, newline_of
from openclaw_neuralstream.workspace import markdown, parse
from openclaw_neuralstream.workspace.parse import RETAIN_HEADINGS, Bullet

HEADING = "## Retain"
FOLDERS = ("memory", "memory/daily")

_TITLE = lazy(rb"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_CODE = lazy(rb"^ {0,3}(```+|~~~+)")
_LEAD = lazy(r"^\s*(?:[-*+•]\s+)?")
_EMPTY = lazy(r"(?:[WBOSВО](?:\s*[(（][^)）]*[)）])?)?\s*(?:[@＠][^\s:：]+\s*)*[:：]?")  # a bullet that says nothing
_OPINION = lazy(
    r"\b(prefers?|likes?|loves?|hates?|dislikes?|believes?|thinks?|wants?|finds|favou?rite)\b"
    r"|\b(предпочита\w+|люб(?:ит|лю|ят)|не\s+любит|нравится|нравятся|счита(?:ет|ю|ют)|хочет|ненавидит|терпеть)\b"
    r"|喜欢|喜歡|偏好|更愿意|讨厌|討厭|认为|認為|觉得|覺得|想要|希望",
    re.IGNORECASE,
)
_OWN_DEED = lazy(
    r"^(i|we)\b(?!\W*(prefer|like|love|hate|believe|think|want))|^(я|мы)\b|^我们?(?!喜欢|偏好|觉得|认为)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Placed:
    """A file with its new bullet. line: where it stands (from 1). added: False when the file said it already."""

    data: bytes
    line: int
    added: bool = True


def bullet_of(
    text: str,
    *,
    kind: FactKind | None = None,
    confidence: float | None = None,
    entities: Sequence[str] = (),
) -> Bullet | None:
    """A sentence as a typed bullet; what is given counts before what the text says, what neither says is guessed.

    text: in the form of a bullet ("O(c=0.9) @Peter: …"), or a plain sentence. None when it says nothing.
    """
    plain = " ".join(_LEAD.sub("", text, count=1).split())
    if not any(char.isalnum() for char in plain) or _EMPTY.fullmatch(plain):
        return None
    said = parse.read([f"- {plain}"]) or parse.read([f"- {plain}"], kind=guessed(plain))
    if said is None:
        return None
    meant = kind or said.kind
    sure = confidence if confidence is not None else said.confidence
    names = markdown.unique((*entities, *said.entities))
    return replace(said, kind=meant, confidence=sure if meant is FactKind.OPINION else None, entities=names)


def guessed(text: str) -> FactKind:
    """What a plain sentence is: a judgement, the writer's own deed, or a fact of the world."""
    if _OWN_DEED.search(text):
        return FactKind.EXPERIENCE
    return FactKind.OPINION if _OPINION.search(text) else FactKind.WORLD


def path_of(day: date, exists: Callable[[str], bool], *, daily_folder: bool) -> str:
    """The log of a day: the one there is, else a new one where this workspace keeps its logs."""
    for folder in FOLDERS:
        if exists(f"{folder}/{day}.md"):
            return f"{folder}/{day}.md"
    return f"{FOLDERS[daily_folder]}/{day}.md"


def with_bullet(data: bytes | None, bullet: str, day: date) -> Placed:
    """The log with this bullet at the end of its Retain section, which is made at the end where there is none.

    Every other byte stays, line breaks included. data: None where there is no log yet.
    """
    if not data or not data.removeprefix(BOM).strip():
        head = (data or b"") + f"# {day}\n\n{HEADING}\n".encode()
        return Placed(head + _bytes(bullet, "\n"), len(head.splitlines()) + 1)
    newline = newline_of(data)
    lines = data.splitlines(keepends=True)
    own = _bytes(bullet, newline)
    if known := _standing(lines, own):
        return Placed(data, known, added=False)
    section = _section(lines, generated_lines(data))
    if section is None:
        gap = "" if data.endswith((b"\n\n", b"\r\n\r\n")) else newline
        before = data + _ending(data, newline) + f"{gap}{HEADING}{newline}".encode()
        return Placed(before + own, len(before.splitlines()) + 1)
    end = _last_said(lines, *section)
    before = b"".join(lines[:end])
    before += _ending(before, newline)
    return Placed(before + own + b"".join(lines[end:]), end + 1)


def _bytes(bullet: str, newline: str) -> bytes:
    return (bullet + "\n").replace("\n", newline).encode("utf-8", "replace")


def _ending(data: bytes, newline: str) -> bytes:
    return b"" if data.endswith((b"\n", b"\r")) else newline.encode()


def _standing(lines: Sequence[bytes], own: bytes) -> int:
    """The line on which this bullet stands already, 0 when it does not."""
    first = own.splitlines()[0].rstrip()
    return next((number for number, line in enumerate(lines, 1) if line.rstrip() == first), 0)


def _section(lines: Sequence[bytes], generated: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """First line below the last Retain heading, and the line that ends its section (both from 0)."""
    found: tuple[int, int] | None = None
    level, code = 0, b""
    for number, line in enumerate(lines):
        fence = _CODE.match(line)
        if fence and (not code or fence[1].startswith(code)):
            code = b"" if code else fence[1][:3]
        title = None if code or is_generated(number + 1, generated) else _TITLE.match(line.rstrip(b"\r\n"))
        if title is None:
            continue
        if found and found[1] == len(lines) and len(title[1]) <= level:
            found = found[0], number
        if _names_retain(title[2]):
            found, level = (number + 1, len(lines)), len(title[1])
    return found


def _names_retain(title: bytes) -> bool:
    return title.decode("utf-8", "replace").casefold().strip(" :：") in RETAIN_HEADINGS


def _last_said(lines: Sequence[bytes], start: int, end: int) -> int:
    """Behind the last line of the section that is not blank."""
    while end > start and not lines[end - 1].strip():
        end -= 1
    return end
