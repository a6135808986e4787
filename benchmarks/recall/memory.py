"""The product's own path: events through capture into the turns' projection, facts as gems, questions through recall."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.recall.data import Collection, Document, Fact, Question
from openclaw_neuralstream.capture import Skipped, read_query, read_turn
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.memory.vocabulary import KnownNames
from openclaw_neuralstream.model import Gem, GemSource, Query, Record, Scope, Turn, content_uuid
from openclaw_neuralstream.ports import Embedder, IndexEntry, TokenCounter
from openclaw_neuralstream.recall import DaySource, TurnDaySource, TurnSource, gem_sources, recall
from openclaw_neuralstream.recall.fit import FRAME_TOKENS
from openclaw_neuralstream.recall.gems import Exact, TagSource
from openclaw_neuralstream.recall.intent import Intent
from openclaw_neuralstream.recall.query import EntitySource
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.store.flat_index import FlatIndex
from openclaw_neuralstream.store.passage_rows import passages_of
from openclaw_neuralstream.store.passages import PassageIndex
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.lexicon import script_of
from tests.passages import add

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_ASSISTANTS = frozenset({"assistant", "agent", "ai", "bot", "chatbot", "gpt", "model", "助手", "ассистент"})
_NO_NAMES = frozenset({"user", "human", ""})


@dataclass(frozen=True, slots=True)
class Answer:
    """All candidates best first, the ids of those injected, what the block costs, and the time it took."""

    ranking: tuple[Record, ...]
    injected: tuple[str, ...]
    tokens: int
    ms: float
    stages: dict[str, float]


class BenchMemory:
    """One store for all collections, each under an agent of its own, so that scope is tested too."""

    def __init__(self, folder: Path, embedder: Embedder, counter: TokenCounter, settings: Settings) -> None:
        self.embedder = embedder
        self.settings = settings
        self._counter = counter
        self._open = settings.model_copy(update={"recall_threshold": 0.0})
        self.truth = Truth.open(folder / "memory.sqlite")
        self.index = FlatIndex(folder / "index", embedder.identity)
        self.passages = PassageIndex(folder / "turns", embedder.identity)
        self.vocabulary = KnownNames(self.truth.tags)
        by_likeness = gem_sources(self.truth, embedder, self.index, self.vocabulary)
        exact = Exact(self.truth, embedder, by_likeness[1].background, by_likeness[1].shelf)
        by_label = (TagSource(self.vocabulary, exact), EntitySource(self.vocabulary, exact))
        turns = TurnSource(self.passages, embedder)
        by_day = (DaySource(self.truth, exact.shelf), TurnDaySource(self.passages, turns.shelf))
        self.sources = (*by_likeness, *by_label, turns, *by_day)
        self.intent = Intent(EmbeddedEmbedder())
        self.covers: dict[str, frozenset[str]] = {}
        self.texts: dict[str, str] = {}

    def feed_gems(self, collection: Collection) -> None:
        """Every document as a gem: for data whose documents are memories, not turns."""
        documents = [Fact(d.id, d.session, d.at, d.speaker, d.text, (d.id,)) for d in collection.documents]
        self._feed_facts(collection, documents, {})

    def feed_turns(self, collection: Collection, *, facts: bool) -> None:
        """Every document as part of a turn event, in order; facts as gems with the turns as their evidence."""
        turns: list[Turn] = []
        turn_of: dict[str, str] = {}
        for group in _groups(collection.documents):
            turn = read_turn(_turn_event(collection, group), now=_NOW, settings=self.settings)
            if isinstance(turn, Skipped):
                print(f"capture skipped {collection.id} {group[0].id}: {turn.reason}")
                continue
            turns.append(turn)
            turn_of.update({document.id: turn.turn_id for document in group})
            for document, passage in zip(group, passages_of(turn), strict=False):
                self.covers[passage.id] = frozenset({document.id})
        add(self.passages, turns, self.embedder.embed_documents)
        if facts and collection.facts:
            self._feed_facts(collection, collection.facts, turn_of)

    def ask(self, collection: Collection, question: Question) -> Answer:
        """The question as a prompt, its context as the running dialogue."""
        query = read_query(_prompt_event(collection, question), now=question.asked_at or _NOW, settings=self.settings)
        if isinstance(query, Skipped):
            return Answer((), (), 0, 0.0, {})
        started = time.perf_counter()
        found = recall(
            query,
            sources=self.sources,
            settings=self.settings,
            counter=self._counter,
            vocabulary=self.vocabulary,
            intent=self.intent,
            gated=True,
        )
        ms = 1_000 * (time.perf_counter() - started)
        return Answer(
            self._ranking(query),
            tuple(record.id for record in found.records),
            FRAME_TOKENS + sum(record.tokens for record in found.records) if found.records else 0,
            ms,
            found.stage_ms,
        )

    def relevance(self, collection: Collection, question: Question) -> float:
        """How relevant the most relevant record is, whatever the threshold; 0 when there is none."""
        query = self.query_of(collection, question)
        found = () if isinstance(query, Skipped) else self._ranking(query)
        return max((record.factors["relevance"] for record in found), default=0.0)

    def _ranking(self, query: Query) -> tuple[Record, ...]:
        """The order in which records would be shown if nothing were kept back; what says again what others say stands last."""
        found = recall(
            query,
            sources=self.sources,
            settings=self._open,
            counter=self._counter,
            vocabulary=self.vocabulary,
            intent=self.intent,
        )
        again = {dropped.record.id for dropped in found.dropped if dropped.why == "duplicate"}
        everything = [*found.records, *(dropped.record for dropped in found.dropped)]
        return tuple(sorted(everything, key=lambda record: (record.id in again, -record.score, record.id)))

    def query_of(self, collection: Collection, question: Question) -> Query | Skipped:
        """What capture makes of the question."""
        return read_query(_prompt_event(collection, question), now=question.asked_at or _NOW, settings=self.settings)

    def close(self) -> None:
        """Release the files."""
        self.passages.close()
        self.index.close()
        self.truth.close()

    def _feed_facts(self, collection: Collection, facts: Sequence[Fact], turn_of: dict[str, str]) -> None:
        gems = [_gem(collection, fact, turn_of) for fact in facts]
        vectors = self.embedder.embed_documents([gem.content for gem in gems])
        pairs = list(zip(gems, vectors, strict=True))
        self.truth.import_gems(pairs, self.embedder.identity, _NOW)
        self.index.upsert([IndexEntry(gem, vector) for gem, vector in pairs])
        self.covers.update({gem.gem_id: frozenset(fact.covers) for gem, fact in zip(gems, facts, strict=True)})


def agent_of(collection: Collection) -> str:
    """The agent that a collection's memory belongs to."""
    return f"bench-{collection.id}"


def _groups(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """Documents as turns: an assistant's message belongs to the one before it, any other begins a turn."""
    group: list[Document] = []
    for document in documents:
        answers = document.speaker.casefold() in _ASSISTANTS
        if group and not (answers and group[-1].session == document.session and group[0].speaker != document.speaker):
            yield group
            group = []
        group.append(document)
    if group:
        yield group


def _turn_event(collection: Collection, group: Sequence[Document]) -> dict[str, Any]:
    speaker = group[0].speaker
    return {
        "run_id": group[0].id,
        "agent": agent_of(collection),
        "session_key": group[0].session,
        "session_id": group[0].session,
        "messages": [
            {"role": _role(document, first=number == 0), "content": document.text, "timestamp": _ms(document.at)}
            for number, document in enumerate(group)
        ],
        "sender": {"id": "owner", "owner": True, "name": speaker if _is_name(speaker) else ""},
        "at": _ms(group[0].at),
    }


def _role(document: Document, *, first: bool) -> str:
    return "assistant" if document.speaker.casefold() in _ASSISTANTS and not first else "user"


def _is_name(speaker: str) -> bool:
    return speaker.casefold() not in _NO_NAMES | _ASSISTANTS and not speaker.isdigit()


def _prompt_event(collection: Collection, question: Question) -> dict[str, Any]:
    prompt, earlier = question.text, list(question.context)
    if earlier and earlier[-1].strip().endswith(prompt.strip()):
        prompt = earlier.pop()
    return {
        "agent": agent_of(collection),
        "session_key": "question",
        "prompt": prompt,
        "dialogue": [{"role": "user", "text": text} for text in earlier],
    }


def _gem(collection: Collection, fact: Fact, turn_of: dict[str, str]) -> Gem:
    return Gem(
        gem_id=content_uuid(collection.id, fact.id),
        content=fact.text,
        summary=fact.text,
        topics=(),
        importance=0.5,
        source=GemSource(fact.session, fact.at.date().isoformat(), ""),
        tags=("fact",),
        created_at=fact.at,
        scope=Scope(agent_of(collection)),
        entities=(fact.speaker,) if _is_name(fact.speaker) else (),
        evidence=tuple(turn_of[document] for document in fact.covers if document in turn_of),
        language={"latin": "en", "cjk": "zh", "cyrillic": "ru"}.get(script_of(fact.text), ""),
    )


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1_000)
