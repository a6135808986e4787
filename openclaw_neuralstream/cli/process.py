"""`neuralstream serve`: run the memory process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from openclaw_neuralstream.state import StateDir, state_dir

if TYPE_CHECKING:
    from openclaw_neuralstream.serve.endpoint import Endpoint


@click.command()
@click.option("--state-dir", "folder", type=click.Path(path_type=Path, file_okay=False), help="State directory to serve.")
@click.option("--background", is_flag=True, help="Start it, print where it answers as one JSON line, and return.")
def serve(folder: Path | None, *, background: bool) -> None:
    """Run the memory process: one per state directory, ends itself when idle."""
    state = StateDir(folder.absolute()) if folder else state_dir()
    if background:
        from openclaw_neuralstream.serve import background as starter

        sys.exit(starter.start(state, _run))
    _run(state, lambda where: click.echo(f"ready at {where.address} (pid {where.pid})", err=True))


def _run(state: StateDir, ready: Callable[[Endpoint], None]) -> None:
    from openclaw_neuralstream.serve.server import serve as run

    run(state, ready)
