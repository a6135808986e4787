"""Embedding models behind any endpoint of OpenAI's protocol."""

from __future__ import annotations

from typing import Any

import numpy as np

from openclaw_neuralstream.embed.remote import RemoteEmbedder
from openclaw_neuralstream.errors import AnswerRefused, VendorAway
from openclaw_neuralstream.openai_client import client, translated
from openclaw_neuralstream.ports import Vectors


class OpenAIEmbedder(RemoteEmbedder):
    """An embedding model at an endpoint."""

    def __init__(
        self,
        url: str,
        model: str,
        dimensions: int = 1024,
        *,
        timeout: float = 30.0,
        question_timeout: float = 0.0,
        api_key: str = "",
    ) -> None:
        super().__init__("openai", url, model, dimensions, timeout=timeout, question_timeout=question_timeout)
        self._api_key = api_key
        self._clients: dict[float, Any] = {}

    def ask(self, texts: list[str], timeout: float) -> Vectors:
        """One call of `/embeddings`. Raises VendorAway."""
        if not self.url:
            raise VendorAway("no endpoint is set", fix="neuralstream config set openai_url http://HOST:PORT/v1")
        try:
            with translated(self.url, self.model):
                if timeout not in self._clients:
                    self._clients[timeout] = client(self.url, self._api_key, timeout)
                answer = self._clients[timeout].embeddings.create(
                    model=self.model, input=texts, encoding_format="float"
                )
                rows = sorted(answer.data, key=lambda row: row.index)
                return np.asarray([row.embedding for row in rows], dtype=np.float32)
        except AnswerRefused as error:
            raise VendorAway(error.what, where=self.url, fix="look at the log of the model's server") from error
