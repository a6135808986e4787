"""What the two sources of labelled gems share: candidates with exact signals, however they were found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.lexicon import terms
from openclaw_neuralstream.model import EmbedderIdentity
from openclaw_neuralstream.ports import Embedder, Vector
from openclaw_neuralstream.recall.background import Background
from openclaw_neuralstream.recall.gems import Covering, Gems, gems_by_id, rarities_of
from openclaw_neuralstream.recall.source import COVERAGE, MEANING, Candidate, Shelf, Understood

LOOKED_AT = 60
"""Labelled gems that are looked at: the newest of each label."""


class Kept(Gems, Protocol):
    """The truth, with the vectors of its gems."""

    def vectors(self, gem_ids: Sequence[str], identity: EmbedderIdentity) -> Mapping[str, Vector]:
        """The vectors that these gems have of this embedder."""


@dataclass(frozen=True, slots=True)
class Carried:
    """How well a gem's labels fit a question, in [0, 1], and the words of the question that they say."""

    fit: float
    words: Mapping[str, float]  # words → how near their label is, 1 = the label itself


@dataclass(frozen=True, slots=True)
class Exact:
    """Signals of gems that were found by a label: what their words and labels cover, and their cosines."""

    gems: Kept
    embedder: Embedder
    background: Background
    shelf: Shelf

    def candidates(
        self, signal: str, carried: Mapping[str, Carried], understood: Understood, limit: int
    ) -> list[Candidate]:
        """At most `limit` of the gems, best first: by their labels, then by meaning, then in the given order."""
        if not carried:
            return []
        cosines, zero = self._cosines(list(carried), understood)
        best = sorted(carried, key=lambda gem_id: -carried[gem_id].fit - cosines.get(gem_id, 0.0))[:limit]
        coverages = self._coverages({gem_id: carried[gem_id] for gem_id in best}, understood)
        return [
            *(Candidate(gem_id, self.shelf, signal, carried[gem_id].fit) for gem_id in best),
            *(Candidate(gem_id, self.shelf, COVERAGE, coverages[gem_id]) for gem_id in best if gem_id in coverages),
            *(Candidate(gem_id, self.shelf, MEANING, cosines[gem_id], zero) for gem_id in best if gem_id in cosines),
        ]

    def _cosines(self, gem_ids: list[str], understood: Understood) -> tuple[dict[str, float], Mapping[str, float]]:
        """Exact, from the stored vectors; none while the embedder is away."""
        if not understood.text.strip():
            return {}, {}
        try:
            vector = understood.vector(self.embedder)
            zero = self.background.zero(vector)
        except VendorAway:
            return {}, {}
        known = self.gems.vectors(gem_ids, self.embedder.identity)
        if not known:
            return {}, zero
        return dict(zip(known, (np.stack(list(known.values())) @ vector).tolist(), strict=True)), zero

    def _coverages(self, carried: Mapping[str, Carried], understood: Understood) -> dict[str, float]:
        """What a gem says of the question by its own words, and between that and what its labels say besides."""
        text, rarities = understood.query.text, rarities_of(self.gems, understood)
        covered = Covering(rarities, understood)
        said = {words: said_by(words, text) for words in {words for one in carried.values() for words in one.words}}
        found: dict[str, float] = {}
        for gem in gems_by_id(self.gems, list(carried), understood):
            texts = {gem.content, gem.summary, *gem.topics, *gem.entities}
            own = {term for text in texts for term in terms(text)} & rarities.keys()
            plain = covered(own)
            found[gem.gem_id] = max(
                (
                    plain + math.sqrt(near) * max(0.0, covered(own | said[words]) - plain)
                    for words, near in carried[gem.gem_id].words.items()
                ),
                default=plain,
            )
        return found


def said_by(words: str, text: str) -> set[str]:
    """The terms of a question that these words of it say, those that only stand across their borders included (Chinese)."""
    return set(terms(words)) | (set(terms(text)) - set(terms(text.replace(words, " … "))))
