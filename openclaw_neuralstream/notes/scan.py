"""What lies on the disk: the notes of a workspace, its folders, and what is left out; links are never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from openclaw_neuralstream.notes.ignore import Rules

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
