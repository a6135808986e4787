"""How long the whole of recall takes in memories of 1,000, 10,000 and 100,000 records, by stage.

`python -m benchmarks.recall.latency [--sizes 1000 10000 100000] [--sessions 5 1000 2500] [--questions 100] [--stores DIR] [--out FILE]`.
Asked as the bridge asks, but in this process: every source, the question's embedding, rendering. Half of the records
are gems, half passages of verbatim turns, two of each turn, which is also a pair of a sequence. `--sessions`: the same 5,000 turns in so many
conversations. `--stores`: the memories stay there and are used
again; to fill the largest takes ten minutes. The baseline of the same run: the same embedding, an FTS5 query with its own tokenizer, a product with a matrix in
memory, and rank fusion of both, over the gems alone.
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
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recall import store
from benchmarks.recall.baselines import fused
from benchmarks.report import environment, percentiles, ready
from openclaw_neuralstream import foreground
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Query
from openclaw_neuralstream.ports import Vectors
from openclaw_neuralstream.server import moments

_WARM = 20  # questions before the first that counts: they fill the caches
_TURNS = 5_000  # where the number of conversations is what varies


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall.latency", description=__doc__)
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000], help="gems, and as many turns"
    )
    parser.add_argument(
        "--sessions", type=int, nargs="*", default=[5, 1_000, 2_500], help="conversations of 5,000 turns"
    )
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--stores", type=Path, help="where the memories stay, to be used again")
    parser.add_argument("--out", type=Path)
    asked = ready(parser, lambda _: False)
    foreground.prefer_answers()  # as the process that serves the host does
    embedder = EmbeddedEmbedder()
    embedder.warm()
    measured = partial(_measured, embedder, asked.questions, asked.stores)
    sizes = {}
    for size in asked.sizes:
        sizes[str(size)] = measured(gems=size // 2, turns=size // 4, per_session=20)
        _say(f"{size:,} records", sizes[str(size)])
    sessions = {}
    for count in asked.sessions:
        row = measured(gems=_TURNS // 10, turns=_TURNS, per_session=_TURNS // count)
        sessions[str(count)] = row
        _say(f"{_TURNS:,} turns in {count:,} sessions", row)
    report = {
        "benchmark": "recall latency",
        "environment": environment(),
        "unit": "ms",
        "sizes": sizes,
        "sessions": sessions,
    }
    if asked.out:
        asked.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _say(what: str, row: dict[str, Any]) -> None:
    for name in ("turn", "turn, CPU", "recall", "recall, CPU", "embedding alone", "baseline"):
        print(f"{what:>30}  {name:<16} p50 {row[name]['p50']:7.1f}   p95 {row[name]['p95']:7.1f} ms")
    stages = ((stage, values) for stage, values in row["stages"].items() if values["p95"] >= 0.05)
    print(
        " " * 32 + "  ".join(f"{stage} {values['p50']:.1f}/{values['p95']:.1f}" for stage, values in stages), flush=True
    )


def _measured(
    embedder: EmbeddedEmbedder, questions: int, stores: Path | None, *, gems: int, turns: int, per_session: int
) -> dict[str, Any]:
    rng = random.Random(questions)
    ms: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as passing:
        folder = (stores or Path(passing)) / f"{gems}-{turns}-{per_session}"
        begun = time.perf_counter()
        memory = store.filled(folder, gems=gems, turns=turns, per_session=per_session, embedder=embedder)
        fill = time.perf_counter() - begun
        try:
            memory.parts.warm()
            foreground.settled()
            _timed(ms, "turn", lambda text: moments.prompt_build(memory, _event(text)), rng, questions)
            stages = _staged(ms, memory, rng, questions)
        finally:
            memory.close()
    texts = [store.gem_of(rng, number).content for number in range(gems)]
    plain = _Plain(texts, store.vectors_of(texts, embedder), embedder)
    _timed(ms, "baseline", plain.ask, rng, questions)
    _timed(ms, "embedding alone", embedder.embed_query, rng, questions)
    return {
        **{name: percentiles(values) for name, values in ms.items()},
        "stages": {stage: percentiles(values) for stage, values in stages.items()},
        "fill_seconds": round(fill, 1),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024,
    }


def _staged(ms: dict[str, list[float]], memory: Memory, rng: random.Random, questions: int) -> dict[str, list[float]]:
    stages: dict[str, list[float]] = defaultdict(list)

    def ask(text: str) -> None:
        for stage, value in memory.recall(Query(text, store.SCOPE, store.NOW)).stage_ms.items():
            stages[stage].append(value)

    _timed(ms, "recall", ask, rng, questions)
    return {stage: values[_WARM:] for stage, values in stages.items()}


def _timed(
    ms: dict[str, list[float]], name: str, ask: Callable[[str], object], rng: random.Random, questions: int
) -> None:
    """Add the wall time of each question under `name`, and the processor's time of all threads beside it."""
    for number in range(questions + _WARM):
        text = store.question(rng)
        begun, spent = time.perf_counter(), time.process_time()
        ask(text)
        if number >= _WARM:
            ms[f"{name}, CPU"].append(1_000 * (time.process_time() - spent))
            ms[name].append(1_000 * (time.perf_counter() - begun))


def _event(text: str) -> dict[str, Any]:
    """As the bridge sends it, of a conversation that has been briefed and goes on."""
    return {
        "agent": "main",
        "session_key": "agent:main:asking",
        "session_id": "asking",
        "trigger": "user",
        "prompt": text,
        "run_id": text,
    }


class _Plain:
    """What is commonly done, all in memory."""

    def __init__(self, texts: Sequence[str], vectors: Vectors, embedder: EmbeddedEmbedder) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')")
        self._database.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", enumerate(texts))

    def ask(self, text: str) -> list[int]:
        asked = " OR ".join(f'"{word.strip("?,.")}"' for word in text.split())
        rows = self._database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT 60", (asked,)
        ).fetchall()
        scores = self._vectors @ self._embedder.embed_query(text)
        near = np.argpartition(-scores, min(60, len(scores) - 1))[:60]
        near = near[np.argsort(-scores[near])]
        return fused([row for (row,) in rows], near.tolist())[:10]


if __name__ == "__main__":
    main()
