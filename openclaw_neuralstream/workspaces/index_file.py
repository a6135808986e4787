"""The index of a workspace as a file: where it is, opened, made anew, and harvested by one process at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog
from filelock import FileLock, Timeout

from openclaw_neuralstream.errors import NotFound, StateBusy, StateError, StateFull, StateNewer
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.notes.ignore import OWN_FOLDER
from openclaw_neuralstream.workspaces.tools import Index, Tools

log = structlog.get_logger(__name__)

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
