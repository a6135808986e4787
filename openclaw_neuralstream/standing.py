"""What the owner asked for once and for all: instructions and preferences that hold, in their newest version."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime

from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import OWNER, Gem, Kind, Origin, Scope
from openclaw_neuralstream.store.truth import Truth

KINDS = (Kind.INSTRUCTION, Kind.PREFERENCE)
_EVENTS = 500
_MOST = 2_000  # of each kind that are looked at when the process starts
_SAME = 0.8  # share of common terms at which two say the same: the newer one does


class Standing:
    """Follows the gems by the numbers of their events, so that asking before each turn costs next to nothing."""

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._gems: dict[str, Gem] = {}
        self._seen: int | None = None
        self._following = threading.Lock()

    def of(self, scope: Scope, now: datetime) -> list[Gem]:
        """What stands for this scope, instructions first, the weightier and then the newer ones first."""
        self._follow()
        held = [gem for gem in self._gems.values() if _sees(scope, gem.scope) and not _over(gem, now)]
        newest = _newest(sorted(held, key=lambda gem: (instant(gem.created_at), gem.gem_id), reverse=True))
        return sorted(newest, key=lambda gem: (KINDS.index(gem.kind), -gem.importance))

    def _follow(self) -> None:
        with self._following:
            if self._seen is None:
                self._seen = self._truth.last_event()
                for kind in KINDS:
                    self._take(self._truth.gems(None, tag=kind.value, limit=_MOST))
            while events := self._truth.events(self._seen, _EVENTS):
                ids = list(dict.fromkeys(event.gem_id for event in events))
                for gem_id in ids:
                    self._gems.pop(gem_id, None)
                self._take(self._truth.gems(None, gem_ids=ids, limit=len(ids)))
                self._seen = events[-1].seq

    def _take(self, gems: Sequence[Gem]) -> None:
        self._gems.update({gem.gem_id: gem for gem in gems if _stands(gem)})


def _stands(gem: Gem) -> bool:
    """Only what the owner said himself: what others or the agent said never holds by itself."""
    return gem.kind in KINDS and gem.origin is Origin.OWNER and gem.speaker == OWNER and not gem.superseded_by


def _over(gem: Gem, now: datetime) -> bool:
    return gem.valid_to is not None and instant(gem.valid_to) < instant(now)


def _sees(scope: Scope, of: Scope) -> bool:
    same = (scope.agent, scope.user) == (of.agent, of.user)
    return same and (not scope.project or of.project in ("", scope.project))


def _newest(gems: Sequence[Gem]) -> list[Gem]:
    """Without those that a newer one says again. gems: the newest first."""
    kept: list[tuple[frozenset[str], Gem]] = []
    for gem in gems:
        terms = frozenset(content_terms(gem.content))
        if not any(terms and len(terms & said) >= _SAME * len(terms | said) for said, _ in kept):
            kept.append((terms, gem))
    return [gem for _, gem in kept]
