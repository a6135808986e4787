"""What models are asked: vectors, gems of turns, an order of records, tokens; and who of them is asked now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from openclaw_neuralstream.model import Batch, Draft, EmbedderIdentity, ExtractorIdentity, Gem, Record, Turn
from openclaw_neuralstream.ports.vectors import Vector, Vectors


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
