"""Calls that may hang, each with a deadline: whoever waits goes on without the answer."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any


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
