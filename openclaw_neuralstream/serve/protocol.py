"""JSON lines: one object a line, UTF-8; requests, results, errors. Nothing here knows what a method does."""

from __future__ import annotations

import json
from typing import Any

from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, SettingsError

PROTOCOL = 1
MAX_LINE = 64 * 1024 * 1024
"""Bytes of one line at most; a longer one ends the connection."""

MAX_UNGREETED = 64 * 1024
"""The same before `hello`: nobody who has no token makes the process hold more."""


def encode(message: dict[str, Any]) -> bytes:
    """One line. Lone surrogates stay escaped, so that any text of a user can travel."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """The object on a line. Raises BadRequest when it is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"not a JSON line: {error}") from error
    if not isinstance(message, dict):
        raise BadRequest("a message must be a JSON object")
    return message


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
