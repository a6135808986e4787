"""Each moment at which the host or the clock makes turns due, in a real gateway: full batch, full window, silence, a wipe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openclaw_host.gateway import PATIENT, Host, until

ALONE = {**PATIENT, "batch_size": 4, "idle_timeout": 3600}
"""Nothing but what a test is about makes its turns due."""


@pytest.fixture(scope="module")
def running() -> Iterator[Host]:
    with Host(config=ALONE) as host:
        host.start()
        yield host


def fired(host: Host, trigger: str) -> int:
    return host.counters().get(f"batches.{trigger}", 0)


def wait_until_fired(host: Host, trigger: str, times: int) -> None:
    until(lambda: fired(host, trigger) == times, 90, lambda: str(host.counters()))


def idle_timeout(host: Host) -> float | None:
    try:
        return float(host.memory("status")["settings"]["idle_timeout"]["value"])
    except AssertionError:  # the process is just being replaced
        return None


def wait_for_gem(host: Host, fact: str) -> None:
    until(lambda: fact in [gem["content"] for gem in host.gems()], 60, lambda: str([gem["content"] for gem in host.gems()]))


@pytest.mark.parametrize(("command", "fact"), [
    ("/new", "We decided to plant two cherry trees behind the workshop."),
    ("/reset", "We decided to paint the gate of the workshop dark green."),
])
def test_a_wiped_window_is_distilled_at_once(host: Host, command: str, fact: str) -> None:
    before, session = fired(host, "boundary"), f"agent:main:wipe{command[1:]}"
    host.turn(session, fact)
    assert fact not in [gem["content"] for gem in host.gems()]
    host.clear_window(session, command)
    wait_for_gem(host, fact)
    wait_until_fired(host, "boundary", before + 1)


def test_as_many_turns_as_the_setting_says_are_a_batch(host: Host) -> None:
    before, facts = fired(host, "batch"), [f"The crate number {n} of the workshop is on shelf {n + 4}." for n in range(4)]
    for number, fact in enumerate(facts):
        assert fired(host, "batch") == before, number
        host.turn("agent:main:batch", fact)
    wait_for_gem(host, facts[0])
    wait_until_fired(host, "batch", before + 1)


def test_silence_is_distilled_after_the_time_that_is_set(host: Host) -> None:
    """Last: it changes the settings of the running gateway, which reloads the plugin and replaces the process."""
    fact = "We decided to sell the old lathe of the workshop to Benedikt."
    host.turn("agent:main:silence", fact)
    host.configure(lambda config: config["plugins"]["entries"]["neuralstream"]["config"].update(idle_timeout=10))
    until(lambda: idle_timeout(host) == 10, 90, host.log_text)
    wait_for_gem(host, fact)
    wait_until_fired(host, "idle", 1)
