"""What is said of each candidate before it may go in: its factors, its score, its relevance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache

from openclaw_neuralstream.lexicon import script_of, speaks_of, terms
from openclaw_neuralstream.model import Origin, Record
from openclaw_neuralstream.recall.fuse import Fused
from openclaw_neuralstream.recall.relevance import of_days, relevance
from openclaw_neuralstream.recall.source import (
    COVERAGE,
    ENTITY,
    TAGS,
    TIME,
    Found,
    Understood,
)
from openclaw_neuralstream.recall.timely import tells_of_others

_ORIGINS = {Origin.OWNER: 1.0, Origin.AGENT: 0.95, Origin.SYSTEM: 0.9, Origin.UNTRUSTED: 0.85}
_SUREST = 0.99  # nothing is certain: a threshold of 1 keeps everything back
_IMPORTANCE = 0.1  # how much the least important loses against the most important
_CONFIDENCE = 0.1
_RECENCY = 0.005  # a tie-breaker: never more than this
_HALF_LIFE_DAYS = 90.0
_LIFT = 0.2
_MENTIONED, _UNNAMED = 0.75, 0.5  # a record that may be about who is named, or hardly
_OTHERS = 0.2  # one that tells of others: nobody's own words, neither "I" nor "you" in it, and not who is named
_VERBATIM = 0.8  # how relevant a turn counts beside a gem: what was merely said must answer more clearly
_ROLE_NAMES = frozenset(
    {"owner", "agent", "user", "assist", "tool", "system", "someon", "third-party", "third", "parti"}
)


def ranked(fused: Sequence[Fused], found: Mapping[str, Found], understood: Understood, most: int) -> list[Record]:
    """The records with score and factors, best first; ties by the newer one, then by id. At most so many of them."""
    lifts = _lifts(fused, found)
    best = sorted(fused, key=lambda item: (-item.score - lifts.get(item.id, 0.0), item.id))[:most]
    named = _named(understood.names, [found[item.id] for item in best])
    judged = [_judged(item, found[item.id], understood, lift=lifts.get(item.id, 0.0), named=named) for item in best]
    records = [_record(found[item.id], *scored) for item, scored in zip(best, judged, strict=True)]
    return sorted(records, key=lambda record: (-record.score, -_seconds(record.at), record.id))


def _judged(
    item: Fused, found: Found, understood: Understood, *, lift: float, named: frozenset[str]
) -> tuple[float, dict[str, float]]:
    """The score of a record and what it is made of; `relevance` is how much of the question it answers, on an absolute scale."""
    record = found.record
    factors = {
        "importance": 1 - _IMPORTANCE * (1 - record.importance),
        "confidence": 1 - _CONFIDENCE * (1 - record.confidence),
        "origin": _ORIGINS[record.origin],
        "named": _about(named, found),
        "trust": found.trust,
        "worth": found.worth,
    }
    age_days = max(0.0, _seconds(understood.query.now) - _seconds(record.at)) / 86_400
    recency = _RECENCY * math.exp2(-age_days / _HALF_LIFE_DAYS)
    same_script = script_of(record.text) == understood.script
    signals = _beside_its_days(item, found, understood)
    likely = of_days(signals) if understood.only else relevance(signals, same_script=same_script)
    relevant = likely * factors["named"] * (_VERBATIM if found.verbatim else 1.0) * found.worth
    score = (item.score + lift) * math.prod(factors.values()) + recency
    told = {**item.signals, "lift": lift, **factors, "recency": recency, "relevance": min(_SUREST, relevant)}
    return score, told


def _beside_its_days(item: Fused, found: Found, understood: Understood) -> Mapping[str, float]:
    """The signals, with what a record holds of a question beside the days that it names, which the signal `time` says already.

    What is of these very days and says all the rest covers the question, in whatever words it names its day ("today"); not what
    was only said in them, of other days. What holds nothing but the names of the days covers nothing.
    """
    signals = item.signals
    if not understood.beside or not signals.get(COVERAGE):
        return signals
    held = _terms(found.record.text) | found.who
    days = understood.period
    of_them = signals.get(TIME, 0.0) >= 1 and not (days and tells_of_others(found.record, days))
    if of_them and understood.beside <= held:
        return {**signals, COVERAGE: 1.0}
    if {TAGS, ENTITY} & signals.keys():
        return signals
    asked = held & understood.weights().keys()
    return {**signals, COVERAGE: 0.0} if asked and not asked & understood.beside else signals


def _record(found: Found, score: float, factors: Mapping[str, float]) -> Record:
    return replace(found.record, score=score, factors={name: round(value, 4) for name, value in factors.items()})


def _lifts(fused: Sequence[Fused], found: Mapping[str, Found]) -> dict[str, float]:
    """What a turn gains from the best gem that was made from it: the gem says what it was about."""
    best: dict[str, float] = {}
    for item in fused:
        if not found[item.id].verbatim:
            for turn in found[item.id].evidence:
                best[turn] = max(best.get(turn, 0.0), item.score)
    return {
        item.id: _LIFT * max((best.get(turn, 0.0) for turn in found[item.id].evidence), default=0.0)
        for item in fused
        if found[item.id].verbatim
    }


def _named(names: frozenset[str], found: Iterable[Found]) -> frozenset[str]:
    """Those of the question's names that somebody among the candidates bears or mentions."""
    if not names:
        return names
    known: set[str] = set()
    for item in found:
        known |= names & item.who
        known |= names & _terms(item.record.text)
    return frozenset(known)


def _about(named: frozenset[str], found: Found) -> float:
    """1 when the record is about who is named (or nobody is), less when somebody else may be meant.

    A gem is about whom it names first. A verbatim "I …" is about its speaker, a "you …" about the other one.
    """
    if not named:
        return 1.0
    mentioned = _mentions(found, named)
    if not {term for term in found.who - _ROLE_NAMES if not term.isdigit()}:
        if mentioned or named & found.who:
            return 1.0
        return _UNNAMED if any(speaks_of(found.record.text)) else _OTHERS
    of_self, of_other = speaks_of(found.record.text) if found.verbatim else (True, False)
    if named & found.who:
        return 1.0 if of_self or not of_other else _MENTIONED
    return _MENTIONED if mentioned or of_other else _UNNAMED


def _mentions(found: Found, named: frozenset[str]) -> bool:
    return bool(named & _terms(found.record.text))


@lru_cache(maxsize=4_096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _seconds(at: datetime) -> float:
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
