"""What is written to one client never makes its writers wait, on any platform, and always ends."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from openclaw_neuralstream.server import server
from openclaw_neuralstream.server.server import Outbox
from tests.waiting import until

LONG = b"x" * 4_000_000 + b"\n"


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_where_no_send_can_be_asked_not_to_wait_nobody_waits_all_the_same(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(server, "_AT_ONCE", 0)
    ours, theirs = ends
    box = Outbox(ours, lambda: None)
    writer = threading.Thread(target=lambda: [box.put(LONG) for _ in range(2)], daemon=True)
    writer.start()
    writer.join(10)
    waited = writer.is_alive()
    with theirs.makefile("rb") as lines:
        assert [lines.readline() for _ in range(2)] == [LONG, LONG]
    assert not waited


def test_where_no_send_can_be_asked_not_to_wait_who_does_not_read_is_given_up(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(server, "_AT_ONCE", 0)
    changed = threading.Event()
    box = Outbox(ends[0], changed.set, patience=0.2)
    threading.Thread(target=box.put, args=(LONG,), daemon=True).start()
    until(lambda: box.gone, seconds=10)
    assert changed.wait(10)


def test_a_client_for_which_no_thread_is_to_be_had_is_told_so_by_the_end_of_its_connection(
    ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
):
    def refused(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    ours, theirs = ends
    changed = threading.Event()
    box = Outbox(ours, changed.set)
    assert not box.put(LONG)
    assert changed.is_set()
    theirs.settimeout(10)
    with theirs.makefile("rb") as lines:
        assert not lines.readline().endswith(b"\n")  # what the socket took at once, then the end
