"""The way from a command to the memory process: found, or started when it is away."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import click

from openclaw_neuralstream.cli.output import warn
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir

PATIENCE = 8.0
"""Seconds that a command waits for the workspace to be indexed and the embedding model to be loaded."""

_LOOK_SECONDS = 0.1

pass_state = click.make_pass_decorator(StateDir)
"""Gives a command the state directory as its first argument."""


@contextmanager
def opened(state: StateDir, *, make: bool = False) -> Iterator[client.SocketDoor]:
    """A door to the process, closed at the end. Raises what keeps it from starting.

    make: begin a memory in a named directory that is none, for what brings something to keep; else a mistyped one stays as it is.
    """
    door = client.connect(state if make else state.found())
    try:
        yield door
    finally:
        door.close()


def ask(
    state: StateDir, method: str, params: Mapping[str, Any] | None = None, *, timeout: float = 60.0, make: bool = False
) -> Any:
    """One question to the process; make: as `opened` has it."""
    with opened(state, make=make) as door:
        return door.call(method, params, timeout=timeout)


def ask_ready(
    state: StateDir, method: str, params: Mapping[str, Any], *, patience: float = PATIENCE
) -> tuple[Any, list[str]]:
    """One question, after waiting some seconds for a process that is still starting; and what is not there yet even so.

    For commands alone: a reply never waits.
    """
    with opened(state) as door:
        late = _waited(door, {"agent": params.get("agent", "main")}, patience)
        return door.call(method, params), late


def say_late(late: list[str]) -> None:
    """Say that an answer may be incomplete, and why."""
    if late:
        warn(f"something may be missing: {' and '.join(late)}; ask again in a moment")


def _waited(door: client.Door, agent: Mapping[str, Any], patience: float) -> list[str]:
    """What is still starting when the patience is over; a spinner on a terminal says what is waited for."""
    late: list[str] = door.call("starting", agent)["starting"]
    if not late or patience <= 0:
        return late
    until = time.monotonic() + patience
    with _spinner(late):
        while late and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
            late = door.call("starting", agent)["starting"]
    return late


def _spinner(late: list[str]) -> AbstractContextManager[object]:
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(f"{' and '.join(late)} …")
