"""Frames that no client of ours sends, against the real process: `python -m tests.fuzz [--frames 10000] [--seed N]`.

Whatever is sent, the process answers it or refuses it with a code that is not "internal", stays alive, and serves others.
Prints each fault once, with the first frame that brought it about, and ends with 1 where there was any.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from openclaw_neuralstream.server import client, methods, protocol
from openclaw_neuralstream.state import StateDir
from tests.worlds import end_event, prompt_event, turn_event

SECONDS = 120
"""How long an answer may take on a busy machine before the frame counts as a fault."""

_NAMED = re.compile(r"""(?:params|event|raw)(?:\.get\(|\[|, )"(\w+)"|"(\w+)"\??[,:}]""")
_EVENTS = ("turn_end", "prompt_build", "session_end", "before_compaction", "after_compaction", "gateway_stop")
_ENDING = {"shutdown"}  # what ends the process on purpose

_TEXTS = st.one_of(
    st.sampled_from(
        [
            "",
            "main",
            "owner",
            "agent:main:main",
            "keep",
            "2026-11-20",
            "30d",
            "#4f2a",
            "by-hand",
            "../../etc",
            "qa:1:1:1:1",
        ]
    ),
    st.text(max_size=40),
    st.sampled_from(["\ud800", "a\udfffb", "\x00", "é", "²", "9" * 30, "x" * 5_000, "%s{}'\"--", "\u202e", "1e999"]),
)
_NUMBERS = st.one_of(
    st.integers(-3, 300),
    st.floats(),
    st.sampled_from([2**31, 2**63, 2**64, -(2**63), 10**400, 1e308, True, False]),
)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), _TEXTS, _NUMBERS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_TEXTS, inner, max_size=4)),
    max_leaves=8,
)


def names_of(method: str) -> list[str]:
    """The parameters that a method may read, as its module names them."""
    told = inspect.getsource(sys.modules[methods.METHODS[method].__module__])
    return sorted({one or other for one, other in _NAMED.findall(told)})


def events() -> list[dict[str, Any]]:
    """What the host tells, as it should be."""
    marks = {"senderIsOwner": False, "senderName": "Gustav", "senderId": "9"}
    told = turn_event("We moved the boat to the harbour of Stavanger.", "Noted.", run="fuzz")
    told["messages"].append({**copy.deepcopy(told["messages"][0]), "__openclaw": marks})
    child = turn_event(
        "Look it up.", key="agent:main:subagent:1", parent_key="agent:main:main", speaker={"sender": {"owner": True}}
    )
    asked = prompt_event(
        "Where is the boat?", dialogue=[{"role": "user", "text": "the boat"}], window_runs=["r1"], workspace="/nowhere"
    )
    return [told, child, asked, end_event("new")]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand in a value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(inner, (*path, key))


def with_value(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with another value in one place."""
    changed = copy.deepcopy(value)
    at = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return changed


@st.composite
def _event_frames(draw: st.DrawFn) -> dict[str, Any]:
    event = draw(st.sampled_from(events()))
    for _ in range(draw(st.integers(0, 2))):
        event = with_value(event, draw(st.sampled_from(list(places(event)))), draw(_VALUES))
    return {"id": 1, "method": draw(st.sampled_from(_EVENTS)), "params": event}


@st.composite
def _method_frames(draw: st.DrawFn) -> dict[str, Any]:
    method = draw(st.sampled_from(sorted(methods.METHODS)))
    params = draw(
        st.one_of(st.dictionaries(st.sampled_from(names_of(method) or ["agent"]), _VALUES, max_size=6), _VALUES)
    )
    return {"id": 1, "method": method, "params": params}


@st.composite
def _hello_frames(draw: st.DrawFn) -> dict[str, Any]:
    names = ("protocol", "token", "client", "pid", "capabilities", "workspaces", "host_state", "version", "host_config")
    told = draw(st.dictionaries(st.sampled_from(names), _VALUES, max_size=6))
    if isinstance(told.get("host_config"), dict):  # other settings end the process on purpose
        del told["host_config"]
    if isinstance(version := told.get("version"), str) and re.search(r"\d", version):  # and so does a newer version
        del told["version"]
    return {"id": 1, "method": "hello", "params": {"protocol": protocol.PROTOCOL, "token": TOKEN, **told}}


TOKEN = "the token of the process"

FRAMES = st.one_of(
    _event_frames(),
    _method_frames(),
    _method_frames(),
    _method_frames(),
    _hello_frames(),
    st.fixed_dictionaries(
        {}, optional={"id": _VALUES, "method": _TEXTS, "params": _VALUES, "error": _VALUES, "result": _VALUES}
    ),
    _VALUES,
    st.binary(max_size=200),
)


class Fuzzed:
    """A process with two clients: one that sends frames, and one that must be served all the while."""

    def __init__(self, state: StateDir) -> None:
        self._state = state
        self._other = client.connect(state)
        self._pid = self._other.hello["pid"]
        self._door: client.SocketDoor | None = None
        self.faults: dict[str, bytes] = {}
        self.codes: Counter[str] = Counter()

    def send(self, frame: Any) -> None:
        """Send it, and see that it is answered, and that the other client is."""
        method = frame.get("method") if isinstance(frame, dict) else None
        if method in _ENDING:
            return
        line = self._line(frame)
        door = self._opened()
        fault = ""
        try:
            door._socket.settimeout(SECONDS)
            door._socket.sendall(line + protocol.encode({"id": "end", "method": "ping", "params": {}}))
            answers = self._answers(door, 0 if isinstance(frame, dict) and "method" not in frame else 1)
            codes = [(answer["error"]["code"], answer["error"]["message"]) for answer in answers if "error" in answer]
            self.codes.update([code for code, _ in codes] or ["answered"])
            fault = next((f"{method}: {message}" for code, message in codes if code == "internal"), "")
        except (OSError, ValueError) as error:
            fault, self._door = f"{method}: {type(error).__name__}", None
        try:
            self._other.call("ping", timeout=SECONDS)
            assert client.endpoint_pid(self._state) == self._pid, "another process answers"
        except Exception as error:  # noqa: BLE001  whatever it is, it is a fault
            fault = f"{method}: the others are not served ({error})"
            self._other = client.connect(self._state)
            self._pid, self._door = self._other.hello["pid"], None
        if fault:
            self.faults.setdefault(fault, line)

    def _line(self, frame: Any) -> bytes:
        if isinstance(frame, bytes):
            return frame.replace(b"\n", b" ") + b"\n"
        where = protocol.load(self._state)
        if isinstance(frame, dict) and where and frame.get("method") == "hello":
            params = frame["params"] if isinstance(frame.get("params"), dict) else {}
            if params.get("token") == TOKEN:
                frame = {**frame, "params": {**params, "token": where.token}}
        return json.dumps(frame).encode() + b"\n"

    def _opened(self) -> client.SocketDoor:
        where = protocol.load(self._state)
        if self._door is None and where:
            self._door = client.SocketDoor(where)
        assert self._door is not None
        return self._door

    @staticmethod
    def _answers(door: client.SocketDoor, expected: int) -> list[dict[str, Any]]:
        """The answers to the frame and to the ping behind it, whichever comes first, without the ping's."""
        answers = [json.loads(door._lines.readline()) for _ in range(1 + expected)]
        return [answer for answer in answers if answer.get("id") != "end"]


def fuzz(state: StateDir, frames: int, number: int | None = None) -> Fuzzed:
    """Send so many frames; returns what came of them: each fault with the first frame that brought it about."""
    fuzzed = Fuzzed(state)

    @settings(
        max_examples=frames,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(FRAMES)
    def sent(frame: Any) -> None:
        fuzzed.send(frame)

    (seed(number)(sent) if number is not None else sent)()
    return fuzzed


def main() -> int:
    """Fuzz a process in a folder of its own."""
    told = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    told.add_argument("--frames", type=int, default=10_000)
    told.add_argument("--seed", type=int, default=None)
    given_ = told.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        state = StateDir(Path(folder) / "state")
        began = time.monotonic()
        try:
            done = fuzz(state, given_.frames, given_.seed)
        finally:
            client.stop(state)
    for fault, line in done.faults.items():
        print(f"{fault}\n    {line[:500]!r}")
    print(f"{given_.frames} frames in {time.monotonic() - began:.0f} s, {dict(done.codes)}: {len(done.faults)} faults")
    return 1 if done.faults else 0


if __name__ == "__main__":
    sys.exit(main())
