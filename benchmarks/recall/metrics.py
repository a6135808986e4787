"""How good a ranking is: recall, hit, nDCG and MRR, recall in a token budget, and bootstrap intervals over questions."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

CUTS = (5, 10, 20)
BUDGETS = (500, 1_000, 2_000)
_RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Ranked:
    """A returned record: what it stands for (documents, or sessions), and what its text costs."""

    id: str
    covers: frozenset[str]
    tokens: int


def score(ranking: Sequence[Ranked], relevant: AbstractSet[str]) -> dict[str, float]:
    """Every measure of one question; a record that covers what an earlier one covered gains nothing."""
    gains = _gains(ranking, relevant)
    found = {f"recall@{cut}": sum(gains[:cut]) / len(relevant) for cut in CUTS}
    first = next((rank for rank, gain in enumerate(gains, 1) if gain), 0)
    found["hit@10"] = float(0 < first <= 10)
    found["mrr"] = 1 / first if first else 0.0
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(relevant)) + 1))
    found["ndcg@10"] = min(
        1.0, sum(bool(gain) / math.log2(rank + 1) for rank, gain in enumerate(gains[:10], 1)) / ideal
    )
    for budget in BUDGETS:
        found[f"recall@{budget}tokens"] = _within(ranking, gains, budget) / len(relevant)
    return found


def told(block: Sequence[Ranked], relevant: AbstractSet[str], tokens: int) -> dict[str, float]:
    """What of the evidence the model reads: of the records of the block, beside how many there are and what the block costs."""
    return {
        "told": sum(_gains(block, relevant)) / len(relevant),
        "empty": float(not block),
        "records": float(len(block)),
        "tokens": float(tokens if block else 0),
    }


def within(ranking: Sequence[Ranked], budget: int, around: int) -> list[Ranked]:
    """Those that go into a budget in their order, each with so many tokens around it."""
    kept: list[Ranked] = []
    for item in ranking:
        if item.tokens + around <= budget:
            kept.append(item)
            budget -= item.tokens + around
    return kept


def summary(rows: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Mean and 95 % bootstrap interval over questions of each measure, in percent; {} for no questions."""
    if not rows:
        return {}
    names = list(rows[0])
    table = np.array([[row[name] for name in names] for row in rows])
    rng = np.random.default_rng(7)
    means = table[rng.integers(0, len(rows), (_RESAMPLES, len(rows)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    shown = {name: i for i, name in enumerate(names) if name not in ("records", "tokens")}
    return {
        name: {"mean": _percent(table[:, i].mean()), "low": _percent(low[i]), "high": _percent(high[i])}
        for name, i in shown.items()
    } | {"questions": {"n": len(rows)}}


def difference(left: Sequence[float], right: Sequence[float]) -> dict[str, float]:
    """Paired difference of two systems on the same questions, with its 95 % bootstrap interval, in points."""
    rng = random.Random(7)
    pairs = [a - b for a, b in zip(left, right, strict=True)]
    means = sorted(sum(rng.choices(pairs, k=len(pairs))) / len(pairs) for _ in range(_RESAMPLES))
    return {
        "mean": _percent(sum(pairs) / len(pairs)),
        "low": _percent(means[int(0.025 * _RESAMPLES)]),
        "high": _percent(means[int(0.975 * _RESAMPLES)]),
    }


def _gains(ranking: Sequence[Ranked], relevant: AbstractSet[str]) -> list[int]:
    seen: set[str] = set()
    gains = []
    for record in ranking:
        fresh = (record.covers & relevant) - seen
        seen |= fresh
        gains.append(len(fresh))
    return gains


def _within(ranking: Sequence[Ranked], gains: Sequence[int], budget: int) -> int:
    """What the records gain that go into the budget in their order; one that is too long is skipped."""
    gained = 0
    for record, gain in zip(ranking, gains, strict=True):
        if record.tokens <= budget:
            budget -= record.tokens
            gained += gain
    return gained


def _percent(value: float) -> float:
    return round(100 * float(value), 1)
