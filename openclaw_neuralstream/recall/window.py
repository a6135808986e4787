"""What the model sees anyway: turns still in the window, and words that one passage of it shows nearly all of."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property

from openclaw_neuralstream.lexicon import content_terms, signs
from openclaw_neuralstream.model import Query, Record
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.recall.twins import DAYS, telling

_SHOWN = (
    0.9  # share of a record's words that a passage must have; none that it lacks may carry meaning: a name, a number
)
_FEWEST = 4  # words below which a record must stand there literally
_LONGEST = 65_536
_WORD = lazy("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]|[^\\W_]+")


class Window:
    """The window of one question; its words are read only when somebody asks."""

    def __init__(self, query: Query) -> None:
        self._turns = query.window_turns
        self._records = query.exclude
        self._text = query.window_text[-_LONGEST:]

    def shows(self, record: Record, evidence: frozenset[str]) -> bool:
        """Whether this request shows the record already: itself, its turns, or its words."""
        if record.id in self._records or evidence & self._turns:
            return True
        parts = telling(record)
        return bool(self._text and parts) and all(map(self._says, parts))

    def _says(self, text: str) -> bool:
        text = DAYS.sub("", text)
        words = _words(text)
        if not words:
            return False
        if len(words) < _FEWEST:
            return " ".join(text.casefold().split()) in self._flat
        counts: Counter[int] = Counter()
        for word in words:
            counts.update(self._passages.get(word, ()))
        near = [line for line, count in counts.items() if count >= _SHOWN * len(words)]
        return any(_no_news(text, self._lines[line]) for line in near)

    @cached_property
    def _flat(self) -> str:
        return " ".join(self._text.casefold().split())

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.splitlines()

    @cached_property
    def _passages(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, line in enumerate(self._lines):
            for word in _words(line):
                found[word].append(number)
        return found


def _no_news(text: str, line: str) -> bool:
    """Whether no word of meaning is missing in the line, and neither denies what the other says."""
    return set(content_terms(text)) <= set(content_terms(line)) and signs(text) == signs(line)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
