"""Which conversation an event belongs to, how full its window is, and whether it is one to remember."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openclaw_neuralstream.capture.event import Sender, mapping_field, require_object, sender_of, text_field
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import OWNER, Origin, Scope, Session, Usage, digest
from openclaw_neuralstream.patterns import lazy

_SUBAGENT_KEY = lazy(r":subagent:")
_AGENT_KEY = lazy(r"\Aagent:([^:]+):")
_CRON_KEY = lazy(r":cron:")
_GROUP_KEY = lazy(r":(?:group|channel|room|thread|topic):")
_INTERNAL_KEY = lazy(r":internal-session-effects:|:active-memory:|:dreaming:")
_RESTARTED = "main_session_restart_recovery"
"""What the host names as the source of the prompt by which it goes on with a turn that its restart had interrupted."""

_TRIGGERS = {"heartbeat": "heartbeat", "cron": "cron", "memory": "memory", "automation": "cron"}
_PREFIXES = (
    ("[cron:", "cron"),
    ("[OpenClaw heartbeat poll]", "heartbeat"),
    ("Follow the heartbeat monitor scratch context", "heartbeat"),
    ("Pre-compaction memory flush.", "memory"),
    ("Read HEARTBEAT.md if it exists", "heartbeat"),
)


_OWN_SURFACES = frozenset({"", "webchat", "cli"})
"""Channels on which only the owner can write: the command line and the host's own page."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An event that is deliberately not remembered, and why (one word)."""

    reason: str


_ROLES = frozenset({"owner", "user", "you", "me", "agent", "assistant", "system", "tool"})
"""Names of roles: a stranger who bears one is not called by it."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Whose words the user messages of an event are. known_as: what the host calls that person."""

    speaker: str
    origin: Origin
    user: str
    name: str
    known_as: frozenset[str] = frozenset()


def stranger(name: str, user: str, known_as: frozenset[str] = frozenset()) -> Voice:
    """Somebody who is not the owner; `user`: whose memory it is."""
    plain = " ".join(re.sub(r"[():→]", " ", name).split())[:60]
    return Voice("third-party", Origin.UNTRUSTED, user, "" if plain.casefold() in _ROLES else plain, known_as)


def read_session(event: Mapping[str, Any]) -> Session:
    """The event's conversation, epoch 0. Raises BadRequest."""
    require_object(event)
    agent, key = text_field(event, "agent", required=True), text_field(event, "session_key", required=True)
    return Session(agent, key, text_field(event, "session_id"))


def read_usage(event: Mapping[str, Any]) -> Usage | None:
    """Tokens and window after the turn; None when the host did not tell. Raises BadRequest."""
    require_object(event)
    raw = mapping_field(event, "usage")
    if not raw:
        return None
    return Usage(_count(raw.get("tokens"), "usage.tokens"), _count(raw.get("context_window"), "usage.context_window"))


def scope_of(event: Mapping[str, Any], session: Session, user: str) -> Scope:
    """Whose memory the event belongs to."""
    return Scope(session.agent, user, text_field(event, "project"))


def is_subagent(session: Session) -> bool:
    """Whether the conversation is a sub-agent's own; what it found comes back as a turn of its parent."""
    return bool(_SUBAGENT_KEY.search(session.key))


def is_indirect(event: Mapping[str, Any], session: Session) -> bool:
    """Whether nobody speaks for himself here: a sub-agent's own conversation, or a message routed from elsewhere."""
    return is_subagent(session) or is_routed(event)


def asked_from(event: Mapping[str, Any], session: Session) -> Session:
    """The conversation whose last speaker an event goes by: a sub-agent's parent where it is named, else its own."""
    parent = text_field(event, "parent_key") if is_subagent(session) else ""
    return named_session(parent, session.agent) if parent else session


def named_session(key: str, agent: str) -> Session:
    """The conversation of this key, of the agent that the key names, else of `agent`."""
    named = _AGENT_KEY.match(key)
    return Session(named[1] if named else agent, key, "")


def voice_of(event: Mapping[str, Any], session: Session, heard: str = "") -> Voice:
    """Whose words they are: the owner's unless the host says otherwise. Raises BadRequest.

    On a channel where others can write, somebody whom the host does not call the owner is a stranger: one of two
    people may then miss something, instead of the other reading it. heard: the user who was heard last in the
    conversation of `asked_from`, "" when nobody was.
    """
    if is_indirect(event, session):
        user = _on_behalf_of(event, session, heard)
        return Voice("system", Origin.AGENT if user == OWNER else Origin.UNTRUSTED, user, "")
    return _speaking(event)


def _on_behalf_of(event: Mapping[str, Any], session: Session, heard: str) -> str:
    """The user for whom a sub-agent works, or to whom a routed message is said.

    The host's bridge names him (`speaker`, as he was when the sub-agent was started). Without it the last one heard
    counts; in a group the owner must be named, and a sub-agent of nobody knows nothing of the owner's.
    """
    told = mapping_field(event, "speaker")
    if told:
        return _speaking(told).user
    place = asked_from(event, session).key
    if _GROUP_KEY.search(place) and heard in ("", OWNER):
        return f"unknown:{place}"
    return heard or (f"unknown:{place}" if is_subagent(session) else OWNER)


def _speaking(event: Mapping[str, Any]) -> Voice:
    sender, channel = sender_of(event), text_field(event, "channel")
    known_as = frozenset({sender.id, sender.name} - {""})
    unknown = sender.owner is None and bool(sender.id) and channel not in _OWN_SURFACES
    if sender.owner is False or unknown:
        return stranger(sender.name or sender.id, _outsider(sender, channel), known_as)
    return Voice("owner", Origin.OWNER, OWNER, sender.name, known_as)


def is_routed(event: Mapping[str, Any]) -> bool:
    """Whether the message came from another session or an internal tool instead of a person."""
    return text_field(mapping_field(event, "provenance"), "kind") in ("inter_session", "internal_system")


def resumes(event: Mapping[str, Any]) -> bool:
    """Whether the host goes on with a turn that its restart had interrupted: the prompt is its own, no person's."""
    return text_field(mapping_field(event, "provenance"), "sourceTool") == _RESTARTED


def unwanted(event: Mapping[str, Any], session: Session) -> str:
    """Why such an event is not remembered: "heartbeat", "cron", "memory"; "" when it is. Raises BadRequest."""
    trigger = text_field(event, "trigger")
    if trigger in _TRIGGERS:
        return _TRIGGERS[trigger]
    if text_field(mapping_field(event, "provenance"), "sourceTool") == "heartbeat":
        return "heartbeat"
    if _CRON_KEY.search(session.key):
        return "cron"
    return "memory" if _INTERNAL_KEY.search(session.key) else ""


def unwanted_text(text: str) -> str:
    """The same, told by how the prompt begins; "" when it is an ordinary one."""
    head = text.lstrip()[:80]
    return next((reason for prefix, reason in _PREFIXES if head.startswith(prefix)), "")


def turn_id_of_run(session: Session, run: str) -> str:
    """The id of the turn that this run of the host made; the same event twice is one turn."""
    return digest("turn", session.agent, session.key, run)


def _outsider(sender: Sender, channel: str) -> str:
    """The same number on two channels is two people."""
    return f"{channel or 'unknown'}:{sender.id or sender.name or 'unknown'}"


def _count(value: object, name: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or abs(value) > 1e15:  # noqa: PLR0124 - NaN
        raise BadRequest(f"{name} must be a number", where="event")
    return max(0, int(value))
