"""How much of each request a provider can read from its cache, with and without the plugin: `python -m benchmarks.prompt_cache`."""

from __future__ import annotations

import argparse
from itertools import pairwise

from benchmarks import report
from benchmarks.hosts import QUESTIONS, pair, turn


def main() -> None:
    """One conversation of several turns in each gateway, every question about something remembered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=12, help="turns of the conversation")
    options = report.ready(parser)
    wires: dict[str, list[str]] = {"without": [], "with": []}
    injected = 0
    with pair(gems=0) as (bare, remembering):
        for question in QUESTIONS[: options.turns]:
            for name, host in (("without", bare), ("with", remembering)):
                request, _, _ = turn(host, "agent:main:cached", question)
                wires[name].append(request.wire())
                injected += "<neuralstream-memory" in request.asked
    body = {
        "turns": options.turns,
        "turns_with_a_block": injected,
        "what": "share of the previous request's characters that is a common prefix of the next one, in percent",
        **{name: summary(texts) for name, texts in wires.items()},
    }
    print(report.write("prompt-cache", body).read_text())


def summary(wires: list[str]) -> dict[str, object]:
    """Mean, worst and each pair's share."""
    shares = [round(100 * common(before, after) / len(before), 1) for before, after in pairwise(wires)]
    return {"mean": round(sum(shares) / len(shares), 1), "worst": min(shares), "shares": shares}



def common(before: str, after: str) -> int:
    """How many characters both begin with."""
    most = min(len(before), len(after))
    return next((at for at in range(most) if before[at] != after[at]), most)


if __name__ == "__main__":
    main()
