"""What a turn and a question cost with 10 and with 2,000 sessions: the ratio is what counts.

`python -m benchmarks.sequences.cost`. CPU time, because the machine may be shared: one turn into the index, one question to the source,
and one writing of the files after one more turn.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.report import percentiles, ready, write
from openclaw_neuralstream.clock import utc_now
from openclaw_neuralstream.memory.sequencer import Desk
from openclaw_neuralstream.model import Origin, Query, Scope, Session, Turn, Utterance
from openclaw_neuralstream.recall.query import understand
from openclaw_neuralstream.recall.sequences import SequenceSource
from openclaw_neuralstream.sequences.index import PairIndex
from openclaw_neuralstream.sequences.rows import Policy
from openclaw_neuralstream.text.questions import question_hash

SIZES = (10, 2_000)
_PAIRS, _SAMPLES = 2, 40
_WORDS = [
    "server",
    "database",
    "invoice",
    "garden",
    "hotel",
    "train",
    "camera",
    "recipe",
    "tomato",
    "contract",
    "deadline",
    "budget",
    "meeting",
    "password",
    "backup",
    "ticket",
    "flight",
    "doctor",
    "music",
    "guitar",
    "river",
    "winter",
    "school",
    "kitchen",
    "window",
    "printer",
    "battery",
    "router",
    "novel",
    "museum",
    "passport",
    "visa",
    "insurance",
    "salary",
    "project",
    "release",
]


def run() -> dict[str, Any]:
    """Medians by size, and their ratio."""
    by_size = {size: _measured(size) for size in SIZES}
    few, many = (by_size[size] for size in SIZES)
    ratios = {name: round(many[name]["p50"] / max(few[name]["p50"], 1e-6), 2) for name in few}
    return {"sessions": {str(size): found for size, found in by_size.items()}, "ratio_of_medians": ratios}


def _measured(sessions: int) -> dict[str, dict[str, float]]:
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        index, root = PairIndex(Path(folder) / "index"), Path(folder) / "workspace"
        root.mkdir()
        for first in range(0, sessions, 100):
            index.add(
                [_turn(rng, s, n) for s in range(first, min(first + 100, sessions)) for n in range(_PAIRS)], Policy()
            )
        desk = Desk(index, large=50, clock=utc_now)
        desk.write(root, {"main"})
        source = SequenceSource(index)
        number = iter(range(10_000))
        return {
            "turn_ms": _timed(lambda: index.add([_turn(rng, sessions + next(number), 0)], Policy())),
            "question_ms": _timed(lambda: source.find(_question(rng), 40)),
            "files_ms": _timed(lambda: _written(index, desk, root, rng, sessions + next(number)), samples=10),
        }


def _written(index: PairIndex, desk: Desk, root: Path, rng: random.Random, session: int) -> None:
    index.add([_turn(rng, session, 0)], Policy())
    desk.write(root, {"main"})


def _question(rng: random.Random) -> Any:
    query = Query(_text(rng), Scope("main"), datetime(2026, 11, 21, tzinfo=UTC))
    return understand(query, dialogue_turns=0, hashed=question_hash)


def _turn(rng: random.Random, session: int, number: int) -> Turn:
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=session, minutes=number)
    said = (Utterance("owner", Origin.OWNER, _text(rng), at), Utterance("agent", Origin.AGENT, _text(rng, 30), at))
    return Turn(f"{session}-{number}", Scope("main"), Session("main", f"agent:main:s{session}", "host"), at, said)


def _text(rng: random.Random, words: int = 9) -> str:
    """Common words, as in real questions, and one that is rare."""
    return f"what about the {' '.join(rng.choices(_WORDS, k=words))} of item{rng.randrange(3_000)}?"


def _timed(work: Callable[[], object], samples: int = _SAMPLES) -> dict[str, float]:
    found = []
    for _ in range(samples):
        started = time.process_time()
        work()
        found.append(1_000 * (time.process_time() - started))
    return percentiles(found)


if __name__ == "__main__":
    ready(argparse.ArgumentParser(description=__doc__))
    body = run()
    print(write("sequences-cost", body))
    print(body)
