"""Not five records that say nearly one thing: maximal marginal relevance over what is asked beside the question.

Carbonell & Goldstein, "The use of MMR, diversity-based reranking for reordering documents and producing summaries",
SIGIR 1998. Here the likeness to what is chosen already takes a share of a record's score, so that scores stay on one scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from openclaw_neuralstream.model import Record
from openclaw_neuralstream.recall.source import Found, Understood
from openclaw_neuralstream.recall.twins import likeness, saying

SHARE = 0.2
"""What a record loses that says again, word for word, all that a better one says beside the question."""

_LOOKED_AT = 40
"""Records that are put in a new order; what comes after them is far from any block."""


def diverse(
    records: Sequence[Record], found: Mapping[str, Found], understood: Understood, *, share: float = SHARE
) -> list[Record]:
    """The same records, those that repeat what stands before them further down, with the factor "alike" (1 = new)."""
    asked = frozenset(understood.weights())
    left = {record.id: record for record in records[:_LOOKED_AT]}
    beside = {id_: saying(record, found[id_]).terms - asked for id_, record in left.items()}
    nearest = dict.fromkeys(left, 0.0)
    chosen: list[Record] = []
    while left:
        best = max(left.values(), key=lambda record: record.score * (1 - share * nearest[record.id]))
        factor = 1 - share * nearest[best.id]
        factors = {**best.factors, "alike": round(factor, 4)}
        chosen.append(replace(best, score=best.score * factor, factors=factors) if factor < 1 else best)
        del left[best.id]
        for id_ in left:
            nearest[id_] = max(nearest[id_], likeness(beside[best.id], beside[id_]))
    return [*chosen, *records[_LOOKED_AT:]]
