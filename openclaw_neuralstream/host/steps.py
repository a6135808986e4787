"""Work in named steps that somebody watches: each is told when it starts and how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from openclaw_neuralstream.errors import NeuralStreamError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Step:
    """One step. state: running, done, skipped or failed; `fix` says how to mend a failed one; waits: what takes its time."""

    name: str
    title: str
    state: str
    detail: str = ""
    fix: str = ""
    seconds: float = 0.0
    waits: str = ""


Tell = Callable[[Step], None]


@dataclass(slots=True)
class Steps:
    """Runs steps, tells of each, and keeps how they ended."""

    tell: Tell = lambda _: None
    ended: list[Step] = field(default_factory=list)

    def run(
        self,
        name: str,
        title: str,
        work: Callable[[], Result],
        say: Callable[[Result], str] = lambda _: "",
        *,
        waits: str = "OpenClaw's command line",
    ) -> Result:
        """Do it; what it raises is told and raised again. say: what to add when it worked. waits: what it waits for."""
        self.tell(Step(name, title, "running", waits=waits))
        started = time.monotonic()
        try:
            result = work()
        except NeuralStreamError as error:
            words = " · ".join(part for part in (error.what, error.where) if part)
            self._end(Step(name, title, "failed", words, error.fix, _since(started)))
            raise
        self._end(Step(name, title, "done", say(result), "", _since(started)))
        return result

    def skip(self, name: str, title: str, why: str) -> None:
        """It is not done, and that is fine."""
        self._end(Step(name, title, "skipped", why))

    def _end(self, step: Step) -> None:
        self.ended.append(step)
        self.tell(step)


def _since(started: float) -> float:
    return round(time.monotonic() - started, 2)
