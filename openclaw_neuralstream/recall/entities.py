"""Gems by whom and what a question names, under any of their names: those of the gems, and the aliases of the notes' pages."""

from __future__ import annotations

from openclaw_neuralstream.lexicon import terms
from openclaw_neuralstream.ports import Vocabulary
from openclaw_neuralstream.recall.labelled import LOOKED_AT, Carried, Exact
from openclaw_neuralstream.recall.narrow import earlier_too
from openclaw_neuralstream.recall.source import ENTITY, Candidate, Understood


class EntitySource:
    """Gems that name whom the question names."""

    name = "entities"
    kind = "gems"

    def __init__(self, vocabulary: Vocabulary, exact: Exact) -> None:
        self._vocabulary = vocabulary
        self._exact = exact

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` gems, best first, with the share of the named that they name, and exact coverage and meaning."""
        query = understood.query
        narrowed = query.wanted.entities if query.wanted else ()
        names = sorted({*understood.entities, *narrowed})
        if not names:
            return []
        meant = self._vocabulary.entities_meant(names, query.text, query.scope)
        fits: dict[str, float] = {}
        words: dict[str, dict[str, float]] = {}
        for item in meant:
            found = self._vocabulary.gems_of(
                item.keys, query.scope, limit=LOOKED_AT, entities=True, superseded=earlier_too(understood)
            )
            for gem_id in found:
                fits[gem_id] = fits.get(gem_id, 0.0) + 1.0
                if item.words:
                    words.setdefault(gem_id, {})[item.words] = 1.0
        for name in narrowed:  # whom a person narrows the question to is also whom the words of a gem name
            for gem_id in self._named(name, understood):
                fits.setdefault(gem_id, 1.0)
        whole = max(len(meant), 1)
        carried = {gem_id: Carried(fit / whole, words.get(gem_id, {})) for gem_id, fit in fits.items()}
        return self._exact.candidates(ENTITY, carried, understood, limit)

    def _named(self, name: str, understood: Understood) -> list[str]:
        """Gems that hold all words of the name, in whatever form."""
        asked = list(dict.fromkeys(terms(name)))
        if not asked:
            return []
        hits = self._exact.gems.search_words(
            asked, understood.query.scope, LOOKED_AT, superseded=earlier_too(understood)
        )
        return [hit.gem_id for hit in hits if len(set(hit.matched)) == len(asked)]
