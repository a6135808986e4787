"""Items that another capture layer wrote: one message or one whole turn each, in the JSON forms met in the field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openclaw_neuralstream.capture.event import text_of
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.text.lines import moment

_ROLES = {
    **dict.fromkeys(("user", "human", "owner", "person"), "user"),
    **dict.fromkeys(("assistant", "ai", "agent", "bot", "model"), "assistant"),
    **dict.fromkeys(("tool", "function", "toolresult", "tool_result"), "toolResult"),
    **dict.fromkeys(("system", "developer"), "system"),
}
_ROLE = ("role", "speaker", "type")
_TEXT = ("content", "text", "message", "body")
_ASKED = ("user", "user_message", "user_msg", "human", "prompt", "question", "input", "query")
_ANSWERED = (
    "assistant",
    "assistant_message",
    "ai_response",
    "ai",
    "response",
    "answer",
    "reply",
    "output",
    "completion",
)
_MESSAGES = ("messages", "conversation", "turns")
_AT = ("timestamp", "ts", "time", "at", "created_at", "createdAt")
_SESSION = ("session", "session_key", "session_id", "sessionId", "conversation_id", "thread_id", "chat_id")
_USER = ("user_id", "userId", "author", "sender")
_ID = ("id", "message_id", "turn_id", "run_id", "uuid")
_NUMBER = ("turn", "turn_number", "index", "seq")
_AGENT = ("agent", "agent_id", "agentId")
_WRAPPED = ("data", "payload", "json", "value", "turn", "message")


@dataclass(frozen=True, slots=True)
class Piece:
    """An item as we understand it. ref: the list's own name for it. at: milliseconds since 1970, 0 = not told.

    messages: as the host writes them (role, content, timestamp). whole: the item is a turn by itself.
    """

    ref: str
    agent: str
    session: str
    user: str
    at: int
    identity: str
    messages: tuple[Mapping[str, Any], ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Heard:
    """The pieces of one turn, oldest first. complete: nothing more can belong to it."""

    pieces: tuple[Piece, ...]
    complete: bool

    @property
    def refs(self) -> tuple[str, ...]:
        """The items it is made of."""
        return tuple(piece.ref for piece in self.pieces)

    @property
    def answered(self) -> bool:
        """Whether the assistant has said something in it."""
        return any(message["role"] == "assistant" for piece in self.pieces for message in piece.messages)

    @property
    def last_at(self) -> int:
        """When its last piece was written, in milliseconds; 0 = not told."""
        return max(piece.at for piece in self.pieces)


def read_piece(ref: str, data: bytes | Mapping[str, Any]) -> Piece | None:
    """The item; None for a shape that we do not know. Never raises for what stands in it."""
    item = _opened(data)
    if item is None:
        return None
    messages, whole = _messages(item)
    if not messages:
        return None
    at = _moment(_first(item, _AT))
    named = _USER if whole and isinstance(item.get("user"), str) and _text(item, _ANSWERED) else (*_USER, "user")
    session, user = _word(_first(item, _SESSION)), _word(_first(item, named))
    told = [_word(_first(item, names)) for names in (_ID, _NUMBER)]
    said = "\x1f".join(text_of(message.get("content")) for message in messages)
    stamped = tuple({"timestamp": at, **message} if at else message for message in messages)
    identity = digest("capture", session, user, str(at), *told, messages[0]["role"], said)
    return Piece(ref, _word(_first(item, _AGENT)), session, user, at, identity, stamped, whole)


def turns_of(pieces: Sequence[Piece], *, falling: bool = False) -> list[Heard]:
    """The pieces as turns, oldest first: a user's message and what follows it in its session until the next one.

    Another person's message begins a turn of that person's; an answer that names whom it answers goes to theirs.
    Written newest first (times fall, or `falling` says so), they are turned round. The last turn of each session may still grow.
    """
    ordered = list(reversed(pieces)) if falling or newest_first(pieces) else list(pieces)
    found: list[list[Piece]] = []
    last: dict[tuple[str, ...], list[Piece]] = {}  # of each session, and of each person in it
    for piece in ordered:
        place, person = (piece.agent, piece.session), (piece.agent, piece.session, piece.user)
        named = last.get(person) if piece.user and not _asks(piece) else None
        open_ = named or last.get(place)
        if open_ is not None and not piece.whole and _belongs(open_, piece):
            open_.append(piece)
            continue
        last[place] = last[person] = group = [piece]
        found.append(group)
    growing = {id(group) for group in last.values() if not group[0].whole}
    return [Heard(tuple(group), id(group) not in growing) for group in found]


def newest_first(pieces: Sequence[Piece]) -> bool:
    """Whether the times fall from the first piece that tells one to the last."""
    times = [piece.at for piece in pieces if piece.at]
    return len(times) > 1 and times[0] > times[-1]


def event_of(heard: Heard, *, source: str, agent: str, owners: Iterable[str], now: datetime) -> dict[str, Any]:
    """The turn as the bridge would tell it. source: the list's name; agent: for items that name none.

    The owner is whoever is named in `owners`, whoever the list's name ends with ("mem:rob"), and who has no name.
    """
    first = heard.pieces[0]
    owned = not first.user or first.user in {*owners, source.rpartition(":")[2]}
    return {
        "run_id": f"capture-{first.identity}",
        "agent": first.agent or agent,
        "session_key": f"capture:{first.session or source}",
        "session_id": first.session,
        "messages": [message for piece in heard.pieces for message in piece.messages],
        "channel": "capture",
        "sender": {"id": first.user, "owner": owned, "name": first.user},
        "at": first.at or round(now.timestamp() * 1000),
    }


def _belongs(group: list[Piece], piece: Piece) -> bool:
    """A message goes on with a turn unless it is another person's, or the user's after somebody has answered."""
    if group[0].whole:
        return False
    return not _asks(piece) or (piece.user == group[0].user and all(map(_asks, group)))


def _asks(piece: Piece) -> bool:
    return bool(piece.messages[0]["role"] == "user")


def _opened(data: bytes | Mapping[str, Any]) -> Mapping[str, Any] | None:
    """JSON, or the fields of a stream's entry; one of these may hold the JSON of all."""
    if isinstance(data, Mapping):
        inner = next((opened for name in _WRAPPED if (opened := _object(data.get(name)))), None)
        return {**data, **inner} if inner else data
    return _object(data)


def _object(value: Any) -> Mapping[str, Any] | None:
    if not isinstance(value, bytes | str):
        return None
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _messages(item: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], bool]:
    """Messages and whether they are a turn by themselves; ([], …) for an unknown shape."""
    listed = _first(item, _MESSAGES)
    if isinstance(listed, list):
        found = [_message(part) for part in listed if isinstance(part, Mapping)]
        known: list[Mapping[str, Any]] = [message for message in found if message is not None]
        return (known if len(known) == len(listed) else []), True
    if (single := _message(item)) is not None:
        return [single], False
    asked, answered = _text(item, _ASKED), _text(item, _ANSWERED)
    if not asked or "role" in item or "speaker" in item:
        return [], True
    return [
        {"role": "user", "content": asked},
        *([{"role": "assistant", "content": answered}] if answered else []),
    ], bool(answered)


def _message(item: Mapping[str, Any]) -> dict[str, Any] | None:
    role = _ROLES.get(_word(_first(item, _ROLE)).lower())
    content = _first(item, _TEXT)
    if role is None or not isinstance(content, str | list) or not text_of(content).strip():
        return None
    at = _moment(_first(item, _AT))
    name = _word(item.get("name") or item.get("toolName"))
    return {"role": role, "content": content, **({"timestamp": at} if at else {}), **({"name": name} if name else {})}


def _first(item: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((item[name] for name in names if item.get(name) not in (None, "")), None)


def _text(item: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((value for name in names if isinstance(value := item.get(name), str) and value.strip()), "")


def _word(value: Any) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _moment(value: Any) -> int:
    """Milliseconds from an ISO time, seconds, milliseconds or microseconds since 1970; 0 for anything else."""
    if isinstance(value, str):
        try:
            return round(moment(value.strip()).timestamp() * 1000)
        except (BadRequest, OverflowError):
            value = float(value) if value.strip().replace(".", "", 1).isdecimal() else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e17:
        return 0
    return round(value * 1000 if value < 1e11 else value if value < 1e14 else value / 1000)
