"""Clients that do not read, that leave, and that come all at once: the others are served as before."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.server import client, protocol
from openclaw_neuralstream.server.protocol import MAX_UNGREETED, PROTOCOL, encode
from openclaw_neuralstream.server.server import Connection
from openclaw_neuralstream.state import StateDir
from tests.waiting import until

BURST = 500
ASKED = {"query": "Where do we keep the backups?", "agent": "main"}


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateDir]:
    state = StateDir(tmp_path / "state")
    yield state
    client.stop(state)


def line(number: int, method: str, params: Any) -> bytes:
    return encode({"id": number, "method": method, "params": params})


def greeting(state: StateDir) -> bytes:
    where = protocol.load(state)
    assert where is not None
    return line(0, "hello", {"protocol": PROTOCOL, "version": "0.0.1", "client": "test", "token": where.token})


def opened(state: StateDir) -> socket.socket:
    where = protocol.load(state)
    assert where is not None
    return protocol.connect(where, 20)


def silent(state: StateDir, requests: int) -> socket.socket:
    """A client that asks and never reads what is answered; what the process does not take is left."""
    sock = opened(state)
    sock.sendall(greeting(state))
    sock.settimeout(0.5)
    with suppress(TimeoutError):
        sock.sendall(b"".join(line(n, "status", {}) for n in range(1, requests + 1)))
    return sock


@pytest.mark.parametrize(("clients", "requests"), [(8, 200), (1, BURST)])
def test_clients_that_do_not_read_keep_nobody_waiting(state: StateDir, clients: int, requests: int):
    door = client.connect(state)
    deaf = [silent(state, requests) for _ in range(clients)]
    assert door.call("recall", ASKED, timeout=20)["records"] == []
    assert client.connect(state).call("recall", ASKED, timeout=20)["records"] == []
    for sock in deaf:
        sock.close()


def test_a_stopped_client_keeps_nobody_waiting(state: StateDir):
    door = client.connect(state)
    script = (
        "import sys; from pathlib import Path; from openclaw_neuralstream.state import StateDir;"
        "from tests.server.test_clients import silent;"
        "socks = [silent(StateDir(Path(sys.argv[1])), 200) for _ in range(8)]; print('asked', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, str(state.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "asked\n"
        os.kill(child.pid, signal.SIGSTOP)
        assert door.call("recall", ASKED, timeout=20)["records"] == []
    finally:
        child.kill()
        child.wait()


def test_a_client_that_reads_late_gets_all_its_answers_in_the_end(state: StateDir):
    client.connect(state)
    sock = opened(state)
    writer = threading.Thread(
        target=lambda: sock.sendall(greeting(state) + b"".join(line(n, "status", {}) for n in range(1, BURST + 1)))
    )
    writer.start()
    with sock, sock.makefile("rb") as lines:
        answers = [json.loads(lines.readline()) for _ in range(BURST + 1)]
    writer.join()
    assert {answer["id"] for answer in answers} == set(range(BURST + 1))
    assert not any("error" in answer for answer in answers)


def test_a_burst_of_connections_is_served(state: StateDir):
    client.connect(state)
    socks = [opened(state) for _ in range(BURST)]

    def greet(sock: socket.socket) -> bool:
        sock.sendall(greeting(state) + line(1, "ping", {}))
        with sock.makefile("rb") as lines:
            return "result" in json.loads(lines.readline()) and json.loads(lines.readline()) == {"id": 1, "result": {}}

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(greet, socks))
    for sock in socks:
        sock.close()


@pytest.mark.parametrize("greeted", [False, True])
def test_before_hello_a_line_is_short(state: StateDir, greeted: bool):
    client.connect(state)
    with opened(state) as sock, sock.makefile("rb") as lines:
        if greeted:
            sock.sendall(greeting(state))
            assert "result" in json.loads(lines.readline())
        try:
            sock.sendall(line(1, "ping", {"padding": "x" * MAX_UNGREETED}))
        except OSError:
            assert not greeted
        answer = json.loads(lines.readline())
        assert answer.get("result") == {} if greeted else "at most" in answer["error"]["message"]


def test_one_process_without_free_files_still_serves(state: StateDir, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEURALSTREAM_IDLE_EXIT", "600")
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (90, 90));"
        "from openclaw_neuralstream.__main__ import main; sys.argv[1:] = ['serve', '--state-dir', sys.argv[1]]; main()"
    )
    served = subprocess.Popen([sys.executable, "-c", script, str(state.path)], stdout=subprocess.DEVNULL)
    try:
        until(lambda: protocol.load(state) and client.find(state), seconds=60)
        door = client.find(state)
        assert door is not None
        socks = [opened(state) for _ in range(100)]
        for sock in socks:
            sock.close()
        until(lambda: client.find(state), seconds=30)
        assert door.call("ping") == {}
    finally:
        served.terminate()
        served.wait(30)


class Slow:
    """Answers what it is asked, and counts."""

    def __init__(self) -> None:
        self.answered = 0

    def __call__(self, _connection: Connection, _method: str, _params: Any) -> str:
        self.answered += 1
        return "x" * 100_000


@pytest.fixture
def served() -> Iterator[tuple[Connection, socket.socket, Slow]]:
    ours, theirs = socket.socketpair()
    slow = Slow()
    with ThreadPoolExecutor(2) as pool:
        connection = Connection(ours, slow, pool, patience=0.2)
        connection.greeted = True
        thread = threading.Thread(target=connection.run, daemon=True)
        thread.start()
        yield connection, theirs, slow
        theirs.close()
        thread.join(10)
        assert not thread.is_alive()


def test_who_does_not_read_is_given_up_and_its_work_is_dropped(served: tuple[Connection, socket.socket, Slow]):
    _, theirs, slow = served
    theirs.settimeout(5)
    requests = line(1, "slow", {"padding": "x" * 1_000}) * 10_000
    with pytest.raises(OSError, match=r"Broken pipe|reset"):
        theirs.sendall(requests)
    assert slow.answered < 100


def test_the_work_of_who_has_left_is_dropped(served: tuple[Connection, socket.socket, Slow]):
    connection, theirs, slow = served
    theirs.sendall(b"".join(line(n, "slow", {}) for n in range(200)))
    theirs.close()
    until(lambda: connection._open == 0)
    assert slow.answered < 200


class Held:
    """Answers `slow` only when it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def __call__(self, _connection: Connection, method: str, _params: Any) -> Any:
        if method == "slow":
            self.go.wait(30)
        return {}


@pytest.fixture
def held() -> Iterator[tuple[Connection, socket.socket]]:
    ours, theirs = socket.socketpair()
    answers = Held()
    with ThreadPoolExecutor(8) as pool, theirs:
        connection = Connection(ours, answers, pool)
        connection.greeted = True
        thread = threading.Thread(target=connection.run, daemon=True)
        thread.start()
        theirs.settimeout(10)
        yield connection, theirs
        answers.go.set()
        theirs.close()
        thread.join(10)


@pytest.mark.parametrize("method", ["prompt_build", "recall", "tool.recall", "memory.search", "memory.get"])
def test_what_a_reply_waits_for_does_not_wait_for_slow_requests(
    held: tuple[Connection, socket.socket], method: str
) -> None:
    _, theirs = held
    theirs.sendall(b"".join(line(n, "slow", {}) for n in range(20)) + line(99, method, {}))
    with theirs.makefile("rb") as lines:
        assert json.loads(lines.readline()) == {"id": 99, "result": {}}


def test_however_much_a_client_asks_its_answers_to_us_are_read(held: tuple[Connection, socket.socket]) -> None:
    connection, theirs = held
    with ThreadPoolExecutor(1) as asking, theirs.makefile("rb") as lines:
        asked = asking.submit(connection.ask, "complete", {}, 10)
        number = json.loads(lines.readline())["id"]
        theirs.sendall(b"".join(line(n, "slow", {}) for n in range(2_000)))
        theirs.sendall(encode({"id": number, "result": {"text": "yes"}}))
        assert asked.result(15) == {"text": "yes"}
        refused = json.loads(lines.readline())
        assert refused["error"]["code"] == "busy"
        theirs.sendall(line(5_000, "ping", {}))
        until(lambda: json.loads(lines.readline()) == {"id": 5_000, "result": {}})
