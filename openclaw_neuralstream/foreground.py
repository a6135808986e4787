"""Who waits for an answer goes first: work in the background rests between its steps while somebody does."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_BREATH = 0.02
"""Seconds after an answer in which the next request may follow: a burst is answered before what it leaves to be done."""

_SWITCH_SECONDS = 0.0005
"""A reply waits at most so long for a thread that distils; Python's default is ten times as much."""

_YOUNG, _OLDER = 20_000, 20
"""New containers, and rounds over them, before Python looks for cycles: 700 and 10 by default, some five times for each
question, and now and then through everything that is loaded, which takes longer than an answer."""

_PATIENCE = 0.2
"""Seconds that one step of work waits at most: however much is asked, what is in the background goes on."""


class Foreground:
    """Counts the requests that are being answered. May be used from any thread.

    `rest` is for the threads that have said that they work in the background; in any other it returns at once, so that
    code that both run may call it. Nobody may rest who holds a lock that an answer needs.
    """

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._changed = threading.Condition()
        self._open = 0
        self._last = 0.0
        self._mine = threading.local()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """A request is being answered."""
        with self._changed:
            self._open += 1
        try:
            yield
        finally:
            with self._changed:
                self._open -= 1
                self._last = time.monotonic()
                self._changed.notify_all()

    def work_behind(self) -> None:
        """This thread works in the background from now on."""
        self._mine.behind = True

    def rest(self) -> None:
        """Wait, in a thread of the background, until nobody asks; between two steps of work."""
        if not getattr(self._mine, "behind", False):
            return
        until = time.monotonic() + self._patience
        with self._changed:
            while (now := time.monotonic()) < until:
                left = until - now if self._open else self._last + _BREATH - now
                if left <= 0:
                    return
                self._changed.wait(min(left, until - now))


def prefer_answers() -> None:
    """Set this process's Python for answering: threads take turns quickly, and cycles are looked for seldom."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(_YOUNG, _OLDER, _OLDER)


def settled() -> None:
    """What is loaded now stays: it is looked through for cycles no more."""
    gc.freeze()


FOREGROUND = Foreground()
"""The one of this process: it has one interpreter lock, which is what is shared."""
