"""`neuralstream models` says who distils, and tries it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.server.methods import call
from openclaw_neuralstream.server.upkeep_methods import SENTENCE
from openclaw_neuralstream.state import StateDir
from tests.openai_server import openai_server


def asked(folder: Path, params: dict[str, Any], **settings: Any) -> dict[str, Any]:
    given = {"ollama_url": "http://127.0.0.1:9", "embedder": "embedded", **settings}
    environ = {f"NEURALSTREAM_{name.upper()}": str(value) for name, value in given.items()}
    memory = wiring.open_memory(StateDir(folder), environ=environ, start=False)
    try:
        result: dict[str, Any] = call(memory, "models", params)
        assert memory.truth.gem_count() == 0
        return result
    finally:
        memory.close()


def test_the_rules_are_tried_where_no_model_is(tmp_path: Path) -> None:
    now = asked(tmp_path, {"try": True})
    assert (now["extractor"]["name"], now["tried"]["name"], now["tried"]["error"]) == ("rules", "rules", "")


def test_a_model_is_tried_with_one_sentence_and_nothing_is_kept(tmp_path: Path) -> None:
    gem = {"content": SENTENCE, "kind": "fact", "speaker": "owner", "turns": [1], "importance": 5}
    with openai_server(answers=[json.dumps({"gems": [gem]})], usage=321) as server:
        now = asked(tmp_path, {"try": True}, openai_url=server.url)
    assert (now["tried"]["model"], now["tried"]["gems"], now["today"]["tokens"]) == ("qwen3", [SENTENCE], 321)


def test_a_model_that_is_away_is_said_with_the_remedy(tmp_path: Path) -> None:
    tried = asked(tmp_path, {"try": True}, extractor="openai", openai_url="http://127.0.0.1:9/v1")["tried"]
    assert "does not answer" in tried["error"]
    assert "start the server" in tried["fix"]


def test_nobody_is_asked_without_a_try(tmp_path: Path) -> None:
    with openai_server() as server:
        assert asked(tmp_path, {}, openai_url=server.url)["tried"] is None
        assert server.requests == []
