"""What all embedders behind a network have in common: texts in portions, prefixes, and answers that are checked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from openclaw_neuralstream.embed.prefixes import prefixes
from openclaw_neuralstream.errors import EmbedderMismatch, VendorAway
from openclaw_neuralstream.model import EmbedderIdentity
from openclaw_neuralstream.ports import Vector, Vectors

_AT_ONCE = 32
_LONGEST = 16_000


class RemoteEmbedder(ABC):
    """A model on a server. Nothing is asked before the first text.

    dimensions: what the model gives; another length raises EmbedderMismatch, for vectors of two models never mix.
    timeout: seconds that one call may take; question_timeout: the same for a question, which a reply waits for (0 = the
    same). Every failure of the service raises VendorAway.
    """

    def __init__(
        self, service: str, url: str, model: str, dimensions: int, *, timeout: float, question_timeout: float
    ) -> None:
        self.identity = EmbedderIdentity(f"{service}:{model}", dimensions)
        self.url = url
        self.model = model
        self._timeout = timeout
        self._question_timeout = question_timeout or timeout
        self._question, self._document = prefixes(model)

    @abstractmethod
    def ask(self, texts: list[str], timeout: float) -> Vectors:
        """What the service answers within `timeout` seconds, one row per text, as it is. Raises VendorAway."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row per text; shape (0, dimensions) for no texts; a zero row for a blank text."""
        said = [self._document + text[:_LONGEST] if text.strip() else "" for text in texts]
        return self._embed(said, self._timeout)

    def embed_query(self, text: str) -> Vector:
        """The vector of a question; zero for a blank one."""
        said = self._question + text[-_LONGEST:] if text.strip() else ""
        vector: Vector = self._embed([said], self._question_timeout)[0]
        return vector

    def _embed(self, texts: list[str], timeout: float) -> Vectors:
        vectors = np.zeros((len(texts), self.identity.dimensions), dtype=np.float32)
        said = [row for row, text in enumerate(texts) if text]
        for start in range(0, len(said), _AT_ONCE):
            rows = said[start : start + _AT_ONCE]
            asked = [texts[row].encode("utf-8", "replace").decode("utf-8") for row in rows]
            vectors[rows] = self._unit(self.ask(asked, timeout), len(asked))
        return vectors

    def _unit(self, vectors: Vectors, expected: int) -> Vectors:
        if vectors.ndim != 2 or vectors.shape[0] != expected or not np.isfinite(vectors).all():
            raise VendorAway(f"{self.identity.name} answered with malformed vectors", where=self.url)
        if vectors.shape[1] != self.identity.dimensions:
            raise EmbedderMismatch(
                f"the embedder {self.model} gives vectors of {vectors.shape[1]} numbers, the index holds {self.identity.dimensions}",
                where=self.url,
                fix=f"neuralstream config set embedding_dimensions {vectors.shape[1]}, then neuralstream admin reembed",
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
        return unit
