"""Which terms of a long question are worth asking for."""

from __future__ import annotations

from collections.abc import Mapping


def affordable(frequency: Mapping[str, int], budget: int) -> list[str]:
    """The rarest terms whose postings together stay in the budget; at least the rarest one."""
    chosen: list[str] = []
    spent = 0
    for term, count in sorted(frequency.items(), key=lambda item: (item[1], item[0])):
        if chosen and spent + count > budget:
            break
        chosen.append(term)
        spent += count
    return chosen
