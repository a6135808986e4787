"""The seams behind which vendors and rooms live, by what they serve; one Protocol each; stores, embedders and rerankers pass a contract suite (`tests/contract`)."""

from __future__ import annotations

from openclaw_neuralstream.ports.gems import GemIndex, Hit, IndexEntry, TurnBuffer
from openclaw_neuralstream.ports.models import (
    Choice,
    Completion,
    Embedder,
    Extractor,
    ExtractorChooser,
    Judge,
    Judgement,
    Neighbour,
    Reading,
    Reranker,
    Spent,
    TokenCounter,
)
from openclaw_neuralstream.ports.notes import Meant, NoteHit, NoteSearch, NoteVectors, Vocabulary
from openclaw_neuralstream.ports.turns import Passage, PassageCounts, PassageSearch, Place, SequenceSearch
from openclaw_neuralstream.ports.vectors import Vector, Vectors

__all__ = [
    "Choice",
    "Completion",
    "Embedder",
    "Extractor",
    "ExtractorChooser",
    "GemIndex",
    "Hit",
    "IndexEntry",
    "Judge",
    "Judgement",
    "Meant",
    "Neighbour",
    "NoteHit",
    "NoteSearch",
    "NoteVectors",
    "Passage",
    "PassageCounts",
    "PassageSearch",
    "Place",
    "Reading",
    "Reranker",
    "SequenceSearch",
    "Spent",
    "TokenCounter",
    "TurnBuffer",
    "Vector",
    "Vectors",
    "Vocabulary",
]
