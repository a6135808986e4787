"""How relevant a record is on an absolute scale, so that nothing can be said when nothing is: see `relevance`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from openclaw_neuralstream.recall.source import COVERAGE, MEANING


def rarity(weights: Mapping[str, float], frequencies: Mapping[str, int], stored: int) -> dict[str, float]:
    """How much each term of the question says: its weight times log(1 + stored / (frequency + 1/2)).

    A term that nothing stored has says the most: it is what an unanswerable question is about.
    """
    return {
        term: weight * math.log(1 + max(stored, 1) / (frequencies.get(term, 0) + 0.5))
        for term, weight in weights.items()
    }


def relevance(signals: Mapping[str, float]) -> float:
    """Two independent hints that the record is about the question: its words are covered, its meaning is near.

    1 - (1 - coverage) · (1 - meaning), each in [0, 1].
    """
    return 1 - (1 - signals.get(COVERAGE, 0.0)) * (1 - signals.get(MEANING, 0.0))
