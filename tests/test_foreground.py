"""Who waits for an answer goes first, whoever works in the background goes on all the same."""

from __future__ import annotations

import threading

from openclaw_neuralstream.foreground import Foreground

LONG = 30.0


def _behind(foreground: Foreground) -> tuple[threading.Thread, threading.Event]:
    """A thread of the background that takes one rest, and whether it is past it."""
    rested = threading.Event()

    def work() -> None:
        foreground.work_behind()
        foreground.rest()
        rested.set()

    thread = threading.Thread(target=work)
    thread.start()
    return thread, rested


def test_work_goes_on_at_once_where_nobody_asks() -> None:
    thread, rested = _behind(Foreground())
    assert rested.wait(LONG)
    thread.join(LONG)


def test_work_rests_while_a_request_is_answered_and_goes_on_when_it_is() -> None:
    foreground = Foreground(patience=LONG)
    with foreground.answering():
        thread, rested = _behind(foreground)
        assert not rested.wait(0.05)
    assert rested.wait(LONG)
    thread.join(LONG)


def test_however_long_an_answer_takes_work_goes_on() -> None:
    foreground = Foreground(patience=0.01)
    with foreground.answering():
        thread, rested = _behind(foreground)
        assert rested.wait(LONG)
    thread.join(LONG)


def test_a_thread_that_has_not_said_that_it_works_behind_never_rests() -> None:
    foreground = Foreground(patience=LONG)
    with foreground.answering():
        foreground.rest()
