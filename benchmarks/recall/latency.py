"""How long recall takes at 1 k, 10 k and 100 k gems or verbatim turns, by stage, the question's embedding included.

`python -m benchmarks.recall.latency [--gems 1000 10000 100000] [--turns 1000 …] [--questions 200] [--out FILE]`. With
`--turns` as many turns (two passages each) are searched, beside a hundredth as many gems. The baseline of the same run:
the same embedding, an FTS5 query with its own tokenizer, a product with a matrix in memory, and rank fusion of both.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy

import argparse
import json
import random
import resource
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recall.baselines import fused
from benchmarks.report import environment, percentiles, ready
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.model import Gem, GemSource, Origin, Query, Scope, Session, Turn, Utterance, content_uuid
from openclaw_neuralstream.ports import IndexEntry, Vectors
from openclaw_neuralstream.recall import TurnSource, gem_sources, recall
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.store.flat_index import FlatIndex
from openclaw_neuralstream.store.passages import PassageIndex
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.tokens import best_counter
from tests.passages import add

_NOW = datetime(2026, 11, 1, tzinfo=UTC)
_SCOPE = Scope("main")
_CHUNK = 2_000
_WHO = "Anna Boris Chen Diego Elif Farid Greta Hiro Igor Jana".split()  # noqa: SIM905
_DID = "bought repaired moved painted sold deployed reviewed planned cancelled measured".split()  # noqa: SIM905
_WHAT = "bicycle server kitchen contract violin database garden invoice passport report camera queue".split()  # noqa: SIM905
_WHERE = "Lisbon Tbilisi Oslo Shanghai Kazan Bonn Nairobi Lima Quebec Split".split()  # noqa: SIM905
_RARE = [
    f"{a}{b}{c}" for a in ("ka", "mo", "ti", "su") for b in ("re", "lo", "ni", "va") for c in ("x", "nd", "lm", "st")
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall.latency", description=__doc__)
    parser.add_argument("--gems", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--turns", type=int, nargs="*", default=[])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--out", type=Path)
    asked = ready(parser, lambda _: False)
    embedder = EmbeddedEmbedder()
    embedder.warm()
    sizes = {str(size): _measured(size, asked.questions, embedder) for size in asked.gems}
    turns = {str(size): _of_turns(size, asked.questions, embedder) for size in asked.turns}
    report = {"benchmark": "recall latency", "environment": environment(), "unit": "ms", "gems": sizes, "turns": turns}
    if asked.out:
        asked.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    for size, kind, row in [*((s, "gems", r) for s, r in sizes.items()), *((s, "turns", r) for s, r in turns.items())]:
        stages = "  ".join(
            f"{stage} {values['p50']:.2f}/{values['p95']:.2f}" for stage, values in row["stages"].items()
        )
        print(
            f"{size:>7} {kind}: recall p50 {row['recall']['p50']:.1f} p95 {row['recall']['p95']:.1f} ms, "
            f"CPU p50 {row['recall, CPU']['p50']:.1f} p95 {row['recall, CPU']['p95']:.1f} ms  [{stages}]"
        )
        if "baseline" in row:
            print(f"              baseline p50 {row['baseline']['p50']:.1f} p95 {row['baseline']['p95']:.1f} ms")


def _measured(size: int, questions: int, embedder: EmbeddedEmbedder) -> dict[str, Any]:
    rng = random.Random(size)
    gems = [_gem(rng, number) for number in range(size)]
    vectors = _vectors(gems, embedder)
    texts = [_question(rng) for _ in range(questions + 20)]
    with tempfile.TemporaryDirectory() as folder:
        truth = Truth.open(Path(folder) / "memory.sqlite")
        index = FlatIndex(Path(folder) / "index", embedder.identity)
        started = time.perf_counter()
        for start in range(0, size, _CHUNK):
            pairs = list(zip(gems[start : start + _CHUNK], vectors[start : start + _CHUNK], strict=True))
            truth.import_gems(pairs, embedder.identity, _NOW)
            index.upsert([IndexEntry(gem, vector) for gem, vector in pairs])
        filled = time.perf_counter() - started
        sources = gem_sources(truth, embedder, index)
        sources[1].warm()
        plain = _Plain(gems, vectors, embedder)
        settings, counter = Settings(), best_counter()
        ms: dict[str, list[float]] = defaultdict(list)
        stages: dict[str, list[float]] = defaultdict(list)
        for number, text in enumerate(texts):
            if number == 20:  # the first ones warm the caches
                ms.clear()
                stages.clear()
            begun, spent = time.perf_counter(), time.thread_time()
            found = recall(Query(text, _SCOPE, _NOW), sources=sources, settings=settings, counter=counter)
            ms["recall"].append(1_000 * (time.perf_counter() - begun))
            ms["recall, CPU"].append(1_000 * (time.thread_time() - spent))
            for stage, value in found.stage_ms.items():
                stages[stage].append(value)
            begun = time.perf_counter()
            plain.ask(text)
            ms["baseline"].append(1_000 * (time.perf_counter() - begun))
            begun = time.perf_counter()
            embedder.embed_query(text)
            ms["embedding alone"].append(1_000 * (time.perf_counter() - begun))
        index.close()
        truth.close()
    return {
        **{name: percentiles(values) for name, values in ms.items()},
        "stages": {stage: percentiles(values) for stage, values in stages.items()},
        "fill_seconds": round(filled, 1),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024,
    }


def _of_turns(size: int, questions: int, embedder: EmbeddedEmbedder) -> dict[str, Any]:
    rng = random.Random(size)
    real = _vectors([_gem(rng, number) for number in range(2_000)], embedder)
    noise = np.random.default_rng(7)

    def near(texts: Sequence[str]) -> Vectors:
        rows = real[noise.integers(0, len(real), len(texts))]
        rows = rows + noise.normal(0, 0.02, rows.shape).astype(np.float32)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit.astype(np.float32)

    texts = [_question(rng) for _ in range(questions + 20)]
    with tempfile.TemporaryDirectory() as folder:
        truth = Truth.open(Path(folder) / "memory.sqlite")
        index = FlatIndex(Path(folder) / "index", embedder.identity)
        passages = PassageIndex(Path(folder) / "turns", embedder.identity)
        started = time.perf_counter()
        for start in range(0, size, _CHUNK):
            add(passages, [_turn(rng, number) for number in range(start, min(size, start + _CHUNK))], near)
        gems = [_gem(rng, number) for number in range(max(1, size // 100))]
        pairs = list(zip(gems, _vectors(gems, embedder), strict=True))
        truth.import_gems(pairs, embedder.identity, _NOW)
        index.upsert([IndexEntry(gem, vector) for gem, vector in pairs])
        filled = time.perf_counter() - started
        of_gems = gem_sources(truth, embedder, index)
        of_gems[1].warm()
        sources = (*of_gems, TurnSource(passages, embedder, lasting=truth.evidence))
        settings, counter = Settings(), best_counter()
        ms: dict[str, list[float]] = defaultdict(list)
        stages: dict[str, list[float]] = defaultdict(list)
        for number, text in enumerate(texts):
            if number == 20:
                ms.clear()
                stages.clear()
            begun, spent = time.perf_counter(), time.thread_time()
            found = recall(Query(text, _SCOPE, _NOW), sources=sources, settings=settings, counter=counter)
            ms["recall"].append(1_000 * (time.perf_counter() - begun))
            ms["recall, CPU"].append(1_000 * (time.thread_time() - spent))
            for stage, value in found.stage_ms.items():
                stages[stage].append(value)
        passages.close()
        index.close()
        truth.close()
    return {
        **{name: percentiles(values) for name, values in ms.items()},
        "stages": {stage: percentiles(values) for stage, values in stages.items()},
        "fill_seconds": round(filled, 1),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024,
    }


def _turn(rng: random.Random, number: int) -> Turn:
    """A person says something in two sentences, the assistant answers at some length."""
    at = _NOW - timedelta(minutes=7 * number)
    session = Session("main", f"agent:main:{number // 20}", f"host-{number // 20}")
    words = f"{_gem(rng, number).content} I was told that {_gem(rng, number + 1).content}"
    answer = " ".join(_gem(rng, number + step).content for step in range(8))
    said = (Utterance("owner", Origin.OWNER, words, at), Utterance("agent", Origin.AGENT, answer, at))
    return Turn(f"turn-{number}", _SCOPE, session, at, said, number)


class _Plain:
    """What is commonly done, all in memory."""

    def __init__(self, gems: list[Gem], vectors: Vectors, embedder: EmbeddedEmbedder) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')")
        self._database.executemany(
            "INSERT INTO words(rowid, text) VALUES (?, ?)", ((n, g.content) for n, g in enumerate(gems))
        )

    def ask(self, text: str) -> list[int]:
        asked = " OR ".join(f'"{word.strip("?,.")}"' for word in text.split())
        rows = self._database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 60", (asked,)
        ).fetchall()
        scores = self._vectors @ self._embedder.embed_query(text)
        near = np.argpartition(-scores, min(60, len(scores) - 1))[:60]
        near = near[np.argsort(-scores[near])]
        return fused([row for (row,) in rows], near.tolist())[:10]


def _vectors(gems: list[Gem], embedder: EmbeddedEmbedder) -> Vectors:
    """Real vectors of 2,000 texts, the others near one of them: embedding 100,000 texts would take a quarter of an hour."""
    real = embedder.embed_documents([gem.content for gem in gems[:2_000]])
    rng = np.random.default_rng(7)
    rows = real[rng.integers(0, len(real), len(gems))] + rng.normal(0, 0.02, (len(gems), real.shape[1])).astype(
        np.float32
    )
    rows[: len(real)] = real
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit.astype(np.float32)


def _gem(rng: random.Random, number: int) -> Gem:
    rare = rng.choice(_RARE) + str(number % 997)
    content = f"{rng.choice(_WHO)} {rng.choice(_DID)} the {rng.choice(_WHAT)} {rare} in {rng.choice(_WHERE)} in {2000 + number % 26}."
    at = _NOW - timedelta(hours=number % 9_000)
    return Gem(
        gem_id=content_uuid("latency", str(number)),
        content=content,
        summary=content,
        topics=(),
        importance=0.3 + 0.6 * rng.random(),
        source=GemSource(f"session-{number // 50}", at.date().isoformat(), "1-5"),
        tags=("fact",),
        created_at=at,
        scope=_SCOPE,
    )


def _question(rng: random.Random) -> str:
    return f"When was the {rng.choice(_WHAT)} {rng.choice(_RARE)}{rng.randrange(997)} {rng.choice(_DID)} by {rng.choice(_WHO)} in {rng.choice(_WHERE)}?"


if __name__ == "__main__":
    main()
