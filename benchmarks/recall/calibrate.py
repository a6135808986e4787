"""From which relevance on recall should speak: the least threshold at which one unanswerable question in ten injects.

`python -m benchmarks.recall.calibrate --data FILE … [--share 0.1] [--out FILE]`. Unanswerable are the questions that a file marks
so, and every third answerable one asked of another collection. Each file is fed twice: as turns, and with its facts (or,
without facts, its documents) as gems. The threshold is the greatest that any of these needs, so that all hold it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy

import argparse
import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.recall.data import Collection, DataError, Question, load
from benchmarks.recall.memory import BenchMemory
from benchmarks.report import environment, ready
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.ports import Embedder
from openclaw_neuralstream.recall.calibration import told
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.tokens import FormulaCounter

_EVERY = 3  # of the answerable questions, asked of another collection
_FEWEST = 20  # unanswerable questions below which nothing is concluded


@dataclass(frozen=True, slots=True)
class Asked:
    """One question's greatest relevance. kind: "answerable", "unanswerable" or "of another collection"."""

    fed: str
    kind: str
    relevance: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall.calibrate", description=__doc__)
    parser.add_argument("--data", type=Path, action="append", required=True)
    parser.add_argument("--share", type=float, default=0.1, help="of the unanswerable questions that may inject")
    parser.add_argument("--out", type=Path)
    asked = ready(parser, lambda _: False)
    embedder = EmbeddedEmbedder()
    try:
        found = [item for path in asked.data for item in _asked(path, embedder)]
    except DataError as error:
        parser.exit(2, f"{error}\n")
    report = {
        "benchmark": "recall calibration",
        "environment": environment(),
        "embedder": str(embedder.identity),
        "data": [path.name for path in asked.data],
        **calibrated(found, asked.share),
    }
    report["in use"] = {
        "threshold": Settings().recall_threshold,
        "why": told(embedder.identity, Settings().recall_threshold),
    }
    if asked.out:
        asked.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for fed, kinds in report["sets"].items():
        print(fed, kinds)
    print(f"{embedder.identity}: threshold {report['threshold']}; in use {report['in use']}")


def calibrated(found: Sequence[Asked], share: float) -> dict[str, Any]:
    """The threshold that holds the share on every set, and what it leaves of the answerable questions there."""
    groups: dict[tuple[str, str], list[float]] = {}
    for item in found:
        groups.setdefault((item.fed, item.kind), []).append(item.relevance)
    needs = {
        group: least(values, share)
        for group, values in groups.items()
        if group[1] != "answerable" and len(values) >= _FEWEST
    }
    threshold = max(needs.values(), default=0.0)
    sets: dict[str, dict[str, Any]] = {}
    for (fed, kind), values in sorted(groups.items()):
        shown = {"questions": len(values), "injects %": round(100 * _above(values, threshold), 1)}
        sets.setdefault(fed, {})[kind] = shown | ({"needs": needs[fed, kind]} if (fed, kind) in needs else {})
    return {"share": share, "threshold": threshold, "sets": sets}


def least(values: Sequence[float], share: float) -> float:
    """The least threshold, in hundredths, that at most this share of the values reaches."""
    ordered = sorted(values, reverse=True)
    over = ordered[min(int(share * len(ordered)), len(ordered) - 1)]
    return math.floor(100 * over + 1) / 100


def _above(values: Sequence[float], threshold: float) -> float:
    return sum(value >= threshold for value in values) / len(values)


def _asked(path: Path, embedder: Embedder) -> Iterator[Asked]:
    _, collections = load(path)
    facts = any(collection.facts for collection in collections)
    for feed in ("turns", "both" if facts else "gems"):
        with tempfile.TemporaryDirectory() as folder:
            memory = BenchMemory(Path(folder), embedder, FormulaCounter(), Settings())
            try:
                for collection in collections:
                    if feed == "gems":
                        memory.feed_gems(collection)
                    else:
                        memory.feed_turns(collection, facts=feed == "both")
                for place, collection in enumerate(collections):
                    stranger = collections[(place + 1) % len(collections)]
                    for kind, question in _questions(collection, stranger):
                        yield Asked(f"{path.stem} as {feed}", kind, memory.relevance(collection, question))
            finally:
                memory.close()


def _questions(collection: Collection, stranger: Collection) -> Iterator[tuple[str, Question]]:
    for question in collection.questions:
        yield "answerable" if question.answerable else "unanswerable", question
    if stranger.id != collection.id and not _translated(collection, stranger):
        answerable = [question for question in stranger.questions if question.answerable]
        for question in answerable[::_EVERY]:
            yield "of another collection", replace(question, answerable=False)


def _translated(one: Collection, other: Collection) -> bool:
    """Whether two collections hold the same things in two languages: then each answers the other's questions."""
    ids = {document.id for document in one.documents}
    return one.language != other.language and len(ids & {document.id for document in other.documents}) > len(ids) / 2


if __name__ == "__main__":
    main()
