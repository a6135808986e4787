"""Verbatim turns as records: the evidence behind the gems, found by words, the words around them, and meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import Origin, Record
from openclaw_neuralstream.ports import Embedder, Passage, PassageCounts, PassageSearch
from openclaw_neuralstream.recall.fit import excerpt, worth
from openclaw_neuralstream.recall.rank import needed, rarity, share
from openclaw_neuralstream.recall.source import (
    COVERAGE,
    MEANING,
    STRETCH,
    WORDS,
    Background,
    Candidate,
    Found,
    Lasting,
    Understood,
    admits,
    outdated,
    said_by_then,
)
from openclaw_neuralstream.text.lexicon import first_sentence, terms
from openclaw_neuralstream.text.lines import clean_text, one_line
from openclaw_neuralstream.text.questions.leaning import words_said

KIND = "turn"
AGENT_TRUST = 0.4
"""What an assistant's own words count beside what people said: they are long, and repeat the question."""

BEFORE, AFTER = 2, 1
"""How many passages before and after one are read with it: a question stands before its answer, a comment after."""

BEFORE_WEIGHT, AFTER_WEIGHT = 0.5, 0.3
MOST_CHARS = 600
"""Characters of a turn that are shown; of a longer one the sentences that answer."""

NEIGHBOUR_TERMS = 80
"""Terms of a neighbour that count: a long message is no context but a document of its own."""

_TELLS, _CHATTER = (
    2,
    0.2,
)  # content words from which a turn tells something, and what one with fewer counts ("ok thanks")
_K1, _B = 1.2, 0.3
_CORE = 60
_SUMMARY_CHARS, _SUMMED = 160, 240


class TurnShelf:
    """Passages by id, out of the turns' projection; of long ones what answers the question."""

    name = "turns"
    knows_days = False

    def __init__(self, passages: PassageSearch, lasting: Lasting | None = None, most_chars: int = MOST_CHARS) -> None:
        self._passages = passages
        self._lasting = lasting
        self._most = most_chars

    def fetch(self, ids: Sequence[str], understood: Understood) -> Mapping[str, Found]:
        """The passages by id."""
        passages = self._passages.passages(ids, understood.query.scope)
        over = outdated(self._lasting, list({passage.turn_id for passage in passages}), understood)
        weights = understood.weights()
        whole = (lambda text: text) if understood.looked_through else clean_text
        found = {p.id: self._found(p, weights, over.get(p.turn_id, ""), whole) for p in passages}
        query = understood.query
        if query.wanted is None:
            return found
        return {
            id_: item
            for id_, item in found.items()
            if admits(item.record, query.wanted) and said_by_then(item.record.at, query)
        }

    def _found(
        self, passage: Passage, weights: Mapping[str, float], outdated: str, whole: Callable[[str], str]
    ) -> Found:
        text = passage.text
        if len(text) > self._most:  # cleaned whole, first: a secret of newer rules may stand on several lines
            text = excerpt(whole(text), weights, self._most)
        record = Record(
            id=passage.id,
            kind=KIND,
            text=text,
            summary=_first(text),
            score=0.0,
            at=passage.at,
            citation=f"{passage.session}{f'#{passage.number}' if passage.number else ''}, {passage.at.date().isoformat()}",
            origin=passage.origin,
            speaker=passage.who if passage.speaker == "third-party" else passage.speaker,
            agent=passage.scope.agent,
            session_id=passage.session,
        )
        trust = AGENT_TRUST if passage.origin == Origin.AGENT else 1.0
        who, value = frozenset(terms(passage.who)), worth(passage.text)
        if words_said(passage.text) < _TELLS and not any(char.isdigit() for char in passage.text):
            value *= _CHATTER
        return Found(record, frozenset({passage.turn_id}), outdated, who, verbatim=True, trust=trust, worth=value)


class TurnSource:
    """Passages whose words, or whose neighbours' words, the question shares, or that are near it in meaning.

    All signals of all its candidates are exact. Without an embedder that answers, words alone serve.
    """

    name = "turns"
    kind = "turns"

    def __init__(
        self,
        passages: PassageSearch,
        embedder: Embedder,
        background: Background | None = None,
        *,
        lasting: Lasting | None = None,
        most_chars: int = MOST_CHARS,
    ) -> None:
        self._passages = passages
        self._embedder = embedder
        self._background = background or Background(embedder)
        self.shelf = TurnShelf(passages, lasting, most_chars)

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` passages, best first, each with up to four signals; none for a question of days alone."""
        if understood.only:
            return []
        scope, asked = understood.query.scope, understood.weights()
        frequency = self._passages.frequencies(list(asked), scope)
        stored, mean = self._passages.stored(scope)
        rarities = rarity(asked, frequency, stored)
        core = self._passages.match(frequency, scope, max(limit, _CORE))
        try:
            vector = understood.vector(self._embedder)
            zero = self._background.zero(vector)
        except VendorAway:
            vector, zero = None, {}
        if vector is not None:
            core = [*core, *self._passages.nearest(vector, scope, limit)]
        read = self._passages.counts(_around(core), list(rarities), scope, NEIGHBOUR_TERMS)
        reading = _Reading(read, rarities, mean, understood.script)
        cosines = self._passages.cosines(vector, read.rows) if vector is not None else np.zeros(len(read.rows))
        scores = 0.6 * reading.words + 0.4 * cosines + 0.3 * reading.around
        wanted = np.flatnonzero(np.isin(read.places, _around(core, before=AFTER, after=BEFORE))).tolist()
        scored = dict(zip(wanted, (-scores[wanted]).tolist(), strict=True))
        best = nsmallest(limit, wanted, key=lambda at: (scored[at], read.ids[at]))
        return [
            candidate
            for at in best
            for candidate in (
                Candidate(read.ids[at], self.shelf, WORDS, float(reading.words[at])),
                Candidate(read.ids[at], self.shelf, COVERAGE, float(reading.covered[at])),
                Candidate(read.ids[at], self.shelf, STRETCH, float(reading.around[at])),
                Candidate(read.ids[at], self.shelf, MEANING, float(cosines[at]), zero),
            )
        ]


class _Reading:
    """The passages around the candidates, read for the question's terms: one number of each kind per passage.

    words: BM25 of the passage, of the two before it and of the one after it, each a field of its own, summed. covered:
    how much of the question the passage itself covers. around: how much its conversation covers, as far as it was read;
    0 when nothing else of it does.
    """

    def __init__(self, read: PassageCounts, rarities: Mapping[str, float], mean: float, script: str) -> None:
        self._read = read
        self._mean = mean
        self._rarities = np.fromiter(rarities.values(), float, len(rarities))
        self._enough = needed(rarities, script)
        most = share(1.0, rarities)
        before = self._field(range(-BEFORE, 0))
        after = self._field(range(1, AFTER + 1))
        own = self._bm25(read.counts, read.lengths, mean)
        self.words = most * (own + BEFORE_WEIGHT * before + AFTER_WEIGHT * after)
        self.covered = self._coverage(read.counts > 0)
        self.around = self._of_stretches()

    def _of_stretches(self) -> NDArray[np.float64]:
        held = self._read.counts > 0
        if not held.any():
            return np.zeros(len(held))
        _, stretch = np.unique(self._read.stretches, return_inverse=True)
        holding = np.zeros((int(stretch.max()) + 1, held.shape[1]), np.int64)
        np.add.at(holding, stretch, held)
        others = (holding[stretch] > held).any(axis=1)
        return np.where(others, self._coverage(holding > 0)[stretch], 0.0)

    def _coverage(self, held: NDArray[np.bool_]) -> NDArray[np.float64]:
        if not self._enough:
            return np.zeros(len(held))
        found: NDArray[np.float64] = np.minimum(1.0, held @ self._rarities / self._enough)
        return found

    def _field(self, steps: Sequence[int]) -> NDArray[np.float64]:
        """BM25 of what stands so many places away, as one text."""
        read = self._read
        counts, lengths = np.zeros_like(read.counts), np.zeros_like(read.lengths)
        if not read.places.size:
            return np.zeros(0)
        for step in steps:
            at = np.minimum(np.searchsorted(read.places, read.places + step), len(read.places) - 1)
            there = read.places[at] == read.places + step
            counts[there] += read.begun[at[there]]
            lengths[there] += np.minimum(read.lengths[at[there]], NEIGHBOUR_TERMS)
        return self._bm25(counts, lengths, self._mean * len(steps))

    def _bm25(self, counts: NDArray[np.int64], lengths: NDArray[np.int64], mean: float) -> NDArray[np.float64]:
        norm = _K1 * (1 - _B + _B * lengths / mean)
        found: NDArray[np.float64] = (counts * (_K1 + 1) / (counts + norm[:, None])) @ self._rarities
        return found


def _around(places: Iterable[int], *, before: int = BEFORE + AFTER, after: int = BEFORE + AFTER) -> list[int]:
    return sorted({place + step for place in places for step in range(-before, after + 1)})


def _first(text: str) -> str:
    if len(text) <= _SUMMARY_CHARS:
        return text
    return one_line(first_sentence(text[:_SUMMED]) or text[:_SUMMED], _SUMMARY_CHARS)
