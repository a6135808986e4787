"""Two layers in one budget: what is about the question, and what is new whatever it is about; nothing twice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from openclaw_neuralstream.model import Dropped, Record
from openclaw_neuralstream.recall.source import Found
from openclaw_neuralstream.recall.twins import Saying, same, saying

_LEAST_SALIENCE = 0.5
"""What a record of no importance counts beside the most important one of the same age."""


@dataclass(frozen=True, slots=True)
class Layers:
    """What goes in, of each layer in its order, and what does not."""

    topic: tuple[Record, ...]
    recent: tuple[Record, ...]
    dropped: tuple[Dropped, ...]


def salience(record: Record, now: datetime, half_life: float) -> float:
    """What a recent record counts, in [0, 1]: importance, halved for each `half_life` seconds of its age."""
    age = max(0.0, now.timestamp() - record.at.timestamp())
    importance = _LEAST_SALIENCE + (1 - _LEAST_SALIENCE) * record.importance
    return importance * math.exp2(-age / half_life)


def newest(records: Iterable[Record], now: datetime, half_life: float) -> list[Record]:
    """Records of all sources by their salience, the most salient first; ties: the newer, then by id."""
    return sorted(records, key=lambda item: (-salience(item, now, half_life), -item.at.timestamp(), item.id))


def layered(
    topic: Sequence[Found],
    recent: Sequence[Found],
    *,
    budget: int,
    share: float,
    cost: Callable[[Record], int],
    limit: int = 0,
) -> Layers:
    """Fill the topic layer with its part of the budget, the recency layer with its `share`; each may use what is left over.

    A recent record that says what stands in the topic layer is left out there. cost: tokens of a record as rendered.
    limit: records in all at most, 0 = any number.
    """
    packing = _Packing(cost, limit)
    first, waiting = packing.filled(topic, budget - int(share * budget))
    new, left = packing.filled(recent, budget - packing.spent)
    rest, over = packing.filled(waiting, budget - packing.spent)
    kept = {record.id: record for record in (*first, *rest)}
    return Layers(
        tuple(kept[item.record.id] for item in topic if item.record.id in kept),
        tuple(new),
        (*packing.repeats, *(Dropped(item.record, packing.why) for item in (*over, *left))),
    )


class _Packing:
    """What is packed so far: tokens spent, what was said, and which records repeated it."""

    def __init__(self, cost: Callable[[Record], int], limit: int) -> None:
        self.spent = 0
        self.repeats: list[Dropped] = []
        self._cost = cost
        self._limit = limit
        self._said: dict[str, Saying] = {}

    @property
    def why(self) -> str:
        """Why what is left out now is left out."""
        return "over-limit" if self._full else "over-budget"

    @property
    def _full(self) -> bool:
        return bool(self._limit) and len(self._said) >= self._limit

    def filled(self, items: Sequence[Found], room: int) -> tuple[list[Record], list[Found]]:
        """Those that fit into so many tokens, in their order, shortened to their summary where that helps; and the others."""
        kept: list[Record] = []
        left: list[Found] = []
        for item in items:
            said = saying(item.record, item)
            twin = next((id_ for id_, other in self._said.items() if same(other, said, frozenset())), "")
            if item.record.id in self._said or twin:
                self.repeats.append(Dropped(item.record, "duplicate", twin or item.record.id))
            elif not self._full and (fitting := self._fitting(item.record, room)):
                kept.append(fitting)
                self._said[item.record.id] = said
                self.spent += fitting.tokens
                room -= fitting.tokens
            else:
                left.append(item)
        return kept, left

    def _fitting(self, record: Record, room: int) -> Record | None:
        for text in dict.fromkeys((record.text, record.summary)):
            fitting = replace(record, text=text)
            if text and (tokens := self._cost(fitting)) <= room:
                return replace(fitting, tokens=tokens)
        return None
