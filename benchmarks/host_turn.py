"""What the plugin adds to a turn of a real gateway, with and without it in one run: `python -m benchmarks.host_turn`."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence

from benchmarks import report
from benchmarks.hosts import QUESTIONS, pair, turn


def main() -> None:
    """Turns alternate between two gateways, so that both see the same machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=48, help="turns of each gateway")
    parser.add_argument("--gems", type=int, default=500, help="gems in the memory besides those asked for")
    options = report.ready(parser)
    to_model: dict[str, list[float]] = {"without": [], "with": []}
    to_end: dict[str, list[float]] = {"without": [], "with": []}
    injected = 0
    with pair(options.gems) as (bare, remembering):
        for number, question in zip(range(options.turns), itertools.cycle(QUESTIONS), strict=False):
            message = f"{question} ({number})"
            session = f"agent:main:s{number // 8}"
            for name, host in (("without", bare), ("with", remembering)):
                request, model_ms, end_ms = turn(host, session, message)
                to_model[name].append(model_ms)
                to_end[name].append(end_ms)
                injected += "<neuralstream-memory" in request.asked
        counters = remembering.counters()
    body = {
        "turns": options.turns,
        "gems": options.gems,
        "turns_with_a_block": injected,
        "missed_deadlines": counters.get("recall.deadline", 0),
        "message_to_model_ms": {name: report.percentiles(values) for name, values in to_model.items()},
        "message_to_end_ms": {name: report.percentiles(values) for name, values in to_end.items()},
        "added_to_model_ms": median_difference(to_model),
        "added_to_end_ms": median_difference(to_end),
    }
    print(report.write("host-turn", body).read_text())


def median_difference(samples: dict[str, list[float]]) -> float:
    """The median of the differences within each pair of turns."""
    differences: Sequence[float] = sorted(b - a for a, b in zip(samples["without"], samples["with"], strict=True))
    return round(differences[len(differences) // 2], 1)


if __name__ == "__main__":
    main()
