"""What an answer looks like: for a summary many and different records in few words, for an order all that happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from openclaw_neuralstream.model import Record
from openclaw_neuralstream.recall.source import MEANING, Found, Shape, Understood
from openclaw_neuralstream.recall.timely import in_order
from openclaw_neuralstream.settings import Settings

ANSWERS = 0.9
"""The share of the threshold from which one record answers for all: a whole is asked for, and each record is a part of it. Of foreign
questions one in ten finds such a record (benchmarks.ordered, development half)."""

FOLLOWS = 0.1
"""The share of the threshold that is enough beside one that answers: "the electrician wants 6,300 euros" has not a word of
"what have we spent?"."""

NEAR, OF_THE_NEAREST = 0.04, 0.17
"""The meaning that they must have then: in itself, and as a share of that of the nearest record."""

_SHORT = 160
"""Characters of a text that is short enough to stand in full beside many others."""


def most(understood: Understood, settings: Settings) -> int:
    """How many records at most: what the question itself says, else the settings; more for an order or a summary."""
    given = understood.query.limit
    if given or understood.shape is Shape.PLAIN:
        return given or settings.max_gems_injected
    return max(settings.max_gems_injected, settings.breadth_gems)


def threshold(records: Sequence[Record], understood: Understood, least: float) -> float:
    """The relevance from which a record is shown; nothing is shown for an order or a summary of what nobody spoke of."""
    if understood.shape is Shape.PLAIN:
        return least
    answered = any(record.factors["relevance"] >= ANSWERS * least for record in records)
    return FOLLOWS * least if answered else least


def near(records: Sequence[Record]) -> float:
    """The meaning from which a record may stand beside one that answers."""
    return max(NEAR, OF_THE_NEAREST * max((record.factors.get(MEANING, 0.0) for record in records), default=0.0))


def follows(record: Record, understood: Understood, least: float, *, relevant: float, near: float) -> bool:
    """Whether a record may stand beside one that answers: by its own relevance, or near in meaning.

    A single common word (or Chinese character) of a question does not make it a part of the answer.
    """
    return relevant >= least or understood.only is not None or record.factors.get(MEANING, 0.0) >= near


def shortened(records: Sequence[Record], understood: Understood) -> list[Record]:
    """For an order or a summary the summaries of long texts, so that many have room."""
    if understood.shape is Shape.PLAIN:
        return list(records)
    return [_short(record) for record in records]


def arranged(records: Sequence[Record], found: Mapping[str, Found], understood: Understood) -> list[Record]:
    """For an order of events, and for what there was in some days, the records as they happened, each with its day."""
    ordered = understood.shape is Shape.TIMELINE or understood.only
    return in_order(records, found) if ordered else list(records)


def _short(record: Record) -> Record:
    brief = record.summary.strip()
    return (
        replace(record, text=brief) if brief and len(record.text) > _SHORT and len(brief) < len(record.text) else record
    )
