"""Changes of files as they happen, gathered until it is quiet."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.worker import Worker
from openclaw_neuralstream.workspace.harvest import GITIGNORE, SUFFIXES, Harvested

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent


Tell = Callable[[str], None]
"""Something may have happened to this path of the workspace ("" = to the workspace itself)."""

Doubt = Callable[[], None]
"""News was lost: nobody knows what happened."""

NETWORK = frozenset({
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "vboxsf", "drvfs", "fuse.sshfs",
    "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "davfs", "fuse.davfs2", "virtiofs", "prl_fs",
})  # fmt: skip
"""File systems whose other users change files without this machine's kernel being told."""


class Notifier(Protocol):
    """Says what happens in a workspace's folders, from threads of its own."""

    def follow(self, folders: Iterable[str]) -> list[str]:
        """Say what happens in these folders from now on; returns those that are new. Already followed ones are fine."""

    @property
    def blind(self) -> int:
        """How many folders could not be followed because the system has no more to give."""

    def close(self) -> None:
        """Say nothing more."""


Listen = Callable[[Path, Tell, Doubt], Notifier]
"""Opens a notifier on a workspace. Raises OSError when the system has none to give."""


def listen(root: Path, tell: Tell, doubt: Doubt) -> Notifier:
    """The best of this platform."""
    if sys.platform == "linux":
        return Inotify(root, tell, doubt)
    return Observed(root, tell, doubt)


def file_system(root: Path) -> str:
    """The kind of file system a folder is on, as Linux calls it; "" where that is not known."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    best, kind = -1, ""
    for line in lines:
        left, _, right = line.partition(" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        point = fields[4].replace("\\040", " ")
        inside = root.is_relative_to(point)
        if inside and len(point) > best:
            best, kind = len(point), right.split()[0]
    return kind


class Inotify:
    """Linux: one watch a folder that can hold notes, none below `.git` or `node_modules`, nothing held back.

    watchdog's recursive observer watches every folder, says nothing when the system has no watch left, and delays what
    follows half of a rename by half a second. Its `InotifyFD` below that does none of this.
    """

    def __init__(self, root: Path, tell: Tell, doubt: Doubt) -> None:
        from watchdog.observers.inotify_c import InotifyFD

        self._root = os.fsencode(root)
        self._tell = tell
        self._doubt = doubt
        self._lock = threading.Lock()
        self._path_of: dict[int, str] = {}
        self._watch_of: dict[str, int] = {}
        self._blind: set[str] = set()
        self._mask = _mask()
        self._fd: Any = InotifyFD()
        self._fd.daemon = True
        self._fd.start()

    @property
    def blind(self) -> int:
        """Folders without a watch."""
        return len(self._blind)

    def follow(self, folders: Iterable[str]) -> list[str]:
        """Add the watches that are missing; with none left in the system, those that fit."""
        new = []
        for folder in folders:
            with self._lock:
                known = folder in self._watch_of
            if not known and self._add(folder):
                new.append(folder)
        return new

    def close(self) -> None:
        """Give back every watch and end the thread."""
        self._tell = lambda _: None
        self._doubt = lambda: None
        self._fd.stop()
        self._fd.join(2.0)

    def _add(self, folder: str) -> bool:
        path = self._root + b"/" + os.fsencode(folder) if folder else self._root
        try:
            watch = self._fd.add_callback(path, self._mask, self, id(self))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            self._blind.add(folder)
            return False
        if watch < 0:  # a folder that may not be read
            return False
        with self._lock:
            self._blind.discard(folder)
            before = self._path_of.get(watch)
            if before is not None and before != folder:
                self._watch_of.pop(before, None)
            self._path_of[watch] = folder
            self._watch_of[folder] = watch
        return True

    # --- what InotifyFD calls, from its thread ------------------------------------------------------------------------

    def on_event(self, event: Any) -> None:
        """One event of one folder."""
        with self._lock:
            folder = self._path_of.get(event.wd)
        if folder is None:
            return
        name = os.fsdecode(event.name)
        if not name:
            if event.is_delete_self or event.is_move_self:
                self._left(folder)
            return
        path = f"{folder}/{name}" if folder else name
        if event.is_directory:
            if event.is_moved_from or event.is_delete:
                self._drop(path)
            if not event.is_attrib:
                self._tell(path)
        elif matters(name):
            self._tell(path)

    def on_watch_deleted(self, watch: int) -> None:
        """The folder is gone."""
        with self._lock:
            folder = self._path_of.pop(watch, None)
            if folder is not None and self._watch_of.get(folder) == watch:
                del self._watch_of[folder]

    def on_queue_overflow(self) -> None:
        """The kernel dropped events."""
        log.warning("watch.overflow")
        self._doubt()

    def _left(self, folder: str) -> None:
        """The folder itself went away or elsewhere; its parent says so too, except for the workspace."""
        if not folder:
            self._doubt()

    def _drop(self, folder: str) -> None:
        """It moved: its watches would go on under a name that is not theirs any more."""
        inside = folder + "/"
        with self._lock:
            self._blind = {path for path in self._blind if path != folder and not path.startswith(inside)}
            gone = [path for path in self._watch_of if path == folder or path.startswith(inside)]
            watches = [self._watch_of.pop(path) for path in gone]
            for watch in watches:
                self._path_of.pop(watch, None)
        try:
            self._fd.remove_callbacks([(watch, id(self)) for watch in watches])
        except OSError:
            log.debug("watch.drop_failed", folders=len(watches))


class Observed:
    """Other platforms: watchdog's own recursive observer."""

    def __init__(self, root: Path, tell: Tell, doubt: Doubt) -> None:
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer

        self._root = str(root)
        self._tell = tell
        self._doubt = doubt
        self._followed: set[str] = set()
        outer = self

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                outer._on(event)

        self._observer: Any = Observer()
        self._observer.daemon = True
        self._observer.schedule(Handler(), self._root, recursive=True)
        self._observer.start()

    @property
    def blind(self) -> int:
        """Not known here."""
        return 0

    def follow(self, folders: Iterable[str]) -> list[str]:
        """All of them are followed from the beginning."""
        new = [folder for folder in folders if folder not in self._followed]
        self._followed.update(new)
        return []

    def close(self) -> None:
        """End the threads."""
        with suppress(KeyError):  # watchdog 7.1 trips over a folder that was moved out
            self._observer.stop()
        self._observer.join(2.0)

    def _on(self, event: FileSystemEvent) -> None:
        if event.event_type in ("opened", "closed_no_write"):
            return  # our own reading
        for raw in (event.src_path, event.dest_path):
            if not raw:
                continue
            path = os.path.relpath(os.fsdecode(raw), self._root).replace(os.sep, "/")
            if path == ".":
                if event.event_type in ("deleted", "moved"):
                    self._doubt()
            elif not path.startswith("../") and self._counts(event, path):
                self._tell(path)

    @staticmethod
    def _counts(event: FileSystemEvent, path: str) -> bool:
        if event.is_directory:
            return event.event_type != "modified"
        return matters(path.rpartition("/")[2])


def matters(name: str) -> bool:
    """Whether a file of this name can be a note, or decides what is one."""
    return name.lower().endswith(SUFFIXES) or name == GITIGNORE


def _mask() -> Any:
    from watchdog.observers.inotify_c import InotifyConstants as Is

    return (
        Is.IN_CREATE | Is.IN_MODIFY | Is.IN_CLOSE_WRITE | Is.IN_ATTRIB | Is.IN_MOVE | Is.IN_DELETE
        | Is.IN_DELETE_SELF | Is.IN_MOVE_SELF | Is.IN_ONLYDIR | Is.IN_DONT_FOLLOW
    )  # fmt: skip


log = structlog.get_logger(__name__)

QUIET = 0.02
"""Seconds of silence after which what was gathered is harvested: an editor's save is several events."""

PATIENCE = 0.5
"""Seconds after which a busy folder is harvested all the same."""

SHARE = 50
"""A sweep that took t seconds is not repeated for polling within 50 t: at most 2 % of one core."""

MEND_WATCHES = "sudo sysctl fs.inotify.max_user_watches=524288 (and a line of it in /etc/sysctl.d/)"
MEND_INSTANCES = "sudo sysctl fs.inotify.max_user_instances=512 (and a line of it in /etc/sysctl.d/)"
MEND_QUEUE = "sudo sysctl fs.inotify.max_queued_events=131072 (and a line of it in /etc/sysctl.d/)"


@dataclass(frozen=True, slots=True)
class Pace:
    """How a workspace is followed.

    events: listen to the system; else look every `poll` seconds. sweep: seconds between looks at everything all the
    same, because news can be lost.
    """

    events: bool = True
    poll: float = 5.0
    sweep: float = 300.0
    quiet: float = QUIET
    patience: float = PATIENCE


class Watcher:
    """Tells `harvest` what to look at: a set of paths, or None for everything."""

    def __init__(
        self,
        name: str,
        root: Path,
        harvest: Callable[[set[str] | None], Harvested | None],
        *,
        pace: Pace,
        listen: Listen = listen,
        refused: Callable[[NeuralStreamError], None] = lambda _: None,
    ) -> None:
        """`harvest` returns None when the workspace is away; it is asked again every `poll` seconds."""
        self._root = root
        self._harvest = harvest
        self._pace = pace
        self._listen = listen
        self._news = threading.Lock()
        self._paths: set[str] = set()
        self._doubted = True  # what happened before we came
        self._arrived = 0
        self._notifier: Notifier | None = None
        self._swept_at = float("-inf")
        self._sweep_seconds = 0.0
        self._away = False
        self._busy = False
        self.trouble = ""
        self.mend = ""
        self.lost = 0  # how often the system dropped events
        self.rounds = 0
        self.worker = Worker(name, self._round, period=min(pace.poll, 5.0), refused=refused)

    # --- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin with a sweep: what changed while nothing ran."""
        self.worker.start()

    def stop(self, deadline: float) -> None:
        """End the threads."""
        self.worker.stop(deadline)
        self._hang_up()

    @property
    def listening(self) -> bool:
        """Whether the system tells what happens; else the watcher looks by itself."""
        return self._notifier is not None

    @property
    def waiting(self) -> int:
        """How many paths wait to be looked at."""
        return len(self._paths)

    @property
    def idle(self) -> bool:
        """Whether everything was looked at since the start, and nothing new came."""
        with self._news:
            return self.rounds > 0 and not (self._paths or self._doubted or self._busy)

    @property
    def blind(self) -> int:
        """How many folders the system does not tell about, because it has no watch left for them."""
        return self._notifier.blind if self._notifier else 0

    # --- news -------------------------------------------------------------------------------------------------------

    def tell(self, path: str) -> None:
        """Something may have happened to this path."""
        with self._news:
            if path.rpartition("/")[2] == GITIGNORE:
                self._doubted = True  # other files are notes now
            else:
                self._paths.add(path)
            self._arrived += 1
            first = self._arrived == 1
        if first:
            self.worker.wake()

    def doubt(self) -> None:
        """Look at everything, soon."""
        with self._news:
            self._doubted = True
            self._arrived += 1
        self.worker.wake()

    def _overflowed(self) -> None:
        self.lost += 1
        self.doubt()

    # --- the worker's round -----------------------------------------------------------------------------------------

    def _round(self) -> None:
        if self._pace.events and self._notifier is None and not self._away:
            self._hear()
        self._gather()
        paths = self._take()
        if paths is not None and not paths:
            return
        try:
            self._follow(paths)
        except BaseException:
            self._give_back(paths)
            raise
        finally:
            self._busy = False

    def _follow(self, paths: set[str] | None) -> None:
        began = time.monotonic()
        done = self._harvest(paths)
        if done is None:
            self._gone()
            return
        if self._away:
            self._away = False
            self._hear()
        self._again(done)
        if paths is None:
            self._sweep_seconds = time.monotonic() - began
            self._swept_at = time.monotonic()
        while self._notifier and (new := self._notifier.follow(done.folders)):
            done = self._harvest(set(new)) or Harvested()  # what came into them before they were followed
            self._again(done)
        self._say_if_blind()
        self.rounds += 1

    def _gather(self) -> None:
        """Wait until nothing more comes, but not for ever."""
        end = time.monotonic() + self._pace.patience
        seen = 0
        while self._arrived != seen and not self.worker.stopping and time.monotonic() < end:
            seen = self._arrived
            self.worker.pause(self._pace.quiet)

    def _take(self) -> set[str] | None:
        """What to look at now; None = everything."""
        with self._news:
            paths, self._paths = self._paths, set()
            everything = self._doubted or self._due()
            self._busy = everything or bool(paths)
            self._doubted = False
            self._arrived = 0
        return None if everything or "" in paths else paths

    def _give_back(self, paths: set[str] | None) -> None:
        with self._news:
            if paths is None:
                self._doubted = True
            else:
                self._paths |= paths

    def _again(self, done: Harvested) -> None:
        for path in done.again:
            self.tell(path)

    def _due(self) -> bool:
        since = time.monotonic() - self._swept_at
        if self._away:
            return True
        if self.listening and not self.blind:
            return since >= self._pace.sweep
        return since >= max(self._pace.poll * 0.9, SHARE * self._sweep_seconds)

    # --- listening --------------------------------------------------------------------------------------------------

    def _hear(self) -> None:
        self._hang_up()
        if not self._pace.events:
            return
        try:
            self._notifier = self._listen(self._root, self.tell, self._overflowed)
            self.trouble = self.mend = ""
        except OSError as error:
            if not self.trouble:
                log.warning("watch.polling", error=error.strerror)
            self.mend = MEND_INSTANCES
            self.trouble = (
                f"the system does not tell of changes ({error.strerror or error}); files are looked at instead"
            )

    def _hang_up(self) -> None:
        notifier, self._notifier = self._notifier, None
        if notifier:
            notifier.close()

    def _gone(self) -> None:
        self._away = True
        self._hang_up()

    def _say_if_blind(self) -> None:
        if self.blind:
            if not self.trouble:
                log.warning("watch.partial", folders=self.blind)
            self.mend = MEND_WATCHES
            self.trouble = f"{self.blind} folders have no watch (the system has none left); they are looked at instead"
        elif self.lost:
            self.mend = MEND_QUEUE
            self.trouble = f"the system dropped events {self.lost} times; everything was looked at instead"
        elif self.listening:
            self.trouble = self.mend = ""
