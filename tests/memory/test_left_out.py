"""What is left out of a reply is counted for `status`; who only asks why one came about counts nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from openclaw_neuralstream.cli.ask import say_left_out, say_order
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Query, Scope
from openclaw_neuralstream.recall.asking import HANGS, NO_TIME
from openclaw_neuralstream.recall.source import Candidate, Understood
from openclaw_neuralstream.server.asking_methods import explained
from openclaw_neuralstream.server.status import status
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.text.lines import instant


class _Hangs:
    """A plugin's source that does not answer before it is told to."""

    name, kind = "hangs", "gems"

    def __init__(self) -> None:
        self.goes_on = threading.Event()

    def find(self, understood: Understood, limit: int) -> list[Candidate]:
        self.goes_on.wait(30)
        return []


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    source = _Hangs()
    given = {"NEURALSTREAM_RECALL_DEADLINE_MS": "2000"}  # a busy machine asks the source in this time
    memory = wiring.open_memory(StateDir(tmp_path / "state"), environ=given, start=False)
    monkeypatch.setattr(memory, "parts", replace(memory.parts, sources=(source,)))
    memory.hurried = True
    yield memory
    source.goes_on.set()
    memory.close()


def test_a_reply_without_a_source_is_counted_and_an_explanation_is_not(memory: Memory) -> None:
    query = Query("Where is the spare key?", Scope("main"), memory.now())
    told = explained(memory, query)
    assert told["left_out"] == {"hangs": NO_TIME}
    assert status(memory)["recall"]["left_out"] == {}
    memory.remind(query)
    assert status(memory)["recall"]["left_out"] == {"hangs": 1}
    assert status(memory)["recall"]["left_out_last"] == {"hangs": instant(query.now)}
    assert explained(memory, query)["left_out"] == {"hangs": HANGS}


def test_warming_asks_our_own_sources_once_and_counts_nothing(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Counting:
        def __init__(self, name: str, kind: str) -> None:
            self.name, self.kind = name, kind

        def find(self, understood: Understood, limit: int) -> list[Candidate]:
            asked.append(self.name)
            return []

    sources = (Counting("ours", "gems"), Counting("theirs", "plugins"))
    monkeypatch.setattr(memory, "parts", replace(memory.parts, sources=sources))
    before = memory.truth.counters()
    memory._warm_answer()
    assert asked == ["ours"]
    assert memory.truth.counters() == before


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([], []), ([0.9, 0.4], ["The score only orders"]), ([0.4, 0.9], ["Not by score", "The score only orders"])],
)
def test_an_answer_says_what_its_scores_and_its_order_mean(
    scores: list[float], expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    say_order(scores)
    out, err = capsys.readouterr()
    assert [line.partition(":")[0] for line in (out + err).splitlines()] == expected


def test_sources_with_one_reason_share_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    say_left_out({"turns": NO_TIME, "meaning": HANGS, "tags": NO_TIME})
    out, err = capsys.readouterr()
    lines = (out + err).splitlines()
    assert [line.split(" could")[0] for line in lines if "could not be asked" in line] == ["turns, tags", "meaning"]
    assert "recall_deadline_ms" in lines[0]
