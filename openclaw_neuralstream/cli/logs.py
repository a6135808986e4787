"""`neuralstream admin logs`: the events of the memory process. They never hold remembered text."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from pathlib import Path

import click

from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import coloured, dim, inert, show_json
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.state import StateDir

_FILE = "neuralstream.log"  # logs.FILE_NAME; importing that module would cost a tenth of a second
_LEVELS = ("debug", "info", "warning", "error")
_LEVEL = lazy(r"\blevel=(\w+)")
_COLOURS = {"warning": "yellow", "error": "red", "critical": "red", "debug": "bright_black"}
_POLL = 0.2


@click.command()
@click.option("-f", "--follow", is_flag=True, help="Stay, and show what comes; Ctrl-C ends it.")
@click.option("-n", "--lines", type=click.IntRange(0), default=50, show_default=True, help="How many of the last.")
@click.option("--level", type=click.Choice(_LEVELS), default="debug", help="Only this severity and worse.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of lines instead of text.")
@pass_state
def logs(state: StateDir, *, follow: bool, lines: int, level: str, as_json: bool) -> None:
    """What the memory process has been doing: one event a line, never what was said.

    \b
    Example:
      neuralstream admin logs --level warning
      neuralstream admin logs -f
    """
    tail = _Tail(state.logs / _FILE)
    last = deque((line for line in tail.new_lines() if _at_least(line, level)), maxlen=lines)
    if as_json:
        show_json(list(last))
        return
    for line in last:
        _show(line)
    if not last and not follow:
        dim(f"nothing in {tail.path}")
    pause = threading.Event()
    while follow and not pause.wait(_POLL):
        for line in tail.new_lines():
            if _at_least(line, level):
                _show(line)


class _Tail:
    """What has been written to a file since the last look; goes on in the new file when the log turns over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._position = 0
        self._inode = 0

    def new_lines(self) -> list[str]:
        """Whole lines only; [] while there is no file."""
        try:
            with self.path.open("rb") as file:
                now = os.fstat(file.fileno())
                if now.st_ino != self._inode or now.st_size < self._position:
                    self._position, self._inode = 0, now.st_ino
                file.seek(self._position)
                whole = file.read().rpartition(b"\n")
        except OSError:
            return []
        text = whole[0] + whole[1]
        self._position += len(text)
        return text.decode("utf-8", "replace").splitlines()


def _at_least(line: str, level: str) -> bool:
    found = _LEVEL.search(line)
    return found is None or found[1] not in _LEVELS or _LEVELS.index(found[1]) >= _LEVELS.index(level)


def _show(line: str) -> None:
    found = _LEVEL.search(line)
    colour = _COLOURS.get(found[1]) if found else None
    click.echo(click.style(inert(line), fg=colour) if colour else inert(line), color=coloured(sys.stdout))
