"""Embedding models behind any endpoint of OpenAI's protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from openclaw_neuralstream.embed.prefixes import prefixes
from openclaw_neuralstream.errors import AnswerRefused, EmbedderMismatch, VendorAway
from openclaw_neuralstream.model import EmbedderIdentity
from openclaw_neuralstream.openai_client import client, translated
from openclaw_neuralstream.ports import Vector, Vectors

_AT_ONCE = 32
_LONGEST = 16_000


class OpenAIEmbedder:
    """An embedding model at an endpoint. Nothing is asked before the first text.

    dimensions: what the model gives; another length raises EmbedderMismatch, for vectors of two models never mix.
    timeout: seconds one call may take. Every failure of the service raises VendorAway.
    """

    def __init__(
        self, url: str, model: str, dimensions: int = 1024, *, timeout: float = 30.0, api_key: str = ""
    ) -> None:
        self.identity = EmbedderIdentity(f"openai:{model}", dimensions)
        self._url = url
        self._model = model
        self._timeout = timeout
        self._api_key = api_key
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
        if not self._url:
            raise VendorAway("no endpoint is set", fix="neuralstream config set openai_url http://HOST:PORT/v1")
        try:
            with translated(self._url, self._model):
                if self._client is None:
                    self._client = client(self._url, self._api_key, self._timeout)
                answer = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float")
                rows = sorted(answer.data, key=lambda row: row.index)
                vectors = np.asarray([row.embedding for row in rows], dtype=np.float32)
        except AnswerRefused as error:
            raise VendorAway(error.what, where=self._url, fix="look at the log of the model's server") from error
        return self._checked(vectors, len(texts))

    def _checked(self, vectors: Vectors, expected: int) -> Vectors:
        if vectors.ndim != 2 or vectors.shape[0] != expected or not np.isfinite(vectors).all():
            raise VendorAway("the endpoint answered with malformed vectors", where=self._url)
        if vectors.shape[1] != self.identity.dimensions:
            raise EmbedderMismatch(
                f"{self._model} gives {vectors.shape[1]} dimensions, {self.identity.dimensions} were expected",
                where=self._url,
                fix=f"neuralstream config set embedding_dimensions {vectors.shape[1]}, then neuralstream reembed",
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        return unit
