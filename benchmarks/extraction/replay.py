"""A labelled conversation through the real path: the host's events → capture → batches → extractor → judgement → store."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.extraction.labels import Conversation, LabelledTurn
from benchmarks.extraction.scoring import Score, score
from openclaw_neuralstream.errors import AnswerRefused, VendorAway, VendorSlow
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Draft, Gem, Turn
from openclaw_neuralstream.ports import Choice, Completion, Extractor, ExtractorChooser, Reading
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.settings import ENV_PREFIX
from openclaw_neuralstream.state import StateDir

_ALL = 10_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """A conversation after it was distilled. turns: turn id → its number from 1. kept: the stored texts of its turns."""

    conversation: Conversation
    gems: tuple[Gem, ...]
    turns: Mapping[str, int]
    kept: tuple[str, ...]
    score: Score


class Watched:
    """A chooser whose extractors are timed, and asked what they cost.

    away: what an extractor raised because its service did not answer: a bench that goes on without it would lie.
    """

    def __init__(self, choose: ExtractorChooser) -> None:
        self._choose = choose
        self.seconds = 0.0
        self.tokens = 0
        self.calls = 0
        self.away: VendorAway | None = None

    @property
    def choice(self) -> Choice:
        """The last choice made."""
        return self._choose.choice

    def __getattr__(self, name: str) -> Any:
        """Whatever else the chooser knows."""
        return getattr(self._choose, name)

    def __call__(self) -> Extractor:
        """The extractor for the next batch, watched."""
        try:
            return _Watched(self._choose(), self)
        except VendorAway as error:
            self.away = error
            raise

    def cost(self) -> tuple[int, int]:
        """Tokens and calls since midnight of the memory's day; zeros where nothing is paid."""
        spent = getattr(self._choose, "spent", None)
        today = spent() if spent else None
        return (today.tokens, today.calls) if today else (0, 0)


class _Watched:
    def __init__(self, extractor: Extractor, watch: Watched) -> None:
        self._extractor = extractor
        self._watch = watch
        self.identity = extractor.identity

    def extract(self, reading: Reading) -> list[Draft]:
        started, (tokens, calls) = time.perf_counter(), self._watch.cost()
        try:
            return self._extractor.extract(reading)
        except VendorSlow as error:  # it lives and does not end: its batch is one that it could not read
            raise AnswerRefused(error.what) from error
        except VendorAway as error:
            self._watch.away = error
            raise
        finally:
            self._watch.seconds += time.perf_counter() - started
            after = self._watch.cost()
            self._watch.tokens += after[0] - tokens
            self._watch.calls += after[1] - calls


@dataclass(slots=True)
class Stage:
    """A memory in a state directory of its own, whose clock says what the conversation says."""

    memory: Memory
    watch: Watched
    clock: _Clock

    def play(self, conversation: Conversation) -> Outcome:
        """Say all its turns, distil at every rest and at the end, and score what was stored.

        Raises VendorAway when the extractor does not answer.
        """
        before = (self.watch.tokens, self.watch.calls, self.watch.seconds)
        numbers: dict[str, int] = {}
        refused = 0
        for number, turn in enumerate(conversation.turns, 1):
            if turn.rest:
                refused += self._distil()
            self.clock.now = turn.at
            answer = moments.turn_end(self.memory, event(conversation, number, turn))
            if "turn" in answer:
                numbers[answer["turn"]] = number
        refused += self._distil()
        gems = self._gems(conversation.name)
        kept = tuple(u.text for turn in self._turns(numbers) for u in turn.utterances)
        result = score(conversation, gems, numbers, kept)
        result.tokens, result.calls = self.watch.tokens - before[0], self.watch.calls - before[1]
        result.seconds, result.refused = self.watch.seconds - before[2], refused
        return Outcome(conversation, tuple(gems), numbers, kept, result)

    def _distil(self) -> int:
        done = self.memory.flush()
        if self.watch.away is not None:
            raise self.watch.away
        return done.refused

    def _gems(self, agent: str) -> list[Gem]:
        """Oldest first."""
        return [g for g in self.memory.truth.gems(superseded=True, limit=_ALL) if g.scope.agent == agent][::-1]

    def _turns(self, numbers: Mapping[str, int]) -> Sequence[Turn]:
        return self.memory.truth.turns(list(numbers))


@dataclass(slots=True)
class _Clock:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


@contextmanager
def stage(
    settings: Mapping[str, str | float],
    start: datetime,
    *,
    environ: Mapping[str, str],
    host_completion: Completion | None = None,
) -> Iterator[Stage]:
    """An empty memory of these settings in a temporary place, gone at the end. Raises SettingsError.

    environ: its NEURALSTREAM_ settings are left out: what is measured is what `settings` says, and nothing else.
    """
    clock = _Clock(start)
    with TemporaryDirectory(prefix="neuralstream-bench-") as folder:
        state = StateDir(Path(folder) / "state")
        state.prepare()
        lines = [f"{name} = {_toml(value)}\n" for name, value in settings.items()]
        (state.path / "settings.toml").write_text("".join(lines), encoding="utf-8")
        plain = {name: value for name, value in environ.items() if not name.startswith(ENV_PREFIX)}
        parts = wiring.open_memory(
            state, environ=plain, clock=clock, host_completion=host_completion, start=False
        ).parts
        watch = Watched(parts.choose_extractor)
        memory = Memory(replace(parts, choose_extractor=watch))
        try:
            yield Stage(memory, watch, clock)
        finally:
            memory.close()


def played(on: Stage, conversations: Sequence[Conversation]) -> Iterator[Outcome]:
    """One after the other, each under an agent of its own: no memory meets another's."""
    for conversation in conversations:
        yield on.play(conversation)


def play(on: Stage, conversations: Sequence[Conversation]) -> list[Outcome]:
    """All of them."""
    return list(played(on, conversations))


def event(conversation: Conversation, number: int, turn: LabelledTurn) -> dict[str, Any]:
    """The `turn_end` event that the bridge sends for this turn."""
    agent, first = conversation.name, turn.said[0]
    stranger = first.speaker == "third-party"
    sender = {"id": first.name, "owner": False, "name": first.name} if stranger else {"id": "owner", "owner": True}
    at = int(turn.at.timestamp() * 1_000)
    return {
        "run_id": f"{conversation.name}-{number}",
        "agent": agent,
        "session_key": f"agent:{agent}:{turn.session}",
        "session_id": f"{agent}-{turn.session}",
        "at": at,
        "messages": [{**_message(said.speaker, said.text, said.name), "timestamp": at} for said in turn.said],
        "trigger": "user",
        "channel": "telegram" if stranger else "",
        "sender": sender,
        "success": True,
    }


def _message(speaker: str, text: str, name: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    if speaker == "agent":
        return {"role": "assistant", "content": content, "stopReason": "stop"}
    if speaker == "tool":
        return {"role": "toolResult", "content": content, "toolName": name}
    return {"role": "user", "content": content}


def _toml(value: str | float) -> str:
    import json

    return json.dumps(value)
