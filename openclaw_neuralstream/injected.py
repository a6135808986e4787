"""What was really put before the model: ids and numbers of each turn, and the brief that stands in every request of a window."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any, Protocol

from openclaw_neuralstream.model import Block, Scope, Session

MOST_TURNS = 50
"""Turns of a session of which it is kept."""

_NAME, _BRIEF = "injected", "brief"
_OPEN = 200  # prompts whose turn has not ended yet


class Notes(Protocol):
    """Small named texts about a session that survive the process."""

    def session_note(self, session: Session, name: str) -> str: ...  # noqa: D102
    def note_session(self, session: Session, name: str, value: str, now: datetime) -> None: ...  # noqa: D102
    def drop_session_notes(self, name: str) -> None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Shown:
    """What one turn was given. brief: how many of the records were of the session's brief."""

    turn_id: str
    records: tuple[str, ...]
    tokens: int
    brief: int = 0


class Injected:
    """Noted in memory while a reply waits, written when its turn has ended."""

    def __init__(self, notes: Notes, clock: Callable[[], datetime]) -> None:
        self._notes = notes
        self._now = clock
        self._open: dict[str, Shown] = {}
        self._briefs: dict[tuple[Session, Scope], Block] = {}
        self._unwritten: dict[Session, Scope] = {}
        self._lately: deque[tuple[str, tuple[str, ...]]] = deque(maxlen=_OPEN)
        self._lock = threading.Lock()

    def lately(self, agent: str) -> list[str]:
        """Ids of the records that this process has put before an agent's model of late, the newest first."""
        with self._lock:
            return [id_ for owner, ids in reversed(self._lately) if owner == agent for id_ in ids]

    def note(self, turn_id: str, block: Block, *, agent: str = "", brief: int = 0) -> None:
        """This turn is given this block; costs no write."""
        with self._lock:
            self._lately.append((agent, block.records))
            self._open[turn_id] = Shown(turn_id, block.records, block.tokens, brief)
            while len(self._open) > _OPEN:
                del self._open[next(iter(self._open))]

    def brief(self, session: Session, scope: Scope) -> Block | None:
        """The brief of this window for who speaks, byte for byte as it was first given; None where none was yet."""
        with self._lock:
            if (session, scope) in self._briefs:
                return self._briefs[session, scope]
        try:
            row = json.loads(self._notes.session_note(session, _BRIEF) or "{}")
            block = Block(str(row["text"]), tuple(map(str, row["records"])), int(row["tokens"]))
            return block if (row["epoch"], row["scope"]) == (session.epoch, list(astuple(scope))) else None
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def stand(self, session: Session, scope: Scope, brief: Block) -> None:
        """This brief stands for the window from now on; it is written when the turn has ended."""
        with self._lock:
            self._briefs[session, scope] = brief
            self._unwritten[session] = scope
            while len(self._briefs) > _OPEN:
                del self._briefs[next(iter(self._briefs))]

    def new_window(self, session: Session) -> None:
        """What stood in the window is gone: the next request is briefed anew."""
        with self._lock:
            for key in [key for key in self._briefs if key[0] == session]:
                del self._briefs[key]
        self._notes.note_session(session, _BRIEF, "", self._now())

    def drop_briefs(self) -> None:
        """Something that a brief may tell was forgotten or changed by hand: every window is briefed anew."""
        with self._lock:
            self._briefs.clear()
            self._unwritten.clear()
        self._notes.drop_session_notes(_BRIEF)

    def keep(self, session: Session, turn_id: str) -> None:
        """The turn has ended: write down what it was given, with the session's last ones, and the brief of its window."""
        with self._lock:
            shown = self._open.pop(turn_id, None)
            scope = self._unwritten.pop(session, None)
            brief = self._briefs.get((session, scope)) if scope else None
        if scope is not None and brief is not None:
            row = {
                "epoch": session.epoch,
                "scope": astuple(scope),
                "text": brief.text,
                "records": brief.records,
                "tokens": brief.tokens,
            }
            self._notes.note_session(session, _BRIEF, json.dumps(row, ensure_ascii=False), self._now())
        if shown is None:
            return
        kept = [item for item in self.of(session) if item.turn_id != turn_id]
        self._note(session, (*kept, shown)[-MOST_TURNS:])

    def of(self, session: Session) -> list[Shown]:
        """What the session's last turns were given, oldest first; [] where nothing was noted."""
        try:
            rows = json.loads(self._notes.session_note(session, _NAME) or "[]")
            return [_shown(row) for row in rows]
        except (ValueError, TypeError, KeyError, AttributeError):  # a note that somebody wrote by hand
            return []

    def drop(self, session: Session, turn_ids: Collection[str] | None = None) -> None:
        """These turns of the session are forgotten; None = all of it."""
        known = self.of(session)
        left = [item for item in known if item.turn_id not in turn_ids] if turn_ids is not None else []
        if left != known or not left:
            self._note(session, left)

    def _note(self, session: Session, shown: Sequence[Shown]) -> None:
        self._notes.note_session(session, _NAME, _rows(shown), self._now())


def _rows(shown: Sequence[Shown]) -> str:
    rows = [
        {"turn": item.turn_id, "records": list(item.records), "tokens": item.tokens, "brief": item.brief}
        for item in shown
    ]
    return json.dumps(rows) if rows else ""


def _shown(row: Mapping[str, Any]) -> Shown:
    records = tuple(str(record) for record in row["records"])
    return Shown(str(row["turn"]), records, int(row["tokens"]), int(row["brief"]))
