"""Questions in their order as records: a hit brings the pairs around it, and a follow-up what it follows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from openclaw_neuralstream.model import OWNER, Origin, Pair, Query, Record
from openclaw_neuralstream.ports import Place, SequenceSearch
from openclaw_neuralstream.recall.query import is_question
from openclaw_neuralstream.recall.rank import LABEL, Coverage, rarity, share
from openclaw_neuralstream.recall.rank import SEQUENCE as KIND
from openclaw_neuralstream.recall.source import (
    COVERAGE,
    WORDS,
    Candidate,
    Found,
    Lasting,
    Understood,
    admits,
    outdated,
    said_by_then,
)
from openclaw_neuralstream.text.lexicon import content_terms, is_stop, terms
from openclaw_neuralstream.text.lines import one_line
from openclaw_neuralstream.text.questions import asked_topics, only_points, points_back, question_hash

NEIGHBOURS = 5
"""Pairs of a record, the hit among them."""

TRUST = 0.8
"""What a sequence counts beside a single turn that answers as well: it costs the tokens of several."""

_HITS, _TOPIC_HITS = 12, 4
_MOST = 6  # sequences proposed for one question
_EARLIER_TERMS = 48
_ASKS = 2  # terms of a message that a stretch must hold for it to answer that one alone
_NEIGHBOUR = 0.5  # what the words of a neighbour count beside those of the hit
_FOLLOWED = 0.9  # how well the last pairs answer a message that says nothing by itself, with no dialogue before it
_FOLLOW_DAYS = 7
_ANSWER_CHARS, _NEIGHBOUR_CHARS, _QUESTION_CHARS = 700, 350, 400
_LEAST_SAID = 3  # content terms that an answer must add to its question
_QUOTED_CHARS = 200  # of an answer that was not kept, as its turn has it
_MARK = "qa"

Answers = Callable[[Sequence[str]], Mapping[str, str]]
"""What was answered in these turns, as far as the turns are still there."""


class SequenceShelf:
    """Stretches of sequences by id: which sequence, from where to where."""

    name = "sequences"
    knows_days = False

    def __init__(self, search: SequenceSearch, answers: Answers, lasting: Lasting | None = None) -> None:
        self._search = search
        self._answers = answers
        self._lasting = lasting

    def fetch(self, ids: Sequence[str], understood: Understood) -> Mapping[str, Found]:
        """The stretches by id, without what the window holds; answers that were not kept are quoted in brief."""
        stretches = {id_: pairs for id_, pairs in self._pairs(ids, understood).items() if pairs}
        quoted = self.quoted(list(stretches.values()), understood)
        found = {
            id_: _found(id_, pairs, quoted) for id_, pairs in stretches.items() if not _says_nothing(id_, pairs, quoted)
        }
        wanted = understood.query.wanted
        return {id_: item for id_, item in found.items() if wanted is None or admits(item.record, wanted)}

    def quoted(self, stretches: Sequence[Sequence[Pair]], understood: Understood) -> Mapping[str, str]:
        """The beginnings of answers that were not kept, by turn; none of what a person dropped."""
        told = understood.quoted
        missing = [pair.turn_id for pairs in stretches for pair in pairs if not pair.answer and not pair.mark]
        if unread := [turn_id for turn_id in missing if turn_id not in told]:
            told.update(dict.fromkeys(unread, ""))
            told.update({id_: one_line(text, _QUOTED_CHARS) for id_, text in self._answers(unread).items()})
        return told

    def holding(self, stretches: Sequence[Sequence[Pair]], understood: Understood) -> list[list[Pair]]:
        """Those of each of which nothing was replaced or has run out, unless that is asked for."""
        known = understood.outdated
        if unread := [pair.turn_id for pairs in stretches for pair in pairs if pair.turn_id not in known]:
            known.update(dict.fromkeys(unread, ""))
            known.update(outdated(self._lasting, unread, understood))
        return [[pair for pair in pairs if not known[pair.turn_id]] for pairs in stretches]

    def _pairs(self, ids: Sequence[str], understood: Understood) -> dict[str, list[Pair]]:
        query = understood.query
        spans = [(sequence, first, last) for sequence, first, last, _ in (map(int, id_.split(":")[1:]) for id_ in ids)]
        found = self.holding(self._search.between(spans, query.scope), understood)
        return {id_: [pair for pair in pairs if _open_to(pair, query)] for id_, pairs in zip(ids, found, strict=True)}


class SequenceSource:
    """Pairs found by hash, words and topics, each with those around it in its sequence.

    A message that only points back ("and the second one?") at the start of a window finds the last pairs of its
    conversation; inside of a dialogue the dialogue's words and last turns say which sequence it follows.
    """

    name = "sequences"
    kind = "sequences"

    def __init__(
        self,
        search: SequenceSearch,
        neighbours: int = NEIGHBOURS,
        answers: Answers = lambda _: {},
        lasting: Lasting | None = None,
    ) -> None:
        """answers: where the turns are, so that answers that were not kept can be quoted; by default they are not.

        lasting: who knows which turns say what holds no more; by default all are told.
        """
        self._search = search
        self._neighbours = neighbours
        self.shelf = SequenceShelf(search, answers, lasting)

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most six stretches, best first, each with its words and how much of the question it covers; none for days alone."""
        scope = understood.query.scope
        stored = self._search.stored(scope)
        if not stored or understood.only:
            return []
        weights = understood.weights()
        frequency = self._search.frequencies(list(weights), scope)
        reading = _Reading(understood, rarity(weights, frequency, stored))
        followed = self._followed(understood, frequency)
        stretches = self._stretches(understood, reading, [*followed, *self._hits(understood, frequency)], followed)
        near = sorted(stretches, key=lambda stretch: (-reading.words(stretch), stretch.id))[: min(limit, _MOST)]
        quoted = self.shelf.quoted([stretch.pairs for stretch in near], understood)
        found = [(stretch, *reading.signals(stretch, quoted)) for stretch in near]
        if followed:  # what it follows
            found = [
                (s, max(w, _FOLLOWED), max(c, _FOLLOWED)) if s.places() & set(followed) else (s, w, c)
                for s, w, c in found
            ]
        best = sorted(found, key=lambda item: (-item[1], item[0].id))
        return [
            candidate
            for stretch, words, covered in best
            for candidate in (
                Candidate(stretch.id, self.shelf, WORDS, words),
                Candidate(stretch.id, self.shelf, COVERAGE, covered),
            )
        ]

    def _followed(self, understood: Understood, frequency: Mapping[str, int]) -> list[Place]:
        """Where the message goes on: after the last pairs of the conversation whose window is empty now.

        A message with words that some pair holds asks about these, and one that names something of its own about that;
        where no conversation is named there is none to go on with.
        """
        query = understood.query
        if query.dialogue or not query.session_key or not only_points(query.text):
            return []
        if any(frequency.get(term) and not is_stop(term) for term in understood.said[0].terms):
            return []
        last = self._search.last(query.scope, query.session_key, 1)
        fresh = [pair for pair in last if (query.now - pair.at).days < _FOLLOW_DAYS]
        return self._search.said_in([pair.turn_id for pair in fresh], query.scope)

    def _hits(self, understood: Understood, frequency: Mapping[str, int]) -> list[Place]:
        query, search = understood.query, self._search
        last = set(understood.said[0].terms) if understood.said else set[str]()
        earlier = [term for term in frequency if term not in last][:_EARLIER_TERMS]
        asked = {term: count for term, count in frequency.items() if term in last}
        before = {term: frequency[term] for term in earlier}
        hash_ = understood.question_hash or (question_hash(query.text) if last else "")
        hits = [*search.alike(hash_, query.scope, _HITS), *search.match(asked, query.scope, _HITS)]
        if points_back(query.text) and query.window_turns:
            hits += search.said_in(sorted(query.window_turns), query.scope)[-1:]
        hits += search.match(before, query.scope, _HITS) if before else []
        topics = asked_topics(query.text)
        return [*hits, *(search.about(topics, query.scope, _TOPIC_HITS) if topics else [])]

    def _stretches(
        self, understood: Understood, reading: _Reading, hits: Iterable[Place], followed: Sequence[Place]
    ) -> list[_Stretch]:
        """The pairs around each hit, or around its neighbour that answers better; none of them twice."""
        query = understood.query
        found: list[_Stretch] = []
        taken: set[Place] = set()
        places = list(dict.fromkeys(hits))
        read = dict(zip(places[: 2 * _MOST], self._around(places[: 2 * _MOST], understood), strict=True))
        for place in places:
            if len(found) >= 2 * _MOST:
                break
            if place in taken:
                continue
            around = read[place] if place in read else self._around([place], understood)[0]
            if all(pair.seq != place.seq for pair in around):
                continue
            best = max(around, key=lambda pair: (reading.own(pair), -abs(pair.seq - place.seq)), default=None)
            if best and best.seq != place.seq and place not in followed:
                place = Place(place.sequence, best.seq)  # noqa: PLW2901
                around = self._around([place], understood)[0]
            pairs = [pair for pair in around if _open_to(pair, query)]
            free = tuple(pair for pair in pairs if Place(place.sequence, pair.seq) not in taken)
            if free:
                found.append(_Stretch(place.sequence, place.seq, free))
                taken.update(found[-1].places())
        return found

    def _around(self, places: Sequence[Place], understood: Understood) -> list[list[Pair]]:
        found = self._search.around(places, understood.query.scope, self._neighbours)
        return self.shelf.holding(found, understood)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Pairs of one sequence in their order, and which of them was found."""

    sequence: int
    hit: int
    pairs: tuple[Pair, ...]

    @property
    def id(self) -> str:
        return f"{_MARK}:{self.sequence}:{self.pairs[0].seq}:{self.pairs[-1].seq}:{self.hit}"

    def places(self) -> set[Place]:
        """From its first pair to its last, those between them that are not told included, and the one that was found."""
        return {Place(self.sequence, seq) for seq in (*range(self.pairs[0].seq, self.pairs[-1].seq + 1), self.hit)}


class _Reading:
    """Stretches, read for the question's terms."""

    def __init__(self, understood: Understood, rarities: Mapping[str, float]) -> None:
        self._rarities = rarities
        own = understood.said[0].terms if understood.said else ()
        leans = understood.leans or points_back(understood.query.text)
        before = understood.said[1].terms if leans and len(understood.said) > 1 else ()
        self._whole, *self._messages = (
            Coverage({term: rarities[term] for term in asked if term in rarities}, understood.script)
            for asked in (rarities, own, before)
        )

    def own(self, pair: Pair) -> float:
        """What the terms of the question say that a pair holds."""
        return math.fsum(self._rarities[term] for term in _terms(pair) & self._rarities.keys())

    def words(self, stretch: _Stretch) -> float:
        """What its words say, as far as its answers were kept."""
        return self._words(*self._held(stretch, {}))

    def signals(self, stretch: _Stretch, quoted: Mapping[str, str]) -> tuple[float, float]:
        """Its words, the neighbours' at half, and how much of the question it covers: of all of it, or of the last message.

        A message that leans on the one before it is about what that one names: the answer need not repeat its own words.
        """
        own, others = self._held(stretch, quoted)
        held = own | others
        covered = [of(held) for of in self._messages if len(held & of.rarities.keys()) >= _ASKS]
        return self._words(own, others), max([self._whole(held), *covered])

    def _held(self, stretch: _Stretch, quoted: Mapping[str, str]) -> tuple[set[str], set[str]]:
        """The terms of the question that the pair holds that was found, and those of its neighbours."""
        own: set[str] = set()
        others: set[str] = set()
        for pair in stretch.pairs:
            said = _terms(pair, quoted.get(pair.turn_id, ""))
            (own if pair.seq == stretch.hit else others).update(said & self._rarities.keys())
        return own, others

    def _words(self, own: set[str], others: set[str]) -> float:
        score = math.fsum(self._rarities[term] for term in own)  # the same in whatever order: equals stay equal
        return share(score + _NEIGHBOUR * math.fsum(self._rarities[term] for term in others - own), self._rarities)


def _open_to(pair: Pair, query: Query) -> bool:
    """Whether a pair may be told: not what the window shows, nor what was said after the moment that is asked about."""
    return pair.turn_id not in query.window_turns and said_by_then(pair.at, query)


def _terms(pair: Pair, quoted: str = "") -> frozenset[str]:
    return _said(pair.question, pair.answer or quoted)


@lru_cache(maxsize=2_048)
def _said(question: str, answer: str) -> frozenset[str]:
    return frozenset([*terms(question), *content_terms(answer)])


def _found(id_: str, pairs: Sequence[Pair], quoted: Mapping[str, str]) -> Found:
    hit = int(id_.rpartition(":")[2])
    last = pairs[-1]
    people = dict.fromkeys(who for pair in pairs for who in (pair.speaker, *(speaker for speaker, _ in pair.others)))
    trusted = all(_trusted(pair, pair.answer or quoted.get(pair.turn_id, "")) for pair in pairs)
    record = Record(
        id=id_,
        kind=KIND,
        text=_told(pairs, hit, quoted),
        summary=_told(pairs, hit, quoted, brief=True),
        score=0.0,
        at=last.at,
        citation=f"{last.sequence}#{pairs[0].seq}-{last.seq}, {last.at.date().isoformat()}",
        origin=Origin.OWNER if trusted else Origin.UNTRUSTED,
        speaker=", ".join(people),
        agent=last.scope.agent,
        session_id=last.sequence,
        tags=tuple(dict.fromkeys(topic for pair in pairs for topic in pair.topics)),
        importance=max(pair.significance for pair in pairs),
    )
    who = frozenset(term for name in people if name != OWNER for term in terms(name))
    found = next(((p.turn_id, _told([p], hit, quoted)) for p in pairs if p.seq == hit), ("", ""))
    return Found(record, frozenset(pair.turn_id for pair in pairs), "", who, verbatim=True, trust=TRUST, hit=found)


def _says_nothing(id_: str, pairs: Sequence[Pair], quoted: Mapping[str, str]) -> bool:
    """Whether the pair that was found is a question whose answer adds next to nothing to it: "I have no number of yours."."""
    hit = int(id_.rpartition(":")[2])
    pair = next((pair for pair in pairs if pair.seq == hit), None)
    if pair is None or not is_question(pair.question):
        return False
    answer = pair.answer or quoted.get(pair.turn_id, "")
    said = frozenset(content_terms(answer)) - frozenset(terms(pair.question))
    return bool(answer) and len(said) < _LEAST_SAID and not any(char.isdigit() for term in said for char in term)


def _trusted(pair: Pair, answer: str) -> bool:
    """Whether all that is told of a pair is the owner's, or his assistant's who had heard nobody else in that turn."""
    return (
        pair.origin is not Origin.UNTRUSTED and not pair.others and not (answer and pair.answered is Origin.UNTRUSTED)
    )


def _told(pairs: Sequence[Pair], hit: int, quoted: Mapping[str, str], *, brief: bool = False) -> str:
    """The pairs in their order, a line for each that speaks, and who that is unless it is the owner.

    brief: short questions, and an answer only where it was found.
    """
    lines = []
    for pair in pairs:
        n, chars = pair.seq, _QUESTION_CHARS // (3 if brief else 1)
        asked = pair.question if pair.origin is Origin.OWNER else _unmarked(pair.question)
        lines.append(f"Q{n}{_by(pair.speaker)}: {one_line(asked, chars)}")
        lines += [f"Q{n}{_by(who)}: {one_line(_unmarked(text), chars)}" for who, text in pair.others]
        room = (_ANSWER_CHARS if n == hit else 0 if brief else _NEIGHBOUR_CHARS) // (2 if brief else 1)
        if room and (said := pair.answer or quoted.get(pair.turn_id, "")):
            lines[-1] += f" → A{n} (assistant): {one_line(_unmarked(said), room)}"
    return "\n".join(lines)


def _by(speaker: str) -> str:
    return "" if speaker == OWNER else f" ({speaker})"


def _unmarked(text: str) -> str:
    """Another's words in which nothing looks like our labels: a stranger cannot speak for the owner in the middle of a line."""
    return LABEL.sub(lambda found: found[0].replace(":", "∶"), text.replace("→", "->"))
