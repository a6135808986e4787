"""Whether the source of sequences costs anything where nobody asks follow-ups: a data file of benchmarks/recall with and without it.

`python -m benchmarks.sequences.check --data FILE [--only COLLECTION …] [--questions N]`. A sequence covers the documents whose words it shows.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.recall.data import Collection, Question, load
from benchmarks.recall.memory import BenchMemory
from benchmarks.recall.metrics import Ranked, difference, score, summary
from benchmarks.report import percentiles, ready, write
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.memory.wiring import NEIGHBOURS
from openclaw_neuralstream.model import Record, Turn
from openclaw_neuralstream.ports import TokenCounter
from openclaw_neuralstream.recall import SequenceSource
from openclaw_neuralstream.sequences.index import PairIndex
from openclaw_neuralstream.sequences.rows import Policy
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.text.tokens import FormulaCounter

_SHOWN = 40  # characters at the beginning of a document by which it is recognised in a sequence
_MEASURES = ("recall@5", "recall@10", "recall@500tokens", "recall@1000tokens", "recall@2000tokens")
WITHOUT, WITH = "turns", "turns and sequences"


def run(path: Path, only: frozenset[str], most: int) -> dict[str, Any]:
    """The measures of both, and their paired difference."""
    name, collections = load(path)
    chosen = [collection for collection in collections if not only or collection.id in only]
    settings, embedder, counter = Settings(), EmbeddedEmbedder(), FormulaCounter()
    embedder.warm()
    places: list[int] = []  # of the first sequence of each ranking
    rows: dict[str, list[dict[str, float]]] = {WITHOUT: [], WITH: []}
    with tempfile.TemporaryDirectory() as folder:
        memory = BenchMemory(Path(folder), embedder, counter, settings)
        pairs = PairIndex(Path(folder) / "sequences")
        answers: dict[str, str] = {}
        for collection in chosen:
            _feed(memory, collection, pairs, answers)
        plain = memory.sources
        source = SequenceSource(pairs, answers=lambda ids: {id_: answers[id_] for id_ in ids})
        for collection in chosen:
            for question in [q for q in collection.questions if q.answerable and q.relevant][: most or None]:
                for system, sources in ((WITHOUT, plain), (WITH, (*plain, source))):
                    memory.sources = sources
                    ranking = memory.ask(collection, question).ranking
                    places += [n for n, record in enumerate(ranking, 1) if record.kind == "sequence"][:1]
                    rows[system].append(
                        score(_ranked(memory, collection, question, ranking, counter), question.relevant)
                    )
        totals = pairs.totals()
        pairs.close()
        memory.close()
    return {
        "dataset": name,
        "collections": [collection.id for collection in chosen],
        "settings": {"qa_neighbours": NEIGHBOURS, "recall_threshold": settings.recall_threshold},
        "systems": {system: _some(summary(found)) for system, found in rows.items()},
        "difference": {m: difference([r[m] for r in rows[WITH]], [r[m] for r in rows[WITHOUT]]) for m in _MEASURES},
        "questions": len(rows[WITH]),
        "pairs": totals.pairs,
        "rankings with a sequence": len(places),
        "place of the first sequence": percentiles(places) if places else {},
    }


def _feed(memory: BenchMemory, collection: Collection, pairs: PairIndex, answers: dict[str, str]) -> None:
    add = memory.passages.add

    def both(turns: Sequence[Turn], *given: Any) -> int:
        pairs.add(turns, Policy())
        answers.update({turn.turn_id: turn.text_of("agent") for turn in turns})
        return add(turns, *given)

    memory.passages.add = both  # type: ignore[method-assign]
    memory.feed_turns(collection, facts=False)
    memory.passages.add = add  # type: ignore[method-assign]


def _ranked(
    memory: BenchMemory, collection: Collection, question: Question, ranking: Sequence[Record], counter: TokenCounter
) -> list[Ranked]:
    found = []
    for record in ranking:
        covers = memory.covers.get(record.id, frozenset())
        if record.kind == "sequence":
            shown = " ".join(record.text.split())
            covers = frozenset(d.id for d in collection.documents if " ".join(d.text.split())[:_SHOWN] in shown)
        if question.by_session:
            covers = frozenset(collection.sessions[i] for i in covers if i in collection.sessions)
        found.append(Ranked(record.id, covers, counter.count(record.text)))
    return found


def _some(measures: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in measures.items() if name in _MEASURES}


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--questions", type=int, default=0, help="of each collection; 0 = all")
    given = ready(parser)
    body = run(given.data, frozenset(given.only), given.questions)
    print(write("sequences-check", body))
    print(body["systems"], body["difference"])


if __name__ == "__main__":
    main()
