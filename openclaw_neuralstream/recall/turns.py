"""Verbatim turns as records: the evidence behind the gems, found by words, the words around them, and meaning."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from openclaw_neuralstream.clean import clean_text
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.lexicon import sentences, terms
from openclaw_neuralstream.model import Origin, Record, Wanted
from openclaw_neuralstream.ports import Embedder, Passage, PassageRow, PassageSearch
from openclaw_neuralstream.recall.background import Background
from openclaw_neuralstream.recall.excerpt import excerpt, worth
from openclaw_neuralstream.recall.narrow import admits, earlier_too
from openclaw_neuralstream.recall.relevance import coverage, rarity, share
from openclaw_neuralstream.recall.source import COVERAGE, MEANING, STRETCH, WORDS, Candidate, Found, Understood

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

_K1, _B = 1.2, 0.3
_CORE = 60
_SUMMARY_CHARS, _SUMMED = 160, 500


class Standing(Protocol):
    """What became of what was said."""

    def outdated_turns(self, turn_ids: Sequence[str], now: datetime) -> Mapping[str, str]:
        """Those of the turns of which every gem is out of date: turn id → "superseded" or "expired"."""


class TurnShelf:
    """Passages by id, out of the turns' projection; of long ones what answers the question."""

    name = "turns"

    def __init__(self, passages: PassageSearch, standing: Standing | None = None, most_chars: int = MOST_CHARS) -> None:
        self._passages = passages
        self._standing = standing
        self._most = most_chars

    def fetch(self, ids: Sequence[str], understood: Understood) -> Mapping[str, Found]:
        """The passages by id."""
        passages = self._passages.passages(ids, understood.query.scope)
        outdated: Mapping[str, str] = {}
        if self._standing is not None and not earlier_too(understood):
            turns = list({passage.turn_id for passage in passages})
            outdated = self._standing.outdated_turns(turns, understood.query.now)
        weights = understood.weights()
        found = {passage.id: self._found(passage, weights, outdated.get(passage.turn_id, "")) for passage in passages}
        wanted = understood.query.wanted
        return {id_: item for id_, item in found.items() if wanted is None or _is_wanted(item.record, wanted)}

    def _found(self, passage: Passage, weights: Mapping[str, float], outdated: str) -> Found:
        text = passage.text
        if len(text) > self._most:  # whole, first: a secret of newer rules may stand on several lines
            text = excerpt(clean_text(text), weights, self._most)
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
        standing: Standing | None = None,
        most_chars: int = MOST_CHARS,
    ) -> None:
        self._passages = passages
        self._embedder = embedder
        self._background = background or Background(embedder)
        self._shelf = TurnShelf(passages, standing, most_chars)

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` passages, best first, each with up to four signals."""
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
        reading = _Reading(self._passages.rows(_around(core), scope), rarities, mean, understood.script)
        wanted = _around(core, before=AFTER, after=BEFORE)
        rows = [row for row in reading.rows.values() if row.place in wanted]
        cosines = self._passages.cosines(vector, rows) if vector is not None else [0.0] * len(rows)
        found: list[tuple[float, list[Candidate]]] = []
        for row, cosine in zip(rows, cosines, strict=True):
            words, around = reading.words(row), reading.around(row)
            signals = [
                Candidate(row.id, self._shelf, WORDS, words),
                Candidate(row.id, self._shelf, COVERAGE, reading.covered(row)),
                Candidate(row.id, self._shelf, STRETCH, around),
                Candidate(row.id, self._shelf, MEANING, cosine, zero),
            ]
            found.append((0.6 * words + 0.4 * cosine + 0.3 * around, signals))
        found.sort(key=lambda item: (-item[0], item[1][0].id))
        return [candidate for _, signals in found[:limit] for candidate in signals]


class _Reading:
    """The passages around the candidates, read for the question's terms."""

    def __init__(self, rows: Iterable[PassageRow], rarities: Mapping[str, float], mean: float, script: str) -> None:
        self.rows = {row.place: row for row in rows}
        self._rarities = rarities
        self._mean = mean
        self._script = script
        asked = frozenset(rarities)
        self._own = {place: _counts(row.tokens, asked) for place, row in self.rows.items()}
        self._near = {
            place: (min(len(row.tokens), NEIGHBOUR_TERMS), self._beginning(place, row))
            for place, row in self.rows.items()
        }
        self._held: dict[int, Counter[str]] = defaultdict(Counter)
        for place, counts in self._own.items():
            if counts:
                self._held[self.rows[place].stretch].update(counts.keys())
        self._covered = {stretch: coverage(held, rarities, script) for stretch, held in self._held.items()}

    def _beginning(self, place: int, row: PassageRow) -> dict[str, int]:
        own = self._own[place]
        return (
            own
            if len(row.tokens) <= NEIGHBOUR_TERMS or not own
            else _counts(row.tokens[:NEIGHBOUR_TERMS], frozenset(own))
        )

    def words(self, row: PassageRow) -> float:
        """BM25 of the passage, of the two before it and of the one after it, each a field of its own, summed."""
        before = [row.place - back for back in range(1, BEFORE + 1)]
        after = [row.place + on for on in range(1, AFTER + 1)]
        score = self._bm25(self._own[row.place], len(row.tokens), self._mean)
        score += BEFORE_WEIGHT * self._field(before) + AFTER_WEIGHT * self._field(after)
        return share(score, self._rarities) if score else 0.0

    def covered(self, row: PassageRow) -> float:
        """How much of the question the passage itself covers."""
        own = self._own[row.place]
        return coverage(own, self._rarities, self._script) if own else 0.0

    def around(self, row: PassageRow) -> float:
        """How much of the question its conversation covers, as far as it was read; 0 when nothing else of it does."""
        held, own = self._held.get(row.stretch), self._own[row.place]
        if not held or not any(passages > (term in own) for term, passages in held.items()):
            return 0.0
        return self._covered[row.stretch]

    def _field(self, places: Sequence[int]) -> float:
        there = [self._near[place] for place in places if place in self._near]
        if not any(counts for _, counts in there):
            return 0.0
        summed: dict[str, int] = {}
        for _, counts in there:
            for term, count in counts.items():
                summed[term] = summed.get(term, 0) + count
        return self._bm25(summed, sum(length for length, _ in there), self._mean * len(places))

    def _bm25(self, counts: Mapping[str, int], length: int, mean: float) -> float:
        if not counts:
            return 0.0
        norm = _K1 * (1 - _B + _B * length / mean)
        return sum(self._rarities[term] * count * (_K1 + 1) / (count + norm) for term, count in counts.items())


def _counts(tokens: Sequence[str], asked: frozenset[str]) -> dict[str, int]:
    """How often each of the asked terms stands there; most passages have none of them."""
    return {term: tokens.count(term) for term in sorted(asked.intersection(tokens))}


def _around(places: Iterable[int], *, before: int = BEFORE + AFTER, after: int = BEFORE + AFTER) -> list[int]:
    return sorted({place + step for place in places for step in range(-before, after + 1)})


def _is_wanted(record: Record, wanted: Wanted) -> bool:
    until = wanted.as_of.end if wanted.as_of else None
    return admits(record, wanted) and (until is None or record.at.date() <= until)


def _first(text: str) -> str:
    if len(text) <= _SUMMARY_CHARS:
        return text
    first = " ".join(next(iter(sentences(text[:_SUMMED])), text[:_SUMMED]).split())
    return first if len(first) <= _SUMMARY_CHARS else first[: _SUMMARY_CHARS - 1].rstrip() + "…"
