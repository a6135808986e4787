"""What is said of each candidate before it may go in: its factors, its score, its relevance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from heapq import nlargest

from openclaw_neuralstream.lexicon import script_of, speaks_of, terms
from openclaw_neuralstream.model import Origin, Record
from openclaw_neuralstream.recall.fuse import Fused
from openclaw_neuralstream.recall.relevance import both, of_days, relevance
from openclaw_neuralstream.recall.source import (
    COVERAGE,
    ENTITY,
    MEANING,
    TAGS,
    TIME,
    WORDS,
    Found,
    Shape,
    Understood,
)
from openclaw_neuralstream.recall.timely import tells_of_others
from openclaw_neuralstream.when import tells_past

_ORIGINS = {Origin.OWNER: 1.0, Origin.AGENT: 0.95, Origin.SYSTEM: 0.9, Origin.UNTRUSTED: 0.85}
_SUREST = 0.99  # nothing is certain: a threshold of 1 keeps everything back
_IMPORTANCE = 0.1  # how much the least important loses against the most important
_CONFIDENCE = 0.1
_RECENCY = 0.005  # a tie-breaker: never more than this
_HALF_LIFE_DAYS = 90.0
_LIFT = 0.5
_MENTIONED, _UNNAMED = 0.75, 0.5  # a record that may be about who is named, or hardly
_OTHERS = 0.2  # one that tells of others: nobody's own words, neither "I" nor "you" in it, and not who is named
_WITNESSES = 5  # of how many records a side's testimony is the mean at most
_MOST_WORDS = 1.5  # how much shared words count at most in it
_AT_ODDS, _FOR, _AGAINST = 0.48, 3.0, 2.6  # the doubt where somebody is named: at first, and by what each side says
_MOST_TRUST = 0.5  # what a good word for the question adds to a record at most, as a share of its own relevance
_CROWD, _MOST_CROWD = 0.5, 0.15
_VERBATIM = 0.8  # how relevant a turn counts beside a gem: what was merely said must answer more clearly
_ROLE_NAMES = frozenset(
    {"owner", "agent", "user", "assist", "tool", "system", "someon", "third-party", "third", "parti"}
)

_PLAIN = 0.4
"""Coverage and meaning at which a record plainly speaks of what is asked."""

_WHOLE, _NEAR = 0.95, 0.5
"""Coverage and meaning at which a gem or a fact says all that is asked: of who is named, it is the answer, however many
others did the like. A turn is not: what was merely said may be said to who is named; nor is a wish where it is asked what was done."""


def ranked(fused: Sequence[Fused], found: Mapping[str, Found], understood: Understood, most: int) -> list[Record]:
    """The records with score and factors, best first; ties by the newer one, then by id. At most so many of them."""
    lifts = _lifts(fused, found)
    best = sorted(fused, key=lambda item: (-item.score - lifts.get(item.id, 0.0), item.id))[:most]
    named = _named(understood.names, [found[item.id] for item in best])
    judged = [_judged(item, found[item.id], understood, lift=lifts.get(item.id, 0.0), named=named) for item in best]
    borne = any(named & found[item.id].who for item in best)
    weighed = [(found[item.id], factors) for item, (_, factors) in zip(best, judged, strict=True)]
    doubt = 0.0 if understood.only else _doubt(weighed, rivalry=borne, crowd=understood.shape is Shape.PLAIN)
    talked, done = len(understood.said) > 1, tells_past(understood.query.text)
    records = [
        _record(found[item.id], score, factors, doubt, talked=talked, done=done)
        for item, (score, factors) in zip(best, judged, strict=True)
    ]
    return sorted(records, key=lambda record: (-record.score, -_seconds(record.at), record.id))


def _judged(
    item: Fused, found: Found, understood: Understood, *, lift: float, named: frozenset[str]
) -> tuple[float, dict[str, float]]:
    """The score of a record and what it is made of; `about` is its relevance before any doubt about the question."""
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
    about = likely * factors["named"]
    about *= (_VERBATIM if found.verbatim else 1.0) * found.worth
    score = (item.score + lift) * math.prod(factors.values()) + recency
    return score, {**item.signals, "lift": lift, **factors, "recency": recency, "about": about}


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


def _record(
    found: Found, score: float, factors: Mapping[str, float], doubt: float, *, talked: bool, done: bool
) -> Record:
    doubt = max(doubt, -_MOST_TRUST * factors["about"] if factors["named"] >= 1 else 0.0)
    plain = min(factors.get(COVERAGE, 0.0), factors.get(MEANING, 0.0)) >= _PLAIN and factors["named"] >= 1
    whole = plain and not found.verbatim and _says_it(factors) and (not done or tells_past(found.record.text))
    if whole or (talked and plain):  # words and meaning agree: what others did, or the dialogue spoke of, proves nothing
        doubt = min(doubt, factors["about"] / 3)
    told = {**factors, "doubt": doubt, "relevance": min(_SUREST, max(factors["about"] - doubt, 0.0))}
    return replace(found.record, score=score, factors={name: round(value, 4) for name, value in told.items()})


def _says_it(factors: Mapping[str, float]) -> bool:
    """Whether a record holds all words that are asked for, and is near in meaning."""
    return factors.get(COVERAGE, 0.0) >= _WHOLE and factors.get(MEANING, 0.0) >= _NEAR


def _doubt(judged: Sequence[tuple[Found, Mapping[str, float]]], *, rivalry: bool, crowd: bool = True) -> float:
    """What speaks against a question as a whole, to be taken from the relevance of each record; below 0 speaks for it.

    rivalry: who is named is somebody whose own records are here. Then two sides stand against each other, what their
    records say of the question and what others' do: a question about the wrong person finds its answer with the others.
    Otherwise the crowd: the many are as near as the few, so that being near says little here; not where a whole is asked for, of
    which each is a part.
    """
    others = [item for item in judged if rivalry and item[1]["named"] < 1]
    if others:
        spoken = {turn for found, _ in judged if found.verbatim for turn in found.evidence}
        own = [item for item in judged if item[1]["named"] >= 1]
        heard = min(
            _WITNESSES, max(len(own), len(others))
        )  # one alone does not outweigh many that are beside the point
        for_, against = (_testimony(side, heard, spoken) for side in (own, others))
        return _AT_ODDS + _AGAINST * against - _FOR * for_
    if not crowd:
        return 0.0
    plain = sorted((factors["about"] for _, factors in judged), reverse=True)
    many = plain[max(3, min(10, len(plain) // 3)) : 30]
    return min(_CROWD * sum(many) / len(many), _MOST_CROWD) if many else 0.0


def _testimony(side: Sequence[tuple[Found, Mapping[str, float]]], heard: int, spoken: AbstractSet[str]) -> float:
    """How much one side has to say: near and word for word, the mean of its best few; those it lacks count 0.

    spoken: the turns that are heard themselves. A gem only says again what its turns say; one that was made by hand, a note
    and one whose turns are not there speak for themselves.
    """
    said = (
        both(factors) * min(factors.get(WORDS, 0.0), _MOST_WORDS)
        for found, factors in side
        if found.verbatim or found.evidence.isdisjoint(spoken)
    )
    return sum(nlargest(heard, said)) / heard


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
