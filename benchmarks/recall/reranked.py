"""What a second look by a real model is worth: the first records in our order, and as a chat model orders them.

`python -m benchmarks.recall.reranked --data FILE [--feed turns|both|gems] [--model small|larger] [--questions 60] [--out FILE]`. Sampled
questions, a third of them without an answer where there are such; the model (Qwen2.5 out of packages, see tests/llama_server.py) is
behind llama.cpp's own server on this machine and gets all the time it wants.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.recall.data import Collection, Question, load
from benchmarks.recall.memory import BenchMemory
from benchmarks.recall.metrics import difference
from benchmarks.report import environment, percentiles, ready
from openclaw_neuralstream import root
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.extract.openai import OpenAICompletion
from openclaw_neuralstream.memory.engine import RERANKED
from openclaw_neuralstream.memory.wiring import ModelReranker
from openclaw_neuralstream.model import Record
from openclaw_neuralstream.plugins.templates import Templates
from openclaw_neuralstream.recall.rank import Depth
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.text.tokens import best_counter
from tests.llama_server import LARGER, SMALL, llama_server

_PATIENCE = 600.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall.reranked", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--feed", choices=("turns", "both", "gems"), default="turns")
    parser.add_argument("--model", choices=("small", "larger"), default="larger")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--out", type=Path)
    asked = ready(parser, lambda _: False)
    model = SMALL if asked.model == "small" else LARGER
    name, collections = load(asked.data)
    settings, embedder, counter = Settings(), EmbeddedEmbedder(), best_counter()
    embedder.warm()
    with tempfile.TemporaryDirectory() as folder, llama_server(model) as url:
        memory = BenchMemory(Path(folder), embedder, counter, settings)
        try:
            for collection in collections:
                memory.feed_gems(collection) if asked.feed == "gems" else memory.feed_turns(
                    collection, facts=asked.feed == "both"
                )
            completion = OpenAICompletion(url, model.name, context=8_192, timeout=_PATIENCE, waits=())
            templates = Templates(root.project_root() / "templates")
            done: Counter[str] = Counter()
            depth = Depth(
                ModelReranker(lambda: completion, templates),
                always=True,
                most=RERANKED,
                count=lambda what: done.update([what]),
            )
            measured = _measured(memory, depth, _sample(collections, asked.questions), settings)
        finally:
            memory.close()
    report = {
        "benchmark": "reranked",
        "dataset": name,
        "fed as": asked.feed,
        "model": model.name,
        "environment": environment(),
        "records shown": RERANKED,
        "outcomes": dict(done),
        **measured,
    }
    if asked.out:
        asked.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1, ensure_ascii=False))


def _sample(collections: Sequence[Collection], most: int) -> list[tuple[Collection, Question]]:
    """Two thirds with an answer, one third without, where there are so many; the same each time."""
    every = [(collection, question) for collection in collections for question in collection.questions]
    random.Random(7).shuffle(every)
    without = [(c, q) for c, q in every if not q.answerable][: most // 3]
    return [(c, q) for c, q in every if q.answerable and q.relevant][: most - len(without)] + without


def _measured(
    memory: BenchMemory, depth: Depth, sample: Sequence[tuple[Collection, Question]], settings: Settings
) -> dict[str, Any]:
    before: list[dict[str, float]] = []
    after: list[dict[str, float]] = []
    emptied, seconds = Counter[str](), []
    for number, (collection, question) in enumerate(sample, 1):
        records = memory.ask(collection, question).ranking[:RERANKED]
        begun = time.perf_counter()
        deeper = depth(question.text, records, threshold=settings.recall_threshold, seconds=_PATIENCE)
        seconds.append(time.perf_counter() - begun)
        kind = "answerable" if question.answerable else "unanswerable"
        emptied[kind] += not deeper.records
        emptied[f"{kind}, asked"] += 1
        if question.answerable:
            before.append(_scores(records, question, memory.covers))
            after.append(_scores(deeper.records, question, memory.covers))
        print(
            f"{number} of {len(sample)}: {seconds[-1]:.1f} s, {len(deeper.records)} of {len(records)} left", flush=True
        )
    return {
        "percent": {
            name: {
                "in our order": round(100 * sum(row[name] for row in before) / len(before), 1),
                "as the model orders": round(100 * sum(row[name] for row in after) / len(after), 1),
                "difference": difference([row[name] for row in after], [row[name] for row in before]),
            }
            for name in before[0]
        },
        "nothing left": dict(emptied),
        "seconds a question": percentiles(seconds),
    }


def _scores(records: Sequence[Record], question: Question, covers: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """Of the relevant documents: how early the first stands, and how many stand among the first one, three, all."""
    held = [covers.get(record.id, frozenset()) & question.relevant for record in records]
    first = next((rank for rank, found in enumerate(held, 1) if found), 0)
    among = {f"recall@{cut}": len(frozenset().union(*held[:cut])) / len(question.relevant) for cut in (1, 3, 12)}
    return {"mrr": 1 / first if first else 0.0, **among}


if __name__ == "__main__":
    main()
