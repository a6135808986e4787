"""Ollama, asked where it is needed: the process itself only meets it when there is something to distil."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from openclaw_neuralstream.doctor.finding import Finding, broken, ok

_SECONDS = 2.0


def models(now: Mapping[str, Any]) -> Iterator[Finding]:
    """Whether the models that the settings name are there. Nothing where no setting needs one."""
    knobs = {name: item["value"] for name, item in now["settings"].items()}
    url = str(knobs["ollama_url"])
    if knobs["extractor"] == "ollama":
        from openclaw_neuralstream.extract import ollama as extraction

        missing = extraction.available(url, knobs["gem_model"], _SECONDS)
        yield _judged("extractor", missing, url, knobs["gem_model"], "turns wait and nothing new is distilled")
    if str(now["embedder"]["name"]).startswith("ollama:"):
        from openclaw_neuralstream.embed import ollama as embedding

        missing = embedding.available(url, knobs["embedding"], _SECONDS)
        yield _judged("embedder", missing, url, knobs["embedding"], "new gems are found by their words only")


def _judged(check: str, missing: str, url: str, model: str, means: str) -> Finding:
    if missing:
        return broken(check, f"{missing} ({url})", means, f"ollama serve, then ollama pull {model}")
    return ok(check, f"Ollama has {model}")
