"""What a message wants of memory: anything at all, and whether it goes on with the dialogue before it.

A support vector machine over the carried encoder's sentence vector, then a logistic regression over its verdict and what was found,
with weights from `python -m benchmarks.training` (`intent.npz`; `intent.json` names its data, its date and its held-out figures).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.model import Record
from openclaw_neuralstream.ports import Embedder, Vector
from openclaw_neuralstream.recall.source import COVERAGE, MEANING
from openclaw_neuralstream.text.lexicon import content_terms

ELSEWHERE, SAME = 0.15, 0.25
"""Cosines between a message and the dialogue before it at which the dialogue counts nothing, and all."""

ANSWERED = 0.45
"""Meaning from which a record is told whatever the message looks like by itself: none of 750 messages that need nothing has one (dev)."""

FLAG_WEIGHT = 0.5
"""What a flag of a message's form counts beside an axis of its vector."""

_NEAR = 2  # its place among the features
_LONGEST = 1_000  # characters of a message or dialogue that are read, from the end
_WORDS = 6  # words of a message that all count; with one or two, a record holds them by chance


@dataclass(frozen=True, slots=True)
class Weights:
    """What was trained.

    projection: principal axes of the sentence vector, shape (dimensions, axes), and `mean` what they are taken from. known: the
    support vectors, shape (n, axes and flags), `squares` their squared lengths, `sides` the weight of each, and `gamma` and `bias` of their radial kernel.
    evidence: one weight per feature of `Intent.evidence`.
    """

    mean: Vector
    projection: Vector
    known: Vector
    squares: Vector
    sides: Vector
    gamma: float
    bias: float
    evidence: Vector
    evidence_bias: float

    @classmethod
    def of(cls, arrays: Mapping[str, Any], second: Mapping[str, Any]) -> Weights:
        """As `intent.npz` and `intent.json` keep them."""
        first = {name: np.asarray(found, np.float32) for name, found in arrays.items()}
        known = first["known"] * first["known_scale"]
        return cls(
            first["mean"],
            first["projection"] * first["projection_scale"],
            known,
            (known**2).sum(1),
            first["sides"],
            float(first["gamma"]),
            float(first["bias"]),
            np.array(second["evidence"], np.float32),
            float(second["evidence_bias"]),
        )

    def verdict(self, table: Vector) -> Vector:
        """How much each message asks for memory by itself, shape (n,); table: a vector and flags a row."""
        axes = (table[:, : len(self.mean)] - self.mean) @ self.projection
        told = np.hstack([axes, FLAG_WEIGHT * table[:, len(self.mean) :]])
        squares = (told**2).sum(1)[:, None] + self.squares - 2 * told @ self.known.T
        found: Vector = np.exp(-self.gamma * squares) @ self.sides + self.bias
        return found


class Intent:
    """Judges messages with the carried encoder, whichever embedder the index has. May be called from any thread.

    embedder: the encoder that the weights were trained with. While it does not load, the dialogue counts in full.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def warm(self) -> None:
        """Load the encoder and the weights now."""
        with suppress(VendorAway):
            self.logit("warm")

    def coherence(self, message: str, dialogue: str) -> float:
        """How much a message goes on with the dialogue before it, in [0, 1]."""
        try:
            cosine = float(
                self._embedder.embed_query(message[-_LONGEST:]) @ self._embedder.embed_query(dialogue[-_LONGEST:])
            )
        except VendorAway:
            return 1.0
        return min(1.0, max(0.0, (cosine - ELSEWHERE) / (SAME - ELSEWHERE)))

    def logit(self, message: str) -> float:
        """How much a message asks for memory by itself; above 0 it rather does."""
        short = message[-_LONGEST:]
        return float(weights().verdict(np.concatenate([self._embedder.embed_query(short), flags(short)])[None])[0])

    def wants(self, message: str, records: Sequence[Record]) -> bool:
        """Whether the message is to be answered with these records beside it. Raises VendorAway.

        message: its text, without a speaker's label.
        """
        known, found = weights(), self.evidence(message, records)
        return bool(found[_NEAR] >= ANSWERED or float(known.evidence @ found + known.evidence_bias) >= 0)

    def evidence(self, message: str, records: Sequence[Record]) -> Vector:
        """The features of the second regression, shape (4,).

        Verdict of the message; how many of its words the best record holds, as a share of `_WORDS`; how near the nearest one is; and
        coverage and meaning of one record both at once.
        """
        words = min(len(set(content_terms(message))), _WORDS) / _WORDS
        held = [min(1.0, record.factors.get(COVERAGE, 0.0)) for record in records]
        near = [record.factors.get(MEANING, 0.0) for record in records]
        both = max((share * cosine for share, cosine in zip(held, near, strict=True)), default=0.0)
        return np.array([self.logit(message), words * max(held, default=0.0), max(near, default=0.0), both], np.float32)


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
    """The trained weights; the support vectors and the projection are kept as bytes with one scale each."""
    home = files("openclaw_neuralstream.recall")
    with home.joinpath("intent.npz").open("rb") as stored, np.load(stored) as arrays:
        first = {name: arrays[name] for name in arrays.files}
    return Weights.of(first, json.loads(home.joinpath("intent.json").read_text(encoding="utf-8")))
