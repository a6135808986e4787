"""The extractor that asks a model: prompt from templates, answer by schema, checked, repaired once, else refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import structlog

from openclaw_neuralstream.errors import AnswerRefused
from openclaw_neuralstream.extract import answer, support
from openclaw_neuralstream.extract.answer import Answer
from openclaw_neuralstream.extract.served import AnswerCut, answer_room
from openclaw_neuralstream.model import Draft, ExtractorIdentity, Gem, Turn
from openclaw_neuralstream.ports import Completion, Reading, TokenCounter
from openclaw_neuralstream.text.lexicon import language_of

log = structlog.get_logger(__name__)

VERSION = "2"
_TEMPLATES = ("extraction_system", "extraction_prompt", "repair_prompt")
_EXAMPLES_SHARE = 4  # the examples may take a quarter of the context; a small window does without them
_SHOWN_AGAIN = 300  # characters of a refused answer; the prompt is as long as it may be already
_FRAME = 200  # tokens of headings and numbers between the turns
_HEAD = 32  # tokens of a turn's number and day
_SHORT_TURN = 50  # tokens of a short turn: how many turns can matter to a window
_MOST_TURNS = 2_000
_LINE = 12  # tokens around one utterance
_LANGUAGES = {
    "en": "English",
    "zh": "Chinese",
    "ru": "Russian",
    "uk": "Ukrainian",
    "ja": "Japanese",
    "ko": "Korean",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "it": "Italian",
}
_CUTS = (16_000, 8_000, 4_000, 2_000, 1_000, 500, 250, 120)  # characters per utterance, tried until the batch fits


class Renders(Protocol):
    """Templates by name."""

    def render(self, name: str, **variables: Any) -> str:
        """The rendered text."""

    def digest(self, *names: str) -> str:
        """A short id of these templates' sources."""

    def version(self, name: str) -> str:
        """What the template calls itself, "" when it does not."""


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
    """Extracts with a chat model: Ollama's, an endpoint's, or the host's own.

    name: what the gems' extractor is called ("ollama", "openai", "host"). context: tokens of the model's window.
    history_tokens: at most so much of it is spent on earlier turns. history_turns: how many of them are worth reading. count: is told what was refused, by name.
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
        count: Callable[[str, int], None] = lambda _name, _by: None,
    ) -> None:
        self.completion = completion
        self._templates = templates
        self._counter = counter
        self._context = context
        self._history_tokens = history_tokens
        self._count = count
        self.history_turns = min(_MOST_TURNS, max(20, min(context, history_tokens) // _SHORT_TURN))
        self._system = self._system_text()
        prompt = f"{templates.version('extraction_system') or 'own'}-{templates.digest(*_TEMPLATES)}"
        self.identity = ExtractorIdentity(name, VERSION, completion.model, prompt)

    def extract(self, reading: Reading) -> list[Draft]:
        """The drafts of the batch; raises AnswerRefused when the answer is still no good after one repair.

        An answer is no good when it is not a list of gems, or when none of its gems has the right form. One bad gem
        among good ones is left out and counted.
        """
        known = self._labelled(reading)
        prompt = self._prompt(reading, known)
        form = answer.schema(len(reading.batch.turns), tuple(known))
        given = self._ask(prompt, form)
        try:
            answered = _usable(given)
        except AnswerRefused as error:
            log.info("answer.repair", reason=error.what if error.where else type(error).__name__)
            self._count("answers.repaired", 1)
            answered = _usable(self._ask(self._repair(prompt, given.text, error.what), form))
        checked = support.check(answered, reading.batch.turns, known, before=reading.history, likeness=reading.likeness)
        self._tell(checked)
        for content, reason in checked.told:
            reading.refuse(content, support.REASONS[reason])
        return list(checked.drafts)

    def prompt(self, reading: Reading) -> str:
        """The prompt: known gems, as much history as fits (cut at its oldest end), the numbered turns of the batch."""
        return self._prompt(reading, self._labelled(reading))

    def _prompt(self, reading: Reading, known: Mapping[str, Gem]) -> str:
        room = self._room()
        turns = self._fitted(reading.batch.turns, room)
        room -= self._cost(turns) + sum(self._counter.count(gem.content) + _LINE for gem in known.values())
        history = self._history(reading.history, min(room, self._history_tokens))
        shown = [{"label": label, "text": gem.content, "day": gem.source.date} for label, gem in known.items()]
        language = _language(reading.batch.turns)
        return self._templates.render("extraction_prompt", turns=turns, history=history, known=shown, language=language)

    def _room(self) -> int:
        """Tokens that are left for what differs from batch to batch."""
        return self._context - answer_room(self._context) - self._counter.count(self._system) - _FRAME

    def _system_text(self) -> str:
        full = self._templates.render("extraction_system", examples=True)
        if self._counter.count(full) <= self._context // _EXAMPLES_SHARE:
            return full
        return self._templates.render("extraction_system", examples=False)

    def _ask(self, prompt: str, form: dict[str, object]) -> _Given:
        try:
            return _Given(self.completion.complete(self._system, prompt, schema=form))
        except AnswerCut as error:
            self._count("answers.cut", 1)
            return _Given(error.text, cut=True)

    def _repair(self, prompt: str, refused: str, problem: str) -> str:
        beginning = refused[:_SHOWN_AGAIN]
        return self._templates.render("repair_prompt", prompt=prompt, answer=beginning, problem=problem[:_SHOWN_AGAIN])

    def _tell(self, checked: support.Checked) -> None:
        for reason, count in checked.refused.items():
            self._count(f"drafts.refused.{reason}", count)
        if checked.labels:
            self._count("drafts.unknown_labels", checked.labels)
        if checked.refused:
            log.info("drafts.refused", kept=len(checked.drafts), **checked.refused)

    def _labelled(self, reading: Reading) -> dict[str, Gem]:
        """The known gems that fit into a quarter of the room, nearest first, under the labels the model may name."""
        room, labelled = self._room() // 4, dict[str, Gem]()
        for gem in reading.known:
            room -= self._counter.count(gem.content) + _LINE
            if room < 0:
                break
            labelled[f"k{len(labelled) + 1}"] = gem
        return labelled

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

    def _cost(self, turns: Iterable[Shown]) -> int:
        shown = list(turns)
        lines = [line for turn in shown for line in turn.lines]
        return sum(self._counter.count_all([line.text for line in lines])) + _LINE * len(lines) + _HEAD * len(shown)


@dataclass(frozen=True, slots=True)
class _Given:
    """What a model gave. cut: it ended at its length limit."""

    text: str
    cut: bool = False


def _usable(given: _Given) -> Answer:
    """The answer with at least one gem of the right form, or truly none. Raises AnswerRefused."""
    answered = answer.parse_cut(given.text) if given.cut else answer.parse(given.text)
    if answered.gems or not (answered.problems or given.cut):
        return answered
    problem = "; ".join(answered.problems[:3]) or "it was cut at its length limit; give fewer and shorter gems"
    raise AnswerRefused(f"the model's answer does not fit: {problem}")


def _language(turns: Sequence[Turn]) -> str:
    """The one language people use in the batch, in English words; "" when it cannot be told, or they use several."""
    said = {language_of(turn.text_of("owner", "third-party")) for turn in turns} - {""}
    return _LANGUAGES.get(said.pop(), "") if len(said) == 1 else ""


def _shown(turn: Turn, number: int, limit: int) -> Shown:
    lines = tuple(
        Line(u.speaker, u.name, _middle_cut(u.text, limit if u.speaker != "tool" else min(limit, 400)))
        for u in turn.utterances
    )
    return Shown(number, f"{turn.at:%Y-%m-%d %A %H:%M} UTC", lines)


def _middle_cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit * 2 // 3]} […] {text[-(limit // 3) :]}"
