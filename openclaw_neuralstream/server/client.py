"""Find the process or start it, say hello, ask."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

from openclaw_neuralstream import root
from openclaw_neuralstream.errors import NeuralStreamError, ProcessAway
from openclaw_neuralstream.server import protocol
from openclaw_neuralstream.server.protocol import PROTOCOL, Endpoint, RemoteError, decode, encode
from openclaw_neuralstream.state import StateDir, runs

_CONNECT_SECONDS = 2.0
_START_SECONDS = 30.0


class Door(Protocol):
    """Whatever answers the methods of `serve.methods`."""

    def call(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float = 60.0) -> Any:
        """The result. Raises RemoteError or another NeuralStreamError."""

    def close(self) -> None:
        """Let go of it."""


class SocketDoor:
    """A connection to the running process. Not for several threads at once.

    started: this client has started the process.
    """

    started = False

    def __init__(self, where: Endpoint, *, client: str = "cli", version: str = "") -> None:
        self._socket = protocol.connect(where, _CONNECT_SECONDS)
        self._lines = self._socket.makefile("rb")
        self._numbers = itertools.count(1)
        try:
            self.hello = self.call(
                "hello",
                {"protocol": PROTOCOL, "version": version or _version(), "client": client, "token": where.token},
            )
        except NeuralStreamError:
            self.close()
            raise

    def call(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float = 60.0) -> Any:
        """The result. Raises RemoteError with what the process answered, ProcessAway when it went away."""
        number = next(self._numbers)
        self._socket.settimeout(timeout)
        try:
            self._socket.sendall(encode({"id": number, "method": method, "params": dict(params or {})}))
            while line := self._lines.readline():
                message = decode(line)
                if message.get("id") == number:
                    return _result(message)
        except OSError as error:
            raise ProcessAway(f"no answer to {method} within {timeout:g} s", fix="neuralstream doctor") from error
        raise ProcessAway("the memory process went away", fix="neuralstream doctor")

    def close(self) -> None:
        """Hang up."""
        with suppress(OSError):
            self._lines.close()
            self._socket.close()


def find(state: StateDir, *, client: str = "cli") -> SocketDoor | None:
    """The running process; None when none answers. An older one is told to retire, and None returned.

    Raises StateError where a planted link could name another process than ours.
    """
    state.refuse_links(state.endpoint)
    where = protocol.load(state)
    if where is None:
        return None
    try:
        return SocketDoor(where, client=client)
    except ProcessAway:
        return None
    except RemoteError as error:
        if error.code == "version":
            return None
        if protocol.load(state) != where:  # another process has taken its place between reading and asking
            return find(state, client=client)
        raise


def connect(state: StateDir, *, client: str = "cli") -> SocketDoor:
    """The running process, or a new one. Raises ProcessAway, or what keeps it from starting."""
    until, started = time.monotonic() + _START_SECONDS, False
    while time.monotonic() < until:
        if door := find(state, client=client):
            door.started = started
            return door
        start(state)
        started = True
    raise ProcessAway("the memory process does not start", where=str(state.path), fix="neuralstream doctor")


def start(state: StateDir) -> None:
    """Start it in the background and wait until it is ready. Raises what it says keeps it from starting."""
    command = [sys.executable, "-m", "openclaw_neuralstream", "serve", "--state-dir", str(state.path), "--background"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_START_SECONDS,
            check=False,
            env=os.environ,
        )
    except subprocess.TimeoutExpired as error:
        raise ProcessAway(
            f"the memory process is not ready after {_START_SECONDS:g} s", fix="neuralstream serve shows why"
        ) from error
    if done.returncode:
        raise _reason(done.stdout)


def stop(state: StateDir, *, timeout: float = 15.0) -> bool:
    """Tell the running process to end and wait for it. False when none ran, or it still runs after `timeout` seconds."""
    named, door = endpoint_pid(state), find(state)
    if door is None:
        return False
    try:
        pid = int(door.call("shutdown")["pid"])
    except ProcessAway:  # it hung up before its answer was out: whether it ends is seen below
        if named is None:
            raise
        pid = named
    finally:
        door.close()
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        if endpoint_pid(state) != pid and not runs(pid):
            return True
        time.sleep(0.02)
    return False


def endpoint_pid(state: StateDir) -> int | None:
    """The process that the signs name; None when they are down."""
    where = protocol.load(state)
    return where.pid if where else None


def _reason(line: str) -> NeuralStreamError:
    try:
        return RemoteError(dict(json.loads(line)["error"]))
    except (ValueError, KeyError, TypeError):
        return ProcessAway("the memory process does not start", fix="neuralstream serve shows why")


def _result(message: dict[str, Any]) -> Any:
    if "error" in message:
        raise RemoteError(dict(message["error"] or {}))
    return message.get("result")


def _version() -> str:
    return str(root.manifest()["plugin"]["version"])
