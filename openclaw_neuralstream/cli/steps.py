"""Steps as a person watches them: a spinner while one runs, what it waits for when it takes long, a line when it has ended."""

from __future__ import annotations

import sys
import threading
from typing import Any, Self

import click

from openclaw_neuralstream.cli.host.install import Step
from openclaw_neuralstream.cli.output import coloured, inert

_MARKS = {"done": ("✔", "green"), "failed": ("✘", "red"), "skipped": ("-", "yellow")}

_LONG = 10.0  # seconds after which a step says what it waits for


class Watch:
    """Tells of steps on stderr, so that stdout stays free for --json. Use as a context manager."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._status: Any = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def __call__(self, step: Step) -> None:
        """What `Steps` calls."""
        if self._quiet:
            return
        self._stop()
        if step.state == "running":
            self._spin(step.title)
            self._timer = threading.Timer(_LONG, self._tell_wait, [step])
            self._timer.daemon = True
            self._timer.start()
            return
        mark, colour = _MARKS[step.state]
        detail = click.style(f"  {inert(step.detail)}", dim=True) if step.detail else ""
        took = click.style(f"  {step.seconds:.1f} s", dim=True) if step.seconds >= 1 else ""
        click.echo(click.style(mark, fg=colour) + f" {step.title}{detail}{took}", err=True, color=coloured(sys.stderr))

    def _spin(self, title: str) -> None:
        if not sys.stderr.isatty():
            return
        from rich.console import Console

        self._status = Console(stderr=True, highlight=False, markup=False).status(f"{title} …")
        self._status.start()

    def _tell_wait(self, step: Step) -> None:
        if self._status is not None:
            self._status.update(f"{step.title} … waiting for {step.waits}")
        else:
            click.echo(f"… {step.title}: waiting for {step.waits}", err=True)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()  # nothing is told of a step that has ended
            self._timer = None
        if self._status is not None:
            self._status.stop()
            self._status = None


def as_json(steps: list[Step]) -> list[dict[str, Any]]:
    """What became of each step."""
    return [{"step": s.name, "state": s.state, "detail": s.detail, "fix": s.fix, "seconds": s.seconds} for s in steps]
