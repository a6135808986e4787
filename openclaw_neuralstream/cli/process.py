"""The memory process: run it, end it, its log; and the memory served to editors (Model Context Protocol)."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from openclaw_neuralstream import foreground
from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import coloured, dim, good, inert, json_option, say, show_json
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.state import StateDir

if TYPE_CHECKING:
    from openclaw_neuralstream.server.protocol import Endpoint


@click.command()
@click.option("--background", is_flag=True, help="Start it, print where it answers as one JSON line, and return.")
@pass_state
def serve(state: StateDir, *, background: bool) -> None:
    """Run the memory process: one per state directory, ends itself when idle.

    OpenClaw and the other commands start it by themselves; in the foreground it shows why it does not start.

    \b
    Example:
      neuralstream serve
    """
    if background:
        from openclaw_neuralstream.server import server

        sys.exit(server.start(state, _run))
    _run(state, lambda where: click.echo(f"ready at {where.address} (pid {where.pid})", err=True))


def _run(state: StateDir, ready: Callable[[Endpoint], None]) -> None:
    # NumPy reads this when it is imported, which is now. More threads than one wait for each other on a busy machine:
    # embedding a question took 280 ms at the 95th percentile with two, 10 ms with one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    foreground.prefer_answers()  # before all that loads: a tenth of a start was looking for cycles in modules
    from openclaw_neuralstream.server.server import serve as run

    run(state, ready)


@click.command()
@json_option
@pass_state
def stop(state: StateDir, *, as_json: bool) -> None:
    """End the memory process; the next use starts it again. Nothing is lost.

    \b
    Example:
      neuralstream admin stop
    """
    from openclaw_neuralstream.server import client

    stopped = client.stop(state)
    if as_json:
        show_json({"stopped": stopped})
    elif stopped:
        good("the memory process has ended; the next use starts it again")
    else:
        say("no memory process runs")


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


@click.command()
@click.option("--agent", default="main", show_default=True, help="Whose memory.")
@click.option("--user", default="owner", show_default=True, help="Whose words: the owner's, or a sender's id.")
@click.option("--read-only", is_flag=True, help="Offer recall alone: nothing can be remembered or forgotten.")
@click.option(
    "--show-config", is_flag=True, help="Print the entry for the client's configuration, and do nothing else."
)
@pass_state
def mcp(state: StateDir, /, *, agent: str, user: str, read_only: bool, show_config: bool) -> None:
    """Serve recall, remember and forget over stdio, for clients of the Model Context Protocol.

    The client starts it; by hand only --show-config is of use. What is remembered this way carries the origin "agent".

    \b
    Example:
      neuralstream mcp --show-config
      claude mcp add neuralstream -- neuralstream mcp
    """
    if show_config:
        show_json({"mcpServers": {"neuralstream": _entry(state, agent, user, read_only=read_only)}})
        return
    from openclaw_neuralstream.server import mcp as mcp_server

    mcp_server.server(state, agent=agent, user=user, read_only=read_only).run("stdio")


def _entry(state: StateDir, agent: str, user: str, *, read_only: bool) -> dict[str, object]:
    command = shutil.which("neuralstream") or sys.argv[0]
    arguments = ["--state-dir", str(state.path), "mcp", "--agent", agent, "--user", user]
    return {"command": command, "args": [*arguments, *(["--read-only"] if read_only else [])]}
