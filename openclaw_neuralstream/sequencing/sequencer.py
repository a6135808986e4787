"""Keeps the sequences in step: turns as they come and as the truth has them, answers, archive, and the files of it all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, NotFound
from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.model import Pair, Scope, Turn
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.sequences import pairing
from openclaw_neuralstream.sequences.index import PairIndex
from openclaw_neuralstream.sequences.interests import Interest
from openclaw_neuralstream.sequences.keeping import Policy
from openclaw_neuralstream.sequences.listing import Row
from openclaw_neuralstream.sequencing.desk import Desk
from openclaw_neuralstream.worker import FairLock, Worker

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
