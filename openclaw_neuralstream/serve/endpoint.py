"""Where the running process answers: `serve.json` in the state directory, and the socket it names."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import ProcessAway
from openclaw_neuralstream.serve.protocol import PROTOCOL
from openclaw_neuralstream.state import StateDir, write_private

_BACKLOG = 1024  # connections that may wait to be accepted, as far as the system allows
_LONGEST_PATH = 100  # bytes; sun_path is 104 on macOS and 108 on Linux


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address ("unix:/path" or "tcp:127.0.0.1:port"), the process behind it, and the token that opens it."""

    address: str
    pid: int
    version: str
    token: str
    protocol: int = PROTOCOL

    def to_json(self) -> dict[str, Any]:
        """As it stands in `serve.json`."""
        return asdict(self)

    def save(self, state: StateDir) -> None:
        """Let clients find it."""
        write_private(state.endpoint, json.dumps(self.to_json()) + "\n")


def load(state: StateDir) -> Endpoint | None:
    """The endpoint that was last saved; None when there is none or it does not read. Says nothing about life."""
    try:
        data = json.loads(state.endpoint.read_text(encoding="utf-8"))
        return Endpoint(
            str(data["address"]), int(data["pid"]), str(data["version"]), str(data["token"]), int(data["protocol"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def listen(state: StateDir, version: str) -> tuple[socket.socket, Endpoint]:
    """Bind, tell where, and listen; only the holder of the lock may call this: a socket file left behind is removed.

    Clients can find the token before anybody listens: nobody is answered who still has an earlier process's token.
    """
    token = secrets.token_hex(16)
    if not hasattr(socket, "AF_UNIX"):
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        server.bind(("127.0.0.1", 0))
        address = f"tcp:127.0.0.1:{server.getsockname()[1]}"
        return _announced(server, Endpoint(address, os.getpid(), version, token), state)
    path = _socket_path(state)
    path.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    old = os.umask(0o177)
    try:
        server.bind(str(path))
    finally:
        os.umask(old)
    return _announced(server, Endpoint(f"unix:{path}", os.getpid(), version, token), state)


def _announced(server: socket.socket, where: Endpoint, state: StateDir) -> tuple[socket.socket, Endpoint]:
    where.save(state)
    server.listen(_BACKLOG)
    return server, where


def connect(endpoint: Endpoint, timeout: float) -> socket.socket:
    """A connected socket. Raises ProcessAway when nobody answers there."""
    kind, _, where = endpoint.address.partition(":")
    try:
        if kind == "unix":
            client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            client.settimeout(timeout)
            client.connect(where)
            return client
        host, _, port = where.rpartition(":")
        return socket.create_connection((host, int(port)), timeout=timeout)
    except (OSError, ValueError) as error:
        raise ProcessAway("the memory process does not answer", where=endpoint.address) from error


def remove(state: StateDir, endpoint: Endpoint) -> None:
    """Take the signs down, if they are still ours."""
    if load(state) == endpoint:
        state.endpoint.unlink(missing_ok=True)
        if endpoint.address.startswith("unix:"):
            Path(endpoint.address.removeprefix("unix:")).unlink(missing_ok=True)


def _socket_path(state: StateDir) -> Path:
    inside = state.path / "serve.sock"
    if len(os.fsencode(inside)) <= _LONGEST_PATH:
        return inside
    name = hashlib.sha256(os.fsencode(state.path)).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"neuralstream-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid() or folder.stat().st_mode & 0o077:
        raise ProcessAway("the folder for the socket belongs to someone else", where=str(folder), fix=f"rm -r {folder}")
    return folder / f"{name}.sock"
