"""How sure a rate is: percentile bootstrap over conversations (Efron and Tibshirani, 1993, chapter 13). Pure."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from benchmarks.extraction.scoring import Score

RESAMPLES = 1_000
_SEED = 20_261_121


def interval(
    scores: Sequence[Score], rate: Callable[[Score], float], *, resamples: int = RESAMPLES, seed: int = _SEED
) -> tuple[float, float]:
    """The middle 95 % of the rate over conversations drawn again with replacement; (0, 1) when there are none."""
    if not scores:
        return 0.0, 1.0
    draw = random.Random(seed)
    light = [replace(one, notes=[]) for one in scores]
    rates = sorted(rate(sum(draw.choices(light, k=len(light)), Score())) for _ in range(resamples))
    low, high = int(0.025 * resamples), min(resamples - 1, math.ceil(0.975 * resamples) - 1)
    return round(rates[low], 3), round(rates[high], 3)
