"""What was said word for word, asked by recall: passages of turns, and questions in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from openclaw_neuralstream.model import Origin, Pair, Scope
from openclaw_neuralstream.ports.vectors import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Passage:
    """One utterance of a turn, made searchable as it was said.

    stretch: the conversation it belongs to. session: the host's id. number: the turn's number.
    who: the speaker's name, or the role where the host gave none.
    """

    id: str
    turn_id: str
    scope: Scope
    stretch: str
    session: str
    number: int
    speaker: str
    who: str
    origin: Origin
    at: datetime
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class PassageCounts:
    """Passages and how often each of some terms stands in them, one row of every array per passage, by place.

    places: neighbours in a conversation have neighbouring ones. stretches: the conversation that each belongs to. rows: their vectors'. lengths: terms in all.
    counts, begun: passages × terms, in the whole passage and in its beginning.
    """

    places: NDArray[np.int64]
    ids: tuple[str, ...]
    stretches: NDArray[np.int64]
    rows: NDArray[np.int64]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64]
    begun: NDArray[np.int64]


class PassageSearch(Protocol):
    """The verbatim turns by words and by vector. All verbs see the scope's passages only."""

    def stored(self, scope: Scope) -> tuple[int, float]:
        """How many passages there are, and how many terms one has on average (at least 1)."""

    def frequencies(self, terms: Sequence[str], scope: Scope) -> dict[str, int]:
        """How many passages hold each term; 0 for what none holds."""

    def match(self, frequency: Mapping[str, int], scope: Scope, limit: int) -> list[int]:
        """The places of the best passages by BM25, best first; `frequency`: the terms and how many hold each."""

    def nearest(self, vector: Vector, scope: Scope, limit: int) -> list[int]:
        """The places of the nearest passages, best first."""

    def counts(self, places: Sequence[int], terms: Sequence[str], scope: Scope, beginning: int) -> PassageCounts:
        """The passages at these places; a place without one is left out. beginning: how many terms of one are its beginning."""

    def cosines(self, vector: Vector, rows: NDArray[np.int64]) -> Vector:
        """The cosine of each of the passages with these rows."""

    def passages(self, ids: Sequence[str], scope: Scope) -> list[Passage]:
        """The passages of these ids; unknown ones are left out."""

    def said_between(
        self, first: datetime | None, last: datetime | None, scope: Scope, *, parts: int, each: int
    ) -> list[list[tuple[str, int]]]:
        """Id and length in terms of at most `each` passages of every equal part of a time, in order; None = open.

        Parts in which nothing was said are left out; `last` is the first moment that is not meant any more.
        """


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pair stands: its sequence's number in the index, and its place in it."""

    sequence: int
    seq: int


class SequenceSearch(Protocol):
    """Questions in their order, with the answers that were kept. All verbs see the scope's pairs only.

    All verbs raise `StateError` when the index cannot be read.
    """

    def stored(self, scope: Scope) -> int:
        """How many pairs there are."""

    def frequencies(self, terms: Sequence[str], scope: Scope) -> dict[str, int]:
        """How many pairs hold each term (as `lexicon.terms` gives it); 0 for what none holds."""

    def match(self, frequency: Mapping[str, int], scope: Scope, limit: int) -> list[Place]:
        """The best pairs by the rarity of the terms that they share, best first; `frequency`: how many hold each."""

    def alike(self, question_hash: str, scope: Scope, limit: int) -> list[Place]:
        """Pairs whose question is nearly the same, nearest first."""

    def about(self, topics: Sequence[str], scope: Scope, limit: int) -> list[Place]:
        """The newest pairs that share most of these topics."""

    def said_in(self, turn_ids: Sequence[str], scope: Scope) -> list[Place]:
        """Where these turns stand; unknown ones are left out."""

    def last(self, scope: Scope, key: str, limit: int) -> list[Pair]:
        """The last pairs of a conversation, over its epochs, oldest first; key "": of whichever was last."""

    def around(self, places: Sequence[Place], scope: Scope, size: int) -> list[list[Pair]]:
        """For each place at most `size` pairs of its sequence around it, in order."""

    def between(self, stretches: Sequence[tuple[int, int, int]], scope: Scope) -> list[list[Pair]]:
        """For each (sequence, first, last) the pairs from one place to the other, both included, in order."""
