"""What was said last in each conversation, for the life of this process: what was asked, and who spoke."""

from __future__ import annotations

import threading
from typing import TypeVar

from openclaw_neuralstream.model import Query, Scope, Session

_ASKED = 200  # conversations whose last question is remembered
_HEARD = 1000  # conversations whose last speaker is remembered
_MESSAGES = 4  # of the dialogue before a question that are given with it

_Value = TypeVar("_Value")


class Conversations:
    """The last question and the last speaker of each conversation, of those heard lately. May be used from any thread."""

    def __init__(self) -> None:
        self._questions: dict[tuple[str, str], Query] = {}
        self._speakers: dict[tuple[str, str], str] = {}
        self._noting = threading.Lock()

    def ask(self, session: Session, query: Query) -> None:
        """What was asked last in a session; a sub-agent that it starts is briefed with it in mind."""
        with self._noting:
            _put(self._questions, session, query, most=_ASKED)

    def asked(self, session: Session, scope: Scope) -> tuple[str, ...]:
        """The last question there behind the messages before it; () where nobody of this scope has asked."""
        query = self._questions.get((session.agent, session.key))
        return (*query.dialogue[-_MESSAGES:], query.text) if query and query.scope == scope else ()

    def hear(self, session: Session, user: str) -> None:
        """Who spoke last in a conversation, or for whom a sub-agent works; what is done on his behalf is his."""
        with self._noting:
            _put(self._speakers, session, user, most=_HEARD)

    def heard(self, session: Session) -> str:
        """The user who spoke last there; "" when nobody was heard since this process began."""
        return self._speakers.get((session.agent, session.key), "")


def _put(kept: dict[tuple[str, str], _Value], session: Session, value: _Value, *, most: int) -> None:
    """Keep a conversation's value as the newest; the oldest go when there are more than `most`."""
    kept.pop((session.agent, session.key), None)
    kept[session.agent, session.key] = value
    while len(kept) > most:
        del kept[next(iter(kept))]
