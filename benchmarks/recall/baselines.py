"""What is commonly done, in the same run: BM25, vectors alone, reciprocal rank fusion, and a convex sum of normalised scores."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

import numpy as np

from benchmarks.recall.data import Collection, Question
from openclaw_neuralstream.ports import Embedder, Vector
from openclaw_neuralstream.recall.query import names
from openclaw_neuralstream.text.lexicon import content_terms, terms

_RRF = 60
_DEPTH = 60
_BEFORE = 2
_TOKENIZER = r"ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~'''"
"""Only blanks separate tokens, as in the product's own index."""

_LABEL = re.compile(r"^\s*[^\s:：]{2,24}[:：]\s")
_NO_NAMES = frozenset({"", "user", "human", "assistant"})


class Baselines:
    """The documents of one collection.

    The first ones take the last message of the question as it stands and the bare texts. The last two are the strongest
    simple thing that is known: date and speaker in the text, the running dialogue as the question, content terms in any
    language (once for each message that says it), without the labels of who speaks, the two documents before as a second lexical
    field, half of each score, normalised two ways. The last row looks only at what names, or is by, whom the question names, as
    where each person has a store of their own.
    """

    def __init__(self, collection: Collection, embedder: Embedder) -> None:
        self._ids = [document.id for document in collection.documents]
        self._embedder = embedder
        texts = [document.text for document in collection.documents]
        self._plain = embedder.embed_documents(texts)
        labelled = [_labelled(d.speaker, f"{d.at:%d %B %Y}", d.text) for d in collection.documents]
        self._labelled = embedder.embed_documents(labelled)
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')")
        self._database.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", list(enumerate(texts)))
        self._database.execute(f'CREATE VIRTUAL TABLE tuned USING fts5(own, before, tokenize = "{_TOKENIZER}")')
        tokens = [" ".join(terms(text)) for text in labelled]
        self._terms = [frozenset(text.split()) for text in tokens]
        sessions = [document.session for document in collection.documents]
        before = [
            " ".join(tokens[j] for j in range(max(0, i - _BEFORE), i) if sessions[j] == sessions[i])
            for i in range(len(tokens))
        ]
        self._database.executemany(
            "INSERT INTO tuned(rowid, own, before) VALUES (?, ?, ?)",
            list(zip(range(len(tokens)), tokens, before, strict=True)),
        )

    def rankings(self, question: Question) -> dict[str, list[str]]:
        """Document ids best first, by name of the baseline."""
        words, meaning = self._words(question.text), _best(self._plain @ self._embedder.embed_query(question.text))
        dialogue = (
            [_LABEL.sub("", text) for text in question.dialogue] if len(question.dialogue) > 1 else [question.text]
        )
        lexical = self._tuned(dialogue, 0.5)
        cosines: Vector = self._labelled @ self._embedder.embed_query("\n".join(dialogue))
        spread = cosines - cosines.min(initial=0.0)
        convex = 0.5 * lexical + 0.5 * spread / max(float(spread.max(initial=0.0)), 1e-9)
        found = {
            "bm25 (fts5 porter)": words,
            "bm25 (our terms, dialogue)": _best(self._tuned(dialogue, 0.0), least=1e-9),
            "dense alone": meaning,
            "rrf(60) of both": fused(words, meaning),
            "convex sum, raw cosine": _best(0.5 * lexical + 0.5 * cosines),
            "convex sum, min-max": _best(convex),
            "convex sum, of who is named": _best(convex - 4.0 * self._others(question)),
        }
        return {name: [self._ids[row] for row in rows] for name, rows in found.items()}

    def _words(self, text: str) -> list[int]:
        asked = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text)))
        if not asked:
            return []
        rows = self._database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?", (asked, _DEPTH)
        )
        return [int(row) for (row,) in rows]

    def _others(self, question: Question) -> Vector:
        """1 for a document that does not say whom the last message names or is by; 0 for all where that leaves nothing."""
        named = names(question.dialogue[-1:])
        others = np.array([not named & held for held in self._terms], np.float32)
        return others if named and not others.all() else np.zeros(len(self._ids), np.float32)

    def _tuned(self, texts: Sequence[str], before: float) -> Vector:
        """BM25 of every document over the greatest; a term counts once for each text that holds it."""
        scores = np.zeros(len(self._ids), np.float32)
        found = [term for text in texts for term in dict.fromkeys(content_terms(text))]
        asked = " OR ".join(
            '"' + term.replace('"', '""') + '"' for term in found or dict.fromkeys(terms("\n".join(texts)))
        )
        if asked:
            field = "" if before else "own : "
            query = "SELECT rowid, -bm25(tuned, 1.0, ?) FROM tuned WHERE tuned MATCH ?"
            for row, score in self._database.execute(query, (before, f"{field}({asked})")):
                scores[row] = score
        return scores / max(float(scores.max(initial=0.0)), 1e-9)


def fused(*rankings: Sequence[int]) -> list[int]:
    """Reciprocal rank fusion, best first."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, row in enumerate(ranking, 1):
            scores[row] = scores.get(row, 0.0) + 1 / (_RRF + rank)
    return sorted(scores, key=lambda row: (-scores[row], row))[:_DEPTH]


def _best(scores: Vector, *, least: float = -2.0) -> list[int]:
    return [int(row) for row in np.argsort(-scores, kind="stable")[:_DEPTH] if scores[row] > least]


def _labelled(speaker: str, day: str, text: str) -> str:
    named = speaker.casefold() not in _NO_NAMES and not speaker.isdigit()
    return f"{speaker + ' ' if named else ''}({day}): {text}"
