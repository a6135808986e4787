"""Bring an index up to what the files say: list, plan, then read and write in small transactions."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from openclaw_neuralstream.model import Document, Known
from openclaw_neuralstream.notes.ignore import Rules
from openclaw_neuralstream.notes.plan import Plan, plan, settled, within
from openclaw_neuralstream.notes.scan import UNREADABLE, Seen, look, scan

BATCH_FILES = 400
BATCH_BYTES = 4_000_000

MOST_BYTES = 8_000_000
"""Bytes above which a file is not indexed, and is named."""

TOO_LARGE = f"larger than {MOST_BYTES // 1_000_000} MB"

Parse = Callable[[str, bytes], Document]


class Shelf(Protocol):
    """What harvesting needs of an index. All verbs raise StateError."""

    def known(self) -> dict[str, Known]:
        """Every indexed path."""

    def replace(self, documents: Sequence[Document], known: Mapping[str, Known]) -> None:
        """Put these documents in the place of what their paths held, in one transaction."""

    def touch(self, known: Mapping[str, Known]) -> None:
        """The files are the same, their time or size is not."""

    def remove(self, paths: Sequence[str]) -> object:
        """Forget these paths."""


class Nothing:
    """A shelf that holds nothing and keeps nothing: what a dry run is held against where there is no index yet."""

    def known(self) -> dict[str, Known]:
        """Not one path."""
        return {}

    def replace(self, documents: Sequence[Document], known: Mapping[str, Known]) -> None:
        """They are not kept."""

    def touch(self, known: Mapping[str, Known]) -> None:
        """Not kept either."""

    def remove(self, paths: Sequence[str]) -> object:
        """There is nothing to remove."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a harvest is: files done of files planned, and the one it is at."""

    done: int
    planned: int
    path: str


@dataclass(slots=True)
class Harvested:
    """What a harvest did, or with dry_run would do; each list is in the order of the paths.

    left_out: path → why it is not indexed. again: paths that changed while they were read; somebody should look again.
    """

    indexed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    same: int = 0
    problems: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    again: set[str] = field(default_factory=set)
    seconds: float = 0.0
    stopped: bool = False

    @property
    def changed(self) -> bool:
        """Whether the index is another one now."""
        return bool(self.indexed or self.removed)


class Harvester:
    """One workspace's files and their index. Not for several threads at once."""

    def __init__(self, root: Path, rules: Rules, shelf: Shelf, parse: Parse, *, most_bytes: int = MOST_BYTES) -> None:
        self._root = root
        self._rules = rules
        self._shelf = shelf
        self._parse = parse
        self._most_bytes = most_bytes
        self._known: dict[str, Known] | None = None  # of the last look at the whole; the index may have other writers

    def harvest(
        self,
        paths: Iterable[str] | None = None,
        *,
        force: bool = False,
        dry_run: bool = False,
        progress: Callable[[Progress], None] = lambda _: None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> Harvested:
        """Index what changed: in the whole workspace, or (something happened to them) in these paths.

        Raises OSError when the workspace itself cannot be read, StateError when the index cannot be written.
        """
        began = time.perf_counter()
        asked = None if paths is None else set(paths)
        if asked is None:
            self._rules.refresh()
        found = scan(self._root, self._rules) if asked is None else look(self._root, self._rules, asked)
        known = self._whole(fresh=asked is None)
        indexed = known if asked is None else within(known, asked)
        todo = plan(found.files, indexed, force=force, doubted=asked or ())
        done = Harvested(same=todo.same, left_out=dict(found.left_out), folders=list(found.folders))
        try:
            self._apply(todo, _Run(found.files, known, done, force=force, dry=dry_run), progress, stopping)
        except BaseException:
            self._known = None  # what the index holds now is its own to say
            raise
        done.seconds = time.perf_counter() - began
        return done

    def _whole(self, *, fresh: bool) -> dict[str, Known]:
        if fresh or self._known is None:
            self._known = self._shelf.known()
        return self._known

    def _apply(self, todo: Plan, run: _Run, progress: Callable[[Progress], None], stopping: Callable[[], bool]) -> None:
        if todo.remove:
            self._remove(todo.remove, run)
        position = 0
        for batch in _batches(todo.read, run.files):
            if stopping():
                run.done.stopped = True
                return
            self._take(batch, run)
            position += len(batch)
            progress(Progress(position, len(todo.read), batch[-1]))

    def _remove(self, paths: Iterable[str], run: _Run) -> None:
        gone = list(paths)
        run.done.removed.extend(gone)
        if run.dry:
            return
        self._shelf.remove(gone)
        for path in gone:
            run.known.pop(path, None)

    def _take(self, batch: list[str], run: _Run) -> None:
        """Read, parse and write one batch: what cannot be read any more leaves the index."""
        documents: list[Document] = []
        new: dict[str, Known] = {}
        touched: dict[str, Known] = {}
        gone: list[str] = []
        for path in batch:
            read = self._read(path, run.files[path])
            if not isinstance(read, _Read):
                if read:
                    run.done.left_out[path] = read
                if path in run.known:
                    gone.append(path)
                continue
            if not read.steady:
                run.done.again.add(path)
            before = run.known.get(path)
            if before is not None and before.digest == read.known.digest and not run.force:
                run.done.same += 1
                touched[path] = read.known
                continue
            run.done.indexed.append(path)
            if not run.dry:
                documents.append(self._parse(path, read.data))
                new[path] = read.known
        if gone:
            self._remove(gone, run)
        if not run.dry:
            self._write(documents, new, touched, run)

    def _write(self, documents: list[Document], new: dict[str, Known], touched: dict[str, Known], run: _Run) -> None:
        if documents:
            self._shelf.replace(documents, new)
            run.done.problems += sum(len(document.problems) for document in documents)
        changed = {path: known for path, known in touched.items() if run.known.get(path) != known}
        if changed:
            self._shelf.touch(changed)
        run.known.update(new)
        run.known.update(changed)

    def _read(self, path: str, seen: Seen) -> _Read | str | None:
        """Its bytes; why they are not wanted; None when it is not there (any more)."""
        if seen.size > self._most_bytes:
            return TOO_LARGE
        try:
            descriptor = os.open(self._root / path, os.O_RDONLY | _NO_LINKS | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            return None if error.errno in (errno.ELOOP, errno.ENOTDIR) else UNREADABLE
        try:
            with os.fdopen(descriptor, "rb") as file:
                return self._content(file.fileno())
        except OSError:
            return UNREADABLE

    def _content(self, descriptor: int) -> _Read | str | None:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            return None
        now = time.time_ns()
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read(self._most_bytes + 1)
        if len(data) > self._most_bytes:
            return TOO_LARGE
        after = os.fstat(descriptor)
        steady = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and len(
            data
        ) == after.st_size
        seen = Seen(before.st_size, before.st_mtime_ns)
        time_known = settled(seen, now) if steady else -2
        return _Read(data, Known(content_digest(data), before.st_size, time_known), steady)


@dataclass(frozen=True, slots=True)
class _Read:
    data: bytes
    known: Known
    steady: bool  # it did not change while it was read


@dataclass(frozen=True, slots=True)
class _Run:
    files: Mapping[str, Seen]
    known: dict[str, Known]
    done: Harvested
    force: bool
    dry: bool


_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def content_digest(data: bytes) -> str:
    """What tells one content of a file from another."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _batches(paths: Iterable[str], files: Mapping[str, Seen]) -> Iterator[list[str]]:
    """Small transactions: what is indexed first can be found first, and a kill loses little."""
    batch: list[str] = []
    size = 0
    for path in paths:
        batch.append(path)
        size += files[path].size
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
