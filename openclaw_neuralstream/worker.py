"""A thread with a name, an owner, a stop event, a join with a deadline, and a crash that shows."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from openclaw_neuralstream.errors import NeuralStreamError

log = structlog.get_logger(__name__)


class Worker:
    """Calls `work` whenever it is woken and at least every `period` seconds, until stopped.

    `work` returns when there is nothing more to do for now. An error that we raised on purpose (a full disk) is logged
    and told to `refused`; any other is a crash, logged and counted. The worker goes on, more slowly while they repeat.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], None],
        *,
        period: float,
        refused: Callable[[NeuralStreamError], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.crashes = 0
        self._work = work
        self._period = period
        self._refused = refused
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"neuralstream-{name}", daemon=True)

    def start(self) -> None:
        """Begin; the first round runs at once."""
        self._wake.set()
        self._thread.start()

    def wake(self) -> None:
        """Ask for a round now; several asks before it starts are one."""
        self._wake.set()

    @property
    def stopping(self) -> bool:
        """True once `stop` was called; long work looks at it between its steps."""
        return self._stop.is_set()

    def pause(self, seconds: float) -> None:
        """Wait, but not beyond a stop."""
        self._stop.wait(seconds)

    def stop(self, deadline: float) -> bool:
        """Ask it to end and wait at most `deadline` seconds. False when it is still running then."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(deadline)
        return not self._thread.is_alive()

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            self._wake.wait(self._period)
            self._wake.clear()
            if self._stop.is_set():
                return
            try:
                self._work()
                failures = 0
            except NeuralStreamError as error:
                failures += 1
                log.warning("worker.refused", worker=self.name, code=error.code, error=error.what)
                self._refused(error)
            except Exception:
                failures += 1
                self.crashes += 1
                log.exception("worker.crashed", worker=self.name, crashes=self.crashes)
            if failures:
                self._stop.wait(min(60.0, 0.5 * 2**failures))
