"""The socket's protocol: frames and errors as JSON lines, and where the process listens."""

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

from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, ProcessAway, SettingsError
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.state import StateDir, write_private

PROTOCOL = 1
MAX_LINE = 64 * 1024 * 1024
"""Bytes of one line at most; a longer one ends the connection."""

MAX_UNGREETED = 64 * 1024
"""The same before `hello`: nobody who has no token makes the process hold more."""


MOST_NESTED = 64
"""Objects and lists inside each other; what a host tells has a dozen."""

_HALVES = lazy(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")
_FORM: tuple[tuple[str, type, str], ...] = (
    ("method", str, "a text"),
    ("params", dict, "an object"),
    ("error", dict, "an object"),
)


def encode(message: dict[str, Any]) -> bytes:
    """One line. Lone surrogates stay escaped, so that any text of a user can travel."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """The message on a line, as everything behind it may trust it to be. Raises BadRequest when it is none.

    A request has a text as its method and an object as its params; an id is a text or a whole number; an error is an object.
    All texts can be encoded: half a character (a lone surrogate, as JavaScript cuts texts) becomes U+FFFD. No number is NaN
    or infinite, and nothing is nested deeper than `MOST_NESTED`.
    """
    try:
        message = json.loads(line, parse_constant=_no_number)
        if _HALVES.search(line):
            told = json.dumps(message, ensure_ascii=False).encode("utf-16", "surrogatepass")
            message = json.loads(told.decode("utf-16", "replace"))
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"not a JSON line: {error}") from error
    if not isinstance(message, dict):
        raise BadRequest("a message must be a JSON object")
    if "method" in message and not _shallow(message):
        raise BadRequest(f"a message is nested at most {MOST_NESTED} deep")
    message.update({name: {} for name in ("params", "error") if name in message and not message[name]})
    for name, kind, called in _FORM:
        if not isinstance(message.get(name, kind()), kind):
            raise BadRequest(f"{name} must be {called}", where=name)
    return message


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _shallow(value: Any, left: int = MOST_NESTED) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left > 0 and all(_shallow(one, left - 1) for one in inner if isinstance(one, dict | list))


def failure(error: NeuralStreamError) -> dict[str, Any]:
    """An error as it travels."""
    body: dict[str, Any] = {"code": error.code, "message": error.what, "where": error.where, "fix": error.fix}
    if isinstance(error, SettingsError):
        body["problems"] = error.problems
    return body


class RemoteError(NeuralStreamError):
    """An error that the process answered; `code` is that of the original."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.code = str(body.get("code", "error"))
        self.problems = list(body.get("problems", ()))
        super().__init__(
            str(body.get("message", "failed")), where=str(body.get("where", "")), fix=str(body.get("fix", ""))
        )


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
