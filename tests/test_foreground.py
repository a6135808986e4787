"""Who waits for an answer goes first, whoever works in the background goes on all the same."""

from __future__ import annotations

import subprocess
import sys
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


def test_a_process_that_answers_looks_for_cycles_seldom_and_still_finds_them() -> None:
    told = subprocess.run([sys.executable, "-c", _SELDOM], capture_output=True, text=True, check=True)  # its own: it holds for all of a process
    before, after, found = map(int, told.stdout.split())
    assert after < before / 5
    assert found == 1


_SELDOM = """
import gc, weakref
from openclaw_neuralstream import foreground

class Ring:
    pass

def looked():
    times = sum(each["collections"] for each in gc.get_stats())
    kept = [[] for _ in range(50_000)]
    return sum(each["collections"] for each in gc.get_stats()) - times

before = looked()
foreground.prefer_answers()
foreground.settled()
after = looked()
ring = Ring()
ring.self, seen = ring, weakref.ref(ring)
del ring
gc.collect()
print(before, after, int(seen() is None))
"""
