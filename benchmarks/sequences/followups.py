"""Follow-up questions with and without the source of sequences: what of the needed answers is found, and in the block.

`python -m benchmarks.sequences.followups [OUT.json]`. The stories of `stories.py` go in as events of the bridge, all of them in one memory
of one agent; questions come as prompts. Without: verbatim turns alone. With: the source of sequences beside them. An
answer counts as found when a record shows its words.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.recall.metrics import difference
from benchmarks.report import environment, percentiles, ready, write
from benchmarks.sequences.stories import STORIES, FollowUp, Story
from openclaw_neuralstream.capture import Skipped, read_query, read_turn
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.model import Query, Record
from openclaw_neuralstream.recall import SequenceSource, Source, TurnSource, recall
from openclaw_neuralstream.sequences.index import PairIndex
from openclaw_neuralstream.sequences.rows import Policy
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.store.passages import PassageIndex
from openclaw_neuralstream.text.tokens import FormulaCounter
from tests.passages import add

_START = datetime(2026, 3, 2, 9, tzinfo=UTC)
_RECORDS = 5
_SHOWN = 30  # characters at the beginning of an answer by which it is recognised
WITHOUT, KEPT, WITH = "turns", "turns and sequences, kept answers alone", "turns and sequences"
KINDS = ("nothing before it", "after a message", "by itself")


@dataclass(slots=True)
class Tally:
    """Per system and kind: shares of the needed answers, and what a block cost."""

    block: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    first: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    tokens: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    ms: list[float] = field(default_factory=list)


def run() -> dict[str, Any]:
    """Feed a story, ask its question of the next window; at the end ask the others, when all stories are there."""
    embedder, settings, tally = EmbeddedEmbedder(), Settings(), Tally()
    embedder.warm()
    with tempfile.TemporaryDirectory() as folder:
        passages = PassageIndex(Path(folder) / "turns", embedder.identity)
        pairs = PairIndex(Path(folder))
        turns = TurnSource(passages, embedder)
        answers: dict[str, str] = {}
        systems: dict[str, Sequence[Source]] = {
            WITHOUT: (turns,),
            KEPT: (turns, SequenceSource(pairs)),
            WITH: (turns, SequenceSource(pairs, answers=lambda ids: {id_: answers[id_] for id_ in ids})),
        }
        at = _START
        for number, story in enumerate(STORIES):
            at = _START + timedelta(days=number % 7, hours=number // 7)
            read = [read_turn(_event(story, n, at), now=at, settings=settings) for n in range(len(story.pairs))]
            taken = [turn for turn in read if not isinstance(turn, Skipped)]
            add(passages, taken, embedder.embed_documents)
            pairs.add(taken, Policy())
            answers |= {turn.turn_id: turn.text_of("agent") for turn in taken}
            _ask(systems, story, story.asked[0], KINDS[0], at + timedelta(minutes=30), settings, tally)
        for story in STORIES:
            for asked, kind in zip(story.asked[1:], KINDS[1:], strict=True):
                _ask(systems, story, asked, kind, _START + timedelta(days=9), settings, tally)
        kept = pairs.totals()
        pairs.close()
        passages.close()
    return _report(tally, settings, kept.answers / kept.pairs)


def _ask(  # noqa: PLR0917
    systems: dict[str, Sequence[Source]], story: Story, asked: FollowUp, kind: str, now: datetime, settings: Settings, tally: Tally
) -> None:  # fmt: skip
    query = read_query(_prompt(story, asked), now=now, settings=settings)
    if not isinstance(query, Query):
        raise SystemExit(f"capture skipped {asked.text}")
    for name, sources in systems.items():
        started = time.perf_counter()
        found = recall(query, sources=sources, settings=settings, counter=FormulaCounter())
        if name == WITH:
            tally.ms.append(found.stage_ms.get("sequences", 1_000 * (time.perf_counter() - started)))
        ranking = sorted([*found.records, *(d.record for d in found.dropped)], key=lambda r: (-r.score, r.id))
        for where in ("all", kind, story.language):
            tally.block[name][where].append(_share(found.records, story, asked))
            tally.first[name][where].append(_share(ranking[:_RECORDS], story, asked))
        tally.tokens[name].append(sum(record.tokens for record in found.records))


def _share(records: Sequence[Record], story: Story, asked: FollowUp) -> float:
    shown = "\n".join(" ".join(record.text.split()) for record in records)
    needed = [story.pairs[number - 1][1][:_SHOWN] for number in asked.needed]
    return sum(answer in shown for answer in needed) / len(needed)


def _event(story: Story, number: int, at: datetime) -> dict[str, Any]:
    question, answer = story.pairs[number]
    when = int((at + timedelta(minutes=2 * number)).timestamp() * 1_000)
    return {
        "run_id": f"{story.name}-{number}",
        "agent": "main",
        "session_key": f"agent:main:{story.name}",
        "session_id": story.name,
        "messages": [
            {"role": "user", "content": question, "timestamp": when},
            {"role": "assistant", "content": answer, "timestamp": when + 5_000},
        ],
        "sender": {"id": "owner", "owner": True},
        "at": when,
    }


def _prompt(story: Story, asked: FollowUp) -> dict[str, Any]:
    return {
        "agent": "main",
        "session_key": f"agent:main:{story.name}",
        "session_id": story.name,
        "prompt": asked.text,
        "dialogue": [{"role": "user", "text": text} for text in asked.before],
        "sender": {"id": "owner", "owner": True},
    }


def _report(tally: Tally, settings: Settings, kept: float) -> dict[str, Any]:
    rows = tally.block[WITH]
    return {
        "questions": len(rows["all"]),
        "answers_kept": round(100 * kept, 1),
        "settings": {
            key: getattr(settings, key) for key in ("max_gems_injected", "recall_threshold", "recall_token_budget")
        },
        "needed answers in the block, percent": _table(tally.block),
        f"needed answers in the first {_RECORDS} records, percent": _table(tally.first),
        "tokens of the block": {name: percentiles(values) for name, values in tally.tokens.items()},
        "milliseconds of the source": percentiles(tally.ms),
    }


def _table(rows: dict[str, dict[str, list[float]]]) -> dict[str, Any]:
    return {
        where: {
            **{name: _percent(rows[name][where]) for name in (WITHOUT, KEPT, WITH)},
            "difference": difference(rows[WITH][where], rows[WITHOUT][where]),
            "n": len(rows[WITH][where]),
        }
        for where in rows[WITH]
    }


def _percent(values: Sequence[float]) -> dict[str, float]:
    """The mean and its 95 % bootstrap interval."""
    return difference(values, [0.0] * len(values))


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, nargs="?", help="where the measures go (JSON)")
    asked = ready(parser)
    body = run()
    if asked.out:
        import json

        asked.out.write_text(json.dumps({"environment": environment(), **body}, ensure_ascii=False, indent=1) + "\n")
    else:
        print(write("sequences-followups", body))
    for where, row in body["needed answers in the block, percent"].items():
        print(
            f"{where:18} {row[WITHOUT]['mean']:5} -> {row[KEPT]['mean']:5} -> {row[WITH]['mean']:5}  {row['difference']}"
        )


if __name__ == "__main__":
    main()
