"""What an audit finds, and how sure its rates are."""

from __future__ import annotations

import math
from dataclasses import dataclass

SORTS = {
    "junk": "small talk, tool noise, boilerplate, questions, planted orders, what does not stand by itself",
    "duplicate": "an older live gem of the same person says the same, or nearly",
    "stale": "still live although its time is over, or a later gem says otherwise",
    "unsupported": "the turns it names do not say it",
    "wrong-speaker": "told as somebody's who did not say it",
    "secret": "holds what looks like a password, key or card number",
}
"""Sorts of faults, in the order in which they are reported. A gem may have several."""

_Z = 1.959964


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one gem. why: in a few words. other: the gem it is compared with, "" where there is none."""

    sort: str
    gem_id: str
    batch: str
    quote: str
    why: str
    other: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of the gems looked at have a fault of this sort, and the 95 % interval of the share in the whole store."""

    count: int
    of: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of those looked at; 0 of nothing."""
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True)
class Audit:
    """The result: how many live gems there are, how many were looked at, the rate of each sort and of any, the findings.

    unverifiable: gems whose turns are gone (forgotten, imported, said by hand): nobody can say whether these support them.
    """

    population: int
    looked_at: int
    rates: dict[str, Rate]
    findings: tuple[Finding, ...]
    unverifiable: int = 0


def wilson(hits: int, of: int, population: int = 0) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927); of a sample that is the whole population, the share itself.

    (0, 1) of nothing. A finite population narrows it (correction of the sample size, Cochran, 1977, 2.6).
    """
    if not of:
        return 0.0, 1.0
    share = hits / of
    if population and of >= population:
        return share, share
    size = of * (population - 1) / (population - of) if population > of else of
    z2 = _Z * _Z
    middle = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = _Z * math.sqrt(share * (1 - share) / size + z2 / (4 * size * size)) / (1 + z2 / size)
    return max(0.0, middle - half), min(1.0, middle + half)
