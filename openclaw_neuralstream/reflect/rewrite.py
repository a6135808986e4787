"""A file's bytes and a generated text to the file's next bytes: only the fence changes, and never what a hand has changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from openclaw_neuralstream.fences import BOM, fenced, named, newline_of
from openclaw_neuralstream.patterns import lazy

OFF = b"<!-- neuralstream:off -->"
"""A person's word in a file: write nothing here."""


class Verdict(StrEnum):
    """What becomes of a file."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REMOVED = "removed"  # nothing is known any more: the fence goes, and with it a page that held nothing else
    BY_HAND = "changed by hand"  # the fence was edited: a proposal instead
    UNCLEAR = "several fences of one name"
    OFF = "switched off in the file"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """before: the bytes that were read, None where there is no file. after: what they should become; gone: no file."""

    verdict: Verdict
    before: bytes | None
    after: bytes
    gone: bool = False


def rewrite(before: bytes | None, name: str, body: str, *, head: str = "") -> Rewrite:
    """The file with the fence `name` holding `body`; a new file begins with `head`. Total.

    A file without this fence gets it at its end, behind a blank line. Every byte outside the fence stays as it is.
    """
    if before is None:
        start = f"{head.rstrip()}\n\n" if head.strip() else ""
        return Rewrite(Verdict.CREATED, None, start.encode("utf-8", "replace") + fenced(name, body))
    if OFF in before:
        return Rewrite(Verdict.OFF, before, before)
    newline = newline_of(before)
    made = fenced(name, body, newline)
    found = named(before, name)
    if len(found) > 1:
        return Rewrite(Verdict.UNCLEAR, before, before)
    if not found:
        return Rewrite(Verdict.UPDATED, before, before + _gap(before, newline.encode()) + made)
    (fence,) = found
    closed = before[fence.start : fence.end].endswith((b"\n", b"\r"))
    after = before[: fence.start] + (made if closed else made.removesuffix(newline.encode())) + before[fence.end :]
    if _same(before[fence.start : fence.end], made):
        return Rewrite(Verdict.UNCHANGED, before, before)
    return Rewrite(Verdict.BY_HAND if fence.touched else Verdict.UPDATED, before, after)


def removed(before: bytes | None, name: str) -> Rewrite:
    """The file without the fence `name`; no file where nothing but the heading that we gave it is left. Total."""
    data = before or b""
    found = named(data, name)
    if not found:
        return Rewrite(Verdict.UNCHANGED, before, data)
    if OFF in data or len(found) > 1:
        return Rewrite(Verdict.OFF if OFF in data else Verdict.UNCLEAR, before, data)
    (fence,) = found
    above, below = data[: fence.start], data[fence.end :]
    blank = _BLANK_LINE.search(above) if not below.strip() else None
    after = (above[: blank.start()] if blank else above) + below
    verdict = Verdict.BY_HAND if fence.touched else Verdict.REMOVED
    return Rewrite(verdict, before, after, gone=_HEADING.fullmatch(after.removeprefix(BOM)) is not None)


_BLANK_LINE = lazy(rb"(?<=\n)\r?\n\Z")
_HEADING = lazy(rb"(?:# [^\r\n]*)?\s*")


def outside(data: bytes, name: str) -> bytes:
    """What stands in the file besides this fence: a person's own text."""
    kept, start = b"", 0
    for fence in named(data, name):
        kept += data[start : fence.start]
        start = fence.end
    return (kept + data[start:]).removeprefix(BOM)


def appended(before: bytes, text: str) -> bytes:
    """The file with this text behind a blank line at its end; its own bytes stay as they are."""
    newline = newline_of(before)
    made = "\n".join(text.strip("\n").splitlines()) + "\n"
    return before + _gap(before, newline.encode()) + made.replace("\n", newline).encode("utf-8", "replace")


def _gap(before: bytes, newline: bytes) -> bytes:
    if not before.removeprefix(BOM).strip():
        return b"" if before.endswith(b"\n") or not before.removeprefix(BOM) else newline
    if before.endswith(newline * 2):
        return b""
    return newline if before.endswith(b"\n") else newline * 2


def _same(one: bytes, other: bytes) -> bool:
    return one.replace(b"\r\n", b"\n").rstrip() == other.replace(b"\r\n", b"\n").rstrip()
