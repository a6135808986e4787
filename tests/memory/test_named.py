"""Who narrows a question to a person or a thing finds what names it, labelled or not, in three languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Scope, Session
from openclaw_neuralstream.server import methods
from openclaw_neuralstream.state import StateDir

SAID = (
    "Anna has two cats.",
    "We met Anna in Annapolis.",
    "Annapolis is far away.",
    "Подарок для Анны лежит в шкафу.",
    "王芳喜欢喝茶。",
    "我们跟王芳去北京。",
    "The kettle is blue.",
)


@pytest.fixture
def memory(tmp_path: Path):
    state = StateDir(tmp_path / "state")
    state.prepare()
    (state.path / "settings.toml").write_text('extractor = "rules"\nembedder = "embedded"\n')
    memory = wiring.open_memory(state, start=False)
    memory.parts.warm()
    for text in SAID:
        memory.remember(text, Scope("main"), Session("main", "x", "x"))
    yield memory
    memory.close()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Anna", {"Anna has two cats.", "We met Anna in Annapolis."}),
        ("Анна", {"Подарок для Анны лежит в шкафу."}),
        ("王芳", {"王芳喜欢喝茶。", "我们跟王芳去北京。"}),
        ("kettle", {"The kettle is blue."}),
        ("Nobody", set()),
    ],
)
def test_gems_that_name_it_are_found(memory: Memory, name: str, expected: set[str]) -> None:
    found = methods.call(memory, "recall", {"query": "what do you know", "entity": [name]})
    assert {record["text"] for record in found["records"]} == expected


def test_what_is_remembered_by_hand_carries_its_names(memory: Memory) -> None:
    labelled = {gem.content: gem.entities for gem in memory.truth.gems()}
    assert labelled["We met Anna in Annapolis."] == ("Anna", "Annapolis")
    assert labelled["The kettle is blue."] == ()
