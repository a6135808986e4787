"""The worker that follows turns with pairs, and the files of a workspace."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream.clock import Clock
from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, NotFound
from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.memory.parts import Parts
from openclaw_neuralstream.model import Pair, Scope, Turn, cited
from openclaw_neuralstream.sequences import pairing, view
from openclaw_neuralstream.sequences.index import PairIndex
from openclaw_neuralstream.sequences.pairing import Interest
from openclaw_neuralstream.sequences.rows import Policy, Row, Totals
from openclaw_neuralstream.worker import FairLock, Worker
from openclaw_neuralstream.workspace.writing import FileChanged, FileRefused, Place, read, remove, sweep, write

_TRIES = 3
_MOST_TOPICS = 64_000
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
        seal = _seal(root / pairing.PATH)
        kept = self._topics.get(root)
        if kept is None or kept[0] != seal:
            kept = (seal, pairing.interests_of(self.topics_text(root)))
            self._topics[root] = kept
        return kept[1]

    def topics_text(self, root: Path) -> str:
        """The file; "" where there is none."""
        with suppress(FileRefused):
            return (read(Place(root, pairing.PATH)) or b"")[:_MOST_TOPICS].decode("utf-8", "replace")
        return ""

    def change_topics(self, root: Path, *, add: Iterable[str] = (), drop: Iterable[str] = ()) -> bool:
        """Add and remove topics for the user who says so; all other lines stay. Raises FileRefused, FileChanged."""
        place = Place(root, pairing.PATH)
        before = read(place)
        text = after = before.decode("utf-8", "replace") if before is not None else pairing.BLANK
        for name in add:
            after = pairing.with_interest(after, name)
        for name in drop:
            after = pairing.without_interest(after, name)
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
        if first and not (root / pairing.PATH).exists():
            with suppress(FileChanged):
                write(Place(root, pairing.PATH), pairing.BLANK.encode(), read_as=None)
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
        return [cited(pairing.PATH, n, n) for n, line in enumerate(lines, 1) if line.strip() and says(line)]

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


SIGNIFICANT = 0.6
"""Significance above which an answer is kept with its question; see docs/sequences.md."""

LARGE_SESSION = 50
"""Questions beyond which a session gets a file of its own in memory/sessions/."""

log = structlog.get_logger(__name__)

MARK = "sequences.mark."
"""The truth keeps what a person said of an answer under this and the id of its turn: no rebuild loses it."""

_HEARD = 64  # turns of the last moments whose answers are at hand before the truth has them
_CHUNK = 200
_FEW = 20  # turns that are taken in between two moments at which a forgetting gets in, or a stop is seen
_PERIOD = 5.0
_SETTLE = 2.0  # seconds that the files wait for more, so that a busy hour is not one write a turn
_ARCHIVE_EVERY = timedelta(hours=1)
_LAST = 5


class Sequencer:
    """The worker `sequences`. What it loses when it is killed it takes from the truth again: a turn counts once."""

    def __init__(
        self, parts: Parts, index: PairIndex, refused: Callable[[NeuralStreamError], None] = lambda _: None
    ) -> None:
        self.index = index
        self._parts = parts
        self._truth = parts.truth
        self._knobs = parts.settings
        self._now = parts.clock
        self.desk = Desk(index, large=LARGE_SESSION, clock=parts.clock)
        self._heard: deque[Turn] = deque(maxlen=_HEARD)
        self._waiting: deque[Turn] = deque()
        self._working = FairLock()  # held for a chunk at a time: a forgetting waits for no more than that
        self._interests: dict[str, tuple[Interest, ...]] = {}
        self._written: dict[Path, datetime] = {}
        self._dirty: set[Path] = set()
        self._looked: set[Path] = set()  # whose files were compared with the index since the start
        self._archived: datetime | None = None
        self._started = False
        self._error = ""
        self.worker = Worker("sequences", self._round, period=_PERIOD, refused=refused)

    # --- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin by taking in what the truth has and the index has not."""
        self._started = True
        self.worker.start()

    def close(self, deadline: float = 3.0) -> None:
        """Stop, with the files as the index is, and release the index."""
        stopped = self.worker.stop(deadline)
        if stopped and self._started:
            with suppress(NeuralStreamError):
                self._files(now=True)
        self.index.close()

    def note(self, turn: Turn) -> None:
        """A turn was kept: take it in soon, not now."""
        self._heard.append(turn)
        self._waiting.append(turn)
        self.worker.wake()

    # --- work -------------------------------------------------------------------------------------------------------

    def catch_up(self) -> int:
        """Take in what is new, in this thread; returns how many pairs came."""
        added = self._heard_now()
        while not self.worker.stopping:
            with self._working:  # read and taken in under one hold: no turn is put back that was forgotten in between
                found = self._truth.turns_after(self.index.position(), _FEW)
                added += self.index.add([turn for _, turn in found], self._policy()) if found else 0
                if not found:
                    break
                self.index.advance(found[-1][0])
        self._answers()
        return added

    def rebuild(self) -> int:
        """Empty the index and make it anew from the truth; marks and topics stay. Returns the number of pairs."""
        with self._working:
            self.index.clear()
            self._looked.clear()
        self.catch_up()
        return self.index.totals().pairs

    def reconcile(self) -> None:
        """Make every pair say what its turn says now: after a forgetting or a scrubbing."""
        after = 0
        while after := self.reconcile_some(after):
            continue
        self.index.wipe()

    def reconcile_some(self, after: int) -> int:
        """The same for the pairs behind this number, some of them; returns the number of the last one, 0 when there are no more."""
        with self._working:
            if not after:
                self._waiting.clear()
                self._heard.clear()
            found = self.index.every_turn(after, _CHUNK)
            self._reconciled([turn_id for _, turn_id in found])
            return found[-1][0] if found else 0

    def forget_in_files(self, says: Callable[[str], bool], cites: Callable[[str], bool]) -> list[str]:
        """Write the files anew, erase ours that say it all the same; returns lines of the user's topics that name it."""
        left: list[str] = []
        with self._working:
            with suppress(NeuralStreamError):
                self._files(now=True)
            for root in self._roots():
                self.desk.erase(root, says)
                left += self.desk.citing(root, cites)
        return left

    def _reconciled(self, turn_ids: Sequence[str]) -> None:
        turns = {turn.turn_id: turn for turn in self._truth.turns(turn_ids)}
        other: list[Turn] = []
        gone: list[str] = []
        for turn_id in turn_ids:
            pair = self.index.pair(turn_id)
            said = pairing.spoken(turns[turn_id]) if turn_id in turns else None
            same = said and pair and (said.question, said.others) == (pair.question, pair.others)
            if pair is None or (same and said and pair.answer in ("", said.answer)):
                continue
            gone.append(turn_id)
            other += [turns[turn_id]] if said else []
        self.index.forget(gone)
        self.index.add(other, self._policy())

    def _round(self) -> None:
        self.catch_up()
        self._topics()
        self._archive()
        with suppress(NeuralStreamError):
            self._files()

    def _heard_now(self) -> int:
        added = 0
        while self._waiting and not self.worker.stopping:
            FOREGROUND.rest()
            with self._working, suppress(IndexError):  # a forgetting emptied it
                added += self.index.add([self._waiting.popleft()], self._policy())
        return added

    def _answers(self) -> None:
        """Judge again what waits for that, with the answers out of the truth, or of the last moments."""
        while not self.worker.stopping:
            with self._working:
                wanted = self.index.wanted(_FEW)
                if not wanted:
                    return
                found: dict[str, Turn | None] = dict.fromkeys(wanted)
                found |= {turn.turn_id: turn for turn in list(self._heard) if turn.turn_id in found}
                found |= {turn.turn_id: turn for turn in self._truth.turns(wanted)}
                self.index.give(found, self._policy())

    def _archive(self) -> None:
        now = self._now()
        if self._archived is None or now - self._archived >= _ARCHIVE_EVERY:
            self._archived = now
            self.archive(now - timedelta(days=self._knobs.qa_archive_days))

    def _topics(self) -> None:
        """Where the user has come to care about more, earlier answers about it are kept, too."""
        for agent, root in self._places().items():
            now = self.desk.interests(root)
            before = self._interests.get(agent)
            self._interests[agent] = now
            fresh = [interest for interest in now if interest not in before] if before is not None else []
            if fresh:
                self.index.look_again(interests=fresh, scope=Scope(agent))
        self._answers()

    # --- files ------------------------------------------------------------------------------------------------------

    def files(self) -> int:
        """Write now what changed; returns how many files. Raises FileRefused where a workspace cannot be written."""
        with self._working:
            return self._files(now=True)

    def _files(self, *, now: bool = False) -> int:
        if not self._knobs.qa_files:
            return 0
        done = 0
        for root, agents in self._roots().items():
            touched = self.desk.touched(root) or root not in self._looked
            if not touched and not self._changed(agents):
                continue
            last = self._written.get(root)
            if not now and last and (self._now() - last).total_seconds() < _SETTLE:
                continue
            try:
                done += self.desk.write(root, agents, everything=touched)
            except NeuralStreamError as error:
                self._error = f"{error.what} ({error.where})"
                log.warning("sequences.not_written", code=error.code, error=error.what)
                raise
            self._error = ""
            self._looked.add(root)
            self._written[root] = self._now()
        return done

    def _changed(self, agents: set[str]) -> bool:
        return any(self.index.sequences(Scope(agent), archived=None, changed=True, limit=1) for agent in agents)

    def _places(self) -> dict[str, Path]:
        """Agent → the folder of its workspace, where that is there."""
        return {
            agent: workspace.root for workspace in self._parts.workspaces.all() if workspace.here
            for agent in workspace.agents
        }  # fmt: skip

    def _roots(self) -> dict[Path, set[str]]:
        return {w.root: set(w.agents) for w in self._parts.workspaces.all() if w.here and w.agents}

    # --- by hand ----------------------------------------------------------------------------------------------------

    def find(self, named: str) -> Pair:
        """A pair as a person names it: SESSION#SEQ, or its turn. Raises NotFound, BadRequest."""
        name, _, seq = named.rpartition("#")
        if not name:
            found = self.index.pair(named)
        elif not seq.isdigit():
            raise BadRequest(
                f"{named!r} names no pair", fix="name it as SESSION#SEQ, as `neuralstream qa show` prints it"
            )
        else:
            row = self.sequence(name)
            found = next((pair for pair in self.index.pairs(row.sequence) if pair.seq == int(seq)), None)
        if found is None:
            raise NotFound(f"no pair {named!r}", fix="neuralstream qa list, then qa show SESSION")
        return found

    def sequence(self, name: str) -> Row:
        """A sequence by its name or the start of it. Raises NotFound."""
        row = self.index.sequence(name)
        if row is None:
            raise NotFound(f"no session {name!r}, or several begin so", fix="neuralstream qa list")
        return row

    def mark(self, named: str, mark: str) -> Pair:
        """Keep the answer of a pair ("keep"), never keep it ("drop"), or let the formula say again ("")."""
        with self._working:
            pair = self.find(named)
            self._truth.set_meta(f"{MARK}{pair.turn_id}", mark)
            self.index.look_again([pair.turn_id])
            self._answers()
        self.worker.wake()
        return self.find(pair.turn_id)

    def archive(self, before: datetime, *, dry_run: bool = False) -> list[str]:
        """Put away what ended before, and return the names; it stays findable. dry_run: only tell which."""
        with self._working:
            found = self.index.archive(before, dry_run=dry_run)
        if found and not dry_run:
            log.info("sequences.archived", count=len(found))
            self.worker.wake()
        return found

    def root_of(self, agent: str) -> Path:
        """The folder of an agent's workspace. Raises NotFound."""
        root = self._places().get(agent)
        if root is None:
            fix = "neuralstream config set workspace /folder, or talk to the agent once: OpenClaw then names it"
            raise NotFound(f"no workspace of the agent {agent!r} is there", fix=fix)
        return root

    def interests_of(self, agent: str) -> Sequence[Interest]:
        """The topics of an agent's user, as the file says them now."""
        root = self._places().get(agent)
        return self.desk.interests(root) if root else ()

    def status(self) -> dict[str, Any]:
        """Counts, and the last pairs of the present session, as plain JSON."""
        totals = self.index.totals()
        newest = max((row for agent in self.agents() for row in self.index.sequences(Scope(agent), archived=None, limit=1)),
                     key=lambda row: row.last, default=None)  # fmt: skip
        return {
            "pairs": totals.pairs,
            "answers": totals.answers,
            "sessions": totals.sequences,
            "current": {"session": newest.name, "pairs": len(self.index.pairs(newest.sequence, last=_LAST))}
            if newest
            else None,
            "files": self._knobs.qa_files,
            "error": self._error,
        }

    def agents(self) -> list[str]:
        """Agents whose sequences there may be for their owner."""
        return sorted({"main", *self._places()})

    def _policy(self) -> Policy:
        return Policy(SIGNIFICANT, self.interests_of, lambda turn_id: self._truth.meta(f"{MARK}{turn_id}"))
