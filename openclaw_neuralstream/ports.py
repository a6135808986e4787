"""What the core asks of vendors: buffers, indexes, embedders, extractors, notes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from openclaw_neuralstream.model import (
    Backlog,
    Batch,
    Draft,
    EmbedderIdentity,
    Entity,
    ExtractorIdentity,
    Fact,
    Gem,
    Note,
    Origin,
    Pair,
    Record,
    Scope,
    Session,
    Trigger,
    Turn,
    Wanted,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """Shape (n, dimensions), rows of unit length."""

    Vector = NDArray[np.float32]
    """Shape (dimensions,), unit length."""
else:  # numpy stays unloaded for commands that need no vectors
    Vectors = Vector = object


class Embedder(Protocol):
    """Text to vectors. Raises `VendorAway` when its service does not answer."""

    identity: EmbedderIdentity

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row per text; shape (0, dimensions) for no texts."""

    def embed_query(self, text: str) -> Vector:
        """The vector of a question; an empty text gives a zero vector."""


def _unheard(_content: str, _why: str) -> None:
    """Nobody wants to know what was refused."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an extractor is given.

    batch: the only turns that gems may come from. history: turns before it, oldest first, to understand.
    known: the nearest gems already stored, not to be said again.
    refuse: is told the content of each draft that the extractor does not believe, and why, for `batches show`.
    likeness: the cosine of two texts' vectors, a second way to see that a paraphrase was said; None without vectors.
    """

    batch: Batch
    history: tuple[Turn, ...] = ()
    known: tuple[Gem, ...] = ()
    refuse: Callable[[str, str], None] = _unheard
    likeness: Callable[[str, str], float] | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored gem that a new one is held against. first, last: when it was said first and last.

    cosine: how near its vector is; None where one of the two has none.
    """

    gem: Gem
    first: datetime
    last: datetime
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is to become of a new gem, and why, in words for `batches show`.

    outcome: "new", "same" (it says what the gem `same_as` says) or "dropped".
    replaces, replaced_by: (gem id, why) of those it makes untrue, and of those that made it untrue before it was stored.
    """

    outcome: str
    why: str
    same_as: str = ""
    replaces: tuple[tuple[str, str], ...] = ()
    replaced_by: tuple[tuple[str, str], ...] = ()


class Judge(Protocol):
    """Says at the time of writing what becomes of a gem. Pure: the same arguments give the same judgement."""

    def __call__(self, gem: Gem, said_at: datetime, neighbours: Sequence[Neighbour]) -> Judgement:
        """neighbours: of the same agent, user and project, superseded ones included, in any order."""


class Extractor(Protocol):
    """Turns to drafts. Raises `VendorAway` (try later) or `AnswerRefused` (the answer is no good)."""

    identity: ExtractorIdentity

    def extract(self, reading: Reading) -> list[Draft]:
        """The gems worth keeping; [] when nothing in the batch is."""


class Completion(Protocol):
    """A chat model that answers a prompt with text; `schema` is the JSON schema the answer should follow."""

    model: str

    def complete(self, system: str, prompt: str, *, schema: dict[str, object] | None = None) -> str:
        """The model's answer. Raises `VendorAway` (down, slow, missing model) or `AnswerRefused` (cut off, empty)."""


class Reranker(Protocol):
    """Reads a few records beside a question, and says which of them help, best first."""

    def order(self, question: str, records: Sequence[Record]) -> list[str]:
        """Ids of those that help, none twice, none that was not given; [] when none does.

        Raises `VendorAway` (down, slow) or `AnswerRefused` (the answer is no good); the order then stays.
        """


class TokenCounter(Protocol):
    """Counts the tokens that a text costs in a prompt."""

    name: str

    def count(self, text: str) -> int:
        """How many tokens; 0 for ""."""

    def count_all(self, texts: Iterable[str]) -> list[int]:
        """One count per text."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which vendor serves behind a port, and why, in words for `status`."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What models have cost on a day (UTC): tokens and calls. cap: tokens that a day may cost, 0 = any."""

    day: str
    tokens: int
    calls: int
    cap: int = 0

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left of the day's tokens."""
        return bool(self.cap) and self.tokens >= self.cap


class ExtractorChooser(Protocol):
    """Says who distils now; asked before every batch, so that a model that comes back is used again."""

    @property
    def choice(self) -> Choice:
        """The last choice made."""

    def named(self, name: str) -> Extractor:
        """The extractor of this name ("auto", "rules", "ollama", "openai", "host"). Raises VendorAway."""

    def __call__(self) -> Extractor:
        """The extractor for the next batch. Raises VendorAway when a configured one does not answer."""

    def completion(self) -> Completion:
        """The chat model behind it, for something else than extraction. Raises VendorAway without one."""

    def spent(self) -> Spent:
        """What models have cost today."""


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


class TurnBuffer(Protocol):
    """Accepted turns until they are extracted. At-least-once outside, once inside: every verb may be repeated.

    All verbs raise `VendorAway` when the store behind it does not answer.
    """

    def append(self, turn: Turn) -> bool:
        """Keep the turn durably. False when a turn of this id was accepted before, extracted or not."""

    def claim(self, session: Session, *, limit: int, lease: timedelta, now: datetime, trigger: Trigger) -> Batch | None:
        """Move the oldest unclaimed turns of the session (one epoch, at most `limit`) into a batch, atomically.

        A claim whose lease has run out at `now` counts as unclaimed. None when nothing waits.
        `session.epoch` and `session.host_id` are ignored: (agent, key) names the queue.
        """

    def commit(self, batch: Batch) -> bool:
        """Remove the batch's turns, after the truth has stored its gems. False when the claim was lost meanwhile."""

    def release(self, batch: Batch) -> bool:
        """Give the turns back, in their old order. False when the claim was lost meanwhile."""

    def release_claims(self) -> int:
        """Give back every claim, whatever its lease; returns how many.

        Only for the one process that owns the memory, before its work begins: whoever held a claim is gone.
        """

    def stats(self, now: datetime) -> list[Backlog]:
        """One entry for each session with waiting or claimed turns, oldest first."""

    def close(self) -> None:
        """Release connections; the turns stay."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A gem and its vector, as an index keeps them."""

    gem: Gem
    vector: Vector


@dataclass(frozen=True, slots=True)
class Hit:
    """A gem id and its cosine similarity to the query, in [-1, 1]."""

    gem_id: str
    cosine: float


class GemIndex(Protocol):
    """A projection of the gems for search by vector. It can be lost and rebuilt; the truth is elsewhere.

    All verbs raise `VendorAway` when the service behind it does not answer.
    """

    identity: EmbedderIdentity

    def upsert(self, entries: Sequence[IndexEntry]) -> None:
        """Insert or replace by gem id."""

    def delete(self, gem_ids: Sequence[str]) -> None:
        """Remove these, leaving no trace of their vectors or payload; unknown ids are fine."""

    def search(self, vector: Vector, scope: Scope, *, limit: int, superseded: bool = False) -> list[Hit]:
        """The `limit` nearest gems of the scope, best first. Superseded gems only where asked for."""

    def count(self) -> int:
        """How many gems it holds."""

    def position(self) -> int:
        """The number of the last gem event applied; 0 = none (also when the index was lost or damaged)."""

    def advance(self, position: int) -> None:
        """Record durably that all events up to `position` are applied."""

    def clear(self) -> None:
        """Empty it and set the position to 0."""

    def close(self) -> None:
        """Release files and connections."""


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A note or fact found by its words. id: `Note.note_id` or `Fact.fact_id`. bm25: higher is better."""

    id: str
    bm25: float
    matched: tuple[str, ...]


class NoteSearch(Protocol):
    """The notes and facts of one workspace, as recall and reflection ask for them. Only what is indexed is seen.

    All verbs raise `StateError` when the index cannot be read. Answers depend on the files alone, never on the order
    in which they were indexed.
    """

    def stored(self) -> int:
        """How many notes and facts there are."""

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """How many of them hold each term (as `lexicon.terms` gives it); 0 for what none holds."""

    def find_words(self, terms: Sequence[str], wanted: Wanted, *, limit: int) -> list[NoteHit]:
        """The best by BM25 over the terms, best first."""

    def newest(self, wanted: Wanted, *, limit: int) -> list[str]:
        """Ids of what is wanted, the newest first, whatever its words."""

    def fetch(self, ids: Sequence[str]) -> dict[str, Note | Fact]:
        """Notes and facts by id; unknown ids are left out."""

    def facts(self, wanted: Wanted, *, limit: int = 0) -> list[Fact]:
        """The facts that are wanted, oldest first; 0 = all of them."""

    def entities(self, *, limit: int = 0) -> list[Entity]:
        """Who and what is named, most often named first; 0 = all."""

    def named_in(self, text: str) -> list[Entity]:
        """The entities that a text calls by a name or alias."""

    def tags(self) -> dict[str, int]:
        """Each tag and how many notes and facts carry it, most often first."""

    def tagged(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of the keys (`tags.key_of`) that a note or fact carries, each with its most frequent spelling."""

    def tag_counts(self) -> dict[str, tuple[str, int]]:
        """Each tag's key, how it is mostly written, and how many notes and facts carry it."""

    def inferred(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The tags that were inferred for these; those without any are left out."""

    def inferred_counts(self) -> dict[str, tuple[str, int]]:
        """Each inferred tag's key, how it is written, and for how many notes and facts it was inferred."""

    def tag_total(self, keys: Sequence[str]) -> int:
        """How many notes and facts carry one of these keys, each counted once."""

    def outdated(self, ids: Sequence[str], wanted: Wanted) -> dict[str, str]:
        """Those of the ids that do not hold (any more), and why: "superseded" or "expired"."""

    def embedded(self, embedder: str) -> int:
        """How many have a vector of this embedder (its identity as a text)."""

    def near(
        self, vector: Vector, embedder: str, wanted: Wanted, *, among: Sequence[str], limit: int
    ) -> dict[str, float]:
        """Cosines by id: of these that have a vector, and of the nearest of all where they are few enough to compare."""


class NoteVectors(Protocol):
    """The vectors of a workspace's notes: which are missing, and those that were made."""

    def embedded(self, embedder: str) -> int:
        """How many notes and facts have a vector of this embedder."""

    def unembedded(self, embedder: str, *, limit: int) -> dict[str, str]:
        """Ids and texts of some without one, the newest first."""

    def embed(self, embedder: str, found: Mapping[str, Vector]) -> None:
        """Keep these vectors by id; ids that are gone meanwhile are left out."""

    def uninferred(self, version: str, *, limit: int) -> dict[str, str]:
        """Ids and texts of some without a tag, for which this version of what is known has not been asked."""

    def infer(self, version: str, found: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Keep tags that were inferred, (key, name) by id; ids that are gone meanwhile are left out."""


@dataclass(frozen=True, slots=True)
class Meant:
    """A tag or entity of a question. name: canonical. words: what of the question says it; "" = it was said before.

    keys: what its records are labelled with, under all names: key → steps below it (0 = itself).
    """

    name: str
    words: str
    keys: Mapping[str, int]


class Vocabulary(Protocol):
    """What a memory knows by name: its tags and the persons and things that its records name, gems and notes together.

    Names are canonical: one for all spellings and aliases. Raises `StateError` when the memory file cannot be read.
    """

    def tags_of(self, text: str, scope: Scope) -> frozenset[str]:
        """The tags that a text mentions, by name or alias, in whatever form of the word.

        Only what a record of the scope carries or a person has named; what says how a gem came to be is left out.
        """

    def entities_of(self, text: str, scope: Scope) -> frozenset[str]:
        """Whom and what of those that gems and notes of the scope name a text mentions, by name or alias."""

    def tags_meant(self, names: Iterable[str], text: str, scope: Scope) -> list[Meant]:
        """These tags, each with all tags below it."""

    def entities_meant(self, names: Iterable[str], text: str, scope: Scope) -> list[Meant]:
        """These entities, each with all its names."""

    def gems_of(
        self, keys: Iterable[str], scope: Scope, *, limit: int, entities: bool = False, superseded: bool = False
    ) -> dict[str, set[str]]:
        """The newest gems of the scope with one of these keys as a tag (or entity): gem id → its keys among them."""

    def spread(self, keys: Iterable[str], scope: Scope, *, most: int, entities: bool = False) -> int:
        """How many gems of the scope carry one of these keys, counted up to `most`."""

    def inferred(self, gem_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The tags that were inferred for these gems."""
