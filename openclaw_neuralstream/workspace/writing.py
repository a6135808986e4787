"""Generated parts rewritten in place, or proposed where a person has changed them."""

from __future__ import annotations

import base64
import difflib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream.errors import NeuralStreamError, NotFound
from openclaw_neuralstream.model import (
    Batch,
    Draft,
    Fact,
    FactKind,
    Kind,
    Origin,
    Scope,
    Session,
    Turn,
    Utterance,
    digest,
)
from openclaw_neuralstream.patterns import WHOLE, lazy
from openclaw_neuralstream.ports import Reading
from openclaw_neuralstream.state import runs, write_private
from openclaw_neuralstream.text.fences import BOM, fenced, generated_lines, is_generated, named, newline_of
from openclaw_neuralstream.text.lexicon import content_terms, sentences
from openclaw_neuralstream.workspace.opinions import likes
from openclaw_neuralstream.workspace.pages import plain

SUFFIX = ".neuralstream-tmp"
"""Ends the name of every temporary file beside the user's; the watcher leaves them alone."""


class FileChanged(NeuralStreamError):
    """The file is not as it was read: somebody writes in it. Nothing was written; plan again."""

    code = "file-changed"


class FileRefused(NeuralStreamError):
    """The file cannot or must not be written: a link out of the workspace, read-only, a full disk."""

    code = "file-refused"


@dataclass(frozen=True, slots=True)
class Place:
    """A file in a workspace. path: relative, with "/"."""

    root: Path
    path: str

    @property
    def file(self) -> Path:
        """Where it is."""
        return self.root / self.path


def read(place: Place) -> bytes | None:
    """The file's bytes, None where there is none. Raises FileRefused for a link that leads out of the workspace."""
    target = _target(place)
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileRefused(f"cannot be read: {error.strerror or error}", where=str(place.file)) from error


def write(place: Place, after: bytes, *, read_as: bytes | None) -> None:
    """Make the file `after` if it still is what was read (`read_as`; None: there was none).

    Raises FileChanged when it is not, FileRefused when it cannot be written; the file is then untouched. A workspace that
    is not there is not made: a path with a typo is no place for a memory.
    """
    target = _target(place)
    if not place.root.is_dir():
        raise FileRefused(
            "the workspace is not there",
            where=str(place.root),
            fix="make the folder, or give another one: neuralstream config set workspace PATH",
        )
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _protected(target, place)
        beside = target.with_name(f".{target.name[:80]}.{os.getpid()}{SUFFIX}")
        try:
            _fill(beside, after, like=target)
            _put(beside, target, place, read_as)
        finally:
            beside.unlink(missing_ok=True)
        _settle(target.parent)
    except OSError as error:
        raise FileRefused(
            f"cannot be written: {error.strerror or error}", where=str(place.file), fix="make room, or make it writable"
        ) from error


def remove(place: Place, *, read_as: bytes) -> None:
    """Delete the file if it still is what was read. Raises FileChanged when it is not, FileRefused when it must not be."""
    target = _target(place)
    try:
        _protected(target, place)
        if place.file.is_symlink():
            raise FileRefused("a link is not removed", where=str(place.file))
        if target.read_bytes() != read_as:
            raise FileChanged("the file has newer changes", where=str(place.file))
        target.unlink()
        _settle(target.parent)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FileRefused(f"cannot be removed: {error.strerror or error}", where=str(place.file)) from error


def sweep(folder: Path) -> int:
    """Remove what a killed process of ours left beside the files of this folder; returns how many."""
    removed = 0
    with suppress(OSError):
        for left in folder.glob(f".*{SUFFIX}"):
            pid = left.name.removesuffix(SUFFIX).rpartition(".")[2]
            if pid.isdigit() and int(pid) != os.getpid() and not runs(int(pid)):
                left.unlink(missing_ok=True)
                removed += 1
    return removed


def _put(beside: Path, target: Path, place: Place, read_as: bytes | None) -> None:
    if read_as is None:
        try:
            os.link(beside, target)  # unlike a rename it never replaces what came meanwhile
        except FileExistsError as error:
            raise FileChanged("the file has come into being meanwhile", where=str(place.file)) from error
        return
    try:
        now = target.read_bytes()
    except FileNotFoundError as error:
        raise FileChanged("the file is gone", where=str(place.file)) from error
    if now != read_as:
        raise FileChanged("the file has newer changes", where=str(place.file))
    beside.replace(target)


def _fill(beside: Path, data: bytes, *, like: Path) -> None:
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        with suppress(FileNotFoundError):
            before = like.stat()
            os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                with suppress(PermissionError):
                    os.fchown(file.fileno(), before.st_uid, before.st_gid)
        file.flush()
        os.fsync(file.fileno())


def _target(place: Place) -> Path:
    """The file itself, links resolved. Raises FileRefused when it lies outside of the workspace."""
    root = place.root.resolve()
    try:
        target = place.file.resolve()
    except (OSError, RuntimeError) as error:
        raise FileRefused("the link leads nowhere", where=str(place.file)) from error
    if not target.is_relative_to(root) or target == root:
        raise FileRefused("a link leads out of the workspace", where=str(place.file), fix="replace the link by a file")
    return target


def _protected(target: Path, place: Place) -> None:
    """A file that its owner made read-only stays as it is, although a rename could replace it."""
    with suppress(FileNotFoundError):
        mode = target.stat().st_mode
        if not stat.S_ISREG(mode):
            raise FileRefused("not a plain file", where=str(place.file))
        if not mode & stat.S_IWUSR:
            raise FileRefused("the file is read-only", where=str(place.file), fix=f"chmod u+w {place.path}")


def _settle(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


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


LEAST, MOST = 2, 5
"""A Retain section has two to five bullets."""

_DAILY = lazy(r"memory/(?:daily/)?(\d{4})-(\d{2})-(\d{2})[^/]*\.(?:md|markdown)", re.IGNORECASE)
_BREAK = lazy("\r\n|\n|\r")  # as lines are counted everywhere
_ITEM = lazy(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_FRONT = lazy(r"\A\ufeff?---\r?\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE, window=WHOLE)
_CODE = lazy(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_MOST_NAMES = 4
_ENOUGH = 3  # bullets from which the extractor's word is enough
_SHORTEST, _LONGEST = 3, 300  # content terms, characters
_ALIKE = 0.6
_NUMBER = lazy(r"\d")

Names = Callable[[str], tuple[str, ...]]
Guess = Callable[[str], FactKind]
_READ = 200_000  # characters of a log


def day_of(path: str) -> date | None:
    """The day of a daily log, None for any other file."""
    match = _DAILY.fullmatch(path)
    try:
        return date(*map(int, match.groups())) if match else None
    except ValueError:
        return None


def reading(path: str, data: bytes, day: date, agent: str) -> Reading:
    """The log as an extractor reads it: each paragraph or bullet outside of code and fences is a turn."""
    session = Session(agent, f"log:{path}", path)
    at = datetime.combine(day, time(12), UTC)
    turns = tuple(
        Turn(
            digest(path, str(number), text),
            Scope(agent),
            session,
            at + timedelta(seconds=number),
            (Utterance("owner", Origin.OWNER, text, at),),
            index=number,
        )
        for number, text in enumerate(paragraphs(data), 1)
    )
    return Reading(Batch(digest(path, "retain"), session, turns, "", at))


def paragraphs(data: bytes) -> list[str]:
    """What a log says in words: its bullets and paragraphs, without headings, code, frontmatter and generated parts."""
    ranges = generated_lines(data)
    lines = _BREAK.split(data.decode("utf-8", "replace")[:_READ])
    own = "\n".join("" if is_generated(number, ranges) else line for number, line in enumerate(lines, 1))
    text = _CODE.sub("\n", _FRONT.sub("", own))
    found: list[list[str]] = [[]]
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith(("#", "|", ">", "<!--")):
            found.append([])
        elif _ITEM.match(line):
            found.append([_ITEM.sub("", line).strip()])
        else:
            found[-1].append(line.strip())
    return [" ".join(parts) for parts in found if parts]


def retain_section(drafts: Sequence[Draft], path: str, render: Callable[[Fact], str], guessed: Guess) -> str:
    """The section proposed: the two to five weightiest, in the order of the log; "" when there are fewer than two.

    render: a fact as its bullet. guessed: what a sentence is: a fact of the world, the agent's own deed, a judgement.
    """
    unlike = list({" ".join(draft.content.casefold().split()): draft for draft in drafts}.values())
    best = sorted(unlike, key=lambda draft: -draft.importance)[:MOST]
    kept = [draft for draft in unlike if draft in best]
    return (
        "\n".join(["## Retain", *(render(fact_of(draft, path, guessed)) for draft in kept)])
        if len(kept) >= LEAST
        else ""
    )


def complemented(drafts: Sequence[Draft], path: str, data: bytes, names: Names) -> list[Draft]:
    """The drafts, and where they are few the most telling sentences of the log beside them: somebody will look at them.

    names: whom and what a sentence names. A sentence needs a name, a number or a word of liking, and some length.
    """
    found = [replace(one, entities=one.entities or names(one.content)) for one in drafts]
    said = [sentence for text in paragraphs(data) for sentence in sentences(text)]
    for sentence in sorted(said, key=lambda one: -_telling(one, names)):
        if len(found) >= _ENOUGH or _telling(sentence, names) == 0:
            break
        if not any(_logs_same(sentence, draft.content) for draft in found):
            kind = Kind.PREFERENCE if likes(sentence) else Kind.EVENT
            found.append(Draft(sentence, "", kind, (path,), importance=0.3, confidence=0.7, entities=names(sentence)))
    return sorted(found, key=lambda draft: _place(draft.content, said))


def _telling(sentence: str, names: Names) -> int:
    length = len(set(content_terms(sentence)))
    if length < _SHORTEST or len(sentence) > _LONGEST or sentence.rstrip().endswith(("?", "？")):
        return 0
    return 2 * len(names(sentence)) + 2 * likes(sentence) + bool(_NUMBER.search(sentence))


def _logs_same(one: str, other: str) -> bool:
    ours, theirs = set(content_terms(one)), set(content_terms(other))
    return bool(ours & theirs) and len(ours & theirs) / min(len(ours), len(theirs)) > _ALIKE


def _place(content: str, said: Sequence[str]) -> int:
    return next((number for number, sentence in enumerate(said) if _logs_same(content, sentence)), len(said))


def fact_of(draft: Draft, path: str, guessed: Guess) -> Fact:
    """A draft as the fact that its bullet will be."""
    kind = FactKind.OPINION if draft.kind is Kind.PREFERENCE else guessed(draft.content)
    sure = round(draft.confidence, 2) if kind is FactKind.OPINION else None
    names = tuple(
        dict.fromkeys(name for entity in draft.entities if (name := plain(entity).replace('"', "").strip("@ ")))
    )
    return Fact("", kind, plain(draft.content), names[:_MOST_NAMES], path, 0, 0, confidence=sure)


log = structlog.get_logger(__name__)

_REJECTED, _ACCEPTED = "rejected", "accepted"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One change to one file.

    proposal_id: from path, part and text, so that the same proposal is one. part: the fence, or "retain".
    text: what is proposed for this part. before, after: the file's bytes; before is None where there is no file.
    """

    proposal_id: str
    path: str
    part: str
    text: str
    reason: str
    before: bytes | None
    after: bytes
    made: datetime

    @property
    def diff(self) -> str:
        """The change as a unified diff; bytes that are no UTF-8 are shown as �."""
        before = (self.before or b"").decode("utf-8", "replace").splitlines()
        after = self.after.decode("utf-8", "replace").splitlines()
        old = f"a/{self.path}" if self.before is not None else "/dev/null"
        return "\n".join(difflib.unified_diff(before, after, old, f"b/{self.path}", lineterm="", n=2))


def proposal(
    path: str, part: str, text: str, reason: str, *, before: bytes | None, after: bytes, made: datetime
) -> Proposal:
    """A proposal with the id that its path, part and text give."""
    return Proposal(digest(path, part, text, size=6), path, part, text, reason, before, after, made)


class Book:
    """The proposals of one workspace, one owner-only file each; those decided on are kept apart and never made again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def waiting(self) -> list[Proposal]:
        """Those that wait for a decision, by path; one that does not read back is left out and logged."""
        return sorted(self._read(self._folder), key=lambda one: (one.path, one.part))

    def find(self, prefix: str) -> Proposal:
        """The proposal whose id begins so. Raises NotFound."""
        found = [one for one in self.waiting() if prefix and one.proposal_id.startswith(prefix)]
        if len(found) != 1:
            what = f"{len(found)} proposals begin with {prefix!r}" if found else f"no proposal {prefix!r}"
            raise NotFound(what, fix="neuralstream proposals list shows the ids")
        return found[0]

    def put(self, one: Proposal) -> bool:
        """Keep it in place of an older one for the same part. False when it was refused once, or waits as it is."""
        if (self._folder / _REJECTED / f"{one.proposal_id}.json").exists():
            return False
        before = [known for known in self._read(self._folder) if (known.path, known.part) == (one.path, one.part)]
        if any(known.proposal_id == one.proposal_id and known.before == one.before for known in before):
            return False
        self._write(self._folder, one)
        for known in before:
            if known.proposal_id != one.proposal_id:
                self._file(known).unlink(missing_ok=True)
        return True

    def refused(self, path: str, part: str) -> bool:
        """Whether a proposal for this part was refused once, whatever it said."""
        return any((one.path, one.part) == (path, part) for one in self._read(self._folder / _REJECTED))

    def drop(self, path: str, part: str) -> None:
        """It has become needless: the file says so already."""
        for known in self._read(self._folder):
            if (known.path, known.part) == (path, part):
                self._file(known).unlink(missing_ok=True)

    def reject(self, one: Proposal) -> None:
        """Put it away; the same text is not proposed for this part again."""
        self._decide(one, _REJECTED)

    def accept(self, one: Proposal) -> None:
        """Put it away as done; what the file said before stays readable there."""
        self._decide(one, _ACCEPTED)

    def _decide(self, one: Proposal, how: str) -> None:
        self._write(self._folder / how, one)
        self._file(one).unlink(missing_ok=True)

    def _file(self, one: Proposal) -> Path:
        return self._folder / f"{one.proposal_id}.json"

    def _write(self, folder: Path, one: Proposal) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(folder / f"{one.proposal_id}.json", json.dumps(_to_json(one), ensure_ascii=False) + "\n")

    def _read(self, folder: Path) -> Iterator[Proposal]:
        for file in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            try:
                yield _from_json(json.loads(file.read_text(encoding="utf-8")))
            except (OSError, ValueError, KeyError, TypeError) as error:
                log.warning("proposal.unreadable", error=type(error).__name__)


def _to_json(one: Proposal) -> dict[str, Any]:
    return {
        "proposal_id": one.proposal_id,
        "path": one.path,
        "part": one.part,
        "text": one.text,
        "reason": one.reason,
        "before": None if one.before is None else base64.b64encode(one.before).decode(),
        "after": base64.b64encode(one.after).decode(),
        "made": one.made.isoformat(),
    }


def _from_json(raw: dict[str, Any]) -> Proposal:
    before = raw["before"]
    return Proposal(
        str(raw["proposal_id"]),
        str(raw["path"]),
        str(raw["part"]),
        str(raw["text"]),
        str(raw["reason"]),
        None if before is None else base64.b64decode(before),
        base64.b64decode(raw["after"]),
        datetime.fromisoformat(raw["made"]),
    )
