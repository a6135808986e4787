"""The junk meter over the socket."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from openclaw_neuralstream.audit import audit
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.model import Gem
from openclaw_neuralstream.serve import given

_PAGE = 5_000


def audit_store(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"sample"?, "seed"?, "agent"?} → {"population", "looked_at", "unverifiable", "rates", "findings"}."""
    sample, seed = given.whole(params, "sample"), given.whole(params, "seed")
    agent = str(params.get("agent") or "")
    gems = [gem for gem in _all(memory) if agent in ("", gem.scope.agent)]
    found = audit(gems, memory.truth.turns, now=memory.now(), sample=sample, seed=seed)
    rates = {sort: {**asdict(rate), "share": rate.share} for sort, rate in found.rates.items()}
    return {**asdict(found), "rates": rates}


def _all(memory: Memory) -> list[Gem]:
    """Every gem that is not superseded."""
    gems: list[Gem] = []
    while page := memory.truth.gems(limit=_PAGE, offset=len(gems)):
        gems += page
    return gems


METHODS: dict[str, Callable[[Memory, Mapping[str, Any]], Any]] = {"audit": audit_store}
