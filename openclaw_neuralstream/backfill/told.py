"""What every source gives: turns as the bridge would have sent them, in the order in which they were said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Told:
    """One turn of the past as a `turn_end` event.

    stretch: counts the windows of its session from the last one (0) back, so that no batch mixes two of them.
    """

    event: dict[str, Any]
    stretch: int = 0

    @property
    def at(self) -> float:
        """When it was said, in seconds since 1970; 0 when the source does not say."""
        return float(self.event.get("at") or 0) / 1000


@dataclass(slots=True)
class Unread:
    """What a source holds that is not read, by reason."""

    reasons: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, count: int = 1) -> None:
        """Count one more."""
        if count:
            self.reasons[reason] = self.reasons.get(reason, 0) + count


@dataclass(frozen=True, slots=True)
class Place:
    """Whose conversation it is: the agent that shall remember it, the session's key and id, what else the source knows."""

    agent: str
    key: str
    session_id: str
    more: Mapping[str, Any]


def turns_of(place: Place, messages: Sequence[Mapping[str, Any]], stretch: int = 0) -> Iterator[Told]:
    """Messages of one window, grouped into turns.

    A turn begins with a user's message; one that was put in while tools were at work belongs to the turn they work for.
    """
    group: list[Mapping[str, Any]] = []
    for message in messages:
        if message.get("role") == "user" and group and not _at_work(group[-1]):
            yield _told(place, group, stretch)
            group = []
        if group or message.get("role") == "user":
            group.append(message)
    if group:
        yield _told(place, group, stretch)


def milliseconds(value: object) -> float | None:
    """A time as sources write it: ISO 8601, seconds or milliseconds since 1970; None when it is none of them."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if value > 1e11 else float(value) * 1000
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000


def _at_work(message: Mapping[str, Any]) -> bool:
    return message.get("role") in ("toolResult", "tool") or message.get("stopReason") in ("toolUse", "tool_use")


def _told(place: Place, group: Sequence[Mapping[str, Any]], stretch: int) -> Told:
    first = group[0]
    event = {
        "run_id": _run(group),
        "agent": place.agent,
        "session_key": place.key,
        "session_id": place.session_id,
        "messages": [dict(message) for message in group],
        "at": first.get("timestamp"),
        **place.more,
    }
    return Told({name: value for name, value in event.items() if value is not None}, stretch)


def _run(group: Sequence[Mapping[str, Any]]) -> str:
    """The host's run: what it marks the user's message with, else the mark of the answer; "" where there is neither."""
    key = str(group[0].get("idempotencyKey") or "")
    if key.endswith(":user"):
        return key.removesuffix(":user")
    marks = (message.get("__openclaw") for message in group)
    return next((str(mark["runId"]) for mark in marks if isinstance(mark, Mapping) and mark.get("runId")), "")
