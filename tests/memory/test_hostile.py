"""What is made to be slow takes time in proportion to its length, all the way through a real memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.state import StateDir
from tests.worlds import prompt_event, turn_event

CHILD = "agent:main:subagent:one"


@pytest.fixture
def memory(tmp_path: Path):
    memory = wiring.open_memory(StateDir(tmp_path / "state"), start=False)
    memory.parts.warm()
    moments.prompt_build(memory, prompt_event("Where are my keys?", key="agent:main:first"))  # what is made once
    yield memory
    memory.close()


def task(memory: Memory, text: str) -> None:
    prompt = f"[Subagent Context] You are a sub-agent.\n\n[Subagent Task]\nPlease sign{text}x."
    moments.prompt_build(memory, prompt_event(prompt, key=CHILD))


def result(memory: Memory, text: str) -> None:
    announced = f"<prompt-data>{text}x"
    routed = {"kind": "inter_session", "sourceTool": "subagent_announce", "sourceSessionKey": CHILD}
    moments.turn_end(memory, turn_event(announced, run=f"announce:v1:{CHILD}:{len(text)}", provenance=routed))


def reminder(memory: Memory, text: str) -> None:
    moments.turn_end(memory, turn_event(f"Please sign here: {text} x, said my sister Anna."))
    memory.flush()
    moments.prompt_build(memory, prompt_event("Where do I sign, Anna?", key=f"agent:main:{len(text)}"))


def turn(memory: Memory, text: str) -> None:
    moments.turn_end(memory, turn_event(text))


@pytest.mark.parametrize(
    ("told", "unit"),
    [
        (task, "\n"),
        (task, " "),
        (result, "\n"),
        (reminder, "_"),
        (turn, "password is "),
        (turn, "password: hunter2Xy9 "),
    ],
)
def test_four_times_the_text_takes_about_four_times_the_work(
    memory: Memory, told: Callable[[Memory, str], None], unit: str
):
    def work(length: int) -> float:
        begun = time.process_time()
        told(memory, (unit * length)[:length])
        return time.process_time() - begun

    short, long = work(8_000), work(32_000)
    assert long < 9 * short + 0.5
