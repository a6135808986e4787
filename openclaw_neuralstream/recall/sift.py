"""Which of the ranked records may be shown, and the first reason why each other one may not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import Dropped, Record
from openclaw_neuralstream.recall.source import Found, Understood
from openclaw_neuralstream.recall.window import Window

_SAME = 0.8  # share of common terms at which two records say the same
_FEW = 3  # terms below which two records are the same only when all their terms are


def sifted(
    records: Sequence[Record],
    found: Mapping[str, Found],
    understood: Understood,
    *,
    threshold: float,
    doubted: bool = True,
) -> tuple[list[Record], list[Dropped]]:
    """The records that may be shown, in their order, and the others with the first reason that holds.

    doubted: whether what speaks against the question as a whole counts; a person who narrows it knows what they ask.
    """
    kept: list[Record] = []
    dropped: list[Dropped] = []
    window = Window(understood.query)
    seen: list[frozenset[str]] = []
    for record in records:
        why = found[record.id].outdated
        if not why and record.factors["relevance" if doubted else "about"] < threshold:
            why = "below-threshold"
        if not why and window.shows(record, found[record.id].evidence):
            why = "in-window"
        if not why:
            said = frozenset(content_terms(record.text)) or frozenset({record.text})
            why = "duplicate" if any(_same(said, other) for other in seen) else ""
            seen.append(said)
        if why:
            dropped.append(Dropped(record, why))
        else:
            kept.append(record)
    return kept, dropped


def _same(left: frozenset[str], right: frozenset[str]) -> bool:
    common = len(left & right)
    if min(len(left), len(right)) <= _FEW:
        return left == right
    return common / len(left | right) >= _SAME
