"""`neuralstream serve` and `stop`: run the memory process, end it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from openclaw_neuralstream import foreground
from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import good, json_option, say, show_json
from openclaw_neuralstream.state import StateDir

if TYPE_CHECKING:
    from openclaw_neuralstream.serve.endpoint import Endpoint


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
        from openclaw_neuralstream.serve import background as starter

        sys.exit(starter.start(state, _run))
    _run(state, lambda where: click.echo(f"ready at {where.address} (pid {where.pid})", err=True))


def _run(state: StateDir, ready: Callable[[Endpoint], None]) -> None:
    # NumPy reads this when it is imported, which is now. More threads than one wait for each other on a busy machine:
    # embedding a question took 280 ms at the 95th percentile with two, 10 ms with one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    foreground.prefer_answers()  # before all that loads: a tenth of a start was looking for cycles in modules
    from openclaw_neuralstream.serve.server import serve as run

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
    from openclaw_neuralstream.serve import client

    stopped = client.stop(state)
    if as_json:
        show_json({"stopped": stopped})
    elif stopped:
        good("the memory process has ended; the next use starts it again")
    else:
        say("no memory process runs")
