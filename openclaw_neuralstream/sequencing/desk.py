"""The files of sequences in a workspace: written atomically and owner-only, looked after, and the user's topics read live."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from openclaw_neuralstream.clock import Clock
from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.model import Pair, Scope, cited
from openclaw_neuralstream.reflect.writing import FileChanged, FileRefused, Place, read, remove, sweep, write
from openclaw_neuralstream.sequences import interests, view
from openclaw_neuralstream.sequences.index import PairIndex
from openclaw_neuralstream.sequences.interests import Interest
from openclaw_neuralstream.sequences.listing import Row, Totals

log = structlog.get_logger(__name__)

_TRIES = 3
_MOST_TOPICS = 64_000
_CHUNK = 200  # sequences written between two looks whether to stop
_Seal = tuple[int, int, int]


class Desk:
    """Writes for one folder after another. One thread writes; anybody may read topics."""

    def __init__(self, index: PairIndex, *, large: int, clock: Clock) -> None:
        self._index = index
        self._large = large
        self._clock = clock
        self._topics: dict[Path, tuple[_Seal | None, tuple[Interest, ...]]] = {}
        self._seals: dict[Path, tuple[_Seal | None, ...]] = {}

    # --- topics -----------------------------------------------------------------------------------------------------

    def interests(self, root: Path) -> tuple[Interest, ...]:
        """The user's topics as the file says them now; () where there is none, or it cannot be read."""
        seal = _seal(root / interests.PATH)
        kept = self._topics.get(root)
        if kept is None or kept[0] != seal:
            kept = (seal, interests.interests_of(self.topics_text(root)))
            self._topics[root] = kept
        return kept[1]

    def topics_text(self, root: Path) -> str:
        """The file; "" where there is none."""
        with suppress(FileRefused):
            return (read(Place(root, interests.PATH)) or b"")[:_MOST_TOPICS].decode("utf-8", "replace")
        return ""

    def change_topics(self, root: Path, *, add: Iterable[str] = (), drop: Iterable[str] = ()) -> bool:
        """Add and remove topics for the user who says so; all other lines stay. Raises FileRefused, FileChanged."""
        place = Place(root, interests.PATH)
        before = read(place)
        text = after = before.decode("utf-8", "replace") if before is not None else interests.BLANK
        for name in add:
            after = interests.with_interest(after, name)
        for name in drop:
            after = interests.without_interest(after, name)
        if after == text and before is not None:
            return False
        write(place, after.encode(), read_as=before)
        return after != text

    # --- files ------------------------------------------------------------------------------------------------------

    def touched(self, root: Path) -> bool:
        """Whether the index file or the folders are not as they were left: somebody edited or deleted something."""
        return root in self._seals and self._seals[root] != self._seal_of(root)

    def write(self, root: Path, agents: Iterable[str], *, everything: bool = False) -> int:
        """Bring the files of these agents' sequences into line; returns how many were written. Raises FileRefused.

        everything: whatever was written before, as after somebody has edited or deleted files.
        """
        scopes = [Scope(agent) for agent in sorted(agents)]
        first = not (root / view.INDEX).exists()
        if first and not any(self._index.totals(scope).pairs for scope in scopes):
            return 0
        for folder in ("memory", view.SESSIONS, view.ARCHIVE):
            sweep(root / folder)
        listed = self._listed(scopes)
        whole = {row.sequence for row, _, _ in listed}
        done = 0
        for scope in scopes:
            while found := self._due(scope, everything=everything):
                done += sum(self._settle(root, row, whole) for row in found)
                if everything or len(found) < _CHUNK:
                    break
            for row in self._index.sequences(scope, limit=view.MOST_SESSIONS + _CHUNK):
                if row.sequence not in whole and not row.file:  # newer ones have pushed it out of the index file
                    done += self._settle(root, row, whole)
        totals = [self._index.totals(scope) for scope in scopes]
        summed = Totals(
            sum(t.pairs for t in totals), sum(t.answers for t in totals), sum(t.sequences for t in totals)
        )  # fmt: skip
        done += self._write(root, view.INDEX, view.index_file(listed, summed, self._clock()))
        self._seals[root] = self._seal_of(root)
        if first and not (root / interests.PATH).exists():
            with suppress(FileChanged):
                write(Place(root, interests.PATH), interests.BLANK.encode(), read_as=None)
        return done

    def _seal_of(self, root: Path) -> tuple[_Seal | None, ...]:
        return tuple(_seal(root / path) for path in (view.INDEX, view.SESSIONS, view.ARCHIVE))

    @staticmethod
    def names(root: Path) -> list[Path]:
        """The files that are ours there, as far as they exist."""
        folders = (root / view.SESSIONS, root / view.ARCHIVE)
        found = [root / view.INDEX, *(path for folder in folders for path in sorted(folder.glob("*.json")))]
        return [path for path in found if path.is_file() and not path.is_symlink() and _ours(path)]

    def erase(self, root: Path, says: Callable[[str], bool]) -> None:
        """Overwrite and delete files of ours that still say it: of sessions that nobody knows any more, or while off."""
        for path in self.names(root):
            if says(path.read_text(encoding="utf-8", errors="replace")):
                with path.open("r+b") as file:
                    file.write(b"\0" * path.stat().st_size)
                    file.flush()
                    os.fsync(file.fileno())
                path.unlink()

    def citing(self, root: Path, says: Callable[[str], bool]) -> list[str]:
        """Lines of the user's topics that say it."""
        lines = self.topics_text(root).splitlines()
        return [cited(interests.PATH, n, n) for n, line in enumerate(lines, 1) if line.strip() and says(line)]

    def _due(self, scope: Scope, *, everything: bool) -> list[Row]:
        if not everything:
            return self._index.sequences(scope, archived=None, changed=True, limit=_CHUNK)
        changed = self._index.sequences(scope, archived=None, changed=True, limit=_CHUNK)
        return list(
            {
                row.sequence: row for row in [*changed, *self._index.sequences(scope, archived=None, limit=100_000)]
            }.values()
        )

    def _settle(self, root: Path, row: Row, whole: set[int]) -> int:
        """Write one sequence where it belongs now, and take it away from where it was. whole: those of the index file."""
        file = self._file(row, whole) if row.pairs else ""
        done = self._write(root, file, view.session_file(row, self._index.pairs(row.sequence))) if file else 0
        if row.file and row.file != file:
            self._remove(root, row.file)
        self._index.written(row, file)
        return done

    def _file(self, row: Row, whole: set[int]) -> str:
        own = view.file_of(row, large=self._large)
        return own or ("" if row.sequence in whole else f"{view.SESSIONS}/{row.name}.json")

    def _listed(self, scopes: Sequence[Scope]) -> list[tuple[Row, str, Sequence[Pair]]]:
        """What the index file shows: the newest, as many as it holds."""
        rows = [row for scope in scopes for row in self._index.sequences(scope, limit=view.MOST_SESSIONS)]
        rows = sorted(rows, key=lambda row: row.last, reverse=True)[: view.MOST_SESSIONS]
        listed: list[tuple[Row, str, Sequence[Pair]]] = []
        room = view.MOST_PAIRS
        for row in rows:
            file = view.file_of(row, large=self._large)
            shown = min(row.pairs, view.LAST) if file else row.pairs
            room -= shown
            if room < 0:
                break
            listed.append((row, file, self._index.pairs(row.sequence, last=shown)))
        return listed

    def _write(self, root: Path, path: str, text: str) -> int:
        place, data = Place(root, path), text.encode()
        for _ in range(_TRIES):
            before = read(place)
            if before == data:
                return 0
            try:
                write(place, data, read_as=before)
            except FileChanged:
                continue  # somebody edits it: it is a view all the same
            with suppress(OSError):
                place.file.chmod(0o600)
                if place.file.parent.name != "memory":
                    place.file.parent.chmod(0o700)
            return 1
        return 0

    def _remove(self, root: Path, path: str) -> None:
        place = Place(root, path)
        with suppress(NeuralStreamError):
            if (before := read(place)) is not None:
                remove(place, read_as=before)


def _ours(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as file:
        return view.STRUCTURE.encode() in file.read(200)
    return False


def _seal(path: Path) -> _Seal | None:
    """What tells a file from another one of the same name; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
