"""What a Markdown memory is asked, and the names that a memory knows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from openclaw_neuralstream.model import Entity, Fact, Note, Scope, Wanted
from openclaw_neuralstream.ports.vectors import Vector


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
