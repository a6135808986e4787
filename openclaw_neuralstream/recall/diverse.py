"""Not five records that say nearly one thing: maximal marginal relevance over what is asked beside the question.

Carbonell & Goldstein, "The use of MMR, diversity-based reranking for reordering documents and producing summaries",
SIGIR 1998. Here the likeness to what is chosen already takes a share of a record's score, so that scores stay on one scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from openclaw_neuralstream.model import Record
from openclaw_neuralstream.recall.source import Found, Understood
from openclaw_neuralstream.recall.twins import likenesses, saying

SHARE = 0.2
"""What a record loses that says again, word for word, all that a better one says beside the question."""

_LOOKED_AT = 40
"""Records that are put in a new order; what comes after them is far from any block."""


def diverse(
    records: Sequence[Record], found: Mapping[str, Found], understood: Understood, *, share: float = SHARE
) -> list[Record]:
    """The same records, those that repeat what stands before them further down, with the factor "alike" (1 = new)."""
    asked = frozenset(understood.weights())
    left = list(records[:_LOOKED_AT])
    if not left:
        return []
    alike = likenesses([saying(record, found[record.id]).terms - asked for record in left])
    scores = np.array([record.score for record in left])
    nearest = np.zeros(len(left))
    waiting = np.ones(len(left), np.bool_)
    chosen: list[Record] = []
    while waiting.any():
        at = int(np.argmax(np.where(waiting, scores * (1 - share * nearest), -np.inf)))
        waiting[at] = False
        best, factor = left[at], 1 - share * float(nearest[at])
        factors = {**best.factors, "alike": round(factor, 4)}
        chosen.append(replace(best, score=best.score * factor, factors=factors) if factor < 1 else best)
        np.maximum(nearest, alike[at], out=nearest)
    return [*chosen, *records[_LOOKED_AT:]]
