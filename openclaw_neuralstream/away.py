"""Which services did not answer a moment ago, so that nobody waits for them on every call."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

from openclaw_neuralstream.errors import VendorAway

log = structlog.get_logger(__name__)


class Away:
    """Remembers a service as away for `delay` seconds after each failure."""

    def __init__(
        self, delay: float, count: Callable[[str], None], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._delay = delay
        self._count = count
        self._monotonic = monotonic
        self._until: dict[str, float] = {}

    def mark(self, name: str, error: VendorAway) -> None:
        """It did not answer just now."""
        self._until[name] = self._monotonic() + self._delay
        self._count(f"away.{name}")
        log.warning("vendor.away", vendor=name, error=error.what)

    def __contains__(self, name: str) -> bool:
        return self._monotonic() < self._until.get(name, 0.0)

    def names(self) -> list[str]:
        """The services away now, in alphabetical order."""
        return sorted(name for name in self._until if name in self)
