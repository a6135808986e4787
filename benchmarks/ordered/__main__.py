"""`python -m benchmarks.ordered [--out FILE] [--half dev] [--rows FILE]`: timelines, summaries and what stands, measured."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: two spinning threads on busy cores measure the queue

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.ordered.conversations import HALVES, LANGUAGES, ConversationError, load
from benchmarks.ordered.run import MEASURES, SYSTEMS, report, run
from benchmarks.report import environment, ready, write
from openclaw_neuralstream import logs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordered", description=__doc__)
    parser.add_argument(
        "--out", type=Path, help="where the measures go (JSON); without it benchmarks/results/ordered.json"
    )
    parser.add_argument("--rows", type=Path, help="where every question's block and what it lacks go (JSON lines)")
    parser.add_argument("--half", choices=HALVES, help="only this half; what is being worked on looks at dev alone")
    parser.add_argument("--language", choices=LANGUAGES, help="only this language")
    asked = ready(parser, lambda asked: not asked.half and not asked.language)
    logs.configure("error")
    try:
        conversations = [
            c for c in load() if asked.half in (None, c.half) and asked.language in (None, c.language)
        ]  # fmt: skip
    except ConversationError as error:
        parser.exit(2, f"{error}\n")
    to_terminal = Console(stderr=True)
    with to_terminal.status("…") as status:
        rows, settings = run(conversations, status.update if to_terminal.is_terminal else _nothing)
    body = {"conversations": [c.name for c in conversations], **report(rows, settings)}
    if asked.rows:
        lines = (json.dumps(row.told(), ensure_ascii=False) + "\n" for row in rows)
        asked.rows.write_text("".join(lines), encoding="utf-8")
    if asked.out:
        named = {"benchmark": asked.out.stem, "environment": environment(), **body}
        asked.out.write_text(json.dumps(named, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    elif not asked.half and not asked.language:
        print(write("ordered", body))
    _show(body["percent"])
    print("tokens of the block", json.dumps(body["tokens of the block"], ensure_ascii=False))


def _nothing(_: str) -> None:
    """Nobody watches."""


def _show(percent: dict[str, Any]) -> None:
    table = Table("half", "questions", "measure", "language", "n", *SYSTEMS)
    for half, kinds in percent.items():
        for kind, measures in kinds.items():
            for measure in MEASURES[kind]:
                for where, found in measures[measure].items():
                    cells = [_cell(found[system]) for system in SYSTEMS]
                    table.add_row(half, kind, measure, where, str(found[SYSTEMS[0]]["n"]), *cells)
    Console().print(table)


def _cell(found: dict[str, float]) -> str:
    return f"{found['mean']} [{found['low']}, {found['high']}]" if found["n"] else "–"


if __name__ == "__main__":
    main()
