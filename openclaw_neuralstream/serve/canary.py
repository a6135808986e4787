"""What `neuralstream admin canary` asks: was its turn captured, did the model see the marker, take it all back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.erasure import What
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Session

_SEEN, _ASKED = "canary.seen", "canary.asked"
_REMEMBERED = 5


def seen(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"text": marker}: the bridge found it in what the host's model is about to read. The last few are kept."""
    marker = params.get("text")
    if not isinstance(marker, str) or not marker.strip() or len(marker) > 200:
        raise BadRequest("text must be a marker", where="text")
    known = [other for other in _markers(memory) if other != marker]
    memory.truth.set_meta(_SEEN, "\n".join([*known, marker][-_REMEMBERED:]))
    return {}


def arm(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"marker", "agent", "session_key"}: only a new sighting counts, in a session that is asked about the marker next.

    The stored sentence carries the marker itself, so that it was seen before.
    """
    memory.truth.set_meta(_SEEN, "\n".join(other for other in _markers(memory) if other != params.get("marker")))
    memory.truth.set_meta(_ASKED, "\n".join(_place(params)))
    return {}


def asks_in(memory: Memory, session: Session) -> bool:
    """Whether the canary asks in this session. It is given no brief: what the model reads of the marker came by recall."""
    return memory.truth.meta(_ASKED) == f"{session.agent}\n{session.key}"


def was_seen(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"marker"} → {"seen"}: true when the bridge has reported it since it was armed."""
    return {"seen": params.get("marker") in _markers(memory)}


def captured(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"agent", "session_key"} → {"turns", "waiting"}: turns of a session that were accepted, and that still wait."""
    agent, key = _place(params)
    backlogs = [b for _, b in memory.distiller.backlogs() if (b.session.agent, b.session.key) == (agent, key)]
    waiting = sum(backlog.waiting + backlog.claimed for backlog in backlogs)
    return {"turns": max(memory.truth.last_index(agent, key), waiting), "waiting": waiting}


def forget_session(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"agent", "session_key"} → {"gems", "turns"}: the session's turns, and the gems that stand on nothing else."""
    agent, key = _place(params)
    gone = memory.eraser.forget(What(session=key, agent=agent)).removed
    return {"gems": gone.get("gems", 0), "turns": gone.get("turns", 0) + gone.get("waiting turns", 0)}


def _markers(memory: Memory) -> list[str]:
    return (memory.truth.meta(_SEEN) or "").split()


def _place(params: Mapping[str, Any]) -> tuple[str, str]:
    agent, key = params.get("agent", "main"), params.get("session_key")
    if not isinstance(agent, str) or not isinstance(key, str) or not key:
        raise BadRequest("agent and session_key must be texts", where="session_key")
    return agent, key
