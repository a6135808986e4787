"""The seam of recall: what a question is, what a source answers, where records are fetched from."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

import numpy as np

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import Gem, Period, Query, Record
from openclaw_neuralstream.ports import Embedder, Vector

WORDS = "words"
MEANING = "meaning"
COVERAGE = "coverage"
STRETCH = "stretch"
TIME = "time"
TAGS = "tags"
ENTITY = "entity"
DAY = "day"
"""The signals there are, each on a scale where 0 is unrelated and 1 is all that was asked:

words: BM25 over what all terms of the question could give (`relevance.share`). meaning: cosine above the background.
coverage: the share of the question's rare terms that a record holds. stretch: the same for the conversation around it.
time: how well a record's days meet those that the question names.
day: how much a record matters among those of the days, where nothing else is asked.
tags: how well a gem's tags are those that are asked for. entity: the share of the named that it names.
A new signal needs a weight in `fuse` and nothing else.
"""


ASKS = 2
"""Content terms from which a message can be a question of its own; "go on" is not."""

NEW_SUBJECT = 0.2
"""The cosine between a follow-up with its messages and the dialogue before these, under which that is about something else."""

NEAR = 2
"""How many messages before a follow-up are what it is about: the question before it, and its answer."""

LAST_SHARE = 0.2
"""What the last message counts in the vector of a dialogue that it goes on with."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the question: its text, its content terms, and how much it counts (the last one 1).

    by: whose label stood before it ("Anna: …"), where the messages of a dialogue have such labels.
    """

    text: str
    terms: tuple[str, ...]
    weight: float
    by: str = ""


class Shape(StrEnum):
    """What an answer has to look like: the best records, events in their order, or much in few words."""

    PLAIN = "plain"
    TIMELINE = "timeline"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Understood:
    """A question made ready to be asked.

    said: the last message first, then the dialogue backwards. text: what stands for all of it in a vector search.
    script: the dominant script of the last message. names: terms of the persons and things it calls by name.
    question: whether it asks at all. shape: what the answer has to look like. period: the days that it names.
    entities, tags: canonical names, of those that the memory knows. question_hash: the same for near-identical
    questions; "" where nothing is asked. as_of: what held in these days is asked, not what happened in them.
    only: the days, where nothing else is asked ("what happened in March?"): all that is of them is an answer, nothing else is.
    outdated, quoted: what was read of turns on the way, so that it is read once: why each holds no more ("" = it does), and
    the beginnings of answers that only the turn has. gems, rarities: the same, gems by id and how much each term of the question says among them.
    beside: terms of a question that names days, without those days. dated: when, or how long ago, is asked. leans: only what was said just before tells what it is about ("that one").
    looked_through: whether no text of the memory is older than the rules of secrets in force.
    """

    query: Query
    said: tuple[Said, ...]
    text: str
    script: str
    names: frozenset[str] = frozenset()
    question: bool = False
    shape: Shape = Shape.PLAIN
    period: Period | None = None
    entities: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    question_hash: str = ""
    as_of: Period | None = None
    dated: bool = False
    leans: bool = False
    goes_on: float = 1.0
    only: Period | None = None
    beside: frozenset[str] = frozenset()
    looked_through: bool = False
    outdated: dict[str, str] = field(default_factory=dict)
    quoted: dict[str, str] = field(default_factory=dict)
    gems: dict[str, Gem] = field(default_factory=dict)
    rarities: dict[str, float] = field(default_factory=dict)
    _vectors: dict[str, Vector] = field(default_factory=dict)
    _away: dict[str, VendorAway] = field(default_factory=dict)
    _embedding: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)

    def vector(self, embedder: Embedder) -> Vector:
        """The question in this embedder's space; embedded once, however many sources ask. Raises VendorAway.

        The dialogue counts as far as the last message goes on with it.
        """
        name = str(embedder.identity)
        with self._embedding:  # who asks beside another waits for its vector
            if name in self._away:  # each source would wait as long again
                raise VendorAway(self._away[name].what, where=self._away[name].where) from self._away[name]
            if name not in self._vectors:
                try:
                    self._vectors[name] = self._embedded(embedder)
                except VendorAway as error:
                    self._away[name] = error
                    raise
            return self._vectors[name]

    def _embedded(self, embedder: Embedder) -> Vector:
        if len(self.said) > 1 and self.leans:
            return self._in_context(embedder)
        if len(self.said) <= 1 or len(self.said[0].terms) < ASKS:
            return embedder.embed_query(self.text)
        last = embedder.embed_query(self.said[0].text)
        earlier = embedder.embed_query(_joined(self.said[1:]))
        share = 1 - (1 - LAST_SHARE) * self.goes_on
        mixed: Vector = (1 - share) * earlier + share * last
        return mixed / float(np.linalg.norm(mixed))

    def _in_context(self, embedder: Embedder) -> Vector:
        """A follow-up with the messages just before it, and with those before these while they speak of the same."""
        near = embedder.embed_query(_joined(self.said[: 1 + NEAR]))
        before = self.said[1 + NEAR :]
        if not before or float(near @ embedder.embed_query(_joined(before))) < NEW_SUBJECT:
            return near
        return embedder.embed_query(self.text)

    @property
    def past(self) -> Period | None:
        """The days that the question names, where they are over."""
        over = self.period is not None and self.period.end is not None and self.period.end < self.query.now.date()
        return self.period if over else None

    def weights(self) -> dict[str, float]:
        """Each content term and how much it counts: the sum over the messages that hold it, the greatest of them 1.

        What a dialogue comes back to is what it is about.
        """
        found: dict[str, float] = {}
        for message in self.said:
            for term in message.terms:
                found[term] = found.get(term, 0.0) + message.weight
        most = max(found.values(), default=1.0)
        return {term: weight / most for term, weight in found.items()}


def _joined(said: Sequence[Said]) -> str:
    return "\n".join(message.text for message in reversed(said))


@dataclass(frozen=True, slots=True)
class Found:
    """A record and what recall must know about it beside.

    evidence: ids of the turns it was made from. outdated: "superseded", "expired" or "" (it holds).
    who: terms of those whose words it is and whom it is about. verbatim: it is a turn itself, not made from one.
    trust: what its score is multiplied with; worth: its score and its relevance (a bare question answers little).
    held: from when to when it holds or happened, as far as that is known. hit: of several turns, the id and the words of the
    one that was found; the others are there because they stand around it.
    """

    record: Record
    evidence: frozenset[str] = frozenset()
    outdated: str = ""
    who: frozenset[str] = frozenset()
    verbatim: bool = False
    trust: float = 1.0
    held: tuple[date | None, date | None] = (None, None)
    worth: float = 1.0
    hit: tuple[str, str] = ("", "")


class Lasting(Protocol):
    """What became of what was said."""

    def outdated_turns(self, turn_ids: Sequence[str], at: datetime, *, then: bool = False) -> Mapping[str, str]:
        """Those of the turns that say what holds no more: turn id → "superseded" or "expired".

        then: as of that moment; what was replaced later held still.
        """


class Shelf(Protocol):
    """Where the records of one kind are kept; all candidates of a shelf are fetched in one call.

    knows_days: its source knows the days of its records better than their texts tell, and counts them itself.
    """

    name: str
    knows_days: bool

    def fetch(self, ids: Sequence[str], understood: Understood) -> Mapping[str, Found]:
        """The records by id; unknown ids are left out. Raises NeuralStreamError."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that a source proposes, not yet fetched.

    signal: what kind of likeness the score measures, higher is better.
    zero: what an unrelated text scores, by its script (see `lexicon.script_of`); {} = 0.
    cut: whether there was no room for others that have this signal too, less of it.
    """

    id: str
    shelf: Shelf
    signal: str
    score: float
    zero: Mapping[str, float] = field(default_factory=dict)
    cut: bool = False


class Source(Protocol):
    """Something recall asks. Scope is applied inside, before anything is ranked.

    kind: the kind of memory it asks: "gems", "turns", "notes", "sequences" or "plugins".
    """

    name: str
    kind: str

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        """At most `limit` records, best first; [] when nothing is like it. Raises VendorAway when it has no answer."""
