"""How much of a question a record answers, on absolute scales, so that nothing can be said when nothing is relevant."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from openclaw_neuralstream.recall.source import COVERAGE, MEANING, TIME

FULL = 0.7
"""The share of the greatest BM25 that counts as a full match: no real passage repeats all terms of a question."""

FULL_GEM = 0.875
"""The same of a gem, whose summary is searched with it and says its words again."""

ENOUGH = {"cjk": 12}
ENOUGH_WORDS = 8
"""How many terms of a question are enough to cover it, by script: a long dialogue has more than any record can hold,
and a Chinese word gives more terms than an English one."""


ALONE = 0.7
"""What meaning is worth where no words are shared."""

DAYS = 0.25
"""The share of a question that its days are: what is of these days covers it without naming them."""

_SOME = 0.2  # meaning from which a record is about the question at all


def rarity(weights: Mapping[str, float], frequencies: Mapping[str, int], stored: int) -> dict[str, float]:
    """How much each term of the question says: its weight times its idf, log(1 + (N - n + 1/2) / (n + 1/2)).

    A term that nothing stored has says the most: it is what an unanswerable question is about.
    """
    return {
        term: weight * math.log(1 + max(stored - frequencies.get(term, 0), 0.5) / (frequencies.get(term, 0) + 0.5))
        for term, weight in weights.items()
    }


def share(bm25: float, rarities: Mapping[str, float], full: float = FULL) -> float:
    """A BM25 score as a share of what the question's terms could give, about 1 for a passage that has them all."""
    total = sum(rarities.values())
    return bm25 / (full * total) if total else 0.0


class Coverage:
    """The share of what a question says that terms say too."""

    def __init__(self, rarities: Mapping[str, float], script: str = "latin") -> None:
        """rarities: how much each term of the question says."""
        self.rarities = rarities
        self._enough = needed(rarities, script)

    def __call__(self, held: Collection[str]) -> float:
        """In [0, 1]; 0 for a question without terms."""
        rarities = self.rarities
        said = math.fsum([rarities[term] for term in held if term in rarities])  # whatever the order of a set
        return min(1.0, said / self._enough) if self._enough else 0.0


def needed(rarities: Mapping[str, float], script: str = "latin") -> float:
    """How much of what the question says covers it; 0 for a question without terms."""
    if not rarities:
        return 0.0
    return sum(rarities.values()) * min(1.0, ENOUGH.get(script, ENOUGH_WORDS) / len(rarities))


def relevance(signals: Mapping[str, float], *, same_script: bool = True) -> float:
    """The mean of two hints that a record is about the question: its words are covered, its meaning is near.

    What is of the days asked for covers the question's days, which are its heaviest part, where it is about the question
    at all. Meaning alone is worth 0.7 of itself; all of itself for a record in another script, which cannot share words.
    """
    meaning, covered = signals.get(MEANING, 0.0), _covered(signals)
    if not same_script and not covered:
        return meaning
    return max(0.5 * (covered + meaning), ALONE * meaning)


def of_days(signals: Mapping[str, float]) -> float:
    """The relevance of a record for a question that asks for days and nothing else: 1 for what is of them, else 0."""
    return 1.0 if signals.get(TIME, 0.0) >= 1 else 0.0


def _covered(signals: Mapping[str, float]) -> float:
    covered = signals.get(COVERAGE, 0.0)
    if covered or signals.get(MEANING, 0.0) >= _SOME:
        return min(1.0, covered + DAYS * signals.get(TIME, 0.0))
    return covered
