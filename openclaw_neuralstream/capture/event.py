"""The host's event as typed values: every field checked once, what is absent is "" or None."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from openclaw_neuralstream.errors import BadRequest

_MS_LIMIT = 253_402_300_799_000  # the end of the year 9999


@dataclass(frozen=True, slots=True)
class Sender:
    """Who wrote the message; owner is None where the host does not say."""

    id: str
    owner: bool | None
    name: str


def text_field(event: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    """A string field; "" when absent. Raises BadRequest."""
    value = event.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value):
        raise BadRequest(f"{name} must be a{' non-empty' if required else ''} text", where="event")
    return value


def mapping_field(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """An object field; empty when absent. Raises BadRequest."""
    value = event.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadRequest(f"{name} must be an object", where="event")
    return value


def list_field(event: Mapping[str, Any], name: str) -> Sequence[Any]:
    """A list field; empty when absent. Raises BadRequest."""
    value = event.get(name)
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise BadRequest(f"{name} must be a list", where="event")
    return value


def require_object(event: object) -> None:
    """Raises BadRequest unless the event is a JSON object."""
    if not isinstance(event, Mapping):
        raise BadRequest("an event must be an object", where="event")


def sender_of(event: Mapping[str, Any]) -> Sender:
    """The event's `sender`. Raises BadRequest."""
    raw = mapping_field(event, "sender")
    owner = raw.get("owner")
    if owner is not None and not isinstance(owner, bool):
        raise BadRequest("sender.owner must be true, false or null", where="event")
    return Sender(text_field(raw, "id"), owner, text_field(raw, "name"))


def moment_of(milliseconds: object, default: datetime) -> datetime:
    """A time from milliseconds since 1970; the default when it is absent or no sensible time."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return default
    if not 0 < milliseconds < _MS_LIMIT:  # also false for NaN
        return default
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
