"""What an uninstall finds in the workspaces: our part of MEMORY.md, the files that we wrote, and how they are taken out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from openclaw_neuralstream.errors import NeuralStreamError, StateError
from openclaw_neuralstream.reflect.core import FENCE
from openclaw_neuralstream.reflect.pages import ENTITY_FENCE, OPINIONS_FENCE
from openclaw_neuralstream.reflect.rewrite import Rewrite, Verdict, removed
from openclaw_neuralstream.reflect.writing import SUFFIX, Place, read, remove, write
from openclaw_neuralstream.reflection.memory_file import HEAD
from openclaw_neuralstream.sequences import interests
from openclaw_neuralstream.sequencing.desk import Desk
from openclaw_neuralstream.workspaces.index_file import own_files

_MEMORY_FILES = ("MEMORY.md", "memory.md")
_FOLDERS = ("bank", "memory")  # where reflection writes pages
_OURS = b"<!-- neuralstream:begin "


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file of ours, or a part of ours in a file of the owner. after: the owner's bytes; None where all of it is ours.

    kept: why it is not deleted, "" where it may be.
    """

    place: Place
    size: int
    what: str
    before: bytes | None = None
    after: bytes | None = None
    kept: str = ""


def clear_memory_file(root: Path) -> tuple[list[Path], list[Leftover]]:
    """Take our part out of MEMORY.md, the owner's bytes as they are. Returns the files changed, and parts that stay, and why."""
    changed: list[Path] = []
    left: list[Leftover] = []
    for name in _MEMORY_FILES:
        place = Place(root, name)
        try:
            found = _part_of(place)
            if found and not found.kept:
                _take_out(found)
                changed.append(place.file)
            elif found:
                left.append(found)
        except NeuralStreamError as error:
            size = place.file.stat().st_size if place.file.is_file() else 0
            left.append(Leftover(place, size, "may hold a generated part", kept=error.what))
    return changed, left


def leftovers(roots: Iterable[Path]) -> list[Leftover]:
    """Every file of ours in these workspaces except MEMORY.md. Links are not followed."""
    found = {item.place.file: item for root in roots for item in _found(root)}
    return [found[file] for file in sorted(found)]


def delete(found: Leftover) -> None:
    """Delete a file of ours, and folders of ours that are empty then; of an owner's file only our part.

    Raises FileChanged, FileRefused, or StateError when the file cannot be deleted.
    """
    if found.before is not None:
        _take_out(found)
    else:
        try:
            found.place.file.unlink(missing_ok=True)
        except OSError as error:
            fix = "make its folder writable for you, or delete it yourself"
            raise StateError(
                f"cannot be deleted: {error.strerror or error}", where=str(found.place.file), fix=fix
            ) from error
    with suppress(OSError):  # not empty: the rest is the owner's
        for folder in found.place.file.parents:
            if folder in (found.place.root, found.place.root / "memory"):
                break
            folder.rmdir()


def _found(root: Path) -> Iterator[Leftover]:
    whole = [(path, "index of the notes") for path in own_files(root)]
    whole += [(path, "questions and answers") for path in Desk.names(root)]
    topics = root / interests.PATH
    if topics.is_file() and topics.read_bytes() == interests.BLANK.encode():
        whole.append((topics, "topics, none written yet"))
    for folder, _, names in _folders(root):
        whole += [(folder / name, "unfinished file") for name in names if name[:1] == "." and name.endswith(SUFFIX)]
    for path, what in whole:
        if path.resolve() == path:  # no link on the way to it
            yield Leftover(Place(root, path.relative_to(root).as_posix()), path.stat().st_size, what)
    yield from _pages(root)


def _pages(root: Path) -> Iterator[Leftover]:
    for folder, _, names in _folders(root):
        for name in names:
            path = folder / name
            if path.suffix == ".md" and not path.is_symlink() and path.is_file():
                place = Place(root, path.relative_to(root).as_posix())
                with suppress(NeuralStreamError):  # unreadable: nothing we could have written
                    if found := _part_of(place):
                        yield found


def _folders(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Every folder that reflection and sequences write into, as `os.walk` tells it, without links."""
    for top in _FOLDERS:
        if not (root / top).is_symlink():
            for folder, inside, names in os.walk(root / top):
                yield Path(folder), inside, names


def _part_of(place: Place) -> Leftover | None:
    """What is ours in a Markdown file; None where nothing is."""
    before = read(place)
    if before is None or _OURS not in before:
        return None
    made = _without_parts(before)
    if made.verdict is Verdict.UNCHANGED:
        return None
    if made.verdict is not Verdict.REMOVED:
        return Leftover(place, len(before), "a generated part", before, before, kept=made.verdict.value)
    ours_alone = made.gone and (place.path not in _MEMORY_FILES or made.after.strip() in (b"", HEAD.encode()))
    if ours_alone:
        return Leftover(place, len(before), "generated page", before)
    return Leftover(place, len(before), "a generated part in a file of yours", before, made.after)


def _without_parts(before: bytes) -> Rewrite:
    """The file without any part of ours; as it is where one of them is not to be touched."""
    made = Rewrite(Verdict.UNCHANGED, before, before)
    for name in (FENCE, ENTITY_FENCE, OPINIONS_FENCE):
        part = removed(made.after, name)
        if part.verdict is Verdict.REMOVED:
            made = Rewrite(part.verdict, before, part.after, part.gone)
        elif part.verdict is not Verdict.UNCHANGED:
            return Rewrite(part.verdict, before, before)
    return made


def _take_out(found: Leftover) -> None:
    if found.before is None:
        return
    if found.after is None and not found.place.file.is_symlink():
        remove(found.place, read_as=found.before)
    else:
        write(found.place, found.after or b"", read_as=found.before)
