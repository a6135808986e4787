"""One workspace: its index file, its harvest, what it answers."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import structlog
from filelock import FileLock, Timeout

from openclaw_neuralstream.errors import (
    NeuralStreamError,
    NotFound,
    StateBusy,
    StateDamaged,
    StateError,
    StateFull,
    StateNewer,
)
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.workspace.harvest import (
    OWN_FOLDER,
    Harvested,
    Harvester,
    Nothing,
    Progress,
    Rules,
    Shelf,
    shown,
)
from openclaw_neuralstream.workspace.watch import NETWORK, Pace, Watcher, file_system
from openclaw_neuralstream.workspace.where import MAIN, Index, Tools, choice_of

INDEX_NAME = "index.sqlite"
_LOCK_NAME = "harvest.lock"

Folder = tuple[tuple[int, int] | None, Path]
"""What tells a folder from another of the same name, and where its index is."""


class IndexFile:
    """In the workspace, or in the state directory when that cannot be written. Not locked: its workspace is."""

    def __init__(self, root: Path, tools: Tools) -> None:
        self._root = root
        self._tools = tools
        self._refuses = False  # the workspace does not take an index

    @property
    def path(self) -> Path:
        """Where it is, or would be made now."""
        own = self._root / OWN_FOLDER
        if self._refuses or own.is_symlink() or not os.access(own if own.is_dir() else self._root, os.W_OK):
            return self._tools.spare / digest(str(self._root), size=8) / INDEX_NAME
        return own / INDEX_NAME

    @property
    def folder(self) -> Folder:
        """What tells it from another that takes its place."""
        return _identity(self._root), self.path

    def open(self) -> Index:
        """The index, made anew where it does not open: it holds nothing that the files do not say.

        Raises NotFound where the workspace itself is away: no empty one is made in its place.
        """
        self._check_there()
        try:
            return self._tools.open_index(self.path)
        except (StateBusy, StateNewer, StateFull):
            raise  # the index is as it was: another try may do
        except StateError as error:
            if not self._refuses and not _takes_files(self.path.parent):
                log.warning("notes.index_apart", error=error.what)
                self._refuses = True
            else:
                log.warning("notes.index_anew", error=error.what)
                discard(self.path)
            return self._tools.open_index(self.path)

    def _check_there(self) -> None:
        if not self._root.is_dir():
            raise away(self._root)

    @contextmanager
    def alone(self, wait: float) -> Iterator[None]:
        """Only one process at a time harvests a workspace."""
        self._check_there()  # the lock would make the folder
        lock = FileLock(self.path.with_name(_LOCK_NAME), mode=0o600)
        try:
            with lock.acquire(timeout=wait):
                yield
        except Timeout as error:
            raise StateBusy(
                "another process is harvesting this workspace", where=str(self._root), fix="try again when it is done"
            ) from error


def away(root: Path) -> NotFound:
    """The error of a workspace whose folder is not there."""
    fix = "bring it back, or name the right one: neuralstream config set workspace /folder"
    return NotFound("the workspace is not there", where=str(root), fix=fix)


def discard(file: Path) -> None:
    """Remove an index: it holds nothing that the files do not say."""
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm", f"{file.name}.suspect"):
        with suppress(OSError):
            file.with_name(name).unlink()


def own_files(root: Path) -> list[Path]:
    """The files of ours in the workspace's own folder; [] where that is a link, and nothing that somebody else put there."""
    own = root / OWN_FOLDER
    if own.is_symlink():
        return []
    ignore = own / ".gitignore"
    hides_us = ignore.is_file() and not ignore.is_symlink() and ignore.read_bytes() == b"*\n"
    named = [*sorted(own.glob(f"{INDEX_NAME}*")), own / _LOCK_NAME, *([ignore] if hides_us else [])]
    return [path for path in named if path.is_file() and not path.is_symlink()]


def _takes_files(folder: Path) -> bool:
    """Whether a file can be made in a folder, which is made itself where it is not there."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError:
        return False
    return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


log = structlog.get_logger(__name__)

_LOCK_SECONDS = 60.0
_TRIES = 3  # of a harvest whose index is lost under it


@dataclass(frozen=True, slots=True)
class _Seal:
    """What is equal only while the same folder has the same index."""

    folder: Folder
    epoch: str


class Workspace:
    """A folder of Markdown, the agents whose it is, and its index. May be used from any thread."""

    def __init__(self, root: Path, knobs: Settings, tools: Tools, *, why: str = "") -> None:
        self.root = root
        self.why = why
        self.agents: set[str] = set()
        self._knobs = knobs
        self._tools = tools
        self._file = IndexFile(root, tools)
        self.on_change: Callable[[int], None] = lambda _: None  # told how many files a harvest has indexed
        self._apart: frozenset[str] = frozenset()
        self._life = threading.RLock()  # held for moments: opening and closing
        self._harvesting = threading.Lock()  # held as long as a harvest takes
        self._index: Index | None = None
        self._harvester: Harvester | None = None
        self._folder: Folder = (None, Path())
        self._seal: _Seal | None = None  # of the folder and the index that were last looked at as a whole
        self._watcher: Watcher | None = None
        self._last: Harvested | None = None
        self._left_out: dict[str, str] = {}
        self._at: datetime | None = None
        self._error = ""

    # --- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Follow it in a thread of its own; what changed while nothing ran is found first."""
        if self._knobs.watch == "off" or self._watcher is not None:
            return
        self._watcher = watcher = Watcher(
            f"watch-{digest(str(self.root), size=3)}",
            self.root,
            self._watched,
            pace=self._pace(),
            listen=self._tools.listen,
            refused=self._refused,
        )
        watcher.start()

    def close(self, deadline: float = 3.0) -> None:
        """Stop following and release the index."""
        if self._watcher:
            self._watcher.stop(deadline)
            self._watcher = None
        with self._life:
            self._let_go()

    def set_apart(self, folders: frozenset[str]) -> None:
        """These folders inside belong to other agents: their notes are not of this workspace."""
        if folders == self._apart:
            return
        with self._life:
            self._apart = folders
            self._harvester = None
        if self._watcher:
            self._watcher.doubt()

    @property
    def keeper(self) -> str:
        """The agent in whose name is done what no agent asked for; "" while the folder is nobody's.

        Agents may share a folder, and its files do not say whose they are, but gems are one agent's: main's go with the
        files where it is among them, else those of the first by name.
        """
        return min(self.agents, key=lambda agent: (agent != MAIN, agent), default="")

    @property
    def crashes(self) -> int:
        """How often its worker ended in an error nobody expected."""
        return self._watcher.worker.crashes if self._watcher else 0

    @property
    def settled(self) -> bool:
        """Whether everything that was told of has been looked at, at least once since the start."""
        watcher = self._watcher
        return watcher is not None and watcher.idle

    @property
    def indexing(self) -> bool:
        """Whether its first look at the files since the start is still under way: until then something may be missing."""
        return self._watcher is not None and self._at is None and not self._error and self.here

    # --- asking -----------------------------------------------------------------------------------------------------

    @property
    def index(self) -> Index | None:
        """The index, None while the folder is away or its index cannot be opened. Asking notices when it went away."""
        with self._life:
            if self._index is not None and self._seal is not None and self._unbroken(self._index, self._seal):
                return self._index
        opened = self._opened_or_none()
        if self._watcher:
            self._watcher.doubt()
        return opened

    @property
    def index_file(self) -> Path:
        """Where the index is: in the workspace, or in the state directory when that cannot be written."""
        return self._file.path

    @property
    def here(self) -> bool:
        """Whether the folder is there."""
        return self.root.is_dir()

    # --- harvesting -------------------------------------------------------------------------------------------------

    def harvest(
        self,
        paths: set[str] | None = None,
        *,
        force: bool = False,
        dry_run: bool = False,
        wait: float = _LOCK_SECONDS,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> Harvested:
        """Index what changed, now, in this thread: everywhere, or in these paths.

        Raises NotFound when the folder is away, StateBusy when another process harvests it for longer than `wait`
        seconds, StateError when the index cannot be written. A damaged index is made anew.
        """
        if not self.here:
            raise away(self.root)
        try:
            return self._harvested(paths, force=force, dry_run=dry_run, wait=wait, progress=progress)
        except StateDamaged as error:
            log.warning("notes.index_damaged", error=error.what)
            self._discard()
            return self._harvested(None, force=force, dry_run=dry_run, wait=wait, progress=progress)
        except StateError as error:
            if self.here:
                raise
            raise away(self.root) from error
        except OSError as error:
            if not self.here:
                raise away(self.root) from error
            what = f"the workspace cannot be read: {error.strerror or error}"
            raise StateError(what, where=str(self.root), fix="give your user read access to it") from error

    def _harvested(
        self, paths: set[str] | None, *, force: bool, dry_run: bool, wait: float, progress: Callable[[Progress], None]
    ) -> Harvested:
        """One harvest; of everything, once more, where the index turns out to be another one than before."""
        if dry_run and self._index is None and not self.index_file.exists():
            return self._harvester_of(Nothing()).harvest(paths, dry_run=True, progress=progress)
        for _ in range(_TRIES):
            with self._harvesting:
                index, harvester, seal, replaced = self._open()
                with self._file.alone(wait):
                    done = harvester.harvest(
                        None if replaced else paths,
                        force=force,
                        dry_run=dry_run,
                        progress=progress,
                        stopping=self._stopping,
                    )
            if dry_run:
                return done
            self._note(done, whole=replaced or paths is None)
            if self._unbroken(index, seal):
                self._seal = seal
                return done
        if self._watcher:
            self._watcher.doubt()
        return done

    def _watched(self, paths: set[str] | None) -> Harvested | None:
        """The same for the watcher: None where the folder is away, or went away meanwhile."""
        with suppress(NotFound):
            return self.harvest(paths)
        with self._life:
            self._let_go()
        return None

    def _note(self, done: Harvested, *, whole: bool) -> None:
        self._error = ""
        self._at = self._tools.clock()
        if whole:
            self._left_out = dict(done.left_out)
        else:
            self._left_out.update(done.left_out)
        if done.changed or self._last is None:
            self._last = done
        if done.changed:
            self.on_change(len(done.indexed))
            log.info("notes.indexed", files=len(done.indexed), removed=len(done.removed), ms=round(1000 * done.seconds))

    def _refused(self, error: NeuralStreamError) -> None:
        self._error = " · ".join(part for part in (error.what, error.fix) if part)

    def _stopping(self) -> bool:
        return self._watcher is not None and self._watcher.worker.stopping

    # --- the index file ---------------------------------------------------------------------------------------------

    def _opened_or_none(self) -> Index | None:
        if not self.here:
            return None
        try:
            self._open()
        except NeuralStreamError as error:
            self._refused(error)
        return self._index

    def _open(self) -> tuple[Index, Harvester, _Seal, bool]:
        """The index of this folder, opened, and its seal. True when it took the place of another: then all is new."""
        with self._life:
            folder = self._file.folder
            if self._index is not None and self._folder != folder:
                self._let_go()
            if self._index is None:
                self._index, self._folder = self._file.open(), self._file.folder
            if self._harvester is None:
                self._harvester = self._harvester_of(self._index)
            seal = _Seal(self._folder, self._index.epoch)
            self._seal = self._seal or seal
            return self._index, self._harvester, seal, seal != self._seal

    def _harvester_of(self, shelf: Shelf) -> Harvester:
        rules = Rules(self.root, choice_of(self._knobs, self._apart))
        return Harvester(self.root, rules, shelf, self._tools.parse)

    def _unbroken(self, index: Index, seal: _Seal) -> bool:
        """Whether this is still the same folder and the same index, with all that was put into it."""
        if self._file.folder != seal.folder:
            return False
        try:
            return index.epoch == seal.epoch
        except StateError:
            return False

    def _discard(self) -> None:
        """Remove the index: it holds nothing that the files do not say."""
        with self._life:
            file = self._file.path
            self._let_go()
            discard(file)

    def _let_go(self) -> None:
        index, self._index, self._harvester = self._index, None, None
        if index is not None:
            with suppress(NeuralStreamError):
                index.close()

    # --- telling ----------------------------------------------------------------------------------------------------

    def _pace(self) -> Pace:
        wanted = self._knobs.watch
        events = wanted == "events" or (wanted == "auto" and not self._on_network)
        return Pace(events, poll=self._knobs.watch_poll, sweep=self._knobs.watch_sweep)

    @property
    def _on_network(self) -> bool:
        return file_system(self.root) in NETWORK

    def unread(self) -> list[dict[str, Any]]:
        """What could not be read as it was meant: {"path", "line", "what"}; its text is indexed all the same."""
        index = self.index if self.index_file.is_file() else None  # a dry run makes none
        try:
            found = index.problems() if index else []
        except NeuralStreamError:
            return []
        return [{"path": shown(item.path), "line": item.line, "what": item.what} for item in found]

    def status(self) -> dict[str, Any]:
        """What `neuralstream status` and `doctor` tell of it, as plain JSON."""
        watcher, index = self._watcher, self.index
        try:
            count = index.count().files if index else 0
        except NeuralStreamError as error:
            self._refused(error)
            count = 0
        unread = self.unread()
        return {
            "root": str(self.root),
            "agents": sorted(self.agents),
            "why": self.why,
            "here": self.here,
            "files": count,
            "index": str(self.index_file),
            "index_apart": self.index_file.parent.name != OWN_FOLDER,
            "watch": self._mode(),
            "network": file_system(self.root) if self._on_network else "",
            "waiting": watcher.waiting if watcher else 0,
            "blind": watcher.blind if watcher else 0,
            "lost": watcher.lost if watcher else 0,
            "trouble": watcher.trouble if watcher else "",
            "mend": watcher.mend if watcher else "",
            "unread": unread[:50],
            "unread_count": len(unread),
            "left_out": dict(list(self._left_out.items())[:50]),
            "left_out_count": len(self._left_out),
            "harvested_at": self._at.isoformat() if self._at else None,
            "error": self._error,
            "settled": self.settled,
        }

    def _mode(self) -> str:
        if self._watcher is None:
            return "off"
        return "events" if self._watcher.listening else "poll"


def memory_file(path: str) -> str:
    """The id of a file's records: indexing it again replaces them instead of adding to them."""
    return f"memory-file:{shown(path)}"


def harvested_to_json(workspace: Workspace, done: Harvested) -> dict[str, Any]:
    """One workspace's harvest, as plain JSON."""
    unread = workspace.unread()
    return {
        "root": str(workspace.root),
        "agents": sorted(workspace.agents),
        "index": str(workspace.index_file),
        "indexed": [memory_file(path) for path in done.indexed],
        "removed": [memory_file(path) for path in done.removed],
        "same": done.same,
        "problems": max(done.problems, len(unread)),
        "unread": unread,
        "left_out": dict(sorted(done.left_out.items())),
        "seconds": round(done.seconds, 4),
        "stopped": done.stopped,
    }
