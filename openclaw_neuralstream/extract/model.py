"""The extractor that asks a model: prompt from templates, answer by schema, checked, repaired once, else refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import structlog

from openclaw_neuralstream.errors import AnswerRefused
from openclaw_neuralstream.extract import answer, support
from openclaw_neuralstream.model import Draft, ExtractorIdentity, Gem, Turn, digest
from openclaw_neuralstream.ports import Completion, Reading, TokenCounter

log = structlog.get_logger(__name__)

VERSION = "1"
_ANSWER_SHARE = 4  # a quarter of the context is left for the answer
_SHOWN_AGAIN = 300  # characters of a refused answer; the prompt is as long as it may be already
_FRAME = 200  # tokens of headings and numbers between the turns
_HEAD = 32  # tokens of a turn's number and day
_LINE = 12  # tokens around one utterance
_CUTS = (16_000, 8_000, 4_000, 2_000, 1_000, 500, 250, 120)  # characters per utterance, tried until the batch fits


class Renders(Protocol):
    """Templates by name."""

    def render(self, name: str, **variables: Any) -> str:
        """The rendered text."""


@dataclass(frozen=True, slots=True)
class Line:
    """One utterance as the prompt shows it."""

    speaker: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One turn as the prompt shows it; number 0 = history, which no gem may come from."""

    number: int
    day: str
    lines: tuple[Line, ...]


class ModelExtractor:
    """Extracts with a chat model: Ollama's, or the host's own.

    name: what the gems' extractor is called ("ollama", "host"). context: tokens of the model's window.
    history_tokens: at most so much of it is spent on earlier turns.
    """

    def __init__(
        self,
        completion: Completion,
        *,
        name: str,
        templates: Renders,
        counter: TokenCounter,
        context: int,
        history_tokens: int = 256_000,
    ) -> None:
        self._completion = completion
        self._templates = templates
        self._counter = counter
        self._context = context
        self._history_tokens = history_tokens
        self._system = templates.render("extraction_system")
        prompt = digest(self._system, templates.render("extraction_prompt", turns=(), history=(), known=()), size=4)
        self.identity = ExtractorIdentity(name, VERSION, completion.model, prompt)

    def extract(self, reading: Reading) -> list[Draft]:
        """The drafts of the batch; raises AnswerRefused when the answer is still no good after one repair."""
        prompt = self.prompt(reading)
        first = self._ask(prompt)
        try:
            checked = support.check(answer.parse(first), reading.batch.turns)
        except AnswerRefused as error:
            log.info("answer.repair", reason=type(error).__name__)
            checked = support.check(answer.parse(self._repair(prompt, first, error.what)), reading.batch.turns)
        if checked.dropped:
            log.info("drafts.dropped", count=checked.dropped)
        return list(checked.drafts)

    def prompt(self, reading: Reading) -> str:
        """The prompt: known gems, as much history as fits (cut at its oldest end), the numbered turns of the batch."""
        room = self._context - self._context // _ANSWER_SHARE - self._counter.count(self._system) - _FRAME
        turns = self._fitted(reading.batch.turns, room)
        room -= self._cost(turns)
        known = self._known(reading.known, room // 4)
        room -= sum(self._counter.count_all(known))
        history = self._history(reading.history, min(room, self._history_tokens))
        return self._templates.render("extraction_prompt", turns=turns, history=history, known=known)

    def _ask(self, prompt: str) -> str:
        return self._completion.complete(self._system, prompt, schema=answer.schema())

    def _repair(self, prompt: str, refused: str, problem: str) -> str:
        beginning = refused[:_SHOWN_AGAIN]
        return self._ask(
            self._templates.render("repair_prompt", prompt=prompt, answer=beginning, problem=problem[:_SHOWN_AGAIN])
        )

    def _fitted(self, turns: Sequence[Turn], room: int) -> tuple[Shown, ...]:
        """The turns of the batch; long utterances lose their middle until all of them fit."""
        for limit in _CUTS:
            shown = tuple(_shown(turn, number, limit) for number, turn in enumerate(turns, 1))
            if self._cost(shown) <= room:
                break
        return shown

    def _history(self, turns: Sequence[Turn], room: int) -> tuple[Shown, ...]:
        """The newest turns that fit, oldest first."""
        kept: list[Shown] = []
        for turn in reversed(turns):
            shown = _shown(turn, 0, _CUTS[0])
            room -= self._cost((shown,))
            if room < 0:
                break
            kept.append(shown)
        return tuple(reversed(kept))

    def _known(self, gems: Sequence[Gem], room: int) -> tuple[str, ...]:
        kept = []
        for gem in gems:
            room -= self._counter.count(gem.content) + _LINE
            if room < 0:
                break
            kept.append(gem.content)
        return tuple(kept)

    def _cost(self, turns: Iterable[Shown]) -> int:
        shown = list(turns)
        lines = [line for turn in shown for line in turn.lines]
        return sum(self._counter.count_all([line.text for line in lines])) + _LINE * len(lines) + _HEAD * len(shown)


def _shown(turn: Turn, number: int, limit: int) -> Shown:
    lines = tuple(
        Line(u.speaker, u.name, _middle_cut(u.text, limit if u.speaker != "tool" else min(limit, 400)))
        for u in turn.utterances
    )
    return Shown(number, f"{turn.at:%Y-%m-%d %A %H:%M} UTC", lines)


def _middle_cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]} […] {text[-(limit // 3) :]}"
