"""Threads with a name, an owner and an end; calls that may hang, each with a deadline."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog

from openclaw_neuralstream.errors import NeuralStreamError, crash
from openclaw_neuralstream.foreground import FOREGROUND


class TooSlow(Exception):
    """It takes longer than it may."""


class Lane:
    """A thread for the calls of one stranger.

    Who calls waits so long and no longer, and nobody queues behind a call that hangs.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._work: queue.SimpleQueue[tuple[Callable[[], Any], queue.SimpleQueue[tuple[Any, BaseException | None]]]]
        self._work = queue.SimpleQueue()
        self._busy = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"neuralstream-{name}", daemon=True)
        self._started = False
        self._late = False  # the last call was given up; it may still be running

    def call(self, work: Callable[[], Any], seconds: float) -> Any:
        """What it returns or raises. Raises TooSlow when it takes longer, or while an earlier call still does."""
        end = time.monotonic() + seconds
        if not self._busy.acquire(timeout=0.0 if self._late else seconds):
            raise TooSlow  # while a call hangs nobody waits behind it
        self._late = False
        if not self._started:
            self._started = True
            self._thread.start()
        answer: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._work.put((work, answer))
        try:
            result, error = answer.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            self._late = True
            raise TooSlow from None
        if error is not None and not isinstance(error, Exception):
            raise RuntimeError(f"{type(error).__name__} in {self.name}") from error
        if error is not None:
            raise error
        return result

    def _run(self) -> None:
        while True:
            work, answer = self._work.get()
            try:
                outcome: tuple[Any, BaseException | None] = (work(), None)
            except BaseException as error:  # noqa: BLE001  handed to whoever waits, SystemExit included
                outcome = (None, error)
            answer.put(outcome)
            self._busy.release()
            del work, answer, outcome  # while it waits for the next call it holds nothing of this one


log = structlog.get_logger(__name__)

_REST = 0.5  # seconds that a step waits which has failed, doubled with each failure
_LONGEST_REST = 60.0  # seconds that one waits which fails again and again
_MOST_DOUBLED = 10  # failures, beyond which the rest grows no more


class FairLock:
    """A reentrant lock for work in many short steps: a loop that takes it again and again keeps no other thread out.

    Python's own locks go to whoever asks next, which is the loop that has just let go. Here who waits stands in a gate
    that the loop must pass.
    """

    def __init__(self) -> None:
        self._gate, self._lock = threading.Lock(), threading.Lock()
        self._owner: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        if self._owner != threading.get_ident():
            with self._gate:
                self._lock.acquire()
            self._owner = threading.get_ident()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = None
            self._lock.release()


@dataclass(slots=True)
class _Step:
    """One work of a worker, how often it has failed in a row and why the last time, and until when it rests for that."""

    work: Callable[[], None]
    failures: int = 0
    why: str = ""
    rests_until: float = 0.0


class Worker:
    """Does its work, one step after the other, whenever it is woken and at least every `period` seconds, until stopped.

    A step returns when there is nothing more to do for now. An error that we raised on purpose (a full disk) is logged
    and told to `refused`; any other is a crash, logged and counted. A step that failed comes again later, the more
    often it did the later; the other steps go on without it.
    """

    def __init__(
        self,
        name: str,
        *work: Callable[[], None],
        period: float,
        refused: Callable[[NeuralStreamError], None] = lambda _: None,
    ) -> None:
        self.name = name
        self.crashes = 0
        self._steps = [_Step(one) for one in work]
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

    @property
    def failing(self) -> str:
        """Why a step failed that has not succeeded since; "" when all do."""
        return "; ".join(dict.fromkeys(step.why for step in self._steps if step.why))

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
        FOREGROUND.work_behind()
        while not self._stop.is_set():
            self._wake.wait(self._period)
            self._wake.clear()
            for step in self._steps:
                if self._stop.is_set():
                    return
                if step.rests_until <= time.monotonic():
                    FOREGROUND.rest()
                    self._take(step)
            self._stop.wait(max(0.0, min(step.rests_until for step in self._steps) - time.monotonic()))

    def _take(self, step: _Step) -> None:
        try:
            step.work()
        except NeuralStreamError as error:
            log.warning("worker.refused", worker=self.name, code=error.code, error=error.what)
            step.why = str(error)
            self._refused(error)
        except Exception as error:
            self.crashes += 1
            log.exception("worker.crashed", worker=self.name, crashes=self.crashes)
            step.why = crash(error)
        else:
            step.failures, step.rests_until, step.why = 0, 0.0, ""
            return
        step.failures += 1
        step.rests_until = time.monotonic() + min(_LONGEST_REST, _REST * 2 ** min(step.failures, _MOST_DOUBLED))
