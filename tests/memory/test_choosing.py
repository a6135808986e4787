"""Who distils: in which order `auto` looks, what a named one means, and what happens when the day's tokens are spent."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.clock import Clock, utc_now
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.memory import choosing, wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.server.moments import turn_end
from openclaw_neuralstream.server.status import status
from openclaw_neuralstream.state import StateDir
from tests.ollama_server import ollama_server
from tests.openai_server import openai_server
from tests.worlds import turn_event

NOBODY = "http://127.0.0.1:9"
GEM = {
    "content": "The owner lives in Berlin.",
    "summary": "Lives in Berlin",
    "kind": "fact",
    "speaker": "owner",
    "turns": [1],
    "importance_reason": "lasting",
    "importance": 7,
    "confidence": 9,
}


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine makes no server of a test one that is away."""
    monkeypatch.setattr(choosing, "_PROBE_SECONDS", 60.0)


def memory(folder: Path, *, clock: Clock = utc_now, **settings: Any) -> Memory:
    given = {"ollama_url": NOBODY, "embedder": "embedded", **settings}
    environ = {f"NEURALSTREAM_{name.upper()}": str(value) for name, value in given.items()}
    return wiring.open_memory(StateDir(folder), environ=environ, clock=clock, start=False)


def chosen(folder: Path, **settings: Any) -> tuple[str, str]:
    opened = memory(folder, **settings)
    try:
        opened.parts.choose_extractor()
        choice = opened.parts.choose_extractor.choice
        return choice.name, choice.why
    finally:
        opened.close()


def test_auto_takes_the_endpoint_before_ollama_and_ollama_before_rules(tmp_path):
    with openai_server() as endpoint, ollama_server() as ollama:
        assert chosen(tmp_path / "a", openai_url=endpoint.url, ollama_url=ollama.url)[0] == "openai"
        assert chosen(tmp_path / "b", openai_url=f"{NOBODY}/v1", ollama_url=ollama.url)[0] == "ollama"
        assert chosen(tmp_path / "c", ollama_url=ollama.url)[0] == "ollama"
    name, why = chosen(tmp_path / "d", openai_url=f"{NOBODY}/v1")
    assert (name, why.count("does not answer")) == ("rules", 2)


class Hands:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_rules_wait_for_a_model_that_has_served_and_a_restart_does_not_begin_anew(tmp_path):
    clock = Hands()
    with ollama_server() as server:
        opened = memory(tmp_path, clock=clock, ollama_url=server.url)
        turn_end(opened, turn_event("I live in Berlin"))
        assert opened.parts.choose_extractor().identity.name == "ollama"
    assert opened.flush().waiting == 1
    now = status(opened)["extractor"]
    assert (now["name"], "rules distil from 2026-11-21 09:10 UTC" in now["why"]) == ("waiting", True)
    opened.close()
    clock.now += timedelta(seconds=599)
    opened = memory(tmp_path, clock=clock)
    with pytest.raises(VendorAway, match="turns wait until 09:10 UTC"):
        opened.parts.choose_extractor()
    clock.now += timedelta(seconds=1)
    assert opened.parts.choose_extractor().identity.name == "rules"
    opened.close()


def test_a_model_that_comes_back_distils_and_is_waited_for_as_long_again(tmp_path):
    clock = Hands()
    for _ in range(2):
        with ollama_server() as server:
            assert chosen(tmp_path, clock=clock, ollama_url=server.url)[0] == "ollama"
        clock.now += timedelta(seconds=599)
        with pytest.raises(VendorAway):
            chosen(tmp_path, clock=clock)
        clock.now += timedelta(seconds=300)


def test_without_grace_rules_take_over_at_once(tmp_path):
    with ollama_server() as server:
        assert chosen(tmp_path, ollama_url=server.url, model_grace=0)[0] == "ollama"
    assert chosen(tmp_path, model_grace=0)[0] == "rules"


def test_a_named_one_that_is_away_is_never_replaced(tmp_path):
    with pytest.raises(VendorAway, match="openai_url"):
        chosen(tmp_path / "a", extractor="openai")
    with pytest.raises(VendorAway, match="ollama serve; or"):
        chosen(tmp_path / "b", extractor="ollama")
    with pytest.raises(VendorAway, match="gateway"):
        chosen(tmp_path / "c", extractor="host")


def test_a_completion_is_kept_so_that_the_window_it_asked_for_stays(tmp_path):
    with ollama_server() as server:
        opened = memory(tmp_path, ollama_url=server.url)
        for text in ("I live in Berlin", "数据 " * 6_000, "I live in Graz"):
            turn_end(opened, turn_event(text))
            opened.flush()
        opened.close()
        sizes = [body["options"]["num_ctx"] for body in server.asked("/api/chat")]
        assert {body["keep_alive"] for body in server.asked("/api/chat")} == {600}
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (8_192, 16_384)


def test_turns_become_gems_through_an_endpoint_and_the_cap_hands_over_to_rules(tmp_path):
    with openai_server(answers=[json.dumps({"gems": [GEM]})], usage=900) as server:
        opened = memory(tmp_path, extractor="openai", openai_url=server.url, model_daily_tokens=900)
        turn_end(opened, turn_event("I live in Berlin"))
        opened.flush()
        turn_end(opened, turn_event("My sister Nina lives in Graz"))
        opened.flush()
        gems = opened.truth.gems()
        now = status(opened)["extractor"]
        opened.close()
        assert len(server.asked("/v1/chat/completions")) == 1
    assert {gem.extractor.name for gem in gems} == {"openai", "rules"}
    assert next(gem for gem in gems if gem.extractor.name == "openai").extractor.model == "qwen3"
    assert (now["name"], now["today"]["tokens"], now["today"]["cap"]) == ("rules", 900, 900)
    assert "spent" in now["why"]


def test_a_refused_gem_is_counted_and_the_good_one_beside_it_is_kept(tmp_path):
    bad = {**GEM, "content": "The owner owns forty llamas."}
    with openai_server(answers=[json.dumps({"gems": [GEM, bad, {"content": "?"}]})]) as server:
        opened = memory(tmp_path, openai_url=server.url)
        turn_end(opened, turn_event("I live in Berlin"))
        opened.flush()
        counters = opened.truth.counters()
        contents = [gem.content for gem in opened.truth.gems()]
        opened.close()
    assert contents == ["The owner lives in Berlin."]
    assert (counters["drafts.refused.form"], counters["drafts.refused.evidence"]) == (1, 1)
