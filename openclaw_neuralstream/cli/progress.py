"""A bar with the time that is left, on a terminal; nothing in a pipe."""

from __future__ import annotations

import sys
from typing import Any, Self


class Bar:
    """Use as a context manager; call it with what is done, and with the total where that changes."""

    def __init__(self, label: str, total: float | None = None, *, quiet: bool = False) -> None:
        self._bar: Any = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task(label, total=total)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, done: float, total: float | None = None) -> None:
        """So much is done."""
        if self._bar:
            self._bar.update(self._task, completed=done, **({"total": total} if total is not None else {}))
