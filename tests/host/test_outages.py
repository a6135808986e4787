"""What goes away comes back: Python killed in mid-turn or missing, a reload, a gateway stopped or killed. In this order."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openclaw_host.gateway import Host, until

from openclaw_neuralstream.store.truth import Truth

SESSION = "agent:main:s"
FACT = "We decided to store the invoices in the Reykjavik data centre."
RAISING = """
from openclaw_neuralstream import hookimpl

@hookimpl
def prompt_build(query, memory):
    raise RuntimeError("a hook of the user's own")

@hookimpl
def turn_end(turn, usage, memory):
    raise RuntimeError("another one")
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python of our own that a test can take away."""
    path = tmp_path_factory.mktemp("python") / "python"
    _install(path)
    return path


@pytest.fixture(scope="module")
def host(python: Path) -> Iterator[Host]:
    with Host(env={"NEURALSTREAM_PYTHON": str(python)}) as host:
        own_hooks = host.memory_dir.path / "hooks"
        own_hooks.mkdir(parents=True)
        (own_hooks / "raises.py").write_text(RAISING)
        host.start()
        yield host


def _install(path: Path) -> None:
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)


def asked(host: Host, question: str, session: str) -> str:
    host.model.reset()
    host.turn(session, question)
    return str(host.model.wait_for(lambda request: question in request.asked))


def spooled(host: Host, method: str = "") -> list[str]:
    folder = host.memory_dir.spool
    return sorted(path.name for path in folder.glob("*.jsonl") if method in path.read_text())


def test_a_hook_that_raises_is_counted_and_costs_nothing(host: Host) -> None:
    host.turn(SESSION, FACT)
    host.turn(SESSION, "Thanks, that is all for now.")
    until(lambda: FACT in [gem["content"] for gem in host.gems()], 90, lambda: str(host.memory("status")))
    assert FACT in asked(host, "Where do we store the invoices?", "agent:main:other")
    raised = {hook["name"]: hook["failures"] for hook in host.memory("status")["hooks"]}
    assert any("raises" in name and failures >= 3 for name, failures in raised.items()), raised


def test_python_killed_in_mid_turn_costs_neither_the_reply_nor_the_turn(host: Host) -> None:
    before, pid = host.turns(), host.memory_pid()
    host.model.reset()
    host.model.hold()
    run = host.send(SESSION, "We decided to paint the office green.")
    host.model.wait_for(lambda request: "paint the office" in request.asked)
    host.kill_memory()
    host.model.let_go()
    assert host.wait(run)["status"] == "ok"
    until(lambda: host.turns() == before + 1, 60, lambda: f"{host.turns()} turns, {spooled(host)} spooled")
    assert host.memory_pid() != pid
    until(lambda: spooled(host) == [], 90, lambda: f"{spooled(host)} spooled")


def test_turns_are_spooled_while_python_is_missing_and_taken_in_once_it_is_back(host: Host, python: Path) -> None:
    before = host.turns()
    assert spooled(host) == []
    python.unlink()
    try:
        host.kill_memory()
        host.say(SESSION, "We decided to plant a walnut tree.")
        host.say(SESSION, "Good night.")
        until(lambda: len(spooled(host, "turn_end")) == 2, 90, lambda: str(spooled(host)))
        assert all((host.memory_dir.spool / name).stat().st_mode & 0o077 == 0 for name in spooled(host))
    finally:
        _install(python)
    until(lambda: _back(host), 90, "the memory process does not come back")
    until(lambda: host.turns() >= before + 3, 90, lambda: f"{host.counters()}, {spooled(host)} spooled")
    until(lambda: spooled(host) == [], 90, lambda: f"{spooled(host)} spooled")
    until(lambda: _back(host) and host.counters().get("process.away", 0) >= 1, 90, lambda: str(host.counters()))  # told with a turn


def _back(host: Host) -> bool:
    """Say something: the bridge tries again with each turn, at growing intervals."""
    host.say("agent:main:knock", "knock knock")
    return bool(host.counters())


def test_a_changed_setting_reloads_the_plugin_and_everything_still_works_once(host: Host) -> None:
    def change(config: dict) -> None:
        config["plugins"]["entries"]["neuralstream"]["config"]["max_gems_injected"] = 3

    host.configure(change)
    until(lambda: "config hot reload applied" in host.log_text(), 60, "no reload")
    until(lambda: _back(host), 60, "the memory process does not come back")
    assert host.memory("status")["settings"]["max_gems_injected"]["source"] == "host config"
    request = asked(host, "Where do we store the invoices now?", "agent:main:reloaded")
    assert request.count(FACT) == 1


def test_a_gateway_stopped_politely_leaves_the_memory_process_and_its_turns(host: Host) -> None:
    host.turn(SESSION, "We decided to sell the old van.")
    before, pid = host.turns(), host.memory_pid()
    host.stop(signal.SIGTERM)
    assert host.memory_pid() == pid
    until(lambda: host.counters().get("batches.boundary", 0) > 0, 90, lambda: str(host.counters()))
    host.start()
    assert "old van" in asked(host, "What did we decide about the old van?", "agent:main:restarted")
    assert host.turns() == before + 1


def test_a_gateway_killed_loses_no_turn_that_had_ended(host: Host) -> None:
    host.turn(SESSION, "We decided to buy a red tandem bicycle.")
    before = host.turns()
    host.stop(signal.SIGKILL)
    host.start()
    host.memory("flush")
    assert "tandem bicycle" in asked(host, "What kind of bicycle did we decide to buy?", "agent:main:killed")
    assert host.turns() == before + 1


def kept(host: Host, session: str) -> list[str]:
    """What memory has of a session: of each turn the owner's words and the agent's."""
    truth = Truth.open(host.memory_dir.database)
    try:
        return [turn.text_of("owner", "agent", "system") for turn in truth.session_turns("main", session)]
    finally:
        truth.close()


def kill_in_mid_turn(host: Host, session: str, words: str, *, memory: bool) -> None:
    """The model has the words and does not answer; everything dies, and the gateway is started anew."""
    host.model.reset()
    host.model.hold()
    host.send(session, words)
    host.model.wait_for(lambda request: words in request.asked)
    host.stop(signal.SIGKILL)
    if memory:
        host.kill_memory()
    host.model.let_go()
    host.start()


@pytest.mark.parametrize("memory", [False, True], ids=["gateway", "gateway and memory"])
def test_killed_in_mid_turn_what_was_said_is_remembered_once_with_the_answer_after_the_restart(
    host: Host, memory: bool
) -> None:
    session = f"agent:main:cut{int(memory)}"
    words = f"We decided to paint the {'kitchen' if memory else 'office'} green."
    host.turn(session, "Hello there.")
    kill_in_mid_turn(host, session, words, memory=memory)
    until(lambda: len(kept(host, session)) == 2, 120, lambda: str(kept(host, session)))  # the host goes on by itself
    host.turn(session, "Thanks, that is all for now.")
    host.memory("flush")
    assert kept(host, session) == ["Hello there.\nNoted.", f"{words}\nNoted.", "Thanks, that is all for now.\nNoted."]
    assert [gem["content"] for gem in host.gems()].count(words) == 1


def test_killed_in_mid_turn_and_forgotten_it_does_not_come_back_from_the_window(host: Host) -> None:
    session, words = "agent:main:cut-forgotten", "We decided to sell the Zanzibar carpet."
    host.turn(session, "Hello there.")
    host.model.reset()
    host.model.hold()
    host.send(session, words)
    host.model.wait_for(lambda request: words in request.asked)
    host.stop(signal.SIGKILL)
    until(lambda: host.memory("forget.run", {"words": "Zanzibar"})["receipt"]["removed"], 30, "it was never kept")
    host.model.let_go()
    host.start()
    until(lambda: "Noted." in host.history(session).split("Zanzibar")[-1], 120, lambda: host.history(session))
    host.turn(session, "Thanks, that is all for now.")
    host.memory("flush")
    assert "Zanzibar" not in f"{kept(host, session)}{host.gems()}"
