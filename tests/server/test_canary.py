"""What the canary asks of the process, over a real memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.cli.host.canary import QUESTION, SENTENCE
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.wiring import open_memory
from openclaw_neuralstream.server import methods
from tests.worlds import prompt_event, turn_event

KEY = "agent:main:canary-1"
OTHER = "agent:main:telegram:42"
MARKER = "neuralstream-canary-8f3k2"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = open_memory(tmp_path / "state", start=False)
    yield opened
    opened.close()


def ask(memory: Memory, method: str, **params: Any) -> Any:
    return methods.call(memory, method, params)


def test_a_marker_is_seen_once_the_bridge_has_reported_it(memory: Memory) -> None:
    assert ask(memory, "canary.seen", marker=MARKER) == {"seen": False}
    ask(memory, "seen", text=MARKER)
    assert ask(memory, "canary.seen", marker=MARKER) == {"seen": True}
    assert ask(memory, "canary.seen", marker=MARKER[:-1]) == {"seen": False}


def test_an_armed_marker_must_be_seen_anew(memory: Memory) -> None:
    for marker in (MARKER, "another"):
        ask(memory, "seen", text=marker)
    ask(memory, "canary.arm", marker=MARKER, session_key=KEY)
    assert ask(memory, "canary.seen", marker=MARKER) == {"seen": False}
    assert ask(memory, "canary.seen", marker="another") == {"seen": True}


def test_the_session_that_the_canary_asks_in_is_told_by_recall_and_not_by_a_brief(memory: Memory) -> None:
    ask(memory, "turn_end", **turn_event(SENTENCE.format(marker=MARKER), key=OTHER))
    ask(memory, "flush")
    ask(memory, "canary.arm", marker=MARKER, session_key=KEY)
    told = ask(memory, "prompt_build", **prompt_event(QUESTION, key=KEY))
    assert (MARKER in told["text"], told["brief"]) == (True, "")
    assert ask(memory, "prompt_build", **prompt_event(QUESTION, key="agent:main:another"))["brief"]


def test_only_the_last_few_markers_are_kept(memory: Memory) -> None:
    for number in range(10):
        ask(memory, "seen", text=f"marker-{number}")
    assert ask(memory, "canary.seen", marker="marker-0") == {"seen": False}
    assert ask(memory, "canary.seen", marker="marker-9") == {"seen": True}


@pytest.mark.parametrize("text", ["", "   ", None, 7, "x" * 1_000])
def test_what_is_no_marker_is_refused(memory: Memory, text: object) -> None:
    with pytest.raises(BadRequest):
        ask(memory, "seen", text=text)


def test_a_session_s_turns_are_counted_while_they_wait_and_after(memory: Memory) -> None:
    assert ask(memory, "canary.captured", session_key=KEY) == {"turns": 0, "waiting": 0}
    ask(memory, "turn_end", **turn_event(f"Remember: the canary is called {MARKER}.", key=KEY))
    assert ask(memory, "canary.captured", session_key=KEY) == {"turns": 1, "waiting": 1}
    ask(memory, "flush")
    assert ask(memory, "canary.captured", session_key=KEY) == {"turns": 1, "waiting": 0}


def test_a_forgotten_session_takes_its_gems_and_turns_along_and_no_others(memory: Memory) -> None:
    ask(memory, "turn_end", **turn_event(f"Remember: the canary is called {MARKER}.", key=KEY))
    ask(memory, "turn_end", **turn_event("We decided to host the blog at Hetzner.", key=OTHER))
    ask(memory, "flush")
    ask(memory, "turn_end", **turn_event("What is the canary called?", key=KEY))
    gone = ask(memory, "sessions.forget", session_key=KEY)
    assert gone["gems"] >= 1
    assert gone["turns"] == 2  # one distilled, one that still waited
    assert [gem["session_key"] for gem in ask(memory, "gems.list")["gems"]] == [OTHER]
    ask(memory, "flush")
    assert [gem["session_key"] for gem in ask(memory, "gems.list")["gems"]] == [OTHER]
    raw = b"".join(path.read_bytes() for path in memory.truth.path.parent.rglob("*") if path.is_file())
    assert MARKER.encode() not in raw


def test_a_gem_that_another_session_supports_too_stays(memory: Memory) -> None:
    turns = [ask(memory, "turn_end", **turn_event("We host the blog at Hetzner.", key=key))["turn"] for key in (KEY, OTHER)]
    ask(memory, "flush")
    source = {"session_id": "s", "date": "2026-11-21", "turn_range": "1"}
    gem = {"gem_id": "6f2f4b0e-52c1-5d0e-9f53-1f1b5a0c9a12", "content": "The blog is at Hetzner.", "summary": "Blog", "topics": [],
           "importance": 0.8, "source": source, "tags": ["fact"], "created_at": "2026-11-21T09:00:00Z", "evidence": turns}
    ask(memory, "gems.import", gems=[gem])
    ask(memory, "sessions.forget", session_key=KEY)
    assert "The blog is at Hetzner." in [gem["content"] for gem in ask(memory, "gems.list")["gems"]]
