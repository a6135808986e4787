"""One workspace, followed in a thread of its own: what changed is gathered until it is quiet, then harvested at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import structlog

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.notes.harvest import Harvested
from openclaw_neuralstream.notes.ignore import GITIGNORE
from openclaw_neuralstream.notes.notify import Listen, Notifier, listen
from openclaw_neuralstream.worker import Worker

log = structlog.get_logger(__name__)

QUIET = 0.02
"""Seconds of silence after which what was gathered is harvested: an editor's save is several events."""

PATIENCE = 0.5
"""Seconds after which a busy folder is harvested all the same."""

SHARE = 50
"""A sweep that took t seconds is not repeated for polling within 50 t: at most 2 % of one core."""

MEND_WATCHES = "sudo sysctl fs.inotify.max_user_watches=524288 (and a line of it in /etc/sysctl.d/)"
MEND_INSTANCES = "sudo sysctl fs.inotify.max_user_instances=512 (and a line of it in /etc/sysctl.d/)"
MEND_QUEUE = "sudo sysctl fs.inotify.max_queued_events=131072 (and a line of it in /etc/sysctl.d/)"


@dataclass(frozen=True, slots=True)
class Pace:
    """How a workspace is followed.

    events: listen to the system; else look every `poll` seconds. sweep: seconds between looks at everything all the
    same, because news can be lost.
    """

    events: bool = True
    poll: float = 5.0
    sweep: float = 300.0
    quiet: float = QUIET
    patience: float = PATIENCE


class Watcher:
    """Tells `harvest` what to look at: a set of paths, or None for everything."""

    def __init__(
        self,
        name: str,
        root: Path,
        harvest: Callable[[set[str] | None], Harvested | None],
        *,
        pace: Pace,
        listen: Listen = listen,
        refused: Callable[[NeuralStreamError], None] = lambda _: None,
    ) -> None:
        """`harvest` returns None when the workspace is away; it is asked again every `poll` seconds."""
        self._root = root
        self._harvest = harvest
        self._pace = pace
        self._listen = listen
        self._news = threading.Lock()
        self._paths: set[str] = set()
        self._doubted = True  # what happened before we came
        self._arrived = 0
        self._notifier: Notifier | None = None
        self._swept_at = float("-inf")
        self._sweep_seconds = 0.0
        self._away = False
        self._busy = False
        self.trouble = ""
        self.mend = ""
        self.lost = 0  # how often the system dropped events
        self.rounds = 0
        self.worker = Worker(name, self._round, period=min(pace.poll, 5.0), refused=refused)

    # --- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin with a sweep: what changed while nothing ran."""
        self.worker.start()

    def stop(self, deadline: float) -> None:
        """End the threads."""
        self.worker.stop(deadline)
        self._hang_up()

    @property
    def listening(self) -> bool:
        """Whether the system tells what happens; else the watcher looks by itself."""
        return self._notifier is not None

    @property
    def waiting(self) -> int:
        """How many paths wait to be looked at."""
        return len(self._paths)

    @property
    def idle(self) -> bool:
        """Whether everything was looked at since the start, and nothing new came."""
        with self._news:
            return self.rounds > 0 and not (self._paths or self._doubted or self._busy)

    @property
    def blind(self) -> int:
        """How many folders the system does not tell about, because it has no watch left for them."""
        return self._notifier.blind if self._notifier else 0

    # --- news -------------------------------------------------------------------------------------------------------

    def tell(self, path: str) -> None:
        """Something may have happened to this path."""
        with self._news:
            if path.rpartition("/")[2] == GITIGNORE:
                self._doubted = True  # other files are notes now
            else:
                self._paths.add(path)
            self._arrived += 1
            first = self._arrived == 1
        if first:
            self.worker.wake()

    def doubt(self) -> None:
        """Look at everything, soon."""
        with self._news:
            self._doubted = True
            self._arrived += 1
        self.worker.wake()

    def _overflowed(self) -> None:
        self.lost += 1
        self.doubt()

    # --- the worker's round -----------------------------------------------------------------------------------------

    def _round(self) -> None:
        if self._pace.events and self._notifier is None and not self._away:
            self._hear()
        self._gather()
        paths = self._take()
        if paths is not None and not paths:
            return
        try:
            self._follow(paths)
        except BaseException:
            self._give_back(paths)
            raise
        finally:
            self._busy = False

    def _follow(self, paths: set[str] | None) -> None:
        began = time.monotonic()
        done = self._harvest(paths)
        if done is None:
            self._gone()
            return
        if self._away:
            self._away = False
            self._hear()
        self._again(done)
        if paths is None:
            self._sweep_seconds = time.monotonic() - began
            self._swept_at = time.monotonic()
        while self._notifier and (new := self._notifier.follow(done.folders)):
            done = self._harvest(set(new)) or Harvested()  # what came into them before they were followed
            self._again(done)
        self._say_if_blind()
        self.rounds += 1

    def _gather(self) -> None:
        """Wait until nothing more comes, but not for ever."""
        end = time.monotonic() + self._pace.patience
        seen = 0
        while self._arrived != seen and not self.worker.stopping and time.monotonic() < end:
            seen = self._arrived
            self.worker.pause(self._pace.quiet)

    def _take(self) -> set[str] | None:
        """What to look at now; None = everything."""
        with self._news:
            paths, self._paths = self._paths, set()
            everything = self._doubted or self._due()
            self._busy = everything or bool(paths)
            self._doubted = False
            self._arrived = 0
        return None if everything or "" in paths else paths

    def _give_back(self, paths: set[str] | None) -> None:
        with self._news:
            if paths is None:
                self._doubted = True
            else:
                self._paths |= paths

    def _again(self, done: Harvested) -> None:
        for path in done.again:
            self.tell(path)

    def _due(self) -> bool:
        since = time.monotonic() - self._swept_at
        if self._away:
            return True
        if self.listening and not self.blind:
            return since >= self._pace.sweep
        return since >= max(self._pace.poll * 0.9, SHARE * self._sweep_seconds)

    # --- listening --------------------------------------------------------------------------------------------------

    def _hear(self) -> None:
        self._hang_up()
        if not self._pace.events:
            return
        try:
            self._notifier = self._listen(self._root, self.tell, self._overflowed)
            self.trouble = self.mend = ""
        except OSError as error:
            if not self.trouble:
                log.warning("watch.polling", error=error.strerror)
            self.mend = MEND_INSTANCES
            self.trouble = (
                f"the system does not tell of changes ({error.strerror or error}); files are looked at instead"
            )

    def _hang_up(self) -> None:
        notifier, self._notifier = self._notifier, None
        if notifier:
            notifier.close()

    def _gone(self) -> None:
        self._away = True
        self._hang_up()

    def _say_if_blind(self) -> None:
        if self.blind:
            if not self.trouble:
                log.warning("watch.partial", folders=self.blind)
            self.mend = MEND_WATCHES
            self.trouble = f"{self.blind} folders have no watch (the system has none left); they are looked at instead"
        elif self.lost:
            self.mend = MEND_QUEUE
            self.trouble = f"the system dropped events {self.lost} times; everything was looked at instead"
        elif self.listening:
            self.trouble = self.mend = ""
