"""The real process: found or started by whoever comes first, and never two."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.server import client, protocol
from openclaw_neuralstream.server.protocol import PROTOCOL, RemoteError
from openclaw_neuralstream.state import StateDir
from tests.ollama_server import ollama_server
from tests.waiting import until
from tests.worlds import end_event, prompt_event, turn_event


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StateDir]:
    monkeypatch.setenv("NEURALSTREAM_RECALL_DEADLINE_MS", "10000")  # a busy machine answers in time, too
    state = StateDir(tmp_path / "state")
    yield state
    pid = client.endpoint_pid(state)
    client.stop(state)
    if pid:
        until(lambda: not alive(pid))


def test_a_turn_becomes_a_gem_and_comes_back_in_the_next_window(state):
    door = client.connect(state)
    said = "We decided to keep the backups of the photo archive on the NAS in the cellar."
    assert door.call("turn_end", turn_event(said))["accepted"] == "new"
    door.call("session_end", end_event("new"))
    until(lambda: door.call("status")["gems"]["total"])
    until(lambda: "embed" not in str(door.call("recall", {"query": "backups"})["left_out"]))
    block = door.call("prompt_build", prompt_event("Where do we keep the backups of the photo archive?"))
    assert "NAS in the cellar" in block["brief"]
    assert "NAS in the cellar" not in block["text"]  # what the brief shows is not said again


def test_the_same_event_twice_is_one_turn(state):
    door, event = client.connect(state), turn_event("I moved to Lisbon in March.")
    assert [door.call("turn_end", event)["accepted"] for _ in range(3)] == ["new", "seen", "seen"]


def test_many_starters_at_once_find_one_process(state):
    with ThreadPoolExecutor(6) as pool:
        pids = set(pool.map(lambda _: client.connect(state).hello["pid"], range(6)))
    assert len(pids) == 1


def test_a_process_killed_without_warning_is_replaced(state):
    first = client.connect(state)
    os.kill(first.hello["pid"], signal.SIGKILL)
    second = client.connect(state)
    assert second.hello["pid"] != first.hello["pid"]
    assert second.call("ping") == {}


def test_a_turn_acknowledged_before_a_kill_is_there_after_it(state):
    first = client.connect(state)
    first.call("turn_end", turn_event("The alarm code of the studio is on the blue card.", run="r1"))
    os.kill(first.hello["pid"], signal.SIGKILL)
    second = client.connect(state)
    assert (
        second.call("turn_end", turn_event("The alarm code of the studio is on the blue card.", run="r1"))["accepted"]
        == "seen"
    )
    assert second.call("status")["buffer"]["waiting"] == 1


def test_a_stale_endpoint_is_no_obstacle(state):
    state.prepare()
    protocol.Endpoint(f"unix:{state.path}/serve.sock", 999_999, "0.0.1", "old").save(state)
    assert client.connect(state).call("ping") == {}


def test_a_newer_client_retires_the_process(state):
    old = client.connect(state).hello["pid"]
    with pytest.raises(RemoteError) as refused:
        client.SocketDoor(protocol.load(state), version="999.0.0")
    assert refused.value.code == "version"
    until(lambda: client.endpoint_pid(state) != old)
    assert client.connect(state).hello["pid"] != old


def test_other_settings_of_the_host_start_a_new_process_with_them(state):
    where = protocol.load(state) if client.connect(state) else None
    hello = {"protocol": PROTOCOL, "version": "0.0.1", "token": where.token, "host_config": {"batch_size": 7}}
    with pytest.raises(RemoteError):
        raw(where).call("hello", hello)
    until(lambda: client.endpoint_pid(state) != where.pid)
    settings = client.connect(state).call("status")["settings"]
    assert settings["batch_size"] == {"value": 7, "source": "host config"}


def raw(where: protocol.Endpoint) -> client.SocketDoor:
    """A door that has not said hello."""
    door = client.SocketDoor.__new__(client.SocketDoor)
    import itertools

    door._socket = protocol.connect(where, 30)
    door._lines = door._socket.makefile("rb")
    door._numbers = itertools.count(1)
    return door


def test_refused_settings_of_the_host_are_named_and_change_nothing(state):
    client.connect(state)
    where = protocol.load(state)
    hello = {
        "protocol": PROTOCOL,
        "version": "0.0.1",
        "token": where.token,
        "host_config": {"batch_size": 0, "batchsize": 1},
    }
    problems = raw(where).call("hello", hello)["problems"]
    assert [problem.split(":")[0] for problem in problems] == ["batch_size", "batchsize"]
    assert client.connect(state).hello["pid"] == where.pid


@pytest.mark.parametrize("change", [{"token": "wrong"}, {"protocol": 99}])
def test_strangers_are_refused(state, change):
    client.connect(state)
    where = protocol.load(state)
    door = raw(where)
    with pytest.raises(RemoteError):
        door.call("hello", {"protocol": PROTOCOL, "version": "0.0.1", "token": where.token, **change})
    with pytest.raises(RemoteError):
        door.call("gems.list", {})


def test_garbage_on_the_socket_harms_nobody(state):
    door = client.connect(state)
    stranger = protocol.connect(protocol.load(state), 30)
    stranger.sendall(b"\x00\xff not json\n[]\n{}\n" + b"{" * 5_000 + b"\n")
    stranger.close()
    with pytest.raises(RemoteError):
        door.call("no.such.method")
    with pytest.raises(RemoteError):
        door.call("turn_end", {"agent": 7})
    assert door.call("ping") == {}


def test_it_ends_itself_when_idle(state, monkeypatch):
    monkeypatch.setenv("NEURALSTREAM_IDLE_EXIT", "5")
    door = client.connect(state)
    pid = door.hello["pid"]
    door.close()
    until(lambda: not alive(pid))
    assert protocol.load(state) is None


def test_sigterm_ends_it_cleanly(state):
    door = client.connect(state)
    os.kill(door.hello["pid"], signal.SIGTERM)
    until(lambda: not alive(door.hello["pid"]))
    assert protocol.load(state) is None
    assert not (state.path / "serve.sock").exists()


def test_what_the_bridge_spooled_is_taken_in_once(state):
    state.prepare()
    events = [turn_event(f"The release {n} ships on a Tuesday.", run=f"s{n}") for n in range(3)]
    lines = [json.dumps({"method": "turn_end", "params": event}) for event in events]
    (state.spool / "1-1.jsonl").write_text(
        "\n".join([*lines, lines[0], "rubbish", '{"method": "shutdown"}', '{"method": "turn_'])
    )
    door = client.connect(state)
    until(lambda: [file.name for file in state.spool.iterdir()] == ["refused.jsonl.bad"])  # the last thing that it does
    assert len((state.spool / "refused.jsonl.bad").read_text().splitlines()) == 3
    assert door.call("status")["counters"]["turns.new"] == 3


def test_everything_it_writes_is_for_its_owner_only(state):
    client.connect(state).call("turn_end", turn_event("My sister Ana lives in Porto."))
    modes: dict[str, int] = {}
    for path in [state.path, *state.path.rglob("*")]:
        with suppress(FileNotFoundError):  # the process goes on meanwhile: a file of a moment may be gone
            modes[path.name] = path.stat().st_mode & 0o077
    assert "memory.sqlite" in modes
    assert {name for name, mode in modes.items() if mode} == set()


def test_refused_settings_keep_it_from_starting_and_are_all_named(state):
    state.prepare()
    (state.path / "settings.toml").write_text("batch_size = 0\nnonsense = 1\n")
    with pytest.raises(NeuralStreamError) as refused:
        client.connect(state)
    assert "batch_size: must be 1 to 100 (got 0)" in str(refused.value)
    assert "nonsense: unknown setting" in str(refused.value)


def test_a_long_state_path_gets_its_socket_elsewhere(tmp_path):
    deep = StateDir(tmp_path / ("x" * 60) / ("y" * 60))
    try:
        assert client.connect(deep).call("ping") == {}
    finally:
        client.stop(deep)


def test_the_starter_answers_with_one_json_line(state):
    command = [sys.executable, "-m", "openclaw_neuralstream", "serve", "--state-dir", str(state.path), "--background"]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in range(2))
    assert json.loads(first) == json.loads(second)
    assert json.loads(first)["address"].startswith("unix:")


def hello(where: protocol.Endpoint, **more: object) -> dict[str, object]:
    return {"protocol": PROTOCOL, "version": "0.0.1", "token": where.token, **more}


def test_a_second_gateway_with_other_settings_does_not_end_the_process_of_the_first(state):
    client.connect(state)
    where = protocol.load(state)
    first = raw(where)
    assert first.call("hello", hello(where, pid=1, host_config={}))["problems"] == []
    (problem,) = raw(where).call("hello", hello(where, pid=2, host_config={"batch_size": 9}))["problems"]
    assert "another gateway (process 1)" in problem
    assert first.call("ping") == {}


def test_a_stop_does_not_wait_for_a_model(state, monkeypatch):
    with ollama_server(failure="trickle", answers=["x" * 200]) as model:  # it is there, and its answer has no end
        monkeypatch.setenv("NEURALSTREAM_OLLAMA_URL", model.url)
        monkeypatch.setenv("NEURALSTREAM_EXTRACTOR", "ollama")
        door = client.connect(state)
        door.call("turn_end", turn_event("We decided to move the studio to Ghent in May."))
        door.call("session_end", end_event("new"))
        until(lambda: door.call("status")["buffer"]["claimed"] == 1)
        assert client.stop(state, timeout=20)
        monkeypatch.setenv("NEURALSTREAM_EXTRACTOR", "rules")
        again = client.connect(state)
        until(lambda: again.call("status")["gems"]["total"] == 1)


def test_a_password_in_an_address_is_not_shown(state, monkeypatch):
    monkeypatch.setenv("NEURALSTREAM_REDIS_URL", "redis://me:hunter2@127.0.0.1:9/0")
    status = client.connect(state).call("status")
    assert status["settings"]["redis_url"]["value"] == "redis://…@127.0.0.1:9/0"
    assert "hunter2" not in json.dumps(status)
