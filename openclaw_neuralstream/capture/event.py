"""The host's events as values: which session, who speaks, what of a text was said and what was injected."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import OWNER, FactKind, Kind, Origin, Scope, Session, Usage, digest
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets import redact

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


_BLOB = lazy(
    r"data:[\w.+/-]{1,100}(?:;[\w=.-]{1,100}){0,4};base64,[A-Za-z0-9+/=_-]{64,}|"
    r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{76}\r?\n){8,}[A-Za-z0-9+/=]*|"
    r"(?<![A-Za-z0-9+/=])(?=[A-Za-z+/]*\d)[A-Za-z0-9+/]{2000,}={0,2}",
    window=16_384,
)
_CONTROL = lazy(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_SILENT = frozenset(
    {
        "thinking",
        "reasoning",
        "redacted_thinking",
        "toolCall",
        "tool_use",
        "toolUse",
        "tool_call",
        "tool_result",
        "toolResult",
    }
)
_SAID = frozenset({"", "text", "input_text", "output_text"})


def text_of(content: Any, limit: int = 0) -> str:
    """The text of a message's content: a string, or a list of parts, each as by `clean`. Never raises.

    Thoughts and tool calls are left out; any other part without text is named: "[image: cat.png]".
    """
    if isinstance(content, str):
        return clean(content, limit)
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list | tuple):
        return ""
    return "\n".join(text for text in (clean(part, limit) for part in _parts(content)) if text.strip())


def clean(text: str, limit: int = 0) -> str:
    """Without control characters, and with long base64 named instead of kept; limit: as of `shorten`, 0 = all."""
    text = shorten(text, limit) if limit else text
    text = _CONTROL.sub(lambda match: " " if len(match[0]) < 4 else " [binary] ", text)
    return _BLOB.sub("[binary]", text) if len(text) > 64 else text


def word_of(value: Any) -> str:
    """A field that should be a word; "" when it is anything else."""
    return value if isinstance(value, str) else ""


def shorten(text: str, limit: int) -> str:
    """At most about `limit` characters: the beginning and the end, with what was cut said between them."""
    if len(text) <= limit:
        return text
    head = max(1, limit * 3 // 4)
    tail = max(0, limit - head)
    end = text[len(text) - tail :] if tail else ""
    return f"{text[:head]} […{len(text) - head - tail} characters cut…] {end}".rstrip()


def _parts(content: list[Any] | tuple[Any, ...]) -> Iterator[str]:
    for part in content:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            yield _part(part)


def _part(part: Mapping[str, Any]) -> str:
    kind = word_of(part.get("type"))
    if kind in _SILENT:
        return ""
    text = part.get("text")
    if isinstance(text, str) and kind in _SAID:
        return text
    names = (part.get(key) for key in ("name", "filename", "fileName", "title"))
    name = next((name for name in names if isinstance(name, str)), "")
    word = kind if re.fullmatch(r"[\w.-]{1,40}", kind) else "part"
    return f"[{word}: {name[:100]}]" if name else f"[{word}]"


# Blocks that memory plugins and the host put around their own words, by the name of the tag.
_TAGS = (
    r"neuralstream-[a-z-]+",
    r"relevant[-_]memories",
    r"relevant[-_]memory",
    r"mem0[-_a-z]*",
    r"hindsight[-_a-z]*",
    r"supermemory[-_a-z]*",
    r"honcho[-_a-z]*",
    r"openviking[-_a-z]*",
    r"memos[-_a-z]*",
    r"palaia[-_a-z]*",
    r"remnic[-_a-z]*",
    r"cognee[-_a-z]*",
    r"lcm[-_a-z]*",
    r"hyperspell[-_a-z]*",
    r"memory[-_]context",
    r"memories",
    r"recalled[-_]memor(?:y|ies)",
    r"recalled[-_]context",
    r"retrieved[-_](?:context|memor(?:y|ies))",
    r"long[-_]term[-_]memory",
    r"user[-_]memor(?:y|ies)",
    r"system-reminder",
)
_EVERYDAY = lazy(r"memories|memory[-_]context|long[-_]term[-_]memory|user[-_]memor(?:y|ies)", re.IGNORECASE)
"""Tags that a person may well write about: without a closing one, only the tag itself is taken out."""

_LINE = 32_768  # a record, or an opening tag, may be longer than what other patterns see
_OPEN = lazy(rf"<(?P<tag>{'|'.join(_TAGS)})(?:\s[^<>]{{0,500}})?>", re.IGNORECASE, window=_LINE)
_INTERNAL_BEGIN = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
_INTERNAL_END = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
_PARAGRAPH = lazy(r"\n[ \t]*\n")
_KINDS = (*Kind, *FactKind, "turn", "sequence", "note")
"""What a record of our block may call itself."""

_RECORD_LINE = lazy(  # a line of our block as a model quotes it: day, kind, text, and the citation at its end
    rf"^[ \t]*(?:[-*>]\s+)?\[\d{{4}}-\d{{2}}-\d{{2}} · (?:{'|'.join(_KINDS)})(?: · [^\]\n]{{0,120}})?\] [^\n]*"
    r"\([^()\n]+\)[ \t]*$\n?",
    re.MULTILINE,
    window=_LINE,
)
_GAPS = lazy(r"\n[ \t]*\n(?:[ \t]*\n)+")
_NESTED = 20  # what is left around a block can make another one
_STRAY_CLOSE = lazy(rf"</(?:{'|'.join(_TAGS)})\s*>|{re.escape(_INTERNAL_END)}", re.IGNORECASE)

_TIMESTAMP = lazy(
    r"\A\s*\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2})?(?:\s*[\w:+/\-]{1,40})?\]\s?",
    re.ASCII,
)
_RUNTIME = lazy(r"(?:\A|\n)[ \t]*Runtime: agent=[^\n]*\s*\Z")
_RESET = lazy(r"\A\s*/(?:new|reset)(?=\s|\Z)[ \t]*", re.IGNORECASE)
_CLOCK = lazy(r"\n(?:Current time: [^\n]*|Reference UTC: [^\n]*)(?=\n|\Z)")
_QUEUED = lazy(r"\A\s*\[Queued messages while agent was busy\]\s*", re.IGNORECASE)
_QUEUED_ITEM = lazy(r"(?:\A|\n)(?:---\n)?Queued #\d+(?: \(from [^\n)]{0,200}\))?[ \t]*(?:\n|\Z)")
_SUBAGENT = "[Subagent Context]"
_SUBAGENT_TASK = lazy(r"\n[^\S\n]*\[Subagent Task\]\s*")
_SUBAGENT_END = "Begin. Execute the assigned task to completion."
_ANNOUNCED_TASK = lazy(r"^task: ([^\n]{1,300})$", re.MULTILINE)
_RESULT_BEGIN, _RESULT_END = "<prompt-data>", "</prompt-data>"
_ROUTED_FOOTER = lazy(r"\[Inter-session message\][^\n]*\n")


def strip_injected(text: str) -> str:
    """The text without injected blocks, ours and other plugins'; one that is never closed ends at the next empty line.

    Takes any text. What is left keeps its line breaks; more than one empty line in a row becomes one.
    """
    for _ in range(_NESTED):
        stripped = "".join(_outside(text)) if "<" in text else text
        stripped = _RECORD_LINE.sub("", stripped) if " · " in text else stripped
        if stripped == text:
            break
        text = _GAPS.sub("\n\n", _STRAY_CLOSE.sub("", stripped)).strip()
    return text


def strip_host(text: str) -> str:
    """A user's message without what the host adds: `[Sat 2026-11-21 08:51 UTC] `, `Runtime: …`, `/new `."""
    text = _RUNTIME.sub("", text)
    text = _TIMESTAMP.sub("", text)
    text = _RESET.sub("", text)
    return _CLOCK.sub("", text) if "Reference UTC:" in text else text


def queued(text: str) -> list[str]:
    """The single messages of a prompt collected while the agent was busy; the text itself when it is none."""
    header = _QUEUED.match(text)
    if not header:
        return [text]
    parts = _QUEUED_ITEM.split("\n" + text[header.end() :])
    return [part.strip() for part in parts if part.strip() not in ("", "---")]


def subagent_task(text: str) -> str:
    """The bare task of a sub-agent's prompt."""
    if text.lstrip().startswith(_SUBAGENT) and (head := _SUBAGENT_TASK.search(text)):
        text = text[head.end() :]
    bare = text.rstrip()
    return bare.removesuffix(_SUBAGENT_END).rstrip() if bare.endswith(_SUBAGENT_END) else text


def announced(text: str) -> str:
    """What a sub-agent's announcement says: its task and its result, without the host's instructions."""
    if footer := _ROUTED_FOOTER.search(text):
        text = text[: footer.start()].rstrip("\n")
    result, closed, _ = text.partition(_RESULT_BEGIN)[2].partition(_RESULT_END)
    if not closed:
        return text
    task = _ANNOUNCED_TASK.search(text)
    return f"{reporter(task[1] if task else '')} reported: {result.strip()}"


def reporter(label: str) -> str:
    """How a sub-agent is spoken of in what it found."""
    return f"Sub-agent {label!r}" if label else "A sub-agent"


def _outside(text: str) -> Iterator[str]:
    """The parts of the text that are in no block."""
    position = 0
    marks: dict[str, tuple[int, int]] = {}
    while position <= len(text):
        start, end = _next_block(text, position, marks)
        if start < 0:
            yield text[position:]
            return
        yield text[position:start]
        position = end


def _next_block(text: str, position: int, marks: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Start and end of the first block at or after the position; (-1, -1) when there is none."""
    opening = _OPEN.search(text, position)
    internal, begun = _next_mark(text, _INTERNAL_BEGIN, position, marks, _find_exact)
    if internal >= 0 and (opening is None or internal < opening.start()):
        return internal, _close(text, begun, _next_mark(text, _INTERNAL_END, begun, marks, _find_exact))
    if opening is None:
        return -1, -1
    tag = opening["tag"].lower()
    closing = _next_mark(text, f"</{tag}", opening.end(), marks, _find_tag)
    if _EVERYDAY.fullmatch(tag) and closing[0] < 0:
        return opening.span()
    return opening.start(), _close(text, opening.end(), closing)


def _close(text: str, start: int, closing: tuple[int, int]) -> int:
    """Where the block ends: behind its closing mark, else at the next empty line."""
    if closing[0] >= 0:
        return closing[1]
    gap = _PARAGRAPH.search(text, start)
    return gap.start() if gap else len(text)


def _next_mark(
    text: str,
    mark: str,
    position: int,
    known: dict[str, tuple[int, int]],
    find: Callable[[str, str, int], tuple[int, int]],
) -> tuple[int, int]:
    """Where the mark is next, at or after the position; (-1, …) when nowhere. known: no stretch is searched twice for it."""
    if mark not in known or 0 <= known[mark][0] < position:
        known[mark] = find(text, mark, position)
    return known[mark]


def _find_exact(text: str, closing: str, start: int) -> tuple[int, int]:
    found = text.find(closing, start)
    return found, found + len(closing)


def _find_tag(text: str, closing: str, start: int) -> tuple[int, int]:
    match = lazy(re.escape(closing) + r"\s*>", re.IGNORECASE).search(text, start)
    return match.span() if match else (-1, -1)


_SHORTEN_FIRST = 32_000
"""Above this a text that is shortened anyway loses its middle before the redaction, which costs time per character."""


def safe(text: str, limit: int = 0) -> str:
    """What may be kept of a text; at most about `limit` characters, 0 = all. "" when nothing is left.

    Secrets go before the text is cut, so that no half of one is left over.
    """
    if not limit:
        return redact(strip_injected(text)).text.strip()
    whole = shorten(text, max(limit, _SHORTEN_FIRST))
    return shorten(redact(strip_injected(whole)).text.strip(), limit)


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
