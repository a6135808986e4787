"""What is commonly done, in the same run: FTS5 with its porter tokenizer, vectors alone, reciprocal rank fusion of both."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

import numpy as np

from benchmarks.recall.data import Collection, Question
from openclaw_neuralstream.ports import Embedder

_RRF = 60
_DEPTH = 60


class Baselines:
    """The documents of one collection, and the last message of the question as it stands."""

    def __init__(self, collection: Collection, embedder: Embedder) -> None:
        self._ids = [document.id for document in collection.documents]
        self._embedder = embedder
        texts = [document.text for document in collection.documents]
        self._vectors = embedder.embed_documents(texts)
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')")
        self._database.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", list(enumerate(texts)))

    def rankings(self, question: Question) -> dict[str, list[str]]:
        """Document ids best first, by name of the baseline."""
        words, meaning = self._words(question.text), self._meaning(question.text)
        return {
            "bm25 (fts5 porter)": [self._ids[row] for row in words],
            "dense alone": [self._ids[row] for row in meaning],
            "rrf(60) of both": [self._ids[row] for row in fused(words, meaning)],
        }

    def _words(self, text: str) -> list[int]:
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text)))
        if not asked:
            return []
        rows = self._database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?", (asked, _DEPTH)
        )
        return [int(row) for (row,) in rows]

    def _meaning(self, text: str) -> list[int]:
        scores = self._vectors @ self._embedder.embed_query(text)
        return [int(row) for row in np.argsort(-scores, kind="stable")[:_DEPTH]]


def fused(*rankings: Sequence[int]) -> list[int]:
    """Reciprocal rank fusion, best first."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, 1):
            scores[row] = scores.get(row, 0.0) + 1 / (_RRF + rank)
    return sorted(scores, key=lambda row: (-scores[row], row))[:_DEPTH]
