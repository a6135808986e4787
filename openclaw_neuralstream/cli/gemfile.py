"""Gems in a file: JSON lines or one JSON array, in the specification's format."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import BadRequest, NotFound, StateError
from openclaw_neuralstream.state import write_private

CHUNK = 200
"""Gems that travel to the process at once."""


def to_lines(gems: list[dict[str, Any]]) -> str:
    """One gem a line. Lone surrogates stay escaped: any text of a user can be exported."""
    return "".join(json.dumps(gem, ensure_ascii=_lone(gem)) + "\n" for gem in gems)


def to_array(gems: list[dict[str, Any]]) -> str:
    """One JSON array."""
    return json.dumps(gems, ensure_ascii=_lone(gems), indent=1) + "\n"


def write(path: Path, text: str) -> None:
    """An owner-only file, whole or not at all. Raises StateError."""
    try:
        write_private(path.absolute(), text)
    except OSError as error:
        raise StateError(f"cannot be written: {error.strerror or error}", where=str(path)) from error


def read(path: Path) -> list[dict[str, Any]]:
    """The gems of a file, "-" is stdin. Raises NotFound, or BadRequest that names the line."""
    text = _text(path)
    if text.lstrip().startswith("["):
        return _objects(_parsed(text, str(path)), str(path))
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return _objects([_parsed(line, f"{path}, line {number}") for number, line in lines], str(path))


def _text(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise NotFound("no such file", where=str(path)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"cannot be read: {error}", where=str(path)) from error


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"not JSON: {error}", where=where, fix="neuralstream gems export writes the format") from error


def _objects(items: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadRequest("not a list of gems", where=where, fix="neuralstream gems export writes the format")
    return items


def _lone(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
