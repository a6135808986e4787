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
        self._unwritten: set[Session] = set()
        self._generation = 0
        self._lately: deque[tuple[str, tuple[str, ...]]] = deque(maxlen=_OPEN)
        self._lock = threading.Lock()

    def lately(self, agent: str) -> list[str]:
        """Ids of the records that this process has put before an agent's model of late, the newest first."""
        with self._lock:
            return [id_ for owner, ids in reversed(self._lately) if owner == agent for id_ in ids]

    def showed(self, agent: str, records: tuple[str, ...]) -> None:
        """An agent's model was shown these beside its turns: short citations of them are known."""
        with self._lock:
            self._lately.append((agent, records))

    def note(self, turn_id: str, block: Block, *, agent: str = "", brief: int = 0) -> None:
        """This turn is given this block; costs no write."""
        with self._lock:
            self._lately.append((agent, block.records))
            self._open[turn_id] = Shown(turn_id, block.records, block.tokens, brief)
            while len(self._open) > _OPEN:
                del self._open[next(iter(self._open))]

    @property
    def generation(self) -> int:
        """Grows with every forgetting and every new window: a brief chosen before it does not stand after it."""
        return self._generation

    def brief(self, session: Session, scope: Scope) -> Block | None:
        """The brief of this window for who speaks, byte for byte as it was first given; None where none was yet."""
        with self._lock:
            if (session, scope) not in self._briefs and (known := self._noted(session).get(scope)) is not None:
                self._briefs[session, scope] = known
            return self._briefs.get((session, scope))

    def stand(self, session: Session, scope: Scope, brief: Block, *, since: int) -> None:
        """This brief stands for the window from now on; it is written when the turn has ended. since: the generation it is of."""
        with self._lock:
            if since != self._generation:
                return
            self._briefs[session, scope] = brief
            self._unwritten.add(session)
            while len(self._briefs) > _OPEN:
                del self._briefs[next(iter(self._briefs))]

    def new_window(self, session: Session) -> None:
        """What stood in the window is gone: the next request is briefed anew."""
        with self._lock:
            self._generation += 1
            for key in [key for key in self._briefs if key[0] == session]:
                del self._briefs[key]
            self._unwritten.discard(session)
            self._notes.note_session(session, _BRIEF, "", self._now())

    def drop_briefs(self) -> None:
        """Something that a brief may tell was forgotten or changed by hand: every window is briefed anew."""
        with self._lock:
            self._generation += 1
            self._briefs.clear()
            self._unwritten.clear()
            self._notes.drop_session_notes(_BRIEF)

    def _noted(self, session: Session) -> dict[Scope, Block]:
        """The briefs of this window that were written, by whom they are for."""
        try:
            rows = json.loads(self._notes.session_note(session, _BRIEF) or "[]")
            return {
                Scope(*row["scope"]): Block(str(row["text"]), tuple(map(str, row["records"])), int(row["tokens"]))
                for row in rows
                if row["epoch"] == session.epoch
            }
        except (ValueError, TypeError, KeyError, AttributeError):
            return {}

    def _write_briefs(self, session: Session) -> None:
        if session not in self._unwritten:
            return
        self._unwritten.discard(session)
        here = {scope: brief for (of, scope), brief in self._briefs.items() if of == session}
        rows = [
            {"epoch": session.epoch, "scope": astuple(scope), "text": b.text, "records": b.records, "tokens": b.tokens}
            for scope, b in (self._noted(session) | here).items()
        ]
        self._notes.note_session(session, _BRIEF, json.dumps(rows, ensure_ascii=False), self._now())

    def keep(self, session: Session, turn_id: str) -> None:
        """The turn has ended: write down what it was given, with the session's last ones, and the brief of its window."""
        with self._lock:
            shown = self._open.pop(turn_id, None)
            self._write_briefs(session)
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
