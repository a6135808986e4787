"""Epochs: a context that was wiped is a new one, whatever the host calls it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from openclaw_neuralstream.model import Session
from openclaw_neuralstream.store.truth import Truth
from tests.values import NOW, SESSION, turn


def test_a_session_is_known_from_its_first_sight_on(truth: Truth) -> None:
    assert truth.session("main", "k", "host-1", NOW) == Session("main", "k", "host-1", 0)
    assert truth.session("main", "k", "", NOW) == Session("main", "k", "host-1", 0)


def test_a_new_host_id_is_remembered(truth: Truth) -> None:
    truth.session("main", "k", "host-1", NOW)
    assert truth.session("main", "k", "host-2", NOW).host_id == "host-2"
    assert truth.session("main", "k", "", NOW).host_id == "host-2"


def test_each_window_is_briefed_once_and_a_new_one_again(truth: Truth) -> None:
    session = truth.session("main", "k", "h", NOW)
    assert not truth.briefed(session)
    truth.mark_briefed(session)
    assert truth.briefed(session)
    truth.compacted("main", "k")
    assert not truth.briefed(session)
    truth.mark_briefed(session)
    assert not truth.briefed(truth.end_session("main", "k", "new", NOW))


def test_a_session_nobody_registered_is_not_briefed(truth: Truth) -> None:
    assert not truth.briefed(Session("a", "b", "c"))


def test_an_event_with_an_id_is_heard_once(truth: Truth) -> None:
    session = truth.session("main", "k", "h", NOW)
    heard = [truth.first_heard(session, name, NOW) for name in ("e1", "e1", "e2", "", "")]
    assert heard == [True, False, True, True, True]


def test_notes_of_sessions_go_when_nothing_was_said_there_for_months(truth: Truth) -> None:
    days = {"old": 200, "recent": 20, "ended": 200, "waiting": 200}
    for number, (key, ago) in enumerate(days.items(), 1):
        at = NOW - timedelta(days=ago)
        session = truth.session("main", key, "h", at)
        if key != "ended":
            truth.append(replace(turn(number, session=session), at=at))
        for name in ("injected", "heard"):
            truth.note_session(session, name, "[1]", NOW - timedelta(days=200))
    truth.append(replace(turn(9, session=Session("main", "waiting", "h")), at=NOW))
    noted = lambda: [key for key in days if truth.session_note(Session("main", key, ""), "injected")]  # noqa: E731
    truth.note_session(Session("main", "recent", ""), "injected", "[1, 2]", NOW)
    assert noted() == list(days), "a further note of a session looks at no other"
    assert truth.first_heard(truth.session("main", "new", "h", NOW), "e1", NOW)
    assert noted() == ["recent", "waiting"]
    assert truth.session_note(Session("main", "old", ""), "heard") == ""
    assert truth.meta("heard main new") == "e1"


@pytest.mark.parametrize("reason", ["new", "reset", "idle", "daily", "deleted"])
def test_reasons_that_wipe_the_context_open_an_epoch(truth: Truth, reason: str) -> None:
    truth.session("main", "k", "h", NOW)
    assert truth.end_session("main", "k", reason, NOW) == Session("main", "k", "h", 1)
    assert truth.session("main", "k", "h", NOW).epoch == 1


@pytest.mark.parametrize("reason", ["shutdown", "compaction", ""])
def test_other_reasons_do_not(truth: Truth, reason: str) -> None:
    assert truth.end_session("main", "k", reason, NOW).epoch == 0


def test_an_end_heard_twice_opens_one_epoch(truth: Truth) -> None:
    first = truth.end_session("main", "k", "reset", NOW)
    second = truth.end_session("main", "k", "new", NOW + timedelta(milliseconds=900))
    assert (first.epoch, second.epoch) == (1, 1)


def test_two_ends_far_apart_or_with_something_in_between_open_two(truth: Truth) -> None:
    truth.end_session("main", "k", "new", NOW)
    assert truth.end_session("main", "k", "new", NOW + timedelta(seconds=2)).epoch == 2
    truth.append(turn(1, session=Session("main", "k", "h", 2)))
    assert truth.end_session("main", "k", "new", NOW + timedelta(seconds=2)).epoch == 3
    truth.mark_briefed(Session("main", "k", "h", 3))
    assert truth.end_session("main", "k", "new", NOW + timedelta(seconds=2)).epoch == 4


def test_epochs_and_numbers_survive_a_restart(truth: Truth, path: Path) -> None:
    truth.append(turn(1))
    truth.end_session(SESSION.agent, SESSION.key, "new", NOW)
    truth.close()
    again = Truth.open(path)
    assert again.session(SESSION.agent, SESSION.key, "", NOW).epoch == 1
    assert again.last_index(SESSION.agent, SESSION.key) == 1
    again.append(turn(2, session=replace(SESSION, epoch=1)))
    assert again.last_index(SESSION.agent, SESSION.key) == 2
    again.close()


def test_names_with_lone_surrogates_are_names(truth: Truth) -> None:
    assert truth.session("a\ud800", "k\udfff", "h\ud800", NOW).epoch == 0
    assert truth.end_session("a\ud800", "k\udfff", "new", NOW).epoch == 1
    assert truth.session("a\ud801", "k\udfff", "h", NOW).epoch == 0
