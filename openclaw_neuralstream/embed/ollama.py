"""Embedding models of an Ollama server, through the `ollama` package; its exceptions stop here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from openclaw_neuralstream.embed.prefixes import prefixes
from openclaw_neuralstream.errors import EmbedderMismatch, VendorAway
from openclaw_neuralstream.model import EmbedderIdentity
from openclaw_neuralstream.ports import Vector, Vectors

_AT_ONCE = 32
_LONGEST = 16_000


class OllamaEmbedder:
    """An embedding model of an Ollama server. Nothing is asked before the first text.

    dimensions: what the model gives; another length raises EmbedderMismatch, for vectors of two models never mix.
    timeout: seconds one call may take. Every failure of the service raises VendorAway.
    """

    def __init__(self, url: str, model: str, dimensions: int = 1024, timeout: float = 30.0) -> None:
        self.identity = EmbedderIdentity(f"ollama:{model}", dimensions)
        self._url = url
        self._model = model
        self._timeout = timeout
        self._client: Any = None
        self._question, self._document = prefixes(model)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row per text; shape (0, dimensions) for no texts; a zero row for a blank text."""
        return self._embed([self._document + text[:_LONGEST] if text.strip() else "" for text in texts])

    def embed_query(self, text: str) -> Vector:
        """The vector of a question; zero for a blank one."""
        vector: Vector = self._embed([self._question + text[-_LONGEST:] if text.strip() else ""])[0]
        return vector

    def _embed(self, texts: list[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.identity.dimensions), dtype=np.float32)
        said = [row for row, text in enumerate(texts) if text]
        for start in range(0, len(said), _AT_ONCE):
            rows = said[start : start + _AT_ONCE]
            vectors[rows] = self._ask([texts[row].encode("utf-8", "replace").decode("utf-8") for row in rows])
        return vectors

    def _ask(self, texts: list[str]) -> Vectors:
        with _translated(self._url, self._model):
            if self._client is None:
                self._client = _client(self._url, self._timeout)
            answer = self._client.embed(model=self._model, input=texts, truncate=True)
            vectors = np.asarray(answer.embeddings, dtype=np.float32)
        return self._checked(vectors, len(texts))

    def _checked(self, vectors: Vectors, expected: int) -> Vectors:
        if vectors.ndim != 2 or vectors.shape[0] != expected or not np.isfinite(vectors).all():
            raise VendorAway(
                "Ollama answered with malformed vectors", where=self._url, fix=f"ollama pull {self._model}"
            )
        if vectors.shape[1] != self.identity.dimensions:
            raise EmbedderMismatch(
                f"{self._model} gives {vectors.shape[1]} dimensions, {self.identity.dimensions} were expected",
                where=self._url,
                fix="neuralstream reembed",
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        return unit


def available(url: str, model: str, timeout: float = 2.0) -> str:
    """Say why the model cannot be asked: "" when the server answers and has it, else the reason in words."""
    try:
        with _translated(url, model):
            names = {str(entry.model) for entry in _client(url, timeout).list().models}
    except VendorAway as error:
        return error.what
    wanted = model if ":" in model else f"{model}:latest"
    return "" if wanted in names or model in names else f"Ollama has no model {model}: ollama pull {model}"


def dimensions_of(url: str, model: str, timeout: float = 30.0) -> int:
    """How many dimensions the model gives, by asking it for one vector. Raises VendorAway."""
    with _translated(url, model):
        answer = _client(url, timeout).embed(model=model, input=["dimensions"])
        return len(answer.embeddings[0])


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
