"""OpenClaw's own session store, read and never written: one SQLite file an agent, its transcripts as numbered events."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import NotFound, StateError
from openclaw_neuralstream.transfer.files import Place, Told, Unread, turns_of

_FILE = "agents/{agent}/agent/openclaw-agent.sqlite"
_ROLES = frozenset({"user", "assistant", "toolResult"})
_OWN_VOICE = "gateway-injected"  # what the host answers by itself: to /new, to /status
_MOST_BYTES = 4_194_304


@dataclass(frozen=True, slots=True)
class Forgotten:
    """A session that `openclaw memory forget` has dealt with: what was said in it before `until` is meant.

    key: "" where the host does not know the session any more. since: where an earlier session had the same key.
    """

    session_id: str
    key: str
    since: datetime | None
    until: datetime


def agents(folder: Path) -> list[str]:
    """The agents that have a session store in OpenClaw's state directory."""
    found = folder.glob(_FILE.format(agent="*"))
    return sorted(path.relative_to(folder).parts[1] for path in found)


def sessions(folder: Path, agent: str, unread: Unread) -> Iterator[Told]:
    """Every turn of an agent's sessions, session by session. Raises NotFound, and StateError for a store that does not read."""
    path = folder / _FILE.format(agent=agent)
    if not path.is_file():
        raise NotFound(f"no session store of the agent {agent!r}", where=str(path), fix="--host-state names OpenClaw's")
    try:
        with closing(_opened(path)) as connection:
            connection.execute("BEGIN")  # one moment of the store, however long the reading takes
            unread.add("archived", _archived(connection))
            gone = {one.session_id for one in _forgotten(connection, agent)}
            for session in _windows(connection):
                if session["id"] in gone:
                    unread.add("forgotten in OpenClaw")
                    continue
                yield from _session(connection, agent, session, unread)
    except sqlite3.Error as error:
        raise StateError(
            f"OpenClaw's session store does not read: {error}", where=str(path), fix="openclaw doctor"
        ) from error


def stamps(folder: Path) -> dict[str, tuple[int, ...]]:
    """Agent → when its session store was written last, and its size; what is gone again is left out."""
    found: dict[str, tuple[int, ...]] = {}
    for agent in agents(folder):
        path = folder / _FILE.format(agent=agent)
        known = [one.stat() for one in (path, path.with_name(f"{path.name}-wal")) if one.exists()]
        found[agent] = tuple(number for one in known for number in (one.st_mtime_ns, one.st_size))
    return found


def forgotten(folder: Path, agent: str) -> list[Forgotten]:
    """The agent's sessions that the host was told to forget. Raises StateError for a store that does not read."""
    path = folder / _FILE.format(agent=agent)
    try:
        with closing(_opened(path)) as connection:
            return _forgotten(connection, agent)
    except sqlite3.Error as error:
        what = f"OpenClaw's session store does not read: {error}"
        raise StateError(what, where=str(path), fix="openclaw doctor") from error


def _forgotten(connection: sqlite3.Connection, agent: str) -> list[Forgotten]:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'memory_session_tombstones'").fetchone():
        return []
    rows = connection.execute(
        """
        SELECT t.session_id, t.created_at, coalesce(w.session_key, ''), w.created_at,
               (SELECT max(e.created_at) FROM session_windows e
                WHERE e.session_key = w.session_key AND e.created_at < w.created_at),
               (SELECT min(l.created_at) FROM session_windows l
                WHERE l.session_key = w.session_key AND l.created_at > w.created_at)
        FROM memory_session_tombstones t LEFT JOIN session_windows w USING (session_id)
        WHERE t.agent_id = ? ORDER BY t.created_at, t.session_id
        """,
        (agent,),
    ).fetchall()
    return [
        Forgotten(id_, key, _moment(began) if earlier is not None else None, _moment(min(at, later or at)))
        for id_, at, key, began, earlier, later in rows
    ]


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _opened(path: Path) -> sqlite3.Connection:
    """Read-only. Without a log beside it nobody writes, and SQLite is told so: then it makes no file there either."""
    live = path.with_name(f"{path.name}-wal").exists()
    return sqlite3.connect(f"{path.absolute().as_uri()}?{'mode=ro' if live else 'immutable=1'}", uri=True)


def _windows(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    rows = connection.execute(
        """
        SELECT w.session_id, w.session_key, coalesce(w.channel, ''), coalesce(w.chat_type, ''), coalesce(n.created_via, '')
        FROM session_windows w LEFT JOIN session_nodes n USING (session_key) ORDER BY w.created_at, w.session_id
        """
    ).fetchall()
    return [dict(zip(("id", "key", "channel", "chat", "via"), row, strict=True)) for row in rows]


def _archived(connection: sqlite3.Connection) -> int:
    tables = ("session_transcript_archives", "session_transcript_cold_archives")
    return sum(int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in tables)  # noqa: S608


def _session(connection: sqlite3.Connection, agent: str, session: Mapping[str, Any], unread: Unread) -> Iterator[Told]:
    windows: list[list[Mapping[str, Any]]] = [[]]
    for event in _events(connection, session["id"], unread):
        if event.get("type") == "reset":
            windows.append([])
        message = event.get("message")
        if event.get("type") == "message" and isinstance(message, Mapping) and message.get("role") in _ROLES:
            windows[-1].append(message)
    for number, messages in enumerate(windows):
        for told in turns_of(_place(agent, session), messages, len(windows) - 1 - number):
            if _commanded(told.event["messages"]):
                unread.add("command")
            else:
                yield _with_sender(told, session)


def _place(agent: str, session: Mapping[str, Any]) -> Place:
    """Where the turns belong. The host keeps the key without the agent where it is the agent's own."""
    more = {"channel": session["channel"], "trigger": "cron" if session["via"] == "cron" else "user"}
    return Place(agent, session["key"], session["id"], more)


def _events(connection: sqlite3.Connection, session_id: str, unread: Unread) -> Iterator[Mapping[str, Any]]:
    """The events of the branch that the conversation is on, in order; all of them where the host keeps no such list."""
    rows = connection.execute(
        """
        SELECT e.event_json, e.event_zstd FROM transcript_events e
        LEFT JOIN session_transcript_active_events a ON a.session_id = e.session_id AND a.event_seq = e.seq
        WHERE e.session_id = ?1 AND (a.event_seq IS NOT NULL OR NOT EXISTS (
            SELECT 1 FROM session_transcript_active_events WHERE session_id = ?1))
        ORDER BY e.seq
        """,
        (session_id,),
    )
    for text, packed in rows:
        event = _event(text, packed)
        if event is None:
            unread.add("unreadable")
        else:
            yield event


def _event(text: str | None, packed: bytes | None) -> Mapping[str, Any] | None:
    try:
        event = json.loads(text if text is not None else _unpacked(packed or b""))
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, Mapping) else None


def _unpacked(data: bytes) -> bytes:
    import zstandard

    try:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=_MOST_BYTES)
    except zstandard.ZstdError as error:
        raise ValueError("does not unpack") from error


def _commanded(messages: list[Mapping[str, Any]]) -> bool:
    """Whether the host answered by itself, as it does to a command."""
    answers = [message for message in messages if message.get("role") == "assistant"]
    return bool(answers) and all(message.get("model") == _OWN_VOICE for message in answers)


def _with_sender(told: Told, session: Mapping[str, Any]) -> Told:
    """Who wrote it, as the host marked it; in a group, whom it does not call the owner is a stranger."""
    first = told.event["messages"][0]
    found = first.get("__openclaw")
    marks: Mapping[str, Any] = found if isinstance(found, Mapping) else {}
    owner = marks.get("senderIsOwner")
    if not isinstance(owner, bool):
        owner = False if session["chat"] in ("group", "channel") else None
    sender = {"id": _word(marks.get("senderId")), "name": _word(marks.get("senderName")), "owner": owner}
    provenance = first.get("inputProvenance") or first.get("provenance") or marks.get("inputProvenance")
    more = {"provenance": provenance} if isinstance(provenance, Mapping) else {}
    return Told({**told.event, "sender": sender, **more}, told.stretch)


def _word(value: object) -> str:
    return value if isinstance(value, str) else ""
