"""What an answer looks like: for a summary many and different records in few words, for an order all that happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from openclaw_neuralstream.model import Record
from openclaw_neuralstream.recall.source import Found, Shape, Understood
from openclaw_neuralstream.recall.timely import in_order
from openclaw_neuralstream.settings import Settings

_BREADTH = 30
"""Most records for a summary or an order of events, within the same tokens."""

_SHORT = 160
"""Characters of a text that is short enough to stand in full beside many others."""


def most(understood: Understood, settings: Settings) -> int:
    """How many records at most: what the question itself says, else the settings; more for an order or a summary."""
    given = understood.query.limit
    if given or understood.shape is Shape.PLAIN:
        return given or settings.max_gems_injected
    return max(settings.max_gems_injected, _BREADTH)


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
