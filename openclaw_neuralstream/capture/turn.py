"""A turn as its people meant it: what was asked, what was answered, what the tools said in brief."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from openclaw_neuralstream.capture.event import list_field, moment_of, require_object, text_field
from openclaw_neuralstream.capture.parts import shorten, text_of, word_of
from openclaw_neuralstream.capture.safe import safe
from openclaw_neuralstream.capture.session import (
    Skipped,
    Voice,
    is_subagent,
    read_session,
    resumes,
    scope_of,
    stranger,
    turn_id_of_run,
    unwanted,
    unwanted_text,
    voice_of,
)
from openclaw_neuralstream.capture.strip import announced, queued, strip_host
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import OWNER, Origin, Session, Turn, Utterance, digest
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
