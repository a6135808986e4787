"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(
    condition: Callable[[], object],
    seconds: float = 30.0,
    why: str | Callable[[], object] = "waited in vain",
    *,
    step: float = 0.01,
) -> object:
    """What the condition says once it is true; asked every `step` seconds. Fails with `why` after `seconds`."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, why() if callable(why) else why
        time.sleep(step)
    return found
