"""Indexing and queries: a full index, a second run with nothing changed, and questions to many notes.

    python -m benchmarks.notes.queries                       10,000 files indexed, queries over 100,000 notes
    python -m benchmarks.notes.queries --files 500 --notes 5000 --questions 50
    OPENCLAW_DIR=… python -m benchmarks.notes.queries --host-files 50

With OPENCLAW_DIR (and node on the path) the host's own `openclaw memory index` and `openclaw memory search` work on the same files, beside
ours as a command, process start included. The host takes half a second a file: it is given the first `--host-files`. It
searches by words alone there, as it does without a provider of embeddings; with one its index takes longer. What counts as found
is the file that holds the needle.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.notes import corpus
from openclaw_neuralstream import logs
from openclaw_neuralstream.clock import utc_now
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.model import Known, Period, Query, Scope, Wanted
from openclaw_neuralstream.recall import NoteSource, recall
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.text.lexicon import content_terms
from openclaw_neuralstream.text.tokens import FormulaCounter
from openclaw_neuralstream.workspace.index import NoteIndex
from openclaw_neuralstream.workspace.parse import parse

_TODAY = date(2026, 11, 20)
_BATCH = 500


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--files", type=int, default=10_000)
    asked.add_argument("--notes", type=int, default=100_000)
    asked.add_argument("--questions", type=int, default=300)
    asked.add_argument("--host-files", type=int, default=0)
    asked.add_argument("--no-result", action="store_true", help="print, and keep no result file")
    wanted = report.ready(asked, lambda wanted: not wanted.no_result)
    logs.configure("error")
    folder = Path(tempfile.mkdtemp(prefix="ns-notes-"))
    try:
        figures = {
            "harvest": harvest(folder / "ws", folder / "state", wanted.files),
            "queries": queries(folder / "many", wanted.notes, wanted.questions),
        }
        if wanted.host_files and os.environ.get("OPENCLAW_DIR"):
            figures["beside_host"] = beside_host(folder, wanted.host_files)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps(figures, indent=2, ensure_ascii=False))
    if not wanted.no_result:
        settings = {name: getattr(wanted, name) for name in ("files", "notes", "questions", "host_files")}
        print(report.write("notes-queries", {"settings": settings, "figures": figures}))


def harvest(root: Path, state: Path, files: int) -> dict[str, Any]:
    """Seconds of the whole way: found, read, parsed, indexed; then again with nothing changed."""
    planted = corpus.write(root, files)
    space = wiring.workspaces_of(StateDir(state), Settings(workspace=str(root))).for_agent("main")
    assert space is not None
    figures: dict[str, Any] = {"files": files, "megabytes": round(_size(root) / 1e6, 1)}
    for name in ("full", "unchanged"):
        start, cpu = time.perf_counter(), time.process_time()
        space.harvest()
        figures[f"{name}_seconds"] = round(time.perf_counter() - start, 3)
        figures[f"{name}_cpu_seconds"] = round(time.process_time() - cpu, 3)
    index = space.index
    assert index is not None
    sample = planted[:: max(1, len(planted) // 200)]
    figures["wrong_citations"] = sum(not _cites(index, plan) for plan in sample)
    space.close()
    return figures


def _cites(index: Any, plan: corpus.Planted) -> bool:
    hits = index.find_words([plan.needle], Wanted(), limit=1)
    entry = index.fetch([hit.id for hit in hits]).get(hits[0].id) if hits else None
    return entry is not None and (entry.path, entry.line) == (plan.path, plan.line)


def queries(folder: Path, notes: int, questions: int) -> dict[str, Any]:
    """Milliseconds of the index alone and of recall over it (one question, no vectors), by kind of question."""
    index = NoteIndex.of(folder)
    files = 0
    batch = []
    for plan, text in corpus.documents(notes):
        batch.append(parse(plan.path, text.encode()))
        files += 1
        if len(batch) >= _BATCH:
            index.replace(batch, {document.path: Known("", 0, 0) for document in batch})
            batch = []
            if index.stored() >= notes:
                break
    index.replace(batch, {document.path: Known("", 0, 0) for document in batch})
    draw = random.Random(3)
    texts = _texts(draw, files, questions)
    recent = Wanted(period=Period(_TODAY - timedelta(days=30), _TODAY))
    source = NoteSource(lambda _scope: index)
    figures: dict[str, Any] = {"stored": index.stored(), "files": files}
    for kind, asked in texts.items():
        figures[f"{kind}_ms"] = _timed(asked, lambda text: index.find_words(content_terms(text), Wanted(), limit=40))
    figures["common_last_30_days_ms"] = _timed(
        texts["common"], lambda text: index.find_words(content_terms(text), recent, limit=40)
    )
    figures["recall_ms"] = _timed(
        [text for asked in texts.values() for text in asked][: 2 * questions],
        lambda text: recall(
            Query(text, Scope("main"), utc_now()), sources=(source,), settings=Settings(), counter=FormulaCounter()
        ),
    )
    index.close()
    return figures


def _texts(draw: random.Random, files: int, questions: int) -> dict[str, list[str]]:
    return {
        "rare": [f"needle{draw.randrange(files):06d}" for _ in range(questions)],
        "common": [" ".join(draw.sample(corpus.ENGLISH, 5)) for _ in range(questions)],
        "russian": [" ".join(draw.sample(corpus.RUSSIAN, 4)) for _ in range(questions)],
        "chinese": ["".join(draw.sample(corpus.CHINESE, 4)) for _ in range(questions)],
        "person": [f"what does {draw.choice(corpus.PEOPLE)} prefer?" for _ in range(questions)],
        "days": [f"what happened around {draw.randint(1, 28)} October" for _ in range(questions)],
    }


def _timed(asked: Sequence[str], ask: Callable[[str], object]) -> dict[str, float]:
    samples = []
    for text in asked:
        start = time.perf_counter()
        ask(text)
        samples.append(1_000 * (time.perf_counter() - start))
    return report.percentiles(samples)


def beside_host(folder: Path, files: int) -> dict[str, Any]:
    """The host's own memory commands and ours on the same files, each as a person types them."""
    home, root = folder / "home", folder / "home" / "workspace"
    planted = corpus.write(root, files)
    config = home / "openclaw.json"
    config.write_text(json.dumps({"agents": {"defaults": {"workspace": str(root)}}}), encoding="utf-8")
    environ = {
        **os.environ, "OPENCLAW_HOME": str(home), "OPENCLAW_STATE_DIR": str(home), "OPENCLAW_CONFIG_PATH": str(config),
        "NEURALSTREAM_STATE_DIR": str(folder / "own"), "NEURALSTREAM_WORKSPACE": str(root),
    }  # fmt: skip
    host = ["node", str(Path(os.environ["OPENCLAW_DIR"]) / "openclaw.mjs"), "memory"]
    own = [sys.executable, "-m", "openclaw_neuralstream"]
    plan = planted[len(planted) // 2]
    needle = plan.needle
    steps = {
        "own_index": [*own, "harvest"],
        "own_index_again": [*own, "harvest"],
        "host_index": [*host, "index"],
        "host_index_again": [*host, "index"],
        "own_search_first": [*own, "recall", needle, "--files"],
        "own_search": [*own, "recall", needle, "--files"],
        "host_search": [*host, "search", needle],
    }
    figures: dict[str, Any] = {"files": files}
    for name, command in steps.items():
        start = time.perf_counter()
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=1_800, check=False)
        figures[f"{name}_seconds"] = round(time.perf_counter() - start, 3)
        if done.returncode:
            figures[f"{name}_failed"] = (done.stderr or done.stdout)[-300:]
        elif name.endswith(("search", "search_first")):
            figures[f"{name}_found"] = plan.path in done.stdout  # a snippet may end before the needle does
    subprocess.run([*own, "admin", "stop"], env=environ, capture_output=True, timeout=60, check=False)
    return figures


def _size(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*.md"))


if __name__ == "__main__":
    main()
