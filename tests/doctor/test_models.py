"""The models that the settings name are asked for before they are needed."""

from __future__ import annotations

from typing import Any

import pytest

from openclaw_neuralstream.doctor.finding import Grade
from openclaw_neuralstream.doctor.models import models

NOBODY = "http://127.0.0.1:9"


def now(extractor: str = "auto", embedder: str = "use-multilingual-v3/512", url: str = NOBODY) -> dict[str, Any]:
    values = {"extractor": extractor, "ollama_url": url, "gem_model": "qwen3", "embedding": "snowflake-arctic-embed2"}
    return {"settings": {name: {"value": value} for name, value in values.items()}, "embedder": {"name": embedder}}


def test_nobody_is_asked_where_no_setting_needs_a_model() -> None:
    assert list(models(now())) == []


@pytest.mark.parametrize(
    ("status", "check", "fix"),
    [
        (now(extractor="ollama"), "extractor", "ollama pull qwen3"),
        (now(embedder="ollama:snowflake-arctic-embed2/1024"), "embedder", "ollama pull snowflake-arctic-embed2"),
    ],
)
def test_a_model_that_is_named_and_away_is_broken(status: dict[str, Any], check: str, fix: str) -> None:
    found = list(models(status))
    assert [(f.check, f.grade) for f in found] == [(check, Grade.BROKEN)]
    assert fix in found[0].fix
    assert NOBODY in found[0].what
