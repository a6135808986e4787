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
from typing import Any

from benchmarks.recall.baselines import Baselines
from benchmarks.recall.data import Collection, Question, load
from benchmarks.recall.memory import BenchMemory
from benchmarks.recall.metrics import Ranked, difference, score, summary
from benchmarks.report import environment, percentiles
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.ports import Embedder, TokenCounter
from openclaw_neuralstream.recall.calibration import told
from openclaw_neuralstream.settings import Settings

PIPELINE = "neuralstream"
_SETTINGS = ("max_gems_injected", "recall_threshold", "recall_token_budget", "recall_dialogue_turns", "weight_lexical")
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
    relevance: list[tuple[bool, float]] = field(default_factory=list)


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
    others = Baselines(collection, embedder) if embedder else None
    costs = {document.id: counter.count(document.text) for document in collection.documents}
    for question in collection.questions:
        answer = memory.ask(collection, question)
        covers = {record.id: memory.covers.get(record.id, frozenset()) for record in answer.ranking}
        tally.injected[question.answerable].append(bool(answer.injected))
        tally.relevance.append((question.answerable, _most_relevant(answer.ranking)))
        tally.ms.append(answer.ms)
        tally.tokens.append(answer.tokens)
        for stage, ms in answer.stages.items():
            tally.stages[stage].append(ms)
        if question.answerable and question.relevant:
            ranked = [
                Ranked(r.id, _judged(covers[r.id], collection, question), counter.count(r.text)) for r in answer.ranking
            ]
            _add(tally, PIPELINE, question, collection, score(ranked, question.relevant))
            for name, ids in (others.rankings(question) if others else {}).items():
                plain = [Ranked(i, _judged(frozenset({i}), collection, question), costs[i]) for i in ids]
                _add(tally, name, question, collection, score(plain, question.relevant))
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
        "threshold": told(embedder.identity, settings.recall_threshold),
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
        "abstention": _abstention(tally.relevance),
        "tokens_injected": percentiles(tally.tokens) if tally.tokens else {},
        "ms": percentiles(tally.ms) if tally.ms else {},
        "stage_ms": {stage: percentiles(values) for stage, values in tally.stages.items()},
    }


def _abstention(relevance: list[tuple[bool, float]]) -> dict[str, Any]:
    """How far any threshold can separate: the share of answerable questions kept where 10 % of the others are."""
    yes = sorted(value for answerable, value in relevance if answerable)
    no = sorted(value for answerable, value in relevance if not answerable)
    if not yes or not no:
        return {"relevance_quantiles_answerable": _quantiles(yes), "relevance_quantiles_unanswerable": _quantiles(no)}
    above = sum(sum(a > b for b in no) + 0.5 * sum(a == b for b in no) for a in yes)
    cut = no[min(len(no) - 1, int(0.9 * len(no)))]
    return {
        "auc": round(above / (len(yes) * len(no)), 3),
        "threshold_at_10_percent": round(cut, 3),
        "answerable_kept_there": round(100 * sum(value > cut for value in yes) / len(yes), 1),
        "relevance_quantiles_answerable": _quantiles(yes),
        "relevance_quantiles_unanswerable": _quantiles(no),
    }


def _quantiles(values: list[float]) -> list[float]:
    return (
        [round(values[min(len(values) - 1, int(share * len(values)))], 3) for share in (0.1, 0.25, 0.5, 0.75, 0.9)]
        if values
        else []
    )


def _most_relevant(ranking: Iterable[Any]) -> float:
    return max((record.factors["relevance"] for record in ranking), default=0.0)


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
    from openclaw_neuralstream.tokens import FormulaCounter, QwenCounter

    try:
        return QwenCounter()
    except ImportError:
        return FormulaCounter()
