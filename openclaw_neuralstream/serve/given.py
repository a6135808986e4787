"""What a method was asked with: texts, numbers, names and whose memory, refused by name where they are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import OWNER, Scope

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
