"""Bytes into the user's files: atomically, with their mode and owner, and only while they are as they were read."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.state import runs

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
