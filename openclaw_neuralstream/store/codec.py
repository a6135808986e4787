"""A turn as JSON bytes and back, exact for every Python string, lone surrogates included."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Origin, Scope, Session, Turn, Utterance, digest


def turn_to_bytes(turn: Turn) -> bytes:
    """UTF-8 JSON; lone surrogates pass as the three bytes that UTF-8 would give them."""
    return json.dumps(_plain(turn), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def turn_from_bytes(data: bytes) -> Turn:
    """The inverse of `turn_to_bytes`. Raises BadRequest when the bytes are not a turn."""
    try:
        return _turn(json.loads(data.decode("utf-8", "surrogatepass")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRequest(f"stored bytes are not a turn: {type(error).__name__}") from error


def batch_id_of(turn_ids: list[str] | tuple[str, ...]) -> str:
    """The id of a batch: the same turns in the same order are the same batch, whoever claims them, however often."""
    return digest("batch", *turn_ids)


def seconds(moment: datetime) -> float:
    """Seconds since 1970; a moment without a zone is taken as UTC."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def from_seconds(value: float) -> datetime:
    """The inverse of `seconds`, in UTC."""
    return datetime.fromtimestamp(value, UTC)


def _plain(turn: Turn) -> dict[str, Any]:
    return {
        "turn_id": turn.turn_id,
        "scope": [turn.scope.agent, turn.scope.user, turn.scope.project],
        "session": [turn.session.agent, turn.session.key, turn.session.host_id, turn.session.epoch],
        "at": turn.at.isoformat(),
        "utterances": [[u.speaker, u.origin.value, u.text, u.at.isoformat(), u.name] for u in turn.utterances],
        "index": turn.index,
        "run_id": turn.run_id,
    }


def _turn(data: dict[str, Any]) -> Turn:
    agent, key, host_id, epoch = data["session"]
    return Turn(
        turn_id=str(data["turn_id"]),
        scope=Scope(*map(str, data["scope"])),
        session=Session(str(agent), str(key), str(host_id), int(epoch)),
        at=_moment(data["at"]),
        utterances=tuple(
            Utterance(str(speaker), Origin(origin), str(text), _moment(at), str(name))
            for speaker, origin, text, at, name in data["utterances"]
        ),
        index=int(data["index"]),
        run_id=str(data["run_id"]),
    )


def _moment(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    return value if value.tzinfo else value.replace(tzinfo=UTC)
