"""What has to be done so that the index says what the disk says: pure, from two listings to one plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from openclaw_neuralstream.model import Known
from openclaw_neuralstream.notes.ignore import above
from openclaw_neuralstream.notes.scan import Seen

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
