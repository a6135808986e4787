"""Which files a workspace has, what has changed, and bringing the index up to them."""

from __future__ import annotations

import errno
import fnmatch
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from pathspec import GitIgnoreSpec

from openclaw_neuralstream.model import Document, Known
from openclaw_neuralstream.patterns import lazy

OWN_FOLDER = ".memory"
"""What we derive ourselves lives here; it is never a note."""

SUFFIXES = (".md", ".markdown")
INCLUDED = ("MEMORY.md", "memory.md", "memory/", "notes/", "bank/")

_NEVER_FOLDERS = frozenset({OWN_FOLDER, ".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv"})
_PASSING = (
    "*~",
    ".#*",
    "#*#",
    "~$*",
    "._*",
    ".goutputstream-*",
    "*.sw[a-z]",
    "*.tmp",
    "*.tmp.md",
    "*.part",
    "*___jb_*___",
)
_PASSING_NAME = lazy("|".join(fnmatch.translate(pattern) for pattern in _PASSING))
_WILD = lazy(r"[*?\[]")
GITIGNORE = ".gitignore"


@dataclass(frozen=True, slots=True)
class Choice:
    """What its owner wants of a workspace to be notes.

    include, exclude: patterns as in `.gitignore`, relative to the workspace and anchored there (`**/` = anywhere).
    apart: folders inside it that are another agent's workspace. hidden: names that begin with a dot too.
    """

    include: tuple[str, ...] = INCLUDED
    exclude: tuple[str, ...] = ()
    hidden: bool = False
    gitignore: bool = True
    apart: frozenset[str] = frozenset()


class Rules:
    """The choice applied to one workspace; `.gitignore` files are read once, `refresh` reads them again.

    Paths are relative to the workspace, with "/" between their parts, "" for the workspace itself.
    """

    def __init__(self, root: Path, choice: Choice) -> None:
        self._root = root
        self._choice = choice
        self._included = _spec(_anchored(choice.include))
        self._excluded = _spec(_anchored(choice.exclude))
        self._starts = tuple(_literal(pattern) for pattern in choice.include if not pattern.startswith("!"))
        self._git: dict[str, GitIgnoreSpec | None] = {}

    def refresh(self) -> None:
        """Forget the `.gitignore` files; each is read again when it is needed."""
        self._git.clear()

    def enters(self, folder: str) -> bool:
        """Whether notes may lie in this folder, its parents taken for granted."""
        if not folder:
            return True
        name = folder.rpartition("/")[2]
        if name in _NEVER_FOLDERS or folder in self._choice.apart or (name.startswith(".") and not self._choice.hidden):
            return False
        if not any(_related(folder, start) for start in self._starts):
            return False
        return not self._excluded.match_file(folder + "/") and not self._by_git(folder, folder=True)

    def takes(self, file: str) -> bool:
        """Whether this file is a note, its folder taken for granted."""
        name = file.rpartition("/")[2]
        if not name.lower().endswith(SUFFIXES) or _PASSING_NAME.match(name):
            return False
        if name.startswith(".") and not self._choice.hidden:
            return False
        if not self._included.match_file(file) or self._excluded.match_file(file):
            return False
        return not self._by_git(file, folder=False)

    def reaches(self, path: str) -> bool:
        """Whether all folders above this path are entered."""
        return all(self.enters(folder) for folder in above(path))

    def _by_git(self, path: str, *, folder: bool) -> bool:
        """What the nearest `.gitignore` with an opinion says; none has one: False."""
        if not self._choice.gitignore:
            return False
        for base in reversed(list(above(path))):
            spec = self._git_of(base)
            if spec is None:
                continue
            inner = path[len(base) + 1 :] if base else path
            said = spec.check_file(inner + "/" if folder else inner).include
            if said is not None:
                return said
        return False

    def _git_of(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._git:
            self._git[folder] = _git_file(self._root / folder / GITIGNORE)
        return self._git[folder]


def above(path: str) -> Iterator[str]:
    """The folders above a path, the workspace itself ("") first."""
    yield ""
    position = path.find("/")
    while position >= 0:
        yield path[:position]
        position = path.find("/", position + 1)


def clean_patterns(patterns: Iterable[str]) -> tuple[str, ...]:
    """Patterns without spaces around them, without empty ones; "." is everything."""
    stripped = (pattern.strip() for pattern in patterns)
    return tuple("**" if pattern in (".", "./", "*") else pattern for pattern in stripped if pattern)


def refused(patterns: Iterable[str], complain: Callable[[str], object]) -> None:
    """Tell `complain` about patterns that leave the workspace."""
    for pattern in patterns:
        bare = pattern.removeprefix("!")
        if ".." in PurePosixPath(bare).parts or bare.startswith("~"):
            complain(pattern)


def _anchored(patterns: Iterable[str]) -> list[str]:
    return [_anchor(pattern) for pattern in clean_patterns(patterns)]


def _anchor(pattern: str) -> str:
    no, bare = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    return no + (bare if bare.startswith(("/", "**")) else "/" + bare)


def _spec(patterns: list[str]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(patterns)


def _literal(pattern: str) -> str:
    """The folder in which all matches of a pattern lie; "" = anywhere."""
    bare = "" if pattern.strip() in (".", "./") else pattern.strip().strip("/")
    wild = _WILD.search(bare)
    return bare if wild is None else bare[: wild.start()].rpartition("/")[0]


def _related(folder: str, start: str) -> bool:
    """Whether one of the two lies in the other."""
    return not start or folder == start or folder.startswith(start + "/") or start.startswith(folder + "/")


def _git_file(path: Path) -> GitIgnoreSpec | None:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    spec = GitIgnoreSpec.from_lines(line for line in lines if not line.startswith("\ufeff#"))
    return spec if spec.patterns else None


A_LINK = "a link is not followed"
NO_TEXT = "its name is not text"
UNREADABLE = "cannot be read"


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as the file system describes it."""

    size: int
    mtime_ns: int


@dataclass(slots=True)
class Scan:
    """Notes and entered folders by their path in the workspace; left_out: path → why it is neither."""

    files: dict[str, Seen] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def scan(root: Path, rules: Rules) -> Scan:
    """The whole workspace. Raises OSError when its own folder cannot be read."""
    found = Scan()
    with os.scandir(root):
        pass  # a workspace that is away is an error, a folder in it that goes away meanwhile is not
    _walk(root, "", rules, found)
    return found


def look(root: Path, rules: Rules, paths: Iterable[str]) -> Scan:
    """Only these paths, with all that lies in those that are folders; what is not there, or no note, is left out."""
    found = Scan()
    for path in sorted(set(paths)):
        if not path:
            _walk(root, "", rules, found)
        elif path not in found.files and rules.reaches(path) and not _through_link(root, path):
            _look_at(root, path, rules, found)
    return found


def _look_at(root: Path, path: str, rules: Rules, found: Scan) -> None:
    try:
        status = os.lstat(root / path)
    except (OSError, ValueError):
        return
    if stat.S_ISDIR(status.st_mode):
        if rules.enters(path):
            _walk(root, path, rules, found)
    elif stat.S_ISLNK(status.st_mode):
        if rules.takes(path):
            found.left_out[path] = A_LINK
    elif stat.S_ISREG(status.st_mode) and rules.takes(path):
        if text(path):
            found.files[path] = Seen(status.st_size, status.st_mtime_ns)
        else:
            found.left_out[shown(path)] = NO_TEXT


def _walk(root: Path, start: str, rules: Rules, found: Scan) -> None:
    waiting = [start]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(root / folder))
        except OSError:
            if folder:
                found.left_out[shown(folder)] = UNREADABLE
            continue
        found.folders.append(folder)
        waiting.extend(_enter(entries, folder, rules, found))


def _enter(entries: list[os.DirEntry[str]], folder: str, rules: Rules, found: Scan) -> Iterator[str]:
    """Notes of one folder go into `found`; yields the folders to go on with."""
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        try:
            if entry.is_symlink():
                if rules.enters(path) or rules.takes(path):
                    found.left_out[shown(path)] = A_LINK
            elif entry.is_dir(follow_symlinks=False):
                if rules.enters(path):
                    if text(entry.name):
                        yield path
                    else:
                        found.left_out[shown(path)] = NO_TEXT
            elif rules.takes(path) and entry.is_file(follow_symlinks=False):
                if text(entry.name):
                    status = entry.stat(follow_symlinks=False)
                    found.files[path] = Seen(status.st_size, status.st_mtime_ns)
                else:
                    found.left_out[shown(path)] = NO_TEXT
        except OSError:
            continue  # gone meanwhile


def _through_link(root: Path, path: str) -> bool:
    """Whether a folder on the way to it is a link."""
    folder = root
    for name in path.split("/")[:-1]:
        folder = folder / name
        if folder.is_symlink():
            return True
    return False


def text(name: str) -> bool:
    """Whether a name is valid text: a path of the index has to be one."""
    return name.isascii() or not any("\ud800" <= char <= "\udfff" for char in name)


def shown(path: str) -> str:
    """The path as it may be printed and stored."""
    return path if text(path) else path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


_FRESH_NS = 20_000_000
_COARSE_FRESH_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000

UNSETTLED = -1
"""Stands for the time of a file that may change again within the same tick of the file system's clock."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Paths to read (new, or perhaps changed), and to remove; `same` counts what needs nothing. Each in order."""

    read: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    same: int = 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.read and not self.remove


def plan(
    disk: Mapping[str, Seen], indexed: Mapping[str, Known], *, force: bool = False, doubted: Iterable[str] = ()
) -> Plan:
    """Read what is new or looks different, remove what is gone.

    force: read everything. doubted: read these whatever they look like, because something happened to them.
    """
    asked = set(doubted)
    read = [
        path
        for path, seen in disk.items()
        if force or path in asked or (known := indexed.get(path)) is None or differs(seen, known)
    ]
    remove = [path for path in indexed if path not in disk]
    return Plan(tuple(sorted(read)), tuple(sorted(remove)), len(disk) - len(read))


def differs(seen: Seen, known: Known) -> bool:
    """Whether a file looks different from what the index knows of it."""
    return (seen.size, seen.mtime_ns) != (known.size, known.mtime_ns)


def settled(seen: Seen, now_ns: int) -> int:
    """The time to remember of a file that was read at `now_ns`.

    One that was written so lately that another write would leave the same time is remembered as UNSETTLED, and read
    once more by the next sweep. A file system whose times are whole seconds needs longer.
    """
    fresh = _COARSE_FRESH_NS if seen.mtime_ns % _SECOND_NS == 0 else _FRESH_NS
    return seen.mtime_ns if now_ns - seen.mtime_ns > fresh else UNSETTLED


def within(indexed: Mapping[str, Known], paths: Iterable[str]) -> dict[str, Known]:
    """What is indexed of these paths, and of all that lay in those that were folders."""
    asked = set(paths)
    if "" in asked:
        return dict(indexed)
    here = {path: indexed[path] for path in asked if path in indexed}
    folders = {path for path in asked if path not in indexed}
    if not folders:
        return here
    inside = {path: known for path, known in indexed.items() if any(folder in folders for folder in above(path))}
    return here | inside


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
