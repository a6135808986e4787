"""Embedding models of an Ollama server."""

from __future__ import annotations

from typing import Any

import numpy as np

from openclaw_neuralstream.embed.remote import RemoteEmbedder
from openclaw_neuralstream.errors import AnswerRefused, VendorAway
from openclaw_neuralstream.ollama_client import client, translated
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
        try:
            with translated(self.url, self.model):
                if timeout not in self._clients:
                    self._clients[timeout] = client(self.url, timeout)
                answer = self._clients[timeout].embed(model=self.model, input=texts, truncate=True)
                return np.asarray(answer.embeddings, dtype=np.float32)
        except AnswerRefused as error:
            raise VendorAway(error.what, where=self.url, fix="ollama ps") from error
