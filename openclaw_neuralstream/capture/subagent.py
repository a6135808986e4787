"""Sub-agents: whose child a conversation is, what it was told to do, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from openclaw_neuralstream.capture.event import list_field, moment_of, text_field
from openclaw_neuralstream.capture.parts import shorten, text_of, word_of
from openclaw_neuralstream.capture.query import PROMPT_CHARS
from openclaw_neuralstream.capture.safe import safe
from openclaw_neuralstream.capture.session import is_subagent, named_session, read_session, turn_id_of_run, voice_of
from openclaw_neuralstream.capture.strip import reporter, strip_host, subagent_task
from openclaw_neuralstream.capture.turn import MAX_TURN_CHARS
from openclaw_neuralstream.model import FINDINGS, OWNER, Child, Scope, Turn, Utterance
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.settings import Settings

TASK_CHARS = 2_000
"""How much of a task is kept: what it is about stands at its beginning."""

_ANNOUNCEMENT = lazy(r"\Aannounce:v\d+:(.+:subagent:[^:]+):([^:]+)\Z")
_SILENT = frozenset({"NO_REPLY", "HEARTBEAT_OK", ""})


def read_child(event: Mapping[str, Any]) -> Child | None:
    """The sub-agent that the event comes from; None for any other conversation. Raises BadRequest.

    The host names its parent when it starts it; where it did not, the agent's main conversation stands for it.
    """
    session = read_session(event)
    if not is_subagent(session):
        return None
    parent_key = text_field(event, "parent_key") or f"agent:{session.agent}:main"
    return Child(
        session=session,
        parent=named_session(parent_key, session.agent),
        task=_task(event),
        label=safe(text_field(event, "label"), 100).replace("\n", " "),
        light=event.get("light") is True,
    )


def read_findings(
    event: Mapping[str, Any], child: Child, *, now: datetime, settings: Settings, heard: str = ""
) -> Turn | None:
    """A turn of the parent's conversation with the task and what the child answered; None when it found nothing.

    The words are a sub-agent's, under its name, and never the user's; they belong to whoever asked for them, and where
    that is not the owner nobody vouches for them. heard: as for `voice_of`. Raises BadRequest.
    """
    voice = voice_of(event, child.session, heard)
    if voice.user != OWNER and not settings.capture_third_parties:
        return None
    run = text_field(event, "run_id")
    answer = _answer(event)
    if event.get("success") is False or answer in _SILENT or not settings.capture or not settings.subagent_findings:
        return None
    at = moment_of(event.get("at"), now)
    name = f"{FINDINGS} {child.label}".strip()
    text = f"{reporter(child.label)} reported: {safe(answer, MAX_TURN_CHARS)}"
    said = [Utterance("system", voice.origin, text, at, name)]
    if child.task:
        said.insert(0, Utterance("system", voice.origin, f"Task: {child.task}", at, name))
    return Turn(
        turn_id=turn_id_of_run(child.session, run),
        scope=Scope(child.parent.agent, voice.user, text_field(event, "project")),
        session=child.parent,
        at=at,
        utterances=tuple(said),
        run_id=run,
    )


def announces(event: Mapping[str, Any]) -> str:
    """The turn id of the findings that this turn of the parent announces; "" when it announces none."""
    found = _ANNOUNCEMENT.match(text_field(event, "run_id"))
    if not found:
        return ""
    return turn_id_of_run(named_session(found[1], "main"), found[2])


def _task(event: Mapping[str, Any]) -> str:
    prompt = text_field(event, "prompt")
    if not prompt:
        users = (
            text_of(m.get("content"))
            for m in list_field(event, "messages")
            if isinstance(m, Mapping) and m.get("role") == "user"
        )
        prompt = next(users, "")
    return safe(subagent_task(strip_host(shorten(prompt, PROMPT_CHARS))), TASK_CHARS)


def _answer(event: Mapping[str, Any]) -> str:
    """The last thing that the child said; "" when it failed before it said anything."""
    for message in reversed(list_field(event, "messages")):
        if isinstance(message, Mapping) and message.get("role") == "assistant":
            failed = word_of(message.get("stopReason")) in ("error", "aborted")
            return "" if failed else text_of(message.get("content")).strip()
    return ""
