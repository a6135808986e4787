"""The brief of a window: byte for byte the same, each speaker's own, and gone after a forgetting."""

from __future__ import annotations

from datetime import UTC, datetime

from openclaw_neuralstream.memory.reminding import Injected
from openclaw_neuralstream.model import Block, Scope, Session

NOW = datetime(2026, 11, 22, tzinfo=UTC)
SESSION = Session("main", "agent:main:a", "a")
OWNER, GUEST = Scope("main"), Scope("main", user="telegram:7")
BRIEF = Block("the owner lives in Bonn", ("g1",), 6)


class Notes:
    """Notes as the truth keeps them."""

    def __init__(self) -> None:
        self.kept: dict[tuple[Session, str], str] = {}

    def session_note(self, session: Session, name: str) -> str:
        return self.kept.get((session, name), "")

    def note_session(self, session: Session, name: str, value: str, now: datetime) -> None:
        self.kept[session, name] = value

    def drop_session_notes(self, name: str) -> None:
        self.kept = {key: value for key, value in self.kept.items() if key[1] != name}


def opened(notes: Notes) -> Injected:
    return Injected(notes, lambda: NOW)


def test_a_brief_is_the_same_after_a_restart_for_each_who_speaks() -> None:
    notes = Notes()
    injected = opened(notes)
    injected.stand(SESSION, OWNER, BRIEF, since=injected.generation)
    injected.stand(SESSION, GUEST, Block(""), since=injected.generation)
    injected.keep(SESSION, "t1")
    again = opened(notes)
    assert (again.brief(SESSION, OWNER), again.brief(SESSION, GUEST)) == (BRIEF, Block(""))


def test_what_was_chosen_before_a_forgetting_does_not_stand_after_it() -> None:
    notes = Notes()
    injected = opened(notes)
    since = injected.generation
    injected.drop_briefs()
    injected.stand(SESSION, OWNER, BRIEF, since=since)
    injected.keep(SESSION, "t1")
    assert injected.brief(SESSION, OWNER) is None
    assert "Bonn" not in str(notes.kept)


def test_a_forgotten_brief_is_not_written_when_the_turn_ends() -> None:
    notes = Notes()
    injected = opened(notes)
    injected.stand(SESSION, OWNER, BRIEF, since=injected.generation)
    injected.drop_briefs()
    injected.keep(SESSION, "t1")
    assert notes.kept == {}


def test_a_new_window_is_briefed_anew() -> None:
    injected = opened(Notes())
    injected.stand(SESSION, OWNER, BRIEF, since=injected.generation)
    injected.new_window(SESSION)
    assert injected.brief(SESSION, OWNER) is None
