"""The models that the settings name, asked where they are needed: the process only meets them when there is work."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from openclaw_neuralstream import ollama_client
from openclaw_neuralstream.doctor.finding import Finding, broken, ok, warning
from openclaw_neuralstream.errors import AnswerRefused, NeuralStreamError, VendorAway

_SECONDS = 2.0
_NO_GEMS = "turns wait and nothing new is distilled"
_NO_VECTORS = "new gems are found by their words only"


def models(now: Mapping[str, Any]) -> Iterator[Finding]:
    """Whether the models that the settings name are there. Nothing where no setting needs one."""
    knobs = {name: item["value"] for name, item in now["settings"].items()}
    with ThreadPoolExecutor(1, thread_name_prefix="neuralstream-doctor-models") as beside:
        embedder = beside.submit(list, _embedder(knobs, str(now["embedder"]["name"])))
        yield from _extractor(knobs)
        yield from _cost(now)
        yield from embedder.result()


def _extractor(knobs: Mapping[str, Any]) -> Iterator[Finding]:
    if knobs["extractor"] == "ollama":
        url, model = str(knobs["ollama_url"]), str(knobs["gem_model"])
        yield _judged("extractor", url, model, _NO_GEMS)
    elif knobs["extractor"] == "openai":
        url = str(knobs["openai_url"])
        yield _at_endpoint("extractor", url, str(knobs["openai_model"]), _key(knobs), _NO_GEMS)


def _cost(now: Mapping[str, Any]) -> Iterator[Finding]:
    today = now.get("extractor", {}).get("today") or {}
    if today.get("cap") and today["tokens"] >= today["cap"]:
        what = f"the {today['cap']:,} tokens of {today['day']} are spent: rules distil until midnight UTC"
        fix = f"neuralstream config set model_daily_tokens {2 * today['cap']}"
        yield warning("cost", what, "rules understand less than the model", fix)


def _embedder(knobs: Mapping[str, Any], name: str) -> Iterator[Finding]:
    model = str(knobs["embedding"])
    if name.startswith("ollama:"):
        url = str(knobs["ollama_url"])
        yield _judged("embedder", url, model, _NO_VECTORS)
    elif name.startswith("openai:"):
        url = str(knobs["openai_embedding_url"] or knobs["openai_url"])
        yield _at_endpoint("embedder", url, model, _key(knobs), _NO_VECTORS)


def _key(knobs: Mapping[str, Any]) -> str:
    """The key as this shell has it; the process reads the environment that it was started in."""
    return os.environ.get(str(knobs["openai_api_key_env"]), "") if knobs["openai_api_key_env"] else ""


def _at_endpoint(check: str, url: str, model: str, key: str, means: str) -> Finding:
    from openclaw_neuralstream.extract import openai

    if not url:
        return broken(check, "no openai_url is set", means, "neuralstream config set openai_url http://HOST:PORT/v1")
    try:
        model = openai.found(url, model, key, _SECONDS)
    except NeuralStreamError as error:
        return broken(check, f"{error.what} ({url})", means, error.fix or "neuralstream models")
    return ok(check, f"the endpoint {url} serves {model}")


def _judged(check: str, url: str, model: str, means: str) -> Finding:
    try:
        ollama_client.look(url, model, _SECONDS)
    except (VendorAway, AnswerRefused) as error:
        return broken(check, f"{error.what} ({url})", means, error.fix or "ollama ps")
    return ok(check, f"Ollama has {model}")
