"""How sure an opinion is: clamped log-odds over days, a function of the set of its evidence and of nothing else."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

GAIN = 0.5
"""Log-odds that one piece of evidence of weight 1 moves."""

STEP = 0.4
"""Log-odds that one day moves at most; the logistic curve is never steeper than 1/4, so that is 0.1 of confidence."""

JUMP = 1.2
"""Log-odds that a day of strong contradiction moves at most, once there are `REPEATED` such days."""

STRONG = 0.8
"""Net weight of contradiction from which a day counts as strongly contradicting."""

REPEATED = 2
LIMIT = 4.0
"""Log-odds beyond which nothing moves: 0.018 to 0.982; an opinion that can no longer change is a prejudice."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One piece of evidence as the formula sees it. source: its citation; weight: in [0, 1]; day: None = undated."""

    source: str
    supports: bool
    weight: float
    day: date | None = None


def confidence(anchor: float, votes: Iterable[Vote]) -> float:
    """The confidence of an opinion whose first statement was believed with `anchor`, in (0, 1).

    With the weight of evidence of I. J. Good (1950) and the clamping of occupancy grids (OctoMap, 2013):

        n(d) = sum over the day's votes of +weight or -weight
        S    = sum over days with n(d) > 0 of min(STEP, GAIN n(d))
        C    = sum over days with n(d) < 0 of min(STEP, GAIN |n(d)|)
        L    = max(-LIMIT, min(LIMIT, logit(anchor) + S) - C),   confidence = 1 / (1 + exp(-L))

    Where |n(d)| >= STRONG on at least REPEATED days, these days count min(JUMP, 3 GAIN |n(d)|) in C instead: a big
    jump needs strong and repeated contradiction. A vote counts once, whatever the order and however often it is told;
    support never lowers the confidence, contradiction never raises it.
    """
    days: dict[date | None, float] = defaultdict(float)
    for vote in sorted(set(votes), key=lambda vote: (vote.source, vote.supports, vote.weight, vote.day or date.min)):
        days[vote.day] += vote.weight if vote.supports else -vote.weight
    net = list(days.values())
    strong = [number for number in net if -number >= STRONG]
    jumps = strong if len(strong) >= REPEATED else []
    steps = [number for number in net if number not in jumps]
    support = math.fsum(min(STEP, GAIN * number) for number in steps if number > 0)
    against = math.fsum(min(STEP, -GAIN * number) for number in steps if number < 0)
    against += math.fsum(min(JUMP, -3 * GAIN * number) for number in jumps)
    return _logistic(max(-LIMIT, min(LIMIT, _logit(anchor) + support) - against))


def _logit(probability: float) -> float:
    bounded = min(max(probability, _logistic(-LIMIT)), _logistic(LIMIT))
    return math.log(bounded / (1 - bounded))


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))
