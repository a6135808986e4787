"""The user's Markdown as records: found by words, by whom the question names, by the days it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from pathlib import PurePosixPath

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import (
    Entity,
    Fact,
    FactKind,
    Note,
    Origin,
    Period,
    Query,
    Record,
    Scope,
    Wanted,
    slug_of,
)
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import Embedder, NoteSearch
from openclaw_neuralstream.recall.days import note_score
from openclaw_neuralstream.recall.query import happened
from openclaw_neuralstream.recall.rank import Coverage, rarity, share
from openclaw_neuralstream.recall.source import (
    COVERAGE,
    DAY,
    MEANING,
    TIME,
    WORDS,
    Background,
    Candidate,
    Found,
    Understood,
)
from openclaw_neuralstream.text.lexicon import content_terms, terms
from openclaw_neuralstream.text.lines import one_line

SearchOf = Callable[[Scope], NoteSearch | None]
"""What may be searched for a question of a scope: the agent's own workspace, or nothing."""

NOTE_TRUST, FACT_TRUST = 0.9, 1.0
"""What a piece of prose counts beside a sentence that somebody chose to keep."""

_EARLIER_TERMS = 64
_ENTITY_FACTS = 24
_MOST_TERMS = 24
_SUMMARY_CHARS = 240
_LONGEST_NAME = 40
_OPINION = lazy(
    r"\b(?:prefer\w*|favou?rite\w*|likes?|dislikes?|loves?|hates?|opinion|thinks? (?:of|about)|feels? about|taste)\b"
    r"|предпочита|любим|любит|люблю|нравит|мнени|думает о|вкус|喜欢|喜歡|偏好|偏爱|讨厌|看法|觉得|最爱|好き|嫌い",
    re.IGNORECASE,
)


class NoteShelf:
    """Notes and facts by id."""

    name = "notes"
    knows_days = True

    def __init__(self, search_of: SearchOf) -> None:
        self._search_of = search_of

    def fetch(self, ids: Sequence[str], understood: Understood) -> Mapping[str, Found]:
        """The records by id, marked where they do not hold (any more)."""
        query = understood.query
        search = self._search_of(query.scope)
        if search is None:
            return {}
        known = _spellings(search.named_in(query.text))
        outdated = _outdated(search, ids, understood)
        found = {
            id_: _found(entry, query, outdated.get(id_, ""), known)
            for id_, entry in search.fetch(ids).items()
            if not _bare(entry)
        }
        for id_, tags in search.inferred(list(found)).items():
            found[id_] = replace(found[id_], record=replace(found[id_].record, inferred_tags=tags))
        wanted = query.wanted
        if wanted is None or not wanted.superseded:
            return found
        why = search.outdated(ids, replace(wanted, superseded=False))  # asked for all the same; each says so itself
        return {id_: replace(one, record=replace(one.record, outdated=why.get(id_, ""))) for id_, one in found.items()}


class NoteSource:
    """Notes and facts of the agent's own workspace. Everything is bounded: terms, postings, facts of an entity."""

    name = "notes"
    kind = "notes"

    def __init__(
        self, search_of: SearchOf, embedder: Embedder | None = None, background: Background | None = None
    ) -> None:
        self._search_of = search_of
        self._shelf = NoteShelf(search_of)
        self._embedder = embedder
        self._background = background or (Background(embedder) if embedder else None)

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` notes and facts, best first, each with its words and how much of the question it covers."""
        search = self._search_of(understood.query.scope)
        if search is None or not search.stored():
            return []
        asked = _asked(understood, search)
        matched = asked.found(limit)
        scored = {id_: asked.signals(held) for id_, held in matched.items()}
        if understood.only:
            return self._of_days(list(matched))
        best = sorted(scored, key=lambda id_: (-scored[id_][0], -scored[id_][1]))[:limit]
        found = [Candidate(id_, self._shelf, WORDS, scored[id_][0] - _STEP * place) for place, id_ in enumerate(best)]
        found += [Candidate(id_, self._shelf, COVERAGE, scored[id_][1]) for id_ in best]
        meanings = self._meanings(understood, asked, best, limit)
        read = {candidate.id for candidate in meanings}
        found += [  # too new to have a vector, or there are none: what its words cover stands for its meaning, too
            Candidate(id_, self._shelf, MEANING, _UNREAD * scored[id_][1]) for id_ in best if id_ not in read
        ]
        return found + meanings

    def _of_days(self, ids: Sequence[str]) -> list[Candidate]:
        """What is of the days that alone are asked for, the newest first."""
        return [
            candidate
            for place, id_ in enumerate(ids)
            for candidate in (
                Candidate(id_, self._shelf, DAY, note_score(place)),
                Candidate(id_, self._shelf, TIME, 1.0),
            )
        ]

    def _meanings(self, understood: Understood, asked: _Asked, best: Sequence[str], limit: int) -> list[Candidate]:
        """The cosines of those that have a vector; none without an embedder, or when it is away.

        Where the question names days, only what is of those days (or held then) is found by meaning alone: "last week"
        means much the same as any other week.
        """
        search = asked.search
        if self._embedder is None or self._background is None or not search.embedded(str(self._embedder.identity)):
            return []
        try:
            vector = understood.vector(self._embedder)
            zero = self._background.zero(vector)
        except VendorAway:
            return []
        cosines: dict[str, float] = {}
        for wanted in filter(None, (asked.narrowed, asked.then)):
            cosines |= search.near(vector, str(self._embedder.identity), wanted, among=best, limit=limit)
        return [Candidate(id_, self._shelf, MEANING, cosine, zero) for id_, cosine in cosines.items()]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, read for a workspace.

    then: what held in the past days that it names. last, earlier: terms of the message and of the dialogue before it. named: whom it calls by name, and by which terms.
    """

    search: NoteSearch
    wanted: Wanted
    soft: Period | None
    then: Wanted | None
    last: tuple[str, ...]
    earlier: tuple[str, ...]
    entities: tuple[Entity, ...]
    named: Mapping[str, frozenset[str]]
    opinion: frozenset[str]
    rarities: Mapping[str, float]
    script: str

    @property
    def narrowed(self) -> Wanted:
        """What is wanted of the days that the question names."""
        return replace(self.wanted, period=self.soft) if self.soft else self.wanted

    def found(self, limit: int) -> dict[str, set[str]]:
        """Ids and what of the question each holds."""
        held: dict[str, set[str]] = {}
        narrowed = self.narrowed
        for search_terms in (self.last, self.earlier):
            if search_terms:
                for hit in self.search.find_words(search_terms, self.wanted, limit=limit):
                    held.setdefault(hit.id, set()).update(hit.matched)
        for meant in (narrowed, self.then):
            if self.soft and self.last and meant:
                for hit in self.search.find_words(self.last, meant, limit=limit):
                    held.setdefault(hit.id, set()).update({*hit.matched, _DAYS})
        if not self.last and (self.soft or self.wanted != _EVERYTHING):
            told = narrowed.kinds or (_FACT_KINDS if narrowed.as_of else ())
            for id_ in self.search.newest(replace(narrowed, kinds=told), limit=limit):
                held.setdefault(id_, set()).add(_DAYS)
        for fact in self._facts(narrowed):
            held.setdefault(fact.fact_id, set()).update(self._said_by(fact))
        return held

    def _facts(self, wanted: Wanted) -> list[Fact]:
        """The last facts about whom the question names; of an opinion question their opinions."""
        if not self.entities or (wanted.kinds and "note" in wanted.kinds):
            return []
        slugs = tuple(entity.slug for entity in self.entities[:4])
        kinds = wanted.kinds or ((FactKind.OPINION.value,) if self.opinion else _FACT_KINDS)
        ids = self.search.newest(replace(wanted, entities=slugs, kinds=kinds), limit=_ENTITY_FACTS)
        return [entry for entry in self.search.fetch(ids).values() if isinstance(entry, Fact)]

    def _said_by(self, fact: Fact) -> set[str]:
        """The terms of the question that a fact answers without holding them: whom it is about, that it is an opinion."""
        said = {term for entity in self.entities for term in self.named[entity.slug]}
        return said | (self.opinion if fact.kind is FactKind.OPINION else set())

    def signals(self, held: set[str]) -> tuple[float, float]:
        """Words and coverage. What lies in the days asked for covers the question's days, its heaviest part."""
        share_ = share(sum(self.rarities.get(term, 0.0) for term in held), self.rarities)
        last = {term: self.rarities[term] for term in self.last if term in self.rarities}
        if _DAYS in held and not self.last:
            return 1.0, 1.0
        covered = max(Coverage(of, self.script)(held) for of in (self.rarities, last))
        if _DAYS in held:
            share_, covered = share_ + _DAYS_SHARE, min(1.0, covered + _DAYS_SHARE)
        return share_, covered


_EVERYTHING = Wanted(generated=False)
_UNREAD = 0.5
"""What the meaning of a note without a vector is taken for, as a share of what its words cover of the question."""

_STEP = 0.001  # equals stay in their order: the newest first
_DAYS = "\x00days"
_DAYS_SHARE = 0.25
_FACT_KINDS = tuple(kind.value for kind in FactKind)


def _asked(understood: Understood, search: NoteSearch) -> _Asked:
    wanted, soft, rest = _meant(understood)
    last = tuple(dict.fromkeys(content_terms(rest)))[-_MOST_TERMS:] if rest is not None else understood.said[0].terms
    if understood.only:
        last = ()
    elif soft or wanted.period or wanted.as_of:
        last = tuple(term for term in last if term not in happened())
    weights = understood.weights()
    spoken = [term for message in understood.said[1:] for term in message.terms if term not in set(last)]
    earlier = tuple(dict.fromkeys(spoken))[:_EARLIER_TERMS]
    entities = tuple(search.named_in(understood.query.text))
    named = {entity.slug: _terms_of(entity, set(last)) for entity in entities}
    opinion = frozenset(
        term
        for term in last
        if _OPINION.search(understood.query.text) and _is_opinion_term(term, understood.query.text)
    )
    kept = {term: weights.get(term, 1.0) for term in (*last, *earlier)}
    rarities = rarity(kept, search.frequencies(list(kept)), search.stored())
    then = (
        replace(wanted, as_of=soft, kinds=_FACT_KINDS) if _past(soft, understood.query) and not wanted.kinds else None
    )
    return _Asked(search, wanted, soft, then, last, earlier, entities, named, opinion, rarities, understood.script)


def _is_opinion_term(term: str, text: str) -> bool:
    return any(term in terms(match.group()) for match in _OPINION.finditer(text)) or any(
        term in terms(word) for word in text.split() if _OPINION.search(word)
    )


def _terms_of(entity: Entity, asked: set[str]) -> frozenset[str]:
    return frozenset(term for name in (entity.name, *entity.aliases) for term in terms(name)) & asked


def _meant(understood: Understood) -> tuple[Wanted, Period | None, str | None]:
    """What is wanted, the days that the question itself names, and its words without those (None = it names none)."""
    given = replace(
        understood.query.wanted or Wanted(), generated=False
    )  # our own pages echo what is found at its source
    named, then = understood.period, understood.as_of
    if named is None:
        return given, None, None
    if then:
        return replace(given, as_of=Period(then.start, then.end)), None, named.rest
    return given, Period(named.start, named.end), named.rest


def _outdated(search: NoteSearch, ids: Sequence[str], understood: Understood) -> dict[str, str]:
    """What does not hold: now, as of what is asked, or, for a question about past days, in those days."""
    wanted, soft, _ = _meant(understood)
    if wanted.superseded:
        return {}
    outdated = search.outdated(ids, wanted)
    if not _past(soft, understood.query):
        return outdated
    then = search.outdated(ids, replace(wanted, as_of=soft))
    later = {id_: why for id_, why in then.items() if id_ not in outdated}
    neither = {id_: why for id_, why in outdated.items() if id_ in then}
    return (
        {**neither, **later} if set(ids) - set(then) else neither
    )  # what began later answers only where nothing else does


def _past(soft: Period | None, query: Query) -> bool:
    return soft is not None and soft.end is not None and soft.end < query.now.date()


def _bare(entry: Note | Fact) -> bool:
    """The heading of a page that says whose page it is, and nothing else."""
    return isinstance(entry, Note) and slug_of(entry.text) == slug_of(PurePosixPath(entry.path).stem)


def _spellings(entities: Sequence[Entity]) -> dict[str, frozenset[str]]:
    """The terms of all names of an entity, by the slug of each."""
    found: dict[str, frozenset[str]] = {}
    for entity in entities:
        names = (entity.name, *entity.aliases)
        all_terms = frozenset(term for name in names for term in terms(name))
        found |= dict.fromkeys((entity.slug, *map(slug_of, names)), all_terms)
    return found


def _found(entry: Note | Fact, query: Query, outdated: str, known: Mapping[str, frozenset[str]]) -> Found:
    record = record_of_note(entry, query)
    trust = FACT_TRUST if isinstance(entry, Fact) else NOTE_TRUST
    who = {term for name in entry.entities for term in known.get(slug_of(name)) or terms(name)}
    if who and isinstance(entry, Fact):
        who.update(
            terms(entry.text[:_LONGEST_NAME].split(" ", 1)[0])
        )  # it may call them by another spelling than its "@"
    return Found(record, frozenset(), outdated, frozenset(who), trust=trust)


def record_of_note(entry: Note | Fact, query: Query) -> Record:
    """A note or fact as a record; the citation names its file and lines."""
    fact = entry if isinstance(entry, Fact) else None
    day = (fact.valid_from if fact else None) or entry.day
    at = datetime.combine(day, time(12), UTC) if day else query.now
    text = _subjected(entry) if isinstance(entry, Fact) else _headed(entry)
    return Record(
        id=entry.fact_id if isinstance(entry, Fact) else entry.note_id,
        kind=fact.kind.value if fact else "note",
        text=text,
        summary=one_line(text, _SUMMARY_CHARS),
        score=0.0,
        at=at,
        citation=entry.citation,
        origin=Origin.AGENT if fact and fact.kind is FactKind.EXPERIENCE else Origin.OWNER,
        speaker="owner",
        agent=query.scope.agent,
        session_id="",
        tags=entry.tags,
        entities=entry.entities,
        importance=0.6 if fact else 0.4,
        confidence=fact.confidence if fact and fact.confidence is not None else 0.8,
        when=timestamp(entry),
        evidence=fact.evidence if fact else (),
        against=fact.against if fact else (),
    )


def timestamp(entry: Note | Fact) -> str:
    """The day, or "first/last" for the range in the text; "" where no day is known."""
    if isinstance(entry, Fact) and entry.valid_from and entry.valid_to and entry.valid_from != entry.valid_to:
        return f"{entry.valid_from}/{entry.valid_to}"
    day = (entry.valid_from if isinstance(entry, Fact) else None) or entry.day
    return str(day) if day else ""


def _subjected(fact: Fact) -> str:
    """The text behind whom it is about, unless it names them itself: without "@Peter:", "lives in Lisbon" is the owner's."""
    names = [name for name in fact.entities if not _says(fact.text, name)]
    lead = " ".join(f'@"{name}"' if " " in name else f"@{name}" for name in names)
    return f"{lead}: {fact.text}" if lead else fact.text


def _says(text: str, name: str) -> bool:
    border = r"(?<![^\W_])", r"(?![^\W_])"
    plain = re.escape(name)
    whole = plain if name[-1] >= "\u2e80" else f"{border[0]}{plain}{border[1]}"
    return re.search(whole, text, re.IGNORECASE) is not None


def _headed(note: Note) -> str:
    """The text under its headings, so that a piece says what it is about."""
    head = " › ".join(part for part in note.trail[-2:] or (note.title,) if part)
    return note.text if not head or note.text.startswith(head) else f"{head}: {note.text}"
