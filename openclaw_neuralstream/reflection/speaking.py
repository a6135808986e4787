"""Who extracts and who writes during a run, and what was written before: a model where one answers, else rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from openclaw_neuralstream.errors import AnswerRefused, VendorAway
from openclaw_neuralstream.extract.learned import LearnedExtractor
from openclaw_neuralstream.lexicon import INJECTION
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.ports import Completion, Extractor
from openclaw_neuralstream.reflect import prose
from openclaw_neuralstream.reflect.cache import Answers
from openclaw_neuralstream.reflect.pages import About, Sentence
from openclaw_neuralstream.render import Templates

log = structlog.get_logger(__name__)

_MOST_SUMMARIES = 50  # pages of one run that a model is asked about


@dataclass(frozen=True, slots=True)
class Writer:
    """extractor: reads daily logs. completion: writes summaries, None = nobody does. name: what the report says."""

    extractor: Extractor
    completion: Completion | None
    name: str


def writer_of(parts: Parts) -> Writer:
    """The configured model while it answers, else rules."""
    try:
        extractor = parts.choose_extractor()
    except VendorAway:
        return Writer(LearnedExtractor(), None, "rules")
    completion: Completion | None = getattr(extractor, "completion", None)
    return Writer(extractor, completion, f"{extractor.identity.name} {extractor.identity.model}".strip())


class Summaries:
    """A model's sentences on entities; from the same evidence always the same ones."""

    def __init__(self, templates: Templates, answers: Answers, completion: Completion | None, *, keep: bool) -> None:
        self._templates = templates
        self._answers = answers
        self._completion = completion
        self._keep = keep
        self._asked = 0

    def of(self, one: About) -> list[Sentence]:
        """The sentences that their sources bear out; none without a model, and when its answer is none."""
        prompt = self._templates.digest("reflect_system", "reflect_prompt")
        known = (repr(replace(item, source="")) for item in one.sources)  # a line that has moved is no other evidence
        key = digest(one.name, *known, prompt)
        kept = self._answers.get(key)
        if isinstance(kept, list):
            return _believed([(text, tuple(sources)) for text, sources in kept], one)
        if self._completion is None or self._asked >= _MOST_SUMMARIES:
            return []
        self._asked += 1
        try:
            said = prose.ask(one, self._completion, self._templates)
        except (VendorAway, AnswerRefused) as error:
            log.info("summary.none", reason=type(error).__name__)
            self._completion = None if isinstance(error, VendorAway) else self._completion
            return []
        if self._keep:
            self._answers.put(key, said)
        return _believed(said, one)


def _believed(said: Sequence[tuple[str, tuple[int, ...]]], one: About) -> list[Sentence]:
    return [line for line in prose.checked(said, one.name, one.sources) if not INJECTION.search(line.text)]
