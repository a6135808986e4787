"""Whatever is sent, the process answers or refuses it, stays alive and serves others; `python -m tests.fuzz` sends more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.server import client, protocol
from openclaw_neuralstream.server.protocol import PROTOCOL, decode
from openclaw_neuralstream.state import StateDir
from tests.fuzz import fuzz
from tests.worlds import turn_event


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateDir]:
    state = StateDir(tmp_path / "state")
    yield state
    client.stop(state)


def test_no_frame_brings_about_a_fault(state: StateDir):
    assert fuzz(state, 150).faults == {}


def code_of(state: StateDir, method: str, params: Any) -> str:
    """The code with which it is refused; "" when it is answered."""
    where = protocol.load(state) if client.connect(state) else None
    assert where is not None
    with protocol.connect(where, 30) as sock, sock.makefile("rb") as lines:
        hello = {"protocol": PROTOCOL, "version": "0.0.1", "token": where.token}
        frames = [{"method": "hello", "params": hello}, {"method": method, "params": params}]
        if method == "hello":
            frames = [{"method": method, "params": hello | params}]
        for number, frame in enumerate(frames):
            sock.sendall(json.dumps({"id": number, **frame}).encode() + b"\n")
            answer = json.loads(lines.readline())
            if "error" in answer:
                return str(answer["error"]["code"])
    return ""


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("count", {"counters": [1, 2]}, "bad-request"),
        ("count", [1], "bad-request"),
        ("count", "much", "bad-request"),
        ("gems.show", {"id": "\ud800"}, "not-found"),
        ("gems.forget", {"ids": ["a\udfff"]}, "not-found"),
        ("hello", {"token": "é"}, "bad-request"),
        ("hello", {"token": {"a": 1}}, "bad-request"),
        ("hello", {"version": "²"}, ""),
        ("hello", {"version": f"0.0.{'1' * 5_000}"}, ""),
        ("hello", {"capabilities": 7}, "bad-request"),
        ("hello", {"host_state": "/" + "x" * 5_000}, ""),
        ("hello", {"workspaces": {"main": "/" + "x" * 5_000, "b": "\ud800"}}, ""),
        ("turn_end", {**turn_event("hi"), "workspace": "/" + "x" * 5_000}, ""),
        ("recall", {"query": "x", "limit": float("nan")}, "bad-request"),
    ],
)
def test_what_is_not_of_the_form_is_refused(state: StateDir, method: str, params: Any, code: str):
    assert code_of(state, method, params) == code


def test_half_characters_and_depth_end_at_the_door():
    assert decode(b'{"a": "half \\ud83d", "\\udc00": ["\\ud83d\\ude00"]}') == {"a": "half \ufffd", "\ufffd": ["😀"]}
    assert decode(b'{"method": "m", "params": null}') == {"method": "m", "params": {}}
    with pytest.raises(BadRequest):
        decode(b'{"method": "m", "params": ' + b'{"a":' * 70 + b"1" + b"}" * 71)
