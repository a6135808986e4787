"""Gems as records, by words, vectors and tags."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Protocol

import numpy as np

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import EmbedderIdentity, Gem, Period, Query, Record, Scope
from openclaw_neuralstream.ports import Embedder, GemIndex, Hit, Meant, Vector, Vocabulary
from openclaw_neuralstream.recall.rank import FULL_GEM, Coverage, rarity, share
from openclaw_neuralstream.recall.source import (
    COVERAGE,
    MEANING,
    TAGS,
    WORDS,
    Background,
    Candidate,
    Found,
    Shelf,
    Understood,
    admits,
    earlier_too,
)
from openclaw_neuralstream.store.tags import nearness
from openclaw_neuralstream.text.lexicon import terms
from openclaw_neuralstream.worker import Lane, TooSlow

_EARLIER_TERMS = 96
"""Terms of the dialogue before the last message that are searched for."""

_ASKS = 2
"""Terms of the last message that a gem must hold for that message to count as a question of its own."""


class WordHit(Protocol):
    """What the word search gives: a gem, its BM25 (higher is better), and the asked terms that it holds."""

    @property
    def gem_id(self) -> str: ...  # noqa: D102
    @property
    def bm25(self) -> float: ...  # noqa: D102
    @property
    def matched(self) -> tuple[str, ...]: ...  # noqa: D102


class Gems(Protocol):
    """What recall needs of the truth (`store.truth.Truth` has it all)."""

    def search_words(
        self,
        terms: Sequence[str],
        scope: Scope,
        limit: int,
        *,
        superseded: bool = False,
        weights: Mapping[str, float] | None = None,
    ) -> Sequence[WordHit]:
        """The best gems of the scope by BM25 over the terms, each times its weight; superseded ones only where asked for."""

    def frequencies(self, terms: Sequence[str], scope: Scope | None = None) -> Mapping[str, int]:
        """How many gems of the scope hold each term."""

    def gem_count(self, scope: Scope | None = None) -> int:
        """How many gems there are."""

    def gems(
        self,
        scope: Scope | None = None,
        *,
        gem_ids: Sequence[str] | None = None,
        superseded: bool = False,
        limit: int = 50,
    ) -> Sequence[Gem]:
        """The gems of these ids."""


def gem_sources(
    gems: Gems, embedder: Embedder, index: GemIndex, vocabulary: Vocabulary | None = None, *, seconds: float = 0.0
) -> tuple[WordSource, VectorSource]:
    """The two ways to find a gem by what it says, over one shelf. vocabulary: who tells the tags that were inferred.

    seconds: how long the index may take, where it is not in this process (0 = it is).
    """
    shelf = GemShelf(gems, vocabulary)
    return WordSource(gems, shelf), VectorSource(embedder, index, shelf, seconds)


def record_of(gem: Gem) -> Record:
    """A gem as a record; the citation names its session, day and turns."""
    turns = f"#{gem.source.turn_range}" if gem.source.turn_range else ""
    return Record(
        id=gem.gem_id,
        kind=gem.kind.value,
        text=gem.content,
        summary=gem.summary,
        score=0.0,
        at=gem.valid_from or gem.created_at,
        citation=f"{gem.source.session_id or 'by hand'}{turns}, {gem.source.date}",
        origin=gem.origin,
        speaker=gem.speaker,
        agent=gem.scope.agent,
        session_id=gem.source.session_id,
        tags=gem.tags,
        entities=gem.entities,
        importance=gem.importance,
        confidence=gem.confidence,
    )


class GemShelf:
    """Gems by id, out of the truth."""

    name = "gems"
    knows_days = False

    def __init__(self, gems: Gems, vocabulary: Vocabulary | None = None) -> None:
        self._gems = gems
        self._vocabulary = vocabulary

    def fetch(self, ids: Sequence[str], understood: Understood) -> Mapping[str, Found]:
        """The gems by id, marked where they no longer hold at the time of the question."""
        query = understood.query
        gems = gems_by_id(self._gems, ids, understood)
        tagged = query.wanted is not None and bool(query.wanted.tags)
        inferred = self._vocabulary.inferred(ids) if self._vocabulary and tagged else {}
        ended = self._ended(gems, query) if earlier_too(understood) else {}
        at = query.now.astimezone(UTC)
        told: dict[str, Found] = {}
        for gem in gems:
            found = _found(gem, at, inferred.get(gem.gem_id, ()), ended.get(gem.gem_id))
            if kept := _told(gem, found, understood, ended.get(gem.gem_id)):
                told[gem.gem_id] = kept
        return told

    def _ended(self, gems: Sequence[Gem], query: Query) -> dict[str, date]:
        """The day on which a newer gem replaced each of these."""
        newer = {gem.superseded_by for gem in gems if gem.superseded_by}
        if not newer:
            return {}
        days = {
            gem.gem_id: began(gem)
            for gem in self._gems.gems(query.scope, gem_ids=sorted(newer), superseded=True, limit=len(newer))
        }
        return {gem.gem_id: days[gem.superseded_by] for gem in gems if gem.superseded_by in days}


class WordSource:
    """Gems that share words with the question: BM25 of its last message, and of what was said before, which counts less."""

    name = "words"
    kind = "gems"

    def __init__(self, gems: Gems, shelf: Shelf) -> None:
        self._gems = gems
        self._shelf = shelf

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` gems, best first, each with two signals: its words and how much of the question it covers."""
        asked = _asked(understood)
        if not asked:
            return []
        best = self._gems.search_words(
            list(asked), understood.query.scope, limit, superseded=earlier_too(understood), weights=asked
        )
        rarities, cut = rarities_of(self._gems, understood) if best else {}, len(best) >= limit
        covered = Covering(rarities, understood)
        words = {hit.gem_id: share(hit.bm25, rarities, FULL_GEM) for hit in best}
        return [
            *(Candidate(gem_id, self._shelf, WORDS, score, cut=cut) for gem_id, score in words.items()),
            *(Candidate(hit.gem_id, self._shelf, COVERAGE, covered(hit.matched)) for hit in best),
        ]


class VectorSource:
    """Gems near the question in the embedder's space, in whatever language they are."""

    name = "meaning"
    kind = "gems"

    def __init__(self, embedder: Embedder, index: GemIndex, shelf: Shelf, seconds: float = 0.0) -> None:
        """seconds: how long a search of the index may take; 0 = it is in this process and answers at once."""
        self._embedder = embedder
        self._index = index
        self._seconds = seconds
        self._lane = Lane("index")
        self.shelf = shelf
        self.background = Background(embedder)

    def warm(self) -> None:
        """Load the model and the background texts now."""
        self.background.vectors()

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` candidates, best first; scores are cosines, `zero` what unrelated texts reach.

        None for a question of days alone: "last week" means much the same as any other week.
        """
        if not understood.text.strip() or understood.only:
            return []
        vector = understood.vector(self._embedder)
        zero = self.background.zero(vector)
        query = understood.query
        search = partial(self._index.search, vector, query.scope, limit=limit, superseded=earlier_too(understood))
        hits = self._in_time(search) if self._seconds else search()
        return [Candidate(hit.gem_id, self.shelf, MEANING, hit.cosine, zero) for hit in hits]

    def _in_time(self, search: Callable[[], Sequence[Hit]]) -> Sequence[Hit]:
        try:
            found: Sequence[Hit] = self._lane.call(search, self._seconds)
        except TooSlow as error:
            what = f"the index of gems did not answer within {self._seconds * 1000:.0f} ms"
            raise VendorAway(what, fix="neuralstream doctor") from error
        return found


def _asked(understood: Understood) -> dict[str, float]:
    """What to search for, and how much each term counts: the last message's terms, then the heaviest said before it.

    One search, not one per message: a long dialogue would cost as many milliseconds as it has messages.
    """
    last = understood.said[0].terms if understood.said else ()
    weights = understood.weights()
    earlier = sorted(weights.keys() - set(last), key=lambda term: (-weights[term], term))[:_EARLIER_TERMS]
    return {term: weights[term] for term in (*last, *earlier)}


def gems_by_id(gems: Gems, ids: Sequence[str], understood: Understood) -> list[Gem]:
    """These gems, superseded ones too; what was read for this question is not read again."""
    if unread := [id_ for id_ in ids if id_ not in understood.gems]:
        read = gems.gems(understood.query.scope, gem_ids=unread, superseded=True, limit=len(unread))
        understood.gems.update((gem.gem_id, gem) for gem in read)
    return [understood.gems[id_] for id_ in ids if id_ in understood.gems]


def rarities_of(gems: Gems, understood: Understood) -> Mapping[str, float]:
    """How much each term of the question says among the gems."""
    if not understood.rarities:
        scope, weights = understood.query.scope, understood.weights()
        found = rarity(weights, gems.frequencies(list(weights), scope), gems.gem_count(scope))
        understood.rarities.update(found)
    return understood.rarities


class Covering:
    """How much of the question a gem covers: of all of it, or of its last message where that asks by itself.

    Without the second, a plain question in the middle of a long conversation about other things is answered by nothing.
    """

    def __init__(self, rarities: Mapping[str, float], understood: Understood) -> None:
        """rarities: how much each term of the question says."""
        own = understood.said[0].terms if understood.said else ()
        last = {term: rarities[term] for term in own if term in rarities}
        self._whole = Coverage(rarities, understood.script)
        self._last = Coverage(last, understood.script)

    def __call__(self, held: Collection[str]) -> float:
        """In [0, 1], of the terms that a gem holds."""
        whole = self._whole(held)
        asks = len(self._last.rarities.keys() & set(held)) >= _ASKS
        return max(whole, self._last(held)) if asks else whole


def _told(gem: Gem, found: Found, understood: Understood, ended: date | None) -> Found | None:
    """The gem where it is wanted; marked where it does not hold now, or did not in the days that are asked for."""
    wanted = understood.query.wanted
    if wanted is not None and not admits(found.record, wanted):
        return None
    if wanted is not None and wanted.superseded:
        return _admitted(found)
    if understood.as_of is not None:
        return replace(found, outdated=_not_then(gem, understood.as_of, ended, at=understood.as_of.end))
    past = understood.past
    at = (
        past.start if past and not understood.only else None
    )  # what was replaced in those very days is no event of them
    if past is not None and found.outdated and not _not_then(gem, past, ended, at=at):
        return _admitted(found)  # it held then: for a question about those days that is an answer
    return found


def _not_then(gem: Gem, days: Period, ended: date | None, *, at: date | None) -> str:
    """Why a gem did not hold in these days, whatever came later; "" where it did. at: the day by which it was replaced."""
    last, first = days.end or date.max, days.start or date.min
    if began(gem) > last or (gem.valid_to and gem.valid_to.date() < first):
        return "expired"
    replaced = bool(gem.superseded_by) and (ended is None or ended <= (at or last))
    return "superseded" if replaced else ""


def _last(gem: Gem) -> date | None:
    return gem.valid_to.date() if gem.valid_to else None


def _admitted(found: Found) -> Found:
    """What was asked for although it holds no more says so itself."""
    return replace(found, record=replace(found.record, outdated=found.outdated), outdated="")


def began(gem: Gem) -> date:
    """The day from which a gem holds: the one it names, else the one it was learnt on."""
    return (gem.valid_from or gem.created_at).date()


def _found(gem: Gem, at: datetime, inferred: tuple[str, ...], ended: date | None) -> Found:
    outdated = "superseded" if gem.superseded_by else ""
    if not outdated and gem.valid_to and gem.valid_to.astimezone(UTC) < at:
        outdated = "expired"
    who = frozenset(term for name in (gem.speaker, *gem.entities) for term in terms(name))
    record = replace(record_of(gem), inferred_tags=inferred) if inferred else record_of(gem)
    return Found(record, frozenset(gem.evidence), outdated, who, held=(began(gem), ended or _last(gem)))


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
