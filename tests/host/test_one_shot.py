"""Without a gateway: `openclaw agent --local`, and our commands inside the host's own command line."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from openclaw_host.gateway import Host, until

FACT = "We decided to hold the annual meeting in Ljubljana."


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with Host() as host:
        yield host


def local(host: Host, message: str, session: str) -> None:
    done = host.run("agent", "--local", "--agent", "main", "--session-key", session, "-m", message, "--json")
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_turn_of_a_one_shot_is_taken_in_although_the_process_exits_at_once(host: Host) -> None:
    local(host, FACT, "agent:main:one")
    until(lambda: host.turns() == 1, 90, lambda: str(host.counters()))


def test_a_one_shot_knows_what_an_earlier_one_was_told(host: Host) -> None:
    host.memory("flush")
    question = "Where is the annual meeting held?"
    local(host, question, "agent:main:two")
    request = host.model.wait_for(lambda request: question in request.asked)
    assert str(request).count(FACT) == 1


def test_our_commands_work_inside_the_hosts_command_line(host: Host) -> None:
    done = host.run("neuralstream", "gems", "list", "--json")
    assert done.returncode == 0, done.stderr[-2000:]
    assert FACT in json.dumps(json.loads(done.stdout))


def test_an_unknown_command_is_refused_with_our_exit_code(host: Host) -> None:
    assert host.run("neuralstream", "no-such-command").returncode == 2
