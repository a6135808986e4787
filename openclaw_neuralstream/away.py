"""Which services failed, why, and whether they rest: nobody waits on every call for one that did not answer a moment ago."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from openclaw_neuralstream.errors import NeuralStreamError, VendorAway, VendorRefused

EXTRACTOR, EMBEDDER, INDEX = "extractor", "embedder", "index"
"""What these are called here; a buffer by its class, the capture list by its own name."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a service failed the last time. refuses_writes: it answers, and takes nothing; reading proves nothing then."""

    error: NeuralStreamError
    refuses_writes: bool


class Away:
    """Remembers a service as failing until its next success; for `delay` seconds after a failure it rests."""

    def __init__(
        self,
        delay: float = 0.0,
        count: Callable[[str], None] = lambda _: None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._delay = delay
        self._count = count
        self._monotonic = monotonic
        self._until: dict[str, float] = {}
        self._failures: dict[str, Failure] = {}

    def mark(self, name: str, error: NeuralStreamError, *, wrote: bool = False) -> None:
        """It failed just now; counted and logged once in `delay` seconds. wrote: something was to be written."""
        resting = name in self
        self._failures[name] = Failure(error, refuses_writes=wrote and isinstance(error, VendorRefused))
        self._until[name] = self._monotonic() + self._delay
        if not resting:
            log.warning("vendor.away", vendor=name, error=error.what)
            self._count(f"away.{name}")

    def answered(self, name: str, *, wrote: bool = False) -> None:
        """It served just now. One that refused a write is well again when it takes one."""
        failure = self._failures.get(name)
        if failure is not None and (wrote or not failure.refuses_writes):
            self._failures.pop(name, None)
            self._until.pop(name, None)

    @contextmanager
    def watching(self, name: str, *, wrote: bool = False) -> Iterator[None]:
        """A call of the service: its failure is marked and goes on, its success is noted."""
        try:
            yield
        except VendorAway as error:
            self.mark(name, error, wrote=wrote)
            raise
        self.answered(name, wrote=wrote)

    def __contains__(self, name: str) -> bool:
        """Whether it rests: it failed less than `delay` seconds ago."""
        return self._monotonic() < self._until.get(name, 0.0)

    def names(self) -> list[str]:
        """The services that failed and have not served since, in alphabetical order."""
        return sorted(self._failures)

    def reasons(self) -> dict[str, dict[str, str]]:
        """For each of them what failed, where, and what mends it."""
        failures = sorted(self._failures.items())
        return {n: {"what": f.error.what, "where": f.error.where, "fix": f.error.fix} for n, f in failures}
