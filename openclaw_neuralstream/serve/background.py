"""Start the process and step away from it: the starter prints where it answers and ends at once."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from filelock import FileLock, Timeout

from openclaw_neuralstream.errors import NeuralStreamError, ProcessAway, StateBusy
from openclaw_neuralstream.serve import endpoint
from openclaw_neuralstream.serve.protocol import failure
from openclaw_neuralstream.state import StateDir

_WAIT_SECONDS = 25.0

Run = Callable[[StateDir, Callable[[endpoint.Endpoint], None]], None]
"""Serves a state directory and says when it is ready."""


def start(state: StateDir, run: Run) -> int:
    """Fork, let the child serve, print its endpoint as one JSON line when it answers. Returns an exit code.

    When another process serves the state directory already, its endpoint is printed; when that one is about to end,
    the start is tried again. `run` imports the heavy parts itself, so that the starter stays light.
    """
    until = time.monotonic() + _WAIT_SECONDS
    message = _fork(state, run)
    while _busy(message) and time.monotonic() < until:
        where = _answering(state)
        if where:
            message = where.to_json()
        elif not _held(state):  # while it starts, or ends, a fork would cost it the processor and come to nothing
            message = _fork(state, run)
    print(json.dumps(message), flush=True)  # noqa: T201  this line is the protocol
    return 1 if "error" in message else 0


def _fork(state: StateDir, run: Run) -> dict[str, Any]:
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        _child(state, run, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        line = said.readline()
    died = {"error": failure(ProcessAway("the memory process died at its start", fix="neuralstream serve shows why"))}
    message: dict[str, Any] = json.loads(line) if line else died
    return message


def _child(state: StateDir, run: Run, writer: int) -> None:
    os.setsid()
    _let_go_of_terminal()

    said = False

    def say(message: dict[str, Any]) -> None:
        nonlocal said
        if not said:  # once: afterwards the pipe's number may belong to another file
            said = True
            os.write(writer, json.dumps(message).encode() + b"\n")
            os.close(writer)

    try:
        run(state, lambda where: say(where.to_json()))
    except NeuralStreamError as error:
        say({"error": failure(error)})
    except Exception as error:  # noqa: BLE001  process border: whatever it is, the starter can tell it
        say({"error": failure(ProcessAway(f"{type(error).__name__}: {error}", fix="neuralstream serve shows why"))})
    finally:
        os._exit(0)


def _let_go_of_terminal() -> None:
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _busy(message: dict[str, Any]) -> bool:
    return bool(message.get("error", {}).get("code") == StateBusy.code)


def _held(state: StateDir) -> bool:
    """Whether a process has the state directory to itself just now."""
    try:
        with FileLock(state.lock, mode=0o600, timeout=0):
            return False
    except Timeout:
        return True


def _answering(state: StateDir) -> endpoint.Endpoint | None:
    """Where the faster process answers; None when it still starts, or ends."""
    where = endpoint.load(state)
    if where is None:
        time.sleep(0.05)
        return None
    try:
        endpoint.connect(where, 0.5).close()
    except ProcessAway:
        time.sleep(0.05)
        return None
    return where
