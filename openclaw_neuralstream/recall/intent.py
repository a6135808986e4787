"""What a message wants of memory: anything at all, and whether it goes on with the dialogue before it.

Logistic regressions over the carried encoder's sentence vector, with weights from `python -m benchmarks.training`
(`intent.json`, which names its data, its date and its held-out figures).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import Query, Record
from openclaw_neuralstream.ports import Embedder, Vector
from openclaw_neuralstream.recall.source import COVERAGE, MEANING

ELSEWHERE, SAME = 0.15, 0.25
"""Cosines between a message and the dialogue before it at which the dialogue counts nothing, and all."""

ANSWERED = 0.45
"""Coverage times meaning from which one record says all that is asked: it is told, whatever the message looks like by itself."""

_BOTH = 3  # its place among the features
_LONGEST = 1_000  # characters of a message or dialogue that are read, from the end
_MESSAGES = 12
_KEPT = 64  # messages whose vectors are kept: the coherence and the gate ask for the same ones


@dataclass(frozen=True, slots=True)
class Weights:
    """What was trained.

    message: one weight per dimension of the vector and per flag. evidence: one per feature of `Intent.evidence`.
    """

    message: Vector
    message_bias: float
    evidence: Vector
    evidence_bias: float


class Intent:
    """Judges messages with the carried encoder, whichever embedder the index has. May be called from any thread.

    embedder: the encoder that the weights were trained with. While it does not load, the dialogue counts in full and every
    message wants memory.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[int, Vector] = {}

    def warm(self) -> None:
        """Load the encoder and the weights now."""
        with suppress(VendorAway):
            self.logit("warm")

    def _vector(self, text: str) -> Vector:
        """The vector of a text, kept by its hash: no word of it stays here."""
        key = hash(text)
        vector = self._vectors.get(key)
        if vector is None:
            vector = self._embedder.embed_query(text)
            while len(self._vectors) >= _KEPT:
                self._vectors.pop(next(iter(self._vectors)), None)
            self._vectors[key] = vector
        return vector

    def coherence(self, message: str, dialogue: str) -> float:
        """How much a message goes on with the dialogue before it, in [0, 1]."""
        try:
            cosine = float(self._vector(message[-_LONGEST:]) @ self._vector(dialogue[-_LONGEST:]))
        except VendorAway:
            return 1.0
        return min(1.0, max(0.0, (cosine - ELSEWHERE) / (SAME - ELSEWHERE)))

    def logit(self, message: str) -> float:
        """How much a message asks for memory by itself; above 0 it rather does."""
        known = weights()
        short = message[-_LONGEST:]
        return float(known.message @ np.concatenate([self._vector(short), flags(short)]) + known.message_bias)

    def wants(self, message: str, query: Query, records: Sequence[Record]) -> bool:
        """Whether the message is to be answered with these records beside it. message: its text, without a speaker's label."""
        known = weights()
        try:
            found = self.evidence(message, query, records)
            return bool(found[_BOTH] >= ANSWERED or float(known.evidence @ found + known.evidence_bias) >= 0)
        except VendorAway:
            return True

    def evidence(self, message: str, query: Query, records: Sequence[Record]) -> Vector:
        """The features of the second regression, shape (5,).

        Logit of the message; coverage and meaning of the best records, and of one record both at once; the coherence with the
        dialogue (0 without one).
        """
        covered = max((record.factors.get(COVERAGE, 0.0) for record in records), default=0.0)
        both = max((min(1.0, r.factors.get(COVERAGE, 0.0)) * r.factors.get(MEANING, 0.0) for r in records), default=0.0)
        near = max((record.factors.get(MEANING, 0.0) for record in records), default=0.0)
        earlier = [text for text in query.dialogue[-_MESSAGES:] if text.strip() and text.strip() != query.text.strip()]
        goes_on = self.coherence(message, "\n".join(earlier)) if earlier else 0.0
        return np.array([self.logit(message), min(1.0, covered), near, both, goes_on], np.float32)


def flags(message: str) -> Vector:
    """What the form of a message says beside its vector, shape (6,)."""
    return np.array(
        [
            min(len(message), 200) / 200,
            math.log1p(len(message)) / 6,
            "?" in message or "？" in message,
            any(char.isdigit() for char in message),
            "`" in message or "(" in message,
            ":" in message or "：" in message,
        ],
        np.float32,
    )


@cache
def weights() -> Weights:
    """The trained weights."""
    known = json.loads(files("openclaw_neuralstream.recall").joinpath("intent.json").read_text(encoding="utf-8"))
    return Weights(
        np.array(known["message"], np.float32),
        float(known["message_bias"]),
        np.array(known["evidence"], np.float32),
        float(known["evidence_bias"]),
    )
