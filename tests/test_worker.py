"""A worker of several steps: one that fails rests alone, and the others go on."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from openclaw_neuralstream import worker as worker_module
from openclaw_neuralstream.errors import NeuralStreamError, StateError
from openclaw_neuralstream.worker import FairLock, Worker
from tests.waiting import until


@pytest.mark.parametrize(("error", "crashes"), [(StateError("the disk is full"), 0), (ZeroDivisionError(), 1)])
def test_a_step_that_fails_keeps_no_other_from_its_turn(
    error: Exception, crashes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "_REST", 60.0)  # it does not come again within this test
    done: list[int] = []
    told: list[NeuralStreamError] = []

    def fail() -> None:
        raise error

    worker = Worker("test", fail, lambda: done.append(1), period=60.0, refused=told.append)
    worker.start()
    until(lambda: len(done) == 1)
    worker.wake()
    until(lambda: len(done) == 2)
    assert worker.stop(30)
    assert (worker.crashes, len(told)) == (crashes, 1 - crashes)


def test_a_step_that_failed_comes_again_and_is_well_from_then_on() -> None:
    rounds: list[int] = []

    def fail_once() -> None:
        rounds.append(1)
        if len(rounds) == 1:
            raise ZeroDivisionError

    worker = Worker("test", fail_once, period=0.01)
    worker.start()
    until(lambda: len(rounds) >= 3)
    assert worker.stop(30)
    assert worker.crashes == 1


def test_a_worker_stops_between_two_steps() -> None:
    done: list[str] = []
    worker: Worker

    def last() -> None:
        done.append("first")
        worker.stop(0)

    then: Callable[[], None] = lambda: done.append("second")  # noqa: E731
    worker = Worker("test", last, then, period=60.0)
    worker.start()
    until(lambda: done)  # a worker that is stopped before its first round takes no step at all
    until(lambda: worker.stop(0.01))
    assert done == ["first"]


def test_a_fair_lock_lets_others_in_between_two_steps_of_a_loop_and_its_owner_in_again():
    lock, got = FairLock(), threading.Event()
    rounds: list[bool] = []

    def other() -> None:
        with lock, lock:
            got.set()

    with lock:
        waits = threading.Thread(target=other)
        waits.start()
        until(lock._gate.locked)  # it stands at the gate
    while not got.is_set() and len(rounds) < 1_000:
        with lock:
            rounds.append(got.is_set())
    waits.join()
    assert len(rounds) <= 2
