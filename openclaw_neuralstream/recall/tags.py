"""Gems by the tags that a question mentions: a parent's name reaches its children, an alias counts as the name."""

from __future__ import annotations

import math

from openclaw_neuralstream.ports import Meant, Vocabulary
from openclaw_neuralstream.recall.labelled import LOOKED_AT, Carried, Exact
from openclaw_neuralstream.recall.narrow import earlier_too
from openclaw_neuralstream.recall.source import TAGS, Candidate, Understood
from openclaw_neuralstream.tags import nearness

_TELLS_LITTLE = 2_000
"""Gems from which on a tag is not counted further: it tells nothing."""


class TagSource:
    """Gems that carry a tag of the question, or one below it. Where no tag is mentioned it finds nothing: others answer."""

    name = "tags"
    kind = "gems"

    def __init__(self, vocabulary: Vocabulary, exact: Exact) -> None:
        self._vocabulary = vocabulary
        self._exact = exact

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` gems, best first, with how well their tags fit, and exact coverage and meaning."""
        query = understood.query
        narrowed = query.wanted.tags if query.wanted else ()
        names = sorted({*understood.tags, *narrowed})
        if not names:
            return []
        meant = self._vocabulary.tags_meant(names, query.text, query.scope)
        tells = {item.name: self._tells(item, understood) for item in meant}
        fits: dict[str, float] = {}
        words: dict[str, dict[str, float]] = {}
        for item in meant:
            found = self._vocabulary.gems_of(
                item.keys, query.scope, limit=LOOKED_AT, superseded=earlier_too(understood)
            )
            for gem_id, keys in found.items():
                near = nearness(min(item.keys[key] for key in keys))
                fits[gem_id] = fits.get(gem_id, 0.0) + near * tells[item.name]
                if item.words:
                    words.setdefault(gem_id, {})[item.words] = near
        whole = max(len(meant), 1)
        carried = {gem_id: Carried(fit / whole, words.get(gem_id, {})) for gem_id, fit in fits.items()}
        return self._exact.candidates(TAGS, carried, understood, limit)

    def _tells(self, item: Meant, understood: Understood) -> float:
        """How much a tag says, in [0, 1]: little where most gems carry it; the same as what its idf is to the greatest."""
        scope = understood.query.scope
        stored = self._exact.gems.gem_count(scope)
        held = min(self._vocabulary.spread(item.keys, scope, most=_TELLS_LITTLE), stored)
        return math.log((stored + 1) / (held + 0.5)) / math.log((stored + 1) / 0.5) if stored else 0.0
