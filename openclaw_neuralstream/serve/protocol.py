"""JSON lines: one object a line, UTF-8; requests, results, errors. Nothing here knows what a method does."""

from __future__ import annotations

import json
from typing import Any

from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, SettingsError
from openclaw_neuralstream.patterns import lazy

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
