"""A backlog is due when it is long enough, when the window fills, or when nothing more comes."""

from datetime import timedelta

import pytest

from openclaw_neuralstream.extract.triggers import decide
from openclaw_neuralstream.model import Backlog, Trigger, Usage
from openclaw_neuralstream.settings import Settings
from tests.extract.conversations import SATURDAY as NOW
from tests.extract.conversations import SESSION

SETTINGS = Settings(batch_size=5, context_threshold=50, idle_timeout=900)


def backlog(waiting: int, *, silent: float = 0.0, claimed: int = 0) -> Backlog:
    newest = NOW - timedelta(seconds=silent)
    return Backlog(SESSION, waiting, claimed, newest, newest)


def due(*, waiting: int, silent: float = 0.0, usage: Usage | None = None) -> Trigger | None:
    return decide(backlog(waiting, silent=silent), usage=usage, now=NOW, settings=SETTINGS)


@pytest.mark.parametrize(("waiting", "expected"), [(4, None), (5, Trigger.BATCH), (6, Trigger.BATCH)])
def test_a_batch_is_due_when_enough_turns_wait(waiting, expected):
    assert due(waiting=waiting) == expected


@pytest.mark.parametrize(("silent", "expected"), [(899.9, None), (900, Trigger.IDLE), (90_000, Trigger.IDLE)])
def test_the_rest_is_due_when_nobody_speaks_any_more(silent, expected):
    assert due(waiting=1, silent=silent) == expected


@pytest.mark.parametrize(
    ("tokens", "window", "expected"),
    [(49_999, 100_000, None), (50_000, 100_000, Trigger.CONTEXT), (0, 100_000, None), (50_000, 0, None)],
)
def test_all_that_waits_is_due_when_the_window_is_half_full(tokens, window, expected):
    assert due(waiting=1, usage=Usage(tokens, window)) == expected


def test_a_full_window_comes_before_a_full_batch_because_it_takes_the_rest_too():
    assert due(waiting=7, usage=Usage(60, 100)) == Trigger.CONTEXT


def test_turns_that_are_claimed_already_do_not_count():
    claimed = backlog(0, silent=9_000, claimed=7)
    assert decide(claimed, usage=Usage(90, 100), now=NOW, settings=SETTINGS) is None
