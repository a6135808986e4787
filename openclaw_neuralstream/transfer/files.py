"""Exported conversations of other products, read as turns and taken in."""

from __future__ import annotations

import json
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from openclaw_neuralstream import capture
from openclaw_neuralstream.capture.event import Skipped
from openclaw_neuralstream.errors import BadRequest, not_there
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Batch, Session, Turn, digest
from openclaw_neuralstream.ports import Reading


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


FORMATS = ("auto", "openclaw", "chatgpt", "claude", "claude-code", "jsonl")
_MOST_BYTES = 2_000_000_000
_EXPORT = "conversations.json"
_MALFORMED = (KeyError, TypeError, AttributeError, ValueError, OverflowError)
_OWNER = {"sender": {"owner": True}, "trigger": "user"}
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "tool": "toolResult"}
_HARNESS = ("<command-name>", "<command-message>", "<local-command-", "Caveat: The messages below were generated")


def turns(path: Path, agent: str, wanted: str = "auto", unread: Unread | None = None) -> tuple[str, list[Told]]:
    """The format and the turns, oldest conversation first. Raises NotFound, and BadRequest for what is not of the format.

    A conversation, or a line, that does not read is counted in `unread`; only a file of nothing else is refused.
    """
    data = _read(path)
    name = _format(data) if wanted == "auto" else wanted
    if name == "auto" or name not in _READERS:
        gems = f"neuralstream gems import {path}"
        fix = gems if _holds_gems(data) else f"--format {' | '.join(FORMATS[1:])}; memories of others: {gems}"
        what = "these are gems, no conversations" if _holds_gems(data) else "the file is of no known format"
        raise BadRequest(what, where=str(path), fix=fix)
    malformed = Unread()
    told: list[Told] = []
    for conversation in _READERS[name](data if isinstance(data, list) else [data], agent, path.stem, malformed):
        try:
            told += list(conversation)
        except _MALFORMED:
            malformed.add("malformed conversation")
    if data and not told:
        many = len(data) if isinstance(data, list) else 1
        what = f"not an export of {name}: nothing in it reads; none of its {many} entries holds a message of a person"
        raise BadRequest(
            what, where=str(path), fix=f"--format {' | '.join(FORMATS[1:])}; memories: neuralstream gems import"
        )
    if unread is not None:
        for reason, count in malformed.reasons.items():
            unread.add(reason, count)
    return name, sorted(told, key=lambda one: one.at)


def recognised(text: str) -> str:
    """Whose exported chats a text is, one of `FORMATS`; "" for any other text, and for a monologue."""
    try:
        data = _documents(text)
    except RecursionError:
        return ""
    name = _format(data)
    if name == "jsonl":
        roles = {_ROLES.get(str(item.get("role"))) for item in data if isinstance(item, Mapping)}
        return name if {"user", "assistant"} <= roles else ""
    return "" if name == "auto" else name


def _holds_gems(data: Any) -> bool:
    return any(isinstance(item, Mapping) and "gem_id" in item for item in (data if isinstance(data, list) else [data]))


def _read(path: Path) -> Any:
    """A JSON document, or a list of the lines' documents; a line that does not read is a text, for readers to count."""
    if path.is_dir():
        raise BadRequest("a folder, no file", where=str(path), fix="name one file of it")
    if not path.is_file():
        raise not_there(path)
    if path.stat().st_size > _MOST_BYTES:
        raise BadRequest("larger than 2 GB", where=str(path), fix="split it")
    return _documents(_text(path))


def _documents(text: str) -> Any:
    """A JSON document, the messages of one that holds nothing else, or those of the lines."""
    try:
        whole = json.loads(text)
    except ValueError:
        return [_line(line) for line in text.splitlines() if line.strip()]
    messages = whole.get("messages") if isinstance(whole, dict) else None
    return messages if isinstance(messages, list) else whole


def _text(path: Path) -> str:
    if not zipfile.is_zipfile(path):
        return path.read_text(encoding="utf-8-sig", errors="replace")
    with zipfile.ZipFile(path) as archive:
        inside = next((info for info in archive.infolist() if info.filename.endswith(_EXPORT)), None)
        if inside is None or inside.file_size > _MOST_BYTES:
            what = f"no {_EXPORT} of less than 2 GB in the archive"
            raise BadRequest(
                what, where=str(path), fix="name the zip of a ChatGPT or Claude export, or a file out of it"
            )
        return archive.read(inside).decode("utf-8-sig", "replace")


def _line(line: str) -> Any:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return found if isinstance(found, dict) else line


def _format(data: Any) -> str:
    items = data if isinstance(data, list) else [data]
    heads = [item for item in items[:50] if isinstance(item, Mapping)]
    tests: tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...] = (
        ("chatgpt", lambda item: "mapping" in item),
        ("claude", lambda item: "chat_messages" in item),
        ("claude-code", lambda item: "sessionId" in item and isinstance(item.get("message"), Mapping)),
        ("openclaw", lambda item: item.get("type") == "message" and isinstance(item.get("message"), Mapping)),
        ("jsonl", lambda item: "role" in item and ("text" in item or isinstance(item.get("content"), str))),
    )
    return next((name for name, test in tests if any(map(test, heads))), "auto")


def _message(role: str, text: str, at: object, own_id: object = None) -> dict[str, Any]:
    """own_id: what the source calls it by; None where it has no name."""
    message: dict[str, Any] = {"role": role, "content": text, "timestamp": milliseconds(at)}
    if own_id not in (None, ""):
        message["id"] = str(own_id)
    if role == "assistant":
        message["stopReason"] = "stop"
    return message


def _known_by(space: str, messages: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each message of the user marked with what its turn is known by, however often the file is read.

    Where the source has no id, time and words are one, with the message before where there is no time either; what is
    still the same is counted.
    """
    seen: Counter[str] = Counter()
    before = ""
    for message in messages:
        own_id, at = message.pop("id", None), message["timestamp"]
        words = message["content"]
        if message["role"] == "user":
            named = own_id or digest("told", str(at or before), words)
            seen[named] += 1
            again = f":{seen[named]}" if own_id is None and seen[named] > 1 else ""
            message["idempotencyKey"] = f"{space}:{named}{again}:user"
        before = words
        yield message


def _chatgpt(data: list[Any], agent: str, _stem: str, _unread: Unread) -> Iterator[Iterator[Told]]:
    yield from (_chatgpt_talk(talk, agent) for talk in data)


def _chatgpt_talk(talk: Mapping[str, Any], agent: str) -> Iterator[Told]:
    own = str(talk.get("conversation_id") or talk.get("id") or talk.get("create_time"))
    messages = [message for node in _branch(talk) if (message := _from_chatgpt(node, talk)) is not None]
    place = Place(agent, f"import:chatgpt:{own}", own, _OWNER)
    yield from turns_of(place, list(_known_by(f"chatgpt:{own}", messages)))


def _branch(talk: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes from the root to where the conversation stands; the other branches were edited away."""
    nodes: Mapping[str, Mapping[str, Any]] = talk["mapping"]
    here: Any = talk.get("current_node") or next((key for key, node in nodes.items() if not node.get("children")), None)
    path: list[Mapping[str, Any]] = []
    while here in nodes and len(path) <= len(nodes):
        path.append(nodes[here])
        here = nodes[here].get("parent")
    return path[::-1]


def _from_chatgpt(node: Mapping[str, Any], talk: Mapping[str, Any]) -> dict[str, Any] | None:
    message = node.get("message")
    if not isinstance(message, Mapping) or (message.get("metadata") or {}).get("is_visually_hidden_from_conversation"):
        return None
    role = _ROLES.get(str((message.get("author") or {}).get("role")))
    content = message.get("content") or {}
    if role is None or content.get("content_type") in ("thoughts", "reasoning_recap", "user_editable_context"):
        return None
    parts = content.get("parts") or [content.get("text") or ""]
    text = "\n".join(part if isinstance(part, str) else _part(part) for part in parts).strip()
    at = message.get("create_time") or talk.get("create_time")
    return _message(role, text, at, message.get("id")) if text else None


def _part(part: Any) -> str:
    if not isinstance(part, Mapping):
        return ""
    return str(part.get("text") or f"[{str(part.get('content_type') or 'part')[:40]}]")


def _claude(data: list[Any], agent: str, _stem: str, _unread: Unread) -> Iterator[Iterator[Told]]:
    yield from (_claude_talk(talk, agent) for talk in data)


def _claude_talk(talk: Mapping[str, Any], agent: str) -> Iterator[Told]:
    own = str(talk["uuid"])
    messages = []
    for one in talk["chat_messages"]:
        role = _ROLES.get(str(one.get("sender")))
        blocks = [b.get("text") or "" for b in one.get("content") or [] if b.get("type") == "text"]
        text = "\n".join(blocks).strip() or str(one.get("text") or "").strip()
        if role and text:
            messages.append(_message(role, text, one.get("created_at") or talk.get("created_at"), one.get("uuid")))
    place = Place(agent, f"import:claude:{own}", own, _OWNER)
    yield from turns_of(place, list(_known_by(f"claude:{own}", messages)))


def _claude_code(data: list[Any], agent: str, _stem: str, unread: Unread) -> Iterator[Iterator[Told]]:
    lines = [
        line for line in _objects(data, unread) if isinstance(line.get("message"), Mapping) and line.get("sessionId")
    ]
    spoken = [line for line in lines if not line.get("isSidechain") and not line.get("isMeta")]
    for own, group in groupby(
        sorted(spoken, key=lambda line: str(line["sessionId"])), lambda line: str(line["sessionId"])
    ):
        messages = list(_readable(group, _from_claude_code, unread))
        place = Place(agent, f"import:claude-code:{own}", own, _OWNER)
        yield turns_of(place, list(_known_by(f"claude-code:{own}", messages)))


def _objects(data: list[Any], unread: Unread) -> list[Mapping[str, Any]]:
    found = [line for line in data if isinstance(line, Mapping)]
    unread.add("malformed line", len(data) - len(found))
    return found


def _readable(
    lines: Iterable[Mapping[str, Any]], read: Callable[[Mapping[str, Any]], dict[str, Any] | None], unread: Unread
) -> Iterator[dict[str, Any]]:
    """The messages of the lines; None is a line that says nothing, one that does not read is counted."""
    for line in lines:
        try:
            message = read(line)
        except _MALFORMED:
            unread.add("malformed line")
            continue
        if message is not None:
            yield message


def _from_claude_code(line: Mapping[str, Any]) -> dict[str, Any] | None:
    content = line["message"].get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    told = [block for block in blocks if isinstance(block, Mapping)]
    role = _ROLES.get(str(line["message"].get("role")))
    if any(block.get("type") == "tool_result" for block in told):
        role, texts = "toolResult", [_result(block) for block in told]
    else:
        texts = [str(block.get("text") or "") for block in told if block.get("type") == "text"]
    text = "\n".join(texts).strip()
    if role is None or not text or text.startswith(_HARNESS):
        return None
    message = _message(role, text, line.get("timestamp"), line.get("uuid"))
    if role == "assistant" and any(block.get("type") == "tool_use" for block in told):
        message["stopReason"] = "toolUse"
    return message


def _result(block: Mapping[str, Any]) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content or [] if isinstance(part, Mapping))


def _openclaw(data: list[Any], agent: str, stem: str, unread: Unread) -> Iterator[Iterator[Told]]:
    lines = _objects(data, unread)
    head: Mapping[str, Any] = next((line for line in lines if line.get("type") == "session"), {})
    own = str(head.get("id") or stem)
    windows: list[list[Mapping[str, Any]]] = [[]]
    for line in lines:
        if line.get("type") == "reset":
            windows.append([])
        elif line.get("type") == "message" and isinstance(line.get("message"), Mapping):
            windows[-1].append({"timestamp": milliseconds(line.get("timestamp")), **line["message"]})
    for number, messages in enumerate(windows):
        place = Place(agent, f"import:openclaw:{own}", own, _OWNER)
        yield turns_of(place, messages, len(windows) - 1 - number)


def _jsonl(data: list[Any], agent: str, stem: str, unread: Unread) -> Iterator[Iterator[Told]]:
    lines = _objects(data, unread)
    keyed = sorted(lines, key=lambda line: str(line.get("session") or stem))
    for own, group in groupby(keyed, lambda line: str(line.get("session") or stem)):
        messages = list(_readable(group, _from_jsonl, unread))
        place = Place(agent, f"import:jsonl:{own}", own, _OWNER)
        yield turns_of(place, list(_known_by(f"jsonl:{own}", messages)))


def _from_jsonl(line: Mapping[str, Any]) -> dict[str, Any] | None:
    role, text = _ROLES.get(str(line["role"])), str(line["text"] if "text" in line else line["content"]).strip()
    return _message(role, text, line.get("at"), line.get("id")) | _named(line) if role and text else None


def _named(line: Mapping[str, Any]) -> dict[str, Any]:
    return {"toolName": line["name"]} if line.get("name") and line["role"] == "tool" else {}


_READERS: dict[str, Callable[[list[Any], str, str, Unread], Iterator[Iterator[Told]]]] = {
    "chatgpt": _chatgpt,
    "claude": _claude,
    "claude-code": _claude_code,
    "openclaw": _openclaw,
    "jsonl": _jsonl,
}


_SAME_WORDS = timedelta(hours=1)  # of a turn without an id and one that was captured live
_SAMPLE = 5


@dataclass(slots=True)
class Taken:
    """What became of a handful of turns; `sizes`: the tokens of each new one by its id."""

    new: int = 0
    known: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    sizes: dict[str, int] = field(default_factory=dict)


def take(memory: Memory, items: Sequence[Mapping[str, Any]], *, dry_run: bool) -> dict[str, Any]:
    """Keep these turns, or with dry_run only say what they are; and how many turns wait for their extraction.

    With dry_run "sizes" has the id and the tokens of each new one: whoever reads on knows it when it comes again.
    """
    taken = Taken()
    for turn in _turns(memory, items, taken):
        if turn.turn_id in taken.sizes or _known(memory, turn):
            taken.known += 1
            continue
        if not dry_run and not memory.retain(turn):
            taken.known += 1  # it waits in a buffer beside the memory file
            continue
        taken.new += 1
        spoken = turn.text_of("owner", "third-party", "agent", "tool", "system")
        taken.sizes[turn.turn_id] = memory.parts.counter.count(spoken)
    if not dry_run and taken.new:
        memory.truth.count("backfill.turns", taken.new)
    return {
        "new": taken.new,
        "known": taken.known,
        "tokens": sum(taken.sizes.values()),
        "skipped": dict(taken.skipped),
        "waiting": sum(backlog.waiting + backlog.claimed for _, backlog in memory.distiller.backlogs()),
        "away": memory.away.names(),
        **({"sizes": taken.sizes} if dry_run else {}),
    }


def sample(memory: Memory, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How long the extractor takes for a few of them; nothing is kept."""
    turns = [turn for turn in _turns(memory, items[:_SAMPLE], Taken()) if turn.text_of("owner")]
    if not turns:
        return {"turns": 0, "seconds": 0.0, "extractor": memory.parts.choose_extractor().identity.name}
    extractor = memory.parts.choose_extractor()
    first = turns[0].session
    same = tuple(turn for turn in turns if turn.session == first)
    batch = Batch("sample", first, same, "sample", memory.now())
    began = time.perf_counter()
    extractor.extract(Reading(batch, (), ()))
    identity = extractor.identity
    return {
        "turns": len(same),
        "seconds": round(time.perf_counter() - began, 4),
        "extractor": identity.name,
        "model": identity.model,
    }


def _turns(memory: Memory, items: Sequence[Mapping[str, Any]], taken: Taken) -> list[Turn]:
    """The items as turns; a window of the past has a number below that of every live one, so that they never mix."""
    read = []
    for item in items:
        event, stretch = item.get("event"), item.get("stretch", 0)
        if not isinstance(event, Mapping) or not isinstance(stretch, int) or isinstance(stretch, bool) or stretch < 0:
            raise BadRequest("a turn of the past is {event, stretch}", where="backfill")
        turn = _taking_read(memory, event)
        if isinstance(turn, Skipped):
            taken.skipped[turn.reason] += 1
            continue
        read.append(replace(turn, session=replace(turn.session, epoch=-1 - stretch)))
    return read


def _taking_read(memory: Memory, event: Mapping[str, Any]) -> Turn | Skipped:
    try:
        return capture.read_turn(event, now=memory.now(), settings=memory.settings)
    except BadRequest:
        return Skipped("unreadable")


def _known(memory: Memory, turn: Turn) -> bool:
    """By its id; where one of the two has none, by the same words near in time to a turn that was captured live."""
    if memory.truth.known_turns([turn.turn_id]):
        return True
    around = memory.truth.turns_around(Session(turn.session.agent, turn.session.key, ""), turn.at, _SAME_WORDS)
    live = [other for other in around if other.session.epoch >= 0 and not (turn.run_id and other.run_id)]
    said = turn.text_of("owner", "third-party", "system")
    return any(other.text_of("owner", "third-party", "system") == said for other in live)
