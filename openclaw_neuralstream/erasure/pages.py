"""Forgetting in a workspace: our generated parts lose the lines, the person's own lines are cited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from openclaw_neuralstream.erasure.files import Trace
from openclaw_neuralstream.erasure.values import Left, Receipt
from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.fences import fenced, fences, generated_lines, is_generated, newline_of
from openclaw_neuralstream.model import Known, cited
from openclaw_neuralstream.reflect.writing import FileChanged, FileRefused, Place, read, write
from openclaw_neuralstream.traces import mentions

_MOST = 50  # lines that are cited


class Index(Protocol):
    """What is asked of a workspace's index."""

    def known(self) -> dict[str, Known]:
        """Every indexed path."""

    def wipe(self) -> None:
        """Overwrite what removed text left behind."""


class Folder(Protocol):
    """A workspace."""

    @property
    def root(self) -> Path:
        """Where it is."""

    @property
    def index(self) -> Index | None:
        """None while it cannot be opened."""

    def harvest(self, paths: set[str] | None = None) -> object:
        """Index what changed."""


def own_lines(folder: Folder, asked: Sequence[str], receipt: Receipt) -> None:
    """Cite the person's own lines that name what is asked to be forgotten; nothing is changed."""
    index = folder.index
    for path in sorted(index.known()) if index is not None and asked else ():
        with suppress(FileRefused):
            _cite(path, read(Place(folder.root, path)) or b"", _naming(asked), receipt)


def workspace(
    folder: Folder, trace: Trace, receipt: Receipt, asked: Sequence[str] = (), *, after: str = "", most: int
) -> str:
    """Look through the indexed files of a workspace behind this path; returns the last path, or "" when there are no more.

    asked: names and words of which the person's own lines are cited. most: files that are looked through.
    """
    index = folder.index
    if index is None:
        return ""
    if not trace.words:
        own_lines(folder, asked, receipt)
        return ""
    named = _naming(asked)
    changed: set[str] = set()
    paths = sorted(path for path in index.known() if path > after)
    for path in paths[:most]:
        try:
            data = read(Place(folder.root, path))
        except FileRefused:
            continue
        if data is None:
            continue
        left = _without(data, trace)
        if left != data and _written(Place(folder.root, path), data, left, receipt):
            changed.add(path)
            receipt.add("generated pages", 1)
        _cite(path, left, lambda line: trace.in_line(line) or named(line), receipt)
    with suppress(NeuralStreamError):
        if changed:
            folder.harvest(changed)
        index.wipe()
    return paths[most - 1] if len(paths) > most else ""


def _written(place: Place, data: bytes, after: bytes, receipt: Receipt) -> bool:
    try:
        write(place, after, read_as=data)
    except (FileChanged, FileRefused) as error:
        receipt.left.append(
            Left(place.path, f"its generated part still holds it ({error.what})", "neuralstream forget again")
        )
        return False
    return True


def _without(data: bytes, trace: Trace) -> bytes:
    """The file with generated parts that no longer say it; what a person changed inside of one is the person's own."""
    newline = newline_of(data)
    for fence in reversed(fences(data)):
        if fence.touched:
            continue
        lines = fence.body.decode("utf-8", "replace").splitlines()
        kept = [line for line in lines if not trace.in_line(line)]
        if kept != lines:
            data = data[: fence.start] + fenced(fence.name, "\n".join(kept), newline) + data[fence.end :]
    return data


def _naming(asked: Sequence[str]) -> Callable[[str], bool]:
    return lambda line: bool(asked) and all(mentions(line, words) for words in asked)


def _cite(path: str, data: bytes, says: Callable[[str], bool], receipt: Receipt) -> None:
    touched = any(fence.touched for fence in fences(data))
    ours = [] if touched else generated_lines(data)
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if len(receipt.left) >= _MOST:
            return
        if line.strip() and not is_generated(number, ours) and says(line):
            place = cited(path, number, number)
            receipt.left.append(Left(place, "a line of your own says it", "edit the file; the index follows"))
