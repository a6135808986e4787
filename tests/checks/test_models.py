"""The models that the settings name are asked for before they are needed."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from openclaw_neuralstream import ollama_client
from openclaw_neuralstream.cli.checks.finding import Grade
from openclaw_neuralstream.cli.checks.process import models
from tests.openai_server import openai_server

NOBODY = "http://127.0.0.1:9"


def now(extractor: str = "auto", embedder: str = "use-multilingual-v3/512", url: str = NOBODY) -> dict[str, Any]:
    values = {
        "extractor": extractor, "ollama_url": url, "gem_model": "qwen3", "embedding": "snowflake-arctic-embed2",
        "openai_url": f"{url}/v1", "openai_model": "", "openai_embedding_url": "", "openai_api_key_env": "",
    }
    return {"settings": {name: {"value": value} for name, value in values.items()}, "embedder": {"name": embedder}}


def test_nobody_is_asked_where_no_setting_needs_a_model() -> None:
    assert list(models(now())) == []


@pytest.mark.parametrize(
    ("status", "check", "fix"),
    [
        (now(extractor="ollama"), "extractor", "ollama serve"),
        (now(extractor="openai"), "extractor", "start the server"),
        (now(embedder="openai:bge-m3/1024"), "embedder", "start the server"),
        (now(embedder="ollama:snowflake-arctic-embed2/1024"), "embedder", "ollama serve"),
    ],
)
def test_a_model_that_is_named_and_away_is_broken(status: dict[str, Any], check: str, fix: str) -> None:
    found = list(models(status))
    assert [(f.check, f.grade) for f in found] == [(check, Grade.BROKEN)]
    assert fix in found[0].fix
    assert NOBODY in found[0].what


def test_both_models_are_asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=20)  # breaks where one is asked only after the other has answered
    monkeypatch.setattr(ollama_client, "look", lambda *_: both.wait())
    status = now(extractor="ollama", embedder="ollama:snowflake-arctic-embed2/1024")
    assert [(f.check, f.grade) for f in models(status)] == [("extractor", Grade.OK), ("embedder", Grade.OK)]


def test_an_endpoint_that_serves_one_model_needs_no_name() -> None:
    with openai_server() as server:
        assert [f.grade for f in models(now(extractor="openai", url=server.url.removesuffix("/v1")))] == [Grade.OK]


def test_a_day_whose_tokens_are_spent_is_worth_a_warning() -> None:
    spent = {**now(), "extractor": {"today": {"day": "2026-11-21", "tokens": 12, "calls": 1, "cap": 10}}}
    assert [(f.check, f.grade) for f in models(spent)] == [("cost", Grade.WARNING)]
