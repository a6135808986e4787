"""What is said of each candidate before it may go in: factors, relevance, and the reasons to leave it out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import Dropped, Origin, Record
from openclaw_neuralstream.recall.fuse import Fused
from openclaw_neuralstream.recall.relevance import relevance
from openclaw_neuralstream.recall.source import Found, Understood
from openclaw_neuralstream.recall.window import Window

_ORIGINS = {Origin.OWNER: 1.0, Origin.AGENT: 0.95, Origin.SYSTEM: 0.9, Origin.UNTRUSTED: 0.85}
_IMPORTANCE = 0.1  # how much the least important loses against the most important
_CONFIDENCE = 0.1
_RECENCY = 0.005  # a tie-breaker: never more than this
_HALF_LIFE_DAYS = 90.0
_SAME = 0.8  # share of common terms at which two records say the same
_FEW = 3  # terms below which two records are the same only when all their terms are


def ranked(fused: Iterable[Fused], found: Mapping[str, Found], understood: Understood) -> list[Record]:
    """The records with score and factors, best first; ties by the newer one, then by id."""
    records = [_judged(item, found[item.id].record, understood.query.now) for item in fused if item.id in found]
    return sorted(records, key=lambda record: (-record.score, -_seconds(record.at), record.id))


def sifted(
    records: Sequence[Record], found: Mapping[str, Found], understood: Understood, *, threshold: float
) -> tuple[list[Record], list[Dropped]]:
    """The records that may be shown, in their order, and the others with the first reason that holds."""
    kept: list[Record] = []
    dropped: list[Dropped] = []
    window = Window(understood.query)
    seen: list[frozenset[str]] = []
    for record in records:
        why = found[record.id].outdated
        if not why and record.factors["relevance"] < threshold:
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


def _judged(item: Fused, record: Record, now: datetime) -> Record:
    importance = 1 - _IMPORTANCE * (1 - record.importance)
    confidence = 1 - _CONFIDENCE * (1 - record.confidence)
    origin = _ORIGINS[record.origin]
    age_days = max(0.0, _seconds(now) - _seconds(record.at)) / 86_400
    recency = _RECENCY * math.exp2(-age_days / _HALF_LIFE_DAYS)
    factors = {
        **item.signals,
        "relevance": relevance(item.signals),
        "importance": importance,
        "confidence": confidence,
        "origin": origin,
        "recency": recency,
    }
    score = item.score * importance * confidence * origin + recency
    return replace(record, score=score, factors={name: round(value, 4) for name, value in factors.items()})


def _same(left: frozenset[str], right: frozenset[str]) -> bool:
    common = len(left & right)
    if min(len(left), len(right)) <= _FEW:
        return left == right
    return common / len(left | right) >= _SAME


def _seconds(at: datetime) -> float:
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
