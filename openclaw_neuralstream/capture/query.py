"""What is asked of recall before a turn: the message, the dialogue before it, and what the window already shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from openclaw_neuralstream.capture.event import list_field, moment_of, text_field
from openclaw_neuralstream.capture.parts import clean, text_of, word_of
from openclaw_neuralstream.capture.safe import safe
from openclaw_neuralstream.capture.session import (
    Skipped,
    read_session,
    scope_of,
    turn_id_of_run,
    unwanted,
    unwanted_text,
    voice_of,
)
from openclaw_neuralstream.capture.strip import queued, strip_host, subagent_task
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Query
from openclaw_neuralstream.settings import Settings

QUERY_CHARS = 8_000
"""Beyond this a message is a document: its beginning and end say what it is about."""

PROMPT_CHARS = 64_000
"""Beyond this a prompt loses its middle before anything looks at it: that is several times what is read of one."""

_SPOKEN = frozenset({"user", "assistant"})
DIALOGUE_CHARS = 2_000
"""How much of each earlier message is part of the question."""


def read_query(event: Mapping[str, Any], *, now: datetime, settings: Settings, heard: str = "") -> Query | Skipped:
    """The query of a `prompt_build` event. Raises BadRequest for what is not of the form.

    heard: who was heard last in the conversation, as for `voice_of`.
    """
    session = read_session(event)
    prompt = strip_host(clean(text_field(event, "prompt"), PROMPT_CHARS))
    if reason := unwanted(event, session) or unwanted_text(prompt) or ("" if settings.inject else "disabled"):
        return Skipped(reason)
    dialogue = _dialogue(event, settings.recall_dialogue_turns)
    text = safe("\n".join(queued(subagent_task(prompt))), QUERY_CHARS)
    if not text:  # a picture, or the announcement of a sub-agent
        return Skipped("empty")
    return Query(
        text=text,
        scope=scope_of(event, session, voice_of(event, session, heard).user),
        now=moment_of(event.get("at"), now),
        dialogue=dialogue,
        window_turns=frozenset(turn_id_of_run(session, run) for run in _runs(event)),
        window_text=text_field(event, "window_text"),
        session_key=session.key,
    )


def _dialogue(event: Mapping[str, Any], limit: int) -> tuple[str, ...]:
    """The last `limit` messages that say something, oldest first."""
    items = list_field(event, "dialogue")
    if not all(isinstance(item, Mapping) for item in items):
        raise BadRequest("dialogue must be a list of objects", where="event")
    said = (
        strip_host(text_of(item.get("text"), PROMPT_CHARS))
        for item in reversed(items)
        if word_of(item.get("role")) in _SPOKEN
    )
    return tuple(reversed(list(islice(filter(None, (safe(text, DIALOGUE_CHARS) for text in said)), limit))))


def _runs(event: Mapping[str, Any]) -> Iterator[str]:
    for run in list_field(event, "window_runs"):
        if not isinstance(run, str):
            raise BadRequest("window_runs must be a list of texts", where="event")
        yield run
