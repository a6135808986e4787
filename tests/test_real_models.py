"""Real models, from turns to gems: Qwen2.5 0.5B behind llama.cpp's server and behind the real Ollama server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_neuralstream.memory import choosing, wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Gem, Query, Scope
from openclaw_neuralstream.server.moments import turn_end
from openclaw_neuralstream.state import StateDir
from tests.llama_server import SMALL, llama_server, model_file
from tests.real_ollama import built_ollama, real_ollama
from tests.values import NOW
from tests.worlds import turn_event

pytestmark = [
    pytest.mark.model,
    pytest.mark.timeout(900),
    pytest.mark.skipif(model_file(SMALL) is None, reason="the packages of the model are not installed: make test"),
]

SAID = {
    "en": ("Our billing service uses PostgreSQL 16 because of its JSON support.", "PostgreSQL"),
    "zh": ("我对青霉素过敏，看医生时要说明。", "青霉素"),
    "ru": ("Сервер резервных копий переехал в Новосибирск.", "Новосибирск"),
}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that shares its processor with a whole run is slow to show itself, and there all the same."""
    monkeypatch.setattr(choosing, "_PROBE_SECONDS", 60.0)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with llama_server(SMALL) as url:
        yield url


def gems_of(folder: Path, said: list[str], **settings: object) -> tuple[list[Gem], Memory]:
    """What the memory holds after these turns went all the way through.

    The model is asked the same at each run, byte for byte: the prompt tells the minute of a turn.
    """
    given = {"embedder": "embedded", "model_timeout": "10m", "gem_context": 8_192, **settings}
    environ = {f"NEURALSTREAM_{name.upper()}": str(value) for name, value in given.items()}
    memory = wiring.open_memory(StateDir(folder), environ=environ, clock=lambda: NOW, start=False)
    for text in said:
        turn_end(memory, turn_event(text))
    memory.flush()
    return memory.truth.gems(), memory


@pytest.mark.parametrize("language", list(SAID))
def test_a_model_behind_an_endpoint_distils_what_was_said(language: str, endpoint: str, tmp_path: Path) -> None:
    text, name = SAID[language]
    gems, memory = gems_of(tmp_path, [text], extractor="openai", openai_url=endpoint)
    spent = memory.parts.choose_extractor.spent()
    memory.close()
    assert gems
    assert any(name in gem.content for gem in gems)
    for gem in gems:
        assert (gem.extractor.name, gem.extractor.model, gem.speaker) == ("openai", SMALL.name, "owner")
        assert gem.language == language
        assert gem.evidence
    assert spent.tokens > 500


def test_small_talk_becomes_no_gem_whatever_the_model_makes_of_it(endpoint: str, tmp_path: Path) -> None:
    gems, memory = gems_of(tmp_path, ["hi! lol", "thanks"], extractor="openai", openai_url=endpoint)
    dead = memory.truth.dead()
    memory.close()
    assert (gems, dead) == ([], [])


def test_a_model_takes_a_second_look_at_what_was_found(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may leave out or reorder, never bring in; what it is asked and answers is real."""
    told = ["The nightly backup runs at 03:00.", "The backup disk is a red one from Lisbon.", "Anna runs in the morning."]
    given = {"extractor": "openai", "openai_url": endpoint, "rerank": "model", "recall_threshold": "0.01"}
    environ = {f"NEURALSTREAM_{name.upper()}": value for name, value in given.items()}
    memory = wiring.open_memory(StateDir(tmp_path), environ=environ, start=False)
    monkeypatch.setattr("openclaw_neuralstream.memory.engine.RERANK_SECONDS", 120.0)
    scope, session = Scope("main"), memory.session("main", "agent:main:main", "first")
    for text in told:
        memory.remember(text, scope, session)
    found = memory.recall(Query("When does the nightly backup run?", scope, memory.now()))
    counted = memory.truth.counters()
    memory.close()
    assert found.depth == "done"
    assert counted["rerank.done"] == 1
    assert found.records[0].text == told[0]
    assert {record.text for record in found.records} <= set(told)


@pytest.mark.skipif(not built_ollama.possible(), reason="the Ollama server needs Go, a C++ compiler and its module")
def test_a_model_of_the_real_ollama_server_distils_what_was_said(tmp_path: Path) -> None:
    text, name = SAID["en"]
    with real_ollama(SMALL) as (url, model):
        gems, memory = gems_of(tmp_path, [text], extractor="ollama", ollama_url=url, gem_model=model)
        choice, counted = memory.parts.choose_extractor.choice, memory.truth.counters()
        memory.close()
        missing, other = gems_of(tmp_path / "b", [text], extractor="ollama", ollama_url=url, gem_model="qwen9")
        waiting = sum(backlog.waiting for _, backlog in other.distiller.backlogs())
        away = other.away.names()
        other.close()
    assert (choice.name, choice.why) == ("ollama", f"Ollama has {model}")
    assert any(name in gem.content for gem in gems), (gems, counted)
    assert {(gem.extractor.name, gem.extractor.model) for gem in gems} == {("ollama", model)}
    assert (missing, waiting, away) == ([], 1, ["extractor"])
