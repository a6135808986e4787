"""One score out of several signals: a weighted sum on absolute scales, which beats rank fusion by 4 to 9 points."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from openclaw_neuralstream.recall.source import DAY, ENTITY, MEANING, STRETCH, TAGS, TIME, WORDS, Candidate

STRETCH_WEIGHT = 0.15
"""What it adds when the conversation around a passage is about the question, beside the two that sum to 1."""

TAGS_WEIGHT, ENTITY_WEIGHT = 0.15, 0.1
"""What it adds to carry a tag of the question (less where many do), and to name whom it names, whatever the words."""
TIME_WEIGHT = 0.2
"""What it adds when a record is of the days that the question names."""

UNSEEN = 0.8
"""What a record without words counts of the least that was found, where there was no room for all that share words."""


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate after fusion: its signals and their weighted sum."""

    id: str
    signals: Mapping[str, float]
    score: float


def weights(weight_lexical: float) -> dict[str, float]:
    """What each signal counts; a signal without a weight is carried along and does not rank."""
    return {
        WORDS: weight_lexical,
        MEANING: 1 - weight_lexical,
        STRETCH: STRETCH_WEIGHT,
        TAGS: TAGS_WEIGHT,
        ENTITY: ENTITY_WEIGHT,
        TIME: TIME_WEIGHT,
        DAY: weight_lexical,  # it stands where words would: the question has none
    }


def fuse(candidates: Sequence[Candidate], *, weights: Mapping[str, float], script: Callable[[str], str]) -> list[Fused]:
    """Merge candidates of the same id, best first; ties by id.

    A score c with a zero becomes (c - zero) / (1 - zero), at least 0, where zero is what unrelated texts of the
    record's script score. A candidate without a meaning gets the least that was seen on its shelf. One without words gets 0,
    and `UNSEEN` of the least that was seen of its script where the search for words was cut off: it may well have some.
    script: the script of the record with this id.
    """
    signals: dict[str, dict[str, float]] = {}
    shelves: dict[str, str] = {}
    for candidate in candidates:
        id_, signal, value = candidate.id, candidate.signal, _lifted(candidate, script)
        own = signals.get(id_)
        if own is None:
            signals[id_], shelves[id_] = {signal: value}, candidate.shelf.name
        elif value >= own.get(signal, 0.0):
            own[signal] = value
    least: dict[str, float] = {}
    for id_, own in signals.items():
        if MEANING in own:
            least[shelves[id_]] = min(least.get(shelves[id_], own[MEANING]), own[MEANING])
    unseen = _unseen(candidates, script)
    for id_, own in signals.items():
        own.setdefault(MEANING, least.get(shelves[id_], 0.0))
        if unseen and WORDS not in own and (words := unseen.get((shelves[id_], script(id_)))):
            own[WORDS] = words
    fused = [
        Fused(id_, own, sum([weights[name] * value for name, value in own.items() if name in weights]))
        for id_, own in signals.items()
    ]
    return sorted(fused, key=lambda item: (-item.score, item.id))


def _unseen(candidates: Iterable[Candidate], script: Callable[[str], str]) -> dict[tuple[str, str], float]:
    """What those that were not found by their words may have, by shelf and script: of searches that were cut off."""
    found: dict[tuple[str, str], float] = {}
    for candidate in candidates:
        if candidate.cut and candidate.signal == WORDS:
            of = candidate.shelf.name, script(candidate.id)
            found[of] = min(found.get(of, math.inf), UNSEEN * candidate.score)
    return found


def likeliest(
    candidates: Sequence[Candidate], *, weights: Mapping[str, float], script: str, most: int
) -> list[Candidate]:
    """The candidates of the `most` ids that score best as long as no record was read: all taken to be in this script."""
    fused = fuse(candidates, weights=weights, script=lambda _: script)
    if len(fused) <= most:
        return list(candidates)
    best = {item.id for item in fused[:most]}
    return [candidate for candidate in candidates if candidate.id in best]


def _lifted(candidate: Candidate, script: Callable[[str], str]) -> float:
    if not candidate.zero:
        return max(candidate.score, 0.0)
    zero = candidate.zero.get(script(candidate.id), candidate.zero.get("other", 0.0))
    return max((candidate.score - zero) / max(1 - zero, 1e-6), 0.0)
