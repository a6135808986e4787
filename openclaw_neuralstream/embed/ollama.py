"""Embedding models of an Ollama server, through the `ollama` package; its exceptions stop here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from openclaw_neuralstream.embed.remote import RemoteEmbedder
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.ports import Vectors


class OllamaEmbedder(RemoteEmbedder):
    """An embedding model of an Ollama server."""

    def __init__(
        self, url: str, model: str, dimensions: int = 1024, timeout: float = 30.0, question_timeout: float = 0.0
    ) -> None:
        super().__init__("ollama", url, model, dimensions, timeout=timeout, question_timeout=question_timeout)
        self._clients: dict[float, Any] = {}

    def ask(self, texts: list[str], timeout: float) -> Vectors:
        """One call of `/api/embed`. Raises VendorAway."""
        with _translated(self.url, self.model):
            if timeout not in self._clients:
                self._clients[timeout] = _client(self.url, timeout)
            answer = self._clients[timeout].embed(model=self.model, input=texts, truncate=True)
            return np.asarray(answer.embeddings, dtype=np.float32)


def available(url: str, model: str, timeout: float = 2.0) -> str:
    """Say why the model cannot be asked: "" when the server answers and has it, else the reason in words."""
    try:
        with _translated(url, model):
            names = {str(entry.model) for entry in _client(url, timeout).list().models}
    except VendorAway as error:
        return error.what
    wanted = model if ":" in model else f"{model}:latest"
    return "" if wanted in names or model in names else f"Ollama has no model {model}: ollama pull {model}"


def _client(url: str, timeout: float) -> Any:
    from ollama import Client

    return Client(host=url, timeout=timeout, trust_env=False)


@contextmanager
def _translated(url: str, model: str) -> Iterator[None]:
    """Turn whatever the client raises (see its source: six unrelated families) into VendorAway."""
    import httpx
    from ollama import RequestError, ResponseError
    from pydantic import ValidationError

    families = (
        ConnectionError,
        httpx.HTTPError,
        httpx.InvalidURL,
        ResponseError,
        RequestError,
        json.JSONDecodeError,
        ValidationError,
        ValueError,
        IndexError,
    )
    try:
        yield
    except ResponseError as error:
        fix = f"ollama pull {model}" if error.status_code == httpx.codes.NOT_FOUND else "ollama serve"
        raise VendorAway(f"Ollama refused: {error.error}", where=url, fix=fix) from error
    except families as error:
        raise VendorAway(f"Ollama does not answer: {type(error).__name__}", where=url, fix="ollama serve") from error
