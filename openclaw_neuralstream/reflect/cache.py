"""Answers of models kept by what was asked: the same evidence gives the same page, and costs nothing twice."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from openclaw_neuralstream.state import write_private

_KEPT = 90 * 86_400.0  # seconds since an answer was last used


class Answers:
    """A folder of small owner-only files. What does not read back was never there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Any:
        """What was kept, None when nothing was."""
        file = self._folder / f"{key}.json"
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            os.utime(file)
        except (OSError, ValueError):
            return None
        return found

    def put(self, key: str, value: Any) -> None:
        """Keep it. Raises OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self._folder / f"{key}.json", json.dumps(value, ensure_ascii=False) + "\n")

    def prune(self) -> None:
        """Drop what has not been used for a season."""
        oldest = time.time() - _KEPT
        for file in self._folder.glob("*.json") if self._folder.is_dir() else ():
            if file.stat().st_mtime < oldest:
                file.unlink(missing_ok=True)
