"""The home of watchdog: the one seam through which the operating system says that something happened to a path."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import structlog

from openclaw_neuralstream.notes.ignore import GITIGNORE, SUFFIXES

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent

log = structlog.get_logger(__name__)

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
