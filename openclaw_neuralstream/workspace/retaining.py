"""Retain for the user: one sentence into today's log, in the right form, whatever else is being written there."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from filelock import FileLock, Timeout

from openclaw_neuralstream.errors import BadRequest, NotFound, StateBusy, StateError
from openclaw_neuralstream.model import FactKind, cited
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.workspace import daily, writing
from openclaw_neuralstream.workspace.markdown import day_in_name
from openclaw_neuralstream.workspace.parse import render_fact

_TRIES = 20
_LOCK_SECONDS = 20.0
MOST_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Retained:
    """What was written. path: of the log in the workspace. added: False when the log said it already."""

    path: str
    line: int
    bullet: str
    added: bool
    redacted: bool

    @property
    def citation(self) -> str:
        """Where it stands."""
        return cited(self.path, self.line, self.line)


@dataclass(frozen=True, slots=True)
class Sentence:
    """What somebody wants kept; what is not given is read from the text, or guessed."""

    text: str
    kind: FactKind | None = None
    confidence: float | None = None
    entities: tuple[str, ...] = ()


def today(now: datetime, zone: str) -> date:
    """The day it is for the user; zone "" = this machine's."""
    return now.astimezone(ZoneInfo(zone) if zone else None).date()


def retain(root: Path, lock: Path, sentence: Sentence, day: date, *, dry_run: bool = False) -> Retained:
    """Append it to the log of the day, secrets taken out. lock: keeps two of our own processes from each other.

    An editor that writes into the log at the same time loses nothing: at the end of the file the bullet is appended
    with one write; inside of it the file is replaced only while it is as it was read.
    Raises BadRequest (nothing to keep), NotFound (no workspace), StateBusy, and writing.FileRefused.
    """
    if len(sentence.text) > MOST_CHARS:
        raise BadRequest(
            f"a fact is at most {MOST_CHARS} characters", where="text", fix="keep a long text in a file of its own"
        )
    if not root.is_dir():
        raise NotFound("the workspace is not there", where=str(root), fix="neuralstream config set workspace /folder")
    clean = redact(sentence.text)
    bullet = daily.bullet_of(
        clean.text, kind=sentence.kind, confidence=sentence.confidence, entities=_clean(sentence.entities)
    )
    if bullet is None:
        raise BadRequest(
            "there is nothing to keep", where="text", fix='neuralstream retain "O(c=0.9) @Peter: prefers short replies"'
        )
    if bullet.wrong:
        raise BadRequest(bullet.wrong, where="text", fix="give it from 0 to 1: O(c=0.9) @Peter: prefers short replies")
    line = render_fact(bullet)
    with _alone(lock):
        path, placed = _written(root, line, day, dry_run=dry_run)
    return Retained(path, placed.line, line, placed.added, clean.text != sentence.text)


def _clean(names: Sequence[str]) -> list[str]:
    return [redact(" ".join(name.split()).lstrip("@")).text for name in names if name.strip("@ ")]


def _written(root: Path, bullet: str, day: date, *, dry_run: bool) -> tuple[str, daily.Placed]:
    path = daily.path_of(day, lambda path: (root / path).is_file(), daily_folder=_keeps_daily_folder(root))
    place = writing.Place(root, path)
    for attempt in range(_TRIES):
        before = writing.read(place)
        if before is not None and (b"\0" in before[:1000]):
            raise BadRequest("the log is not UTF-8 text", where=str(place.file), fix="save it as UTF-8")
        placed = daily.with_bullet(before, bullet, day)
        if dry_run or not placed.added:
            return path, placed
        try:
            _put(place, before, placed.data)
        except writing.FileChanged:
            time.sleep(0.005 * (attempt + 1))  # somebody writes in it: read it again
        else:
            return path, placed
    raise StateBusy("the log is being written all the time", where=str(place.file), fix="try again")


def _put(place: writing.Place, before: bytes | None, after: bytes) -> None:
    if before is not None and after.startswith(before):
        _append(place, before, after[len(before) :])
    else:
        writing.write(place, after, read_as=before)


def _append(place: writing.Place, before: bytes, tail: bytes) -> None:
    """One write to the end of the file: what others write meanwhile stays."""
    try:
        descriptor = os.open(place.file, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        try:
            if os.fstat(descriptor).st_size != len(before):
                raise writing.FileChanged("the file has newer changes", where=str(place.file))
            written = os.write(descriptor, tail)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        fix = "make room on its disk, or give your user write access to it"
        raise StateError(
            f"the log cannot be written: {error.strerror or error}", where=str(place.file), fix=fix
        ) from error
    if written != len(tail):
        raise StateError(
            "the disk is full: the bullet was cut", where=str(place.file), fix="make room, then mend its last line"
        )


def _keeps_daily_folder(root: Path) -> bool:
    """Whether the logs of this workspace lie in memory/daily/."""
    return not _has_logs(root / "memory") and _has_logs(root / "memory" / "daily")


def _has_logs(folder: Path) -> bool:
    try:
        return any(day_in_name(entry.name) for entry in os.scandir(folder) if entry.is_file())
    except OSError:
        return False


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Our own processes one after another."""
    try:
        with FileLock(lock, mode=0o600).acquire(timeout=_LOCK_SECONDS):
            yield
    except Timeout as error:
        raise StateBusy("another process writes into the log", where=str(lock), fix="try again") from error
