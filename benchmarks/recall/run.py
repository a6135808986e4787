"""One data file through the pipeline and the baselines: rankings, measures, abstention, latency."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.recall.baselines import Baselines
from benchmarks.recall.data import Collection, Question, load
from benchmarks.recall.memory import BenchMemory
from benchmarks.recall.metrics import Ranked, difference, score, summary, told, within
from benchmarks.report import environment, percentiles
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.ports import Embedder, TokenCounter
from openclaw_neuralstream.recall.fit import FRAME_TOKENS, LINE_TOKENS
from openclaw_neuralstream.settings import Settings

PIPELINE = "neuralstream"
_SETTINGS = ("max_gems_injected", "recall_threshold", "recall_token_budget", "recall_dialogue_turns")
_KEPT = 50


@dataclass(slots=True)
class Tally:
    """What was measured so far."""

    rows: dict[str, dict[str, list[dict[str, float]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    collections: dict[str, dict[str, list[dict[str, float]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    injected: dict[bool, list[bool]] = field(default_factory=lambda: {True: [], False: []})
    ms: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    tokens: list[int] = field(default_factory=list)


def run(path: Path, rankings: Path | None, *, feed: str, baselines: bool, only: frozenset[str]) -> dict[str, Any]:
    """The measures of one file; rankings go to their file line by line."""
    name, collections = load(path)
    chosen = [collection for collection in collections if not only or collection.id in only]
    settings, embedder, counter = Settings(), EmbeddedEmbedder(), _counter()
    embedder.warm()
    tally = Tally()
    lines: list[str] = []
    progress = _Progress()
    with tempfile.TemporaryDirectory() as folder:
        memory = BenchMemory(Path(folder), embedder, counter, settings)
        try:
            for collection in chosen:
                progress.say(f"{collection.id}: taking in {len(collection.documents)} documents")
                if feed == "gems":
                    memory.feed_gems(collection)
                else:
                    memory.feed_turns(collection, facts=feed == "both")
            for collection in chosen:
                progress.say(f"{collection.id}: asking {len(collection.questions)} questions{_strays(collection)}")
                found = _measured(memory, collection, tally, counter, embedder if baselines else None)
                for number, line in enumerate(found, 1):
                    lines.append(line)
                    progress.now_and_then(f"{collection.id}: {number} of {len(collection.questions)}")
        finally:
            memory.close()
    if rankings:
        rankings.write_text("".join(lines), encoding="utf-8")
    return _report(name, chosen, tally, settings, embedder, feed=feed)


class _Progress:
    """Lines on stderr: each collection, and every few seconds how far it is."""

    _EVERY = 10.0

    def __init__(self) -> None:
        self._last = time.monotonic()

    def say(self, line: str) -> None:
        self._last = time.monotonic()
        print(line, file=sys.stderr, flush=True)

    def now_and_then(self, line: str) -> None:
        if time.monotonic() - self._last >= self._EVERY:
            self.say(line)


def _strays(collection: Collection) -> str:
    return (
        f" ({collection.strays} labels name nothing that is there; they count as not found)"
        if collection.strays
        else ""
    )


def _measured(
    memory: BenchMemory, collection: Collection, tally: Tally, counter: TokenCounter, embedder: Embedder | None
) -> Iterable[str]:
    others, settings = Baselines(collection, embedder) if embedder else None, memory.settings
    costs = {document.id: counter.count(document.text) for document in collection.documents}
    for question in collection.questions:
        answer = memory.ask(collection, question)
        covers = {record.id: memory.covers.get(record.id, frozenset()) for record in answer.ranking}
        tally.injected[question.answerable].append(bool(answer.injected))
        tally.ms.append(answer.ms)
        tally.tokens.append(answer.tokens)
        for stage, ms in answer.stages.items():
            tally.stages[stage].append(ms)
        if question.answerable and question.relevant:
            ranked = [
                Ranked(r.id, _judged(covers[r.id], collection, question), counter.count(r.text)) for r in answer.ranking
            ]
            by_id = {item.id: item for item in ranked}
            block = [by_id[id_] for id_ in answer.injected if id_ in by_id]
            row = score(ranked, question.relevant) | told(block, question.relevant, answer.tokens)
            _add(tally, PIPELINE, question, collection, row)
            for name, ids in (others.rankings(question) if others else {}).items():
                plain = [Ranked(i, _judged(frozenset({i}), collection, question), costs[i]) for i in ids]
                first = within(
                    plain[: settings.max_gems_injected], settings.recall_token_budget - FRAME_TOKENS, LINE_TOKENS
                )
                spent = FRAME_TOKENS + sum(item.tokens + LINE_TOKENS for item in first)
                _add(
                    tally,
                    name,
                    question,
                    collection,
                    score(plain, question.relevant) | told(first, question.relevant, spent),
                )
        yield (
            json.dumps(
                {
                    "id": question.id,
                    "ranking": [{"id": r.id, "covers": sorted(covers[r.id])} for r in answer.ranking[:_KEPT]],
                    "injected": list(answer.injected),
                    "tokens": answer.tokens,
                    "ms": round(answer.ms, 2),
                },
                ensure_ascii=False,
            )
            + "\n"
        )


def _report(
    name: str, collections: list[Collection], tally: Tally, settings: Settings, embedder: Embedder, *, feed: str
) -> dict[str, Any]:
    mine = tally.rows[PIPELINE]["all"]
    return {
        "dataset": name,
        "collections": [collection.id for collection in collections],
        "fed as": feed,
        "embedder": str(embedder.identity),
        "settings": {key: getattr(settings, key) for key in _SETTINGS},
        "environment": environment(),
        "systems": {
            system: {kind: summary(rows) for kind, rows in sorted(kinds.items())}
            for system, kinds in tally.rows.items()
        },
        "recall@10 of the pipeline minus": {
            system: difference([row["recall@10"] for row in mine], [row["recall@10"] for row in kinds["all"]])
            for system, kinds in tally.rows.items()
            if system != PIPELINE and mine
        },
        "by collection": {
            collection: {
                system: {
                    "questions": len(rows),
                    "recall@10": round(100 * sum(row["recall@10"] for row in rows) / len(rows), 1),
                    "ndcg@10": round(100 * sum(row["ndcg@10"] for row in rows) / len(rows), 1),
                }
                for system, rows in systems.items()
            }
            for collection, systems in tally.collections.items()
        },
        "injected_when_unanswerable": _share(tally.injected[False]),
        "injected_when_answerable": _share(tally.injected[True]),
        "told": _told(tally),
        "tokens_injected": percentiles(tally.tokens) | {"mean": round(mean(tally.tokens), 1)} if tally.tokens else {},
        "ms": percentiles(tally.ms) if tally.ms else {},
        "stage_ms": {stage: percentiles(values) for stage, values in tally.stages.items()},
    }


def _told(tally: Tally) -> dict[str, Any]:
    """Of each system: evidence recall of its block as a share of its ranking's first ten, and what a block is, by question type."""
    return {
        system: {
            kind: {
                "told": _percent(rows, "told"),
                "share of recall@10": round(
                    100 * sum(r["told"] for r in rows) / max(sum(r["recall@10"] for r in rows), 1e-9), 1
                ),
                "empty": _percent(rows, "empty"),
                "records": round(mean(row["records"] for row in rows), 1),
                "tokens": percentiles([row["tokens"] for row in rows])
                | {"mean": round(mean(r["tokens"] for r in rows), 1)},
            }
            for kind, rows in sorted(kinds.items())
            if rows
        }
        for system, kinds in tally.rows.items()
    }


def _percent(rows: list[dict[str, float]], name: str) -> float:
    return round(100 * mean(row[name] for row in rows), 1)


def _judged(covers: frozenset[str], collection: Collection, question: Question) -> frozenset[str]:
    return (
        frozenset(collection.sessions[i] for i in covers if i in collection.sessions) if question.by_session else covers
    )


def _add(tally: Tally, system: str, question: Question, collection: Collection, row: Mapping[str, float]) -> None:
    tally.collections[collection.id][system].append(dict(row))
    for kind in dict.fromkeys(("all", question.kind)):
        tally.rows[system][kind].append(dict(row))


def _share(values: list[bool]) -> float | None:
    return round(100 * sum(values) / len(values), 1) if values else None


def _counter() -> TokenCounter:
    from openclaw_neuralstream.text.tokens import FormulaCounter, QwenCounter

    try:
        return QwenCounter()
    except ImportError:
        return FormulaCounter()
