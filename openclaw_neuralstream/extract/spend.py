"""What models have cost today, the cap on it, and how long one that went away is waited for; kept in the memory file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Protocol

from openclaw_neuralstream.clock import Clock
from openclaw_neuralstream.errors import AnswerRefused, VendorSlow
from openclaw_neuralstream.ports import Completion, Spent, TokenCounter

_NOTE = "model_spend"
_SERVED = "model_served"


class Notes(Protocol):
    """Small named texts that survive the process."""

    def meta(self, key: str) -> str:
        """The text; "" when there is none."""

    def set_meta(self, key: str, value: str) -> None:
        """Keep it."""


class Ledger:
    """Adds up what a day's model calls cost. cap: tokens per UTC day, 0 = none."""

    def __init__(self, notes: Notes, cap: int, clock: Clock) -> None:
        self._notes = notes
        self._cap = cap
        self._clock = clock

    def today(self) -> Spent:
        """What was spent since midnight, UTC."""
        day = f"{self._clock():%Y-%m-%d}"
        try:
            kept = json.loads(self._notes.meta(_NOTE) or "{}")
            known = kept if isinstance(kept, dict) and kept.get("day") == day else {}
            return Spent(day, int(known.get("tokens", 0)), int(known.get("calls", 0)), self._cap)
        except (ValueError, TypeError):  # a note that somebody wrote by hand
            return Spent(day, 0, 0, self._cap)

    def add(self, tokens: int) -> None:
        """One call has cost so many tokens."""
        now = self.today()
        note = {"day": now.day, "tokens": now.tokens + max(0, tokens), "calls": now.calls + 1}
        self._notes.set_meta(_NOTE, json.dumps(note))


class Grace:
    """Whether a model that has served this memory is still waited for: rules make poorer gems, and what they made stays.

    seconds: how long after it was first missed; a restart of the process does not begin anew.
    """

    def __init__(self, notes: Notes, seconds: float, clock: Clock) -> None:
        self._notes = notes
        self._seconds = seconds
        self._clock = clock

    def served(self, name: str) -> None:
        """It answers."""
        self._keep(name, 0.0)

    def until(self) -> datetime | None:
        """It does not answer: when waiting for it ends; None where no model has served, or that time is over."""
        name, missed = self._kept()
        if not name or not self._seconds:
            return None
        missed = missed or self._clock().timestamp()
        self._keep(name, missed)
        end = datetime.fromtimestamp(missed + self._seconds, UTC)
        return end if end > self._clock() else None

    def _keep(self, name: str, missed: float) -> None:
        if self._kept() != (name, missed):
            self._notes.set_meta(_SERVED, json.dumps({"name": name, "missed": missed}))

    def _kept(self) -> tuple[str, float]:
        try:
            kept = json.loads(self._notes.meta(_SERVED) or "{}")
            return str(kept.get("name", "")), float(kept.get("missed", 0))
        except (ValueError, TypeError, AttributeError):  # a note that somebody wrote by hand
            return "", 0.0


class Metered:
    """A completion whose calls are written into a ledger: the tokens the server told of, else counted here.

    A call that took too long costs its prompt: the server has read it. One that nobody took costs nothing.
    """

    def __init__(self, completion: Completion, ledger: Ledger, counter: TokenCounter) -> None:
        self.model = completion.model
        self._completion = completion
        self._ledger = ledger
        self._counter = counter

    def complete(self, system: str, prompt: str, *, schema: dict[str, object] | None = None) -> str:
        """The model's answer; its cost is kept also when the answer is no good."""
        said = ""
        try:
            said = self._completion.complete(system, prompt, schema=schema)
        except AnswerRefused as error:
            said = str(getattr(error, "text", ""))
            self._ledger.add(self._cost(system, prompt, said))
            raise
        except VendorSlow:
            self._ledger.add(self._cost(system, prompt, said))
            raise
        self._ledger.add(self._cost(system, prompt, said))
        return said

    def _cost(self, system: str, prompt: str, said: str) -> int:
        told = int(getattr(self._completion, "used", 0))
        return told or sum(self._counter.count_all((system, prompt, said)))
