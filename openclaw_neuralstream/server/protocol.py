"""The socket's protocol: frames, parameters, where the endpoint is."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, ProcessAway, SettingsError
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import OWNER, RECORD_KINDS, Period, Record, Scope, Wanted
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.state import StateDir, write_private
from openclaw_neuralstream.text.lines import instant
from openclaw_neuralstream.text.when import option

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


Params = Mapping[str, Any]
Method = Callable[[Memory, Params], Any]


def text(params: Params, name: str, default: str | None = None) -> str:
    """A text; without a default it must say something. Raises BadRequest."""
    value = _said(params, name, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise BadRequest(f"{name} must be a text, and not an empty one", where=name, fix=f"say the {name} in words")
    return value


def whole(params: Params, name: str, default: int = 0, *, most: int | None = None) -> int:
    """A whole number from 0 (to `most`). Raises BadRequest."""
    value = _said(params, name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0 or (most is not None and value > most):
        raise BadRequest(f"{name} must be a whole number from 0 {'on' if most is None else f'to {most}'}", where=name)
    return value


def texts(params: Params, name: str, default: list[str] | None = None) -> list[str]:
    """A list of texts. Raises BadRequest."""
    value = _said(params, name, default)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadRequest(f"{name} must be a list of texts", where=name)
    return value


def mapping(params: Params, name: str) -> Mapping[str, Any]:
    """An object; empty when nothing is said. Raises BadRequest."""
    value = _said(params, name, {})
    if not isinstance(value, Mapping):
        raise BadRequest(f"{name} must be an object", where=name)
    return value


def _said(params: Params, name: str, default: Any) -> Any:
    """What is null was not said."""
    value = params.get(name)
    return default if value is None else value


def scope(params: Params) -> Scope:
    """Whose memory it is about: the owner's of `main` where nothing is said. Raises BadRequest."""
    agent, user = (text(params, name, "") for name in ("agent", "user"))
    return Scope(agent or "main", user or OWNER, text(params, "project", ""))


SOURCES = ("gems", "turns", "notes", "sequences")
NARROWING = ("since", "until", "as_of", "entity", "kind", "tag", "replaced", "sources")
"""The parameters of a question that narrow it."""


def narrowed(params: Mapping[str, Any]) -> bool:
    """Whether a person narrowed the question at all."""
    return any(params.get(name) for name in NARROWING)


def wanted_of(params: Mapping[str, Any], now: datetime) -> Wanted | None:
    """What is wanted; None when nothing is narrowed. Raises BadRequest that names what is not understood."""
    today = now.date()
    as_of = _time(params, "as_of", today)
    wanted = Wanted(
        period=_period(_time(params, "since", today), _time(params, "until", today)),
        entities=_words(params, "entity"),
        kinds=_kinds(params),
        tags=_words(params, "tag"),
        as_of=as_of,
        superseded=bool(params.get("replaced", False)),
    )
    return None if wanted == Wanted() else wanted


def sources_of(params: Mapping[str, Any]) -> frozenset[str]:
    """The kinds of memory that are asked; empty = all."""
    named = _words(params, "sources")
    unknown = set(named) - set(SOURCES)
    if unknown:
        raise BadRequest(f"no such source: {', '.join(sorted(unknown))}", fix=f"one of {', '.join(SOURCES)}")
    return frozenset(named)


def _period(since: Period | None, until: Period | None) -> Period | None:
    if since is None and until is None:
        return None
    return Period(since.start if since else None, until.end if until else None)


def _time(params: Mapping[str, Any], name: str, today: date) -> Period | None:
    said = params.get(name) or ""
    if not isinstance(said, str):
        raise BadRequest(f"{name} must be a text", where=name)
    if not said.strip():
        return None
    found = option(said, today)
    if found is None:
        raise BadRequest(
            f"{said!r} is no time that is understood", where=name, fix='try 30d, 2w, 2025-11, 2025-11-27 or "last week"'
        )
    return found


def _kinds(params: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = tuple(kind.lower() for kind in _words(params, "kind"))
    unknown = [kind for kind in kinds if kind not in RECORD_KINDS]
    if unknown:
        raise BadRequest(f"no such kind: {', '.join(unknown)}", where="kind", fix=f"one of {', '.join(RECORD_KINDS)}")
    return kinds


def _words(params: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = params.get(name) or ()
    words = (value,) if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise BadRequest(f"{name} must be a list of texts", where=name)
    return tuple(dict.fromkeys(word.strip().lstrip("@#") for word in words if word.strip()))[:50]


def record_to_json(record: Record) -> dict[str, Any]:
    """A record as the CLI and the tools show it; kind, timestamp, entities, content and source are the spec's form."""
    return {
        **asdict(record),
        "at": instant(record.at),
        "origin": record.origin.value,
        "score": round(record.score, 4),
        "timestamp": record.when or ("" if "#L" in record.citation else f"{record.at:%Y-%m-%d}"),
        "content": record.text,
        "source": record.citation,
    }
