"""A memory with real parts (truth, index, embedder, passages) in a temporary folder, and records by the handful."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.model import Gem, Origin, Query, Recall, Record, Scope, Turn
from openclaw_neuralstream.ports import Embedder, IndexEntry, TokenCounter
from openclaw_neuralstream.recall import (
    HEARD,
    Candidate,
    DaySource,
    Found,
    Source,
    TurnDaySource,
    TurnSource,
    Understood,
    gem_sources,
    recall,
)
from openclaw_neuralstream.recall.intent import Intent
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.store.flat_index import FlatIndex
from openclaw_neuralstream.store.passages import PassageIndex
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.tokens import FormulaCounter
from tests import passages
from tests.values import MAIN, NOW

EMBEDDER = EmbeddedEmbedder()
INTENT = Intent(EMBEDDER)


class World:
    """Gems and turns that can be asked."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.embedder = embedder
        self.counter: TokenCounter = FormulaCounter()
        self.truth = Truth.open(folder / "memory.sqlite")
        self.index = FlatIndex(folder / "index", embedder.identity)
        self.passages = PassageIndex(folder / "turns", embedder.identity)
        by_likeness = gem_sources(self.truth, embedder, self.index)
        turns = TurnSource(self.passages, embedder)
        self.gem_sources: tuple[Source, ...] = (*by_likeness, DaySource(self.truth, by_likeness[1].shelf))
        self.turn_sources: tuple[Source, ...] = (turns, TurnDaySource(self.passages, turns.shelf))

    def learn(self, *gems: Gem) -> None:
        vectors = EMBEDDER.embed_documents([gem.content for gem in gems])
        pairs = list(zip(gems, vectors, strict=True))
        self.truth.import_gems(pairs, EMBEDDER.identity, NOW)
        self.index.upsert([IndexEntry(gem, vector) for gem, vector in pairs])

    def hear(self, *turns: Turn) -> None:
        passages.add(self.passages, turns, EMBEDDER.embed_documents)

    def ask(
        self,
        text: str,
        *,
        turns: bool = False,
        gated: bool = False,
        scope: Scope = MAIN,
        knobs: Mapping[str, Any] | None = None,
        **query: Any,
    ) -> Recall:
        return recall(
            Query(text, scope, NOW, **query),
            sources=(*self.gem_sources, *(self.turn_sources if turns else ())),
            settings=Settings(**(knobs or {})),
            counter=self.counter,
            wordbooks=((self.truth, 1), (self.passages, HEARD)),
            intent=INTENT if gated else None,
            gated=gated,
        )

    def close(self) -> None:
        self.passages.close()
        self.index.close()
        self.truth.close()


@contextmanager
def world(folder: Path, embedder: Embedder = EMBEDDER) -> Iterator[World]:
    made = World(folder, embedder)
    try:
        yield made
    finally:
        made.close()


def record(name: str = "r", text: str = "The cat is called Miso", **fields: Any) -> Record:
    given: dict[str, Any] = {
        "id": name,
        "kind": "fact",
        "text": text,
        "summary": text[:40],
        "score": 0.0,
        "at": NOW,
        "citation": "host-1#1, 2026-11-21",
        "origin": Origin.OWNER,
        "speaker": "owner",
        "agent": "main",
        "session_id": "host-1",
    }
    return Record(**{**given, **fields})


class ShelfOf:
    """Records that are simply there."""

    def __init__(self, *found: Found, knows_days: bool = False, name: str = "memory") -> None:
        self.name = name
        self.knows_days = knows_days
        self._found = {item.record.id: item for item in found}

    def fetch(self, ids: Sequence[str], understood: Understood) -> Mapping[str, Found]:
        return {id_: self._found[id_] for id_ in ids if id_ in self._found}


class Fixed:
    """A source that always proposes the same."""

    name = "fixed"

    def __init__(self, *candidates: Candidate) -> None:
        self._candidates = list(candidates)

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        return self._candidates[:limit]


def texts(found: Recall) -> list[str]:
    return [item.text for item in found.records]


def whys(found: Recall) -> dict[str, str]:
    return {item.record.id: item.why for item in found.dropped}
