"""`python -m benchmarks.recall --data FILE --out METRICS.json --rankings RANKINGS.jsonl`; see README.md."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: two spinning threads on busy cores measure the queue

import argparse
import json
from pathlib import Path

from benchmarks.recall.data import DataError
from benchmarks.recall.run import PIPELINE, run
from benchmarks.report import ready


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a file of the form described in README.md")
    parser.add_argument("--out", type=Path, help="where the measures go (JSON)")
    parser.add_argument("--rankings", type=Path, help="where the rankings go (JSON lines)")
    parser.add_argument(
        "--feed",
        choices=("turns", "both", "gems"),
        default="turns",
        help="documents as turns; as turns, with the file's facts as gems (both); documents as gems",
    )
    parser.add_argument("--no-baselines", action="store_true", help="the pipeline only")
    parser.add_argument("--collection", action="append", default=[], help="only this collection (may be repeated)")
    asked = ready(parser, lambda _: False)
    try:
        report = run(
            asked.data,
            asked.rankings,
            feed=asked.feed,
            baselines=not asked.no_baselines,
            only=frozenset(asked.collection),
        )
    except DataError as error:
        parser.exit(2, f"{error}\n")
    if asked.out:
        asked.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    _show(report)


def _show(report: dict[str, object]) -> None:
    systems = report["systems"]
    assert isinstance(systems, dict)
    for system, kinds in sorted(systems.items(), key=lambda item: item[0] != PIPELINE):
        for kind, row in kinds.items():
            if kind == "all" or system == PIPELINE:
                cuts = "  ".join(
                    f"{name} {row[name]['mean']:5.1f}"
                    for name in ("recall@10", "told", "empty", "recall@5", "recall@20", "ndcg@10")
                )
                print(f"{system:22s} {kind:16s} n={row['questions']['n']:4d}  {cuts}")
    told = report["told"]
    assert isinstance(told, dict)
    print("told", told.get(PIPELINE, {}).get("all"))
    for name in ("injected_when_answerable", "injected_when_unanswerable", "ms", "tokens_injected"):
        print(name, report[name])


if __name__ == "__main__":
    main()
