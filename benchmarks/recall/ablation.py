"""What each part of the ranking is worth: one changed at a time, on the collections it was tuned on and on the others.

`python -m benchmarks.recall.ablation --data FILE … --tuned ID … [--out FILE]`. Recall@10 of answerable questions, in percent.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.recall.data import Collection, load
from benchmarks.recall.memory import BenchMemory
from benchmarks.recall.metrics import Ranked, score
from benchmarks.report import environment, ready
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.recall import engine, query, rank, turns
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.text.tokens import FormulaCounter

Patch = Mapping[tuple[Any, str], float]

VARIANTS: dict[str, tuple[Patch, dict[str, Any]]] = {
    "as it is": ({}, {}),
    "words 0.4": ({(engine, "LEXICAL_WEIGHT"): 0.4}, {}),
    "words 0.8": ({(engine, "LEXICAL_WEIGHT"): 0.8}, {}),
    "words alone": ({(engine, "LEXICAL_WEIGHT"): 1.0}, {}),
    "meaning alone": ({(rank, "STRETCH_WEIGHT"): 0, (engine, "LEXICAL_WEIGHT"): 0.0}, {}),
    "no neighbours": ({(turns, "BEFORE_WEIGHT"): 0, (turns, "AFTER_WEIGHT"): 0}, {}),
    "neighbours doubled": ({(turns, "BEFORE_WEIGHT"): 1.0, (turns, "AFTER_WEIGHT"): 0.6}, {}),
    "no conversation": ({(rank, "STRETCH_WEIGHT"): 0}, {}),
    "conversation doubled": ({(rank, "STRETCH_WEIGHT"): 1.0}, {}),
    "no names": ({(rank, "_MENTIONED"): 1.0, (rank, "_UNNAMED"): 1.0}, {}),
    "names stricter": ({(rank, "_MENTIONED"): 0.6, (rank, "_UNNAMED"): 0.3}, {}),
    "last message alone": ({}, {"recall_dialogue_turns": 0}),
    "dialogue fades faster": ({(query, "FADE"): 0.7}, {}),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall.ablation", description=__doc__)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--tuned", action="append", default=[], help="a collection that was looked at while tuning")
    parser.add_argument("--out", type=Path)
    asked = ready(parser, lambda _: False)
    collections = [collection for path in asked.data for collection in load(path)[1]]
    embedder = EmbeddedEmbedder()
    table: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        memory = BenchMemory(Path(folder), embedder, FormulaCounter(), Settings())
        for collection in collections:
            memory.feed_turns(collection, facts=False)
        for name, (patch, knobs) in VARIANTS.items():
            memory.settings = Settings(**knobs)
            with _patched(patch):
                table[name] = {collection.id: _recall(memory, collection) for collection in collections}
            print(f"{name:22s}", "  ".join(f"{key} {value:5.1f}" for key, value in table[name].items()), flush=True)
        memory.close()
    report = {"benchmark": "recall ablation", "environment": environment(), "tuned on": asked.tuned, "recall@10": table}
    if asked.out:
        asked.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _recall(memory: BenchMemory, collection: Collection) -> float:
    found = []
    for question in collection.questions:
        if question.answerable and question.relevant and not question.by_session:
            ranking = memory.ask(collection, question).ranking
            ranked = [Ranked(r.id, memory.covers.get(r.id, frozenset()), 0) for r in ranking]
            found.append(score(ranked, question.relevant)["recall@10"])
    return round(100 * sum(found) / max(len(found), 1), 1)


@contextmanager
def _patched(patch: Patch) -> Iterator[None]:
    before = {place: getattr(*place) for place in patch}
    for (module, name), value in patch.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name), value in before.items():
            setattr(module, name, value)


if __name__ == "__main__":
    main()
