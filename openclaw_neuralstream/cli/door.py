"""The way from a command to the memory process: found, or started when it is away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from openclaw_neuralstream.serve import client
from openclaw_neuralstream.state import StateDir

pass_state = click.make_pass_decorator(StateDir)
"""Gives a command the state directory as its first argument."""


@contextmanager
def opened(state: StateDir) -> Iterator[client.Door]:
    """A door to the process, closed at the end. Raises what keeps it from starting."""
    door = client.connect(state)
    try:
        yield door
    finally:
        door.close()


def ask(state: StateDir, method: str, params: Mapping[str, Any] | None = None, *, timeout: float = 60.0) -> Any:
    """One question to the process."""
    with opened(state) as door:
        return door.call(method, params, timeout=timeout)
