"""A turn, a query and a sub-agent as the host tells them, without secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any

from openclaw_neuralstream.capture.event import (
    Skipped,
    Voice,
    announced,
    clean,
    is_subagent,
    list_field,
    moment_of,
    named_session,
    queued,
    read_session,
    reporter,
    require_object,
    resumes,
    safe,
    scope_of,
    shorten,
    stranger,
    strip_host,
    subagent_task,
    text_field,
    text_of,
    turn_id_of_run,
    unwanted,
    unwanted_text,
    voice_of,
    word_of,
)
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import FINDINGS, OWNER, Child, Origin, Query, Scope, Session, Turn, Utterance, digest
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.settings import Settings

MAX_TURN_CHARS = 2_000_000
"""Characters of a turn that are kept; the middle is cut beyond."""

TOOL_CHARS = 400
"""How much of a tool's result is kept: it helps to understand a turn, and it is rarely worth remembering."""

_NO_ANSWER = frozenset({"NO_REPLY", "HEARTBEAT_OK"})
_FAILED = frozenset({"error", "aborted"})


def read_turn(event: Mapping[str, Any], *, now: datetime, settings: Settings, heard: str = "") -> Turn | Skipped:
    """The turn of a `turn_end` event, stripped and redacted. Raises BadRequest for what is not of the form.

    heard: who was heard last in the conversation, as for `voice_of`.
    """
    require_object(event)
    session = read_session(event)
    messages = _messages(event)
    voice = voice_of(event, session, heard)
    if reason := _skip(event, session, voice, settings) or _skip_text(messages):
        return Skipped(reason)
    at = moment_of(event.get("at"), now)
    utterances = _bounded(list(_utterances(messages, voice, at)), MAX_TURN_CHARS)
    spoken_to = voice.speaker == "system" or any(u.speaker not in ("agent", "tool") for u in utterances)
    if not utterances or not spoken_to:
        return Skipped("empty")
    run = text_field(event, "run_id")
    return Turn(
        turn_id=turn_id_of_run(session, run) if run else _turn_id(session, utterances),
        scope=scope_of(event, session, voice.user),
        session=session,
        at=utterances[0].at,
        utterances=tuple(utterances),
        run_id=run,
    )


def read_rest(event: Mapping[str, Any], begun: Turn) -> Turn:
    """A turn that the host's restart interrupted, with what the agent said when the host went on with it.

    event: the `turn_end` of the run by which it did. Raises BadRequest for what is not of the form.
    """
    voice = voice_of(event, read_session(event))
    said = _utterances(_messages(event), voice, moment_of(event.get("at"), begun.at))
    rest = [one for one in said if one.speaker in ("agent", "tool")]
    return replace(begun, utterances=tuple(_bounded([*begun.utterances, *rest], MAX_TURN_CHARS)))


def _messages(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    messages = list_field(event, "messages")
    if not all(isinstance(message, Mapping) for message in messages):
        raise BadRequest("messages must be a list of objects", where="event")
    return list(messages)


def _skip(event: Mapping[str, Any], session: Session, voice: Voice, settings: Settings) -> str:
    if not settings.capture:
        return "disabled"
    if voice.user != OWNER and not is_subagent(session) and not settings.capture_third_parties:
        return "third-party"
    return (
        unwanted(event, session)
        or ("subagent" if is_subagent(session) else "")
        or ("resumed" if resumes(event) else "")
    )


def _skip_text(messages: Sequence[Mapping[str, Any]]) -> str:
    first = next((text_of(m.get("content")) for m in messages if m.get("role") == "user"), "")
    return unwanted_text(strip_host(first))


def _utterances(messages: Sequence[Mapping[str, Any]], voice: Voice, at: datetime) -> Iterator[Utterance]:
    for message in messages:
        moment = moment_of(message.get("timestamp"), at)
        role = message.get("role")
        if role == "user":
            yield from _said(message, voice, moment)
        elif role == "assistant":
            yield from _answered(message, moment)
        elif role in ("toolResult", "tool"):
            yield from _reported(message, moment)


def _said(message: Mapping[str, Any], voice: Voice, at: datetime) -> Iterator[Utterance]:
    raw = strip_host(text_of(message.get("content")))
    author = _author(message, voice)
    for text in [announced(raw)] if voice.speaker == "system" else queued(raw):
        if kept := safe(strip_host(text)):
            yield Utterance(author.speaker, author.origin, kept, at, author.name)


def _author(message: Mapping[str, Any], voice: Voice) -> Voice:
    """Whose message it is: in a group another person's can be steered into somebody's turn."""
    marks = message.get("__openclaw")
    if voice.speaker == "system" or not isinstance(marks, Mapping):
        return voice
    owned = marks.get("senderIsOwner")
    if voice.speaker == "owner" and owned is True:
        return voice  # an owner may go by several names
    name, id_ = word_of(marks.get("senderName")), word_of(marks.get("senderId"))
    named_other = bool(voice.known_as and (name or id_)) and voice.known_as.isdisjoint({name, id_})
    if named_other or owned is (voice.speaker != "owner"):
        return stranger(name or id_, voice.user)
    return voice


def _answered(message: Mapping[str, Any], at: datetime) -> Iterator[Utterance]:
    if word_of(message.get("stopReason")) in _FAILED:
        return
    text = safe(text_of(message.get("content")))
    if text and text not in _NO_ANSWER:
        yield Utterance("agent", Origin.AGENT, text, at)


def _reported(message: Mapping[str, Any], at: datetime) -> Iterator[Utterance]:
    name = word_of(message.get("toolName")) or word_of(message.get("name"))
    if text := safe(text_of(message.get("content")), TOOL_CHARS):
        yield Utterance("tool", Origin.UNTRUSTED, text, at, name[:100])


def _bounded(utterances: list[Utterance], limit: int) -> list[Utterance]:
    """No more than about `limit` characters altogether: the longest utterances lose their middle."""
    lengths = sorted((len(u.text) for u in utterances), reverse=True)
    if sum(lengths) <= limit:
        return utterances
    low, high = 1, limit
    while low < high:  # the longest cap that fits
        cap = (low + high + 1) // 2
        low, high = (cap, high) if sum(min(length, cap) for length in lengths) <= limit else (low, cap - 1)
    return [replace(u, text=shorten(u.text, low)) for u in utterances]


def _turn_id(session: Session, utterances: Sequence[Utterance]) -> str:
    return digest("turn", session.agent, session.key, utterances[0].at.isoformat(), *(u.text for u in utterances))


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
