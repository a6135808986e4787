"""`neuralstream logs`: the events of the memory process. They never hold remembered text."""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import click

from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import coloured, dim, inert
from openclaw_neuralstream.state import StateDir

_FILE = "neuralstream.log"  # logs.FILE_NAME; importing that module would cost a tenth of a second
_LEVELS = ("debug", "info", "warning", "error")
_LEVEL = re.compile(r"\blevel=(\w+)")
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
      neuralstream logs --level warning
      neuralstream logs -f
    """
    path = state.logs / _FILE
    last = deque((line for line in _read(path) if _at_least(line, level)), maxlen=lines)
    if as_json:
        from openclaw_neuralstream.cli.output import show_json

        show_json(list(last))
        return
    for line in last:
        _show(line)
    if not last and not follow:
        dim(f"nothing in {path}")
    if follow:
        for line in _follow(path):
            if _at_least(line, level):
                _show(line)


def _read(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _follow(path: Path) -> Iterator[str]:
    """Lines as they come; goes on in the new file when the log turns over. Ends with the process."""
    pause = threading.Event()
    position, inode = (path.stat().st_size, path.stat().st_ino) if path.exists() else (0, 0)
    while not pause.wait(_POLL):
        if not path.exists():
            continue
        now = path.stat()
        if now.st_ino != inode or now.st_size < position:
            position, inode = 0, now.st_ino
        with path.open("rb") as file:
            file.seek(position)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                position += len(line)
                yield line.decode("utf-8", "replace").rstrip("\n")


def _at_least(line: str, level: str) -> bool:
    found = _LEVEL.search(line)
    return found is None or found[1] not in _LEVELS or _LEVELS.index(found[1]) >= _LEVELS.index(level)


def _show(line: str) -> None:
    import sys

    found = _LEVEL.search(line)
    colour = _COLOURS.get(found[1]) if found else None
    click.echo(click.style(inert(line), fg=colour) if colour else inert(line), color=coloured(sys.stdout))
    if os.name == "posix":
        sys.stdout.flush()
