"""Learned judgement of sentences: whether one is its author's own statement, or quoted, asked, imagined, joked.

A logistic regression over the carried encoder's vectors of the sentence and of its message, with weights from
`python -m benchmarks.training.stance` (`heads.json`, which names its data, its date and its figures).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.ports import Embedder, Vector, Vectors

LONGEST = 600
"""Characters of the message that are read."""

_MARKS = '?？!！"“”«»「」:：…'


def own(embedder: Embedder, sentences: Sequence[str], message: str) -> list[bool]:
    """Whether each sentence of a message is its author's own statement; all are where the encoder does not load.

    embedder: the carried encoder, with which the weights were trained.
    """
    if not sentences:
        return []
    weights, least = _stance()
    try:
        rows = features(embedder, sentences, [message] * len(sentences))
    except VendorAway:
        return [True] * len(sentences)
    return [bool(value >= least) for value in rows @ weights]


def features(embedder: Embedder, sentences: Sequence[str], messages: Sequence[str]) -> Vectors:
    """Vectors and form of each sentence and of its message, shape (n, 1024 + 2 * (len(_MARKS) + 1) + 1), the last one constant."""
    shorts = [message[:LONGEST] for message in messages]
    known = dict.fromkeys(shorts)
    of = dict(zip(known, embedder.embed_documents(list(known)), strict=True))
    form = np.array([[*_form(s), *_form(m), 1.0] for s, m in zip(sentences, shorts, strict=True)], np.float32)
    return np.hstack([embedder.embed_documents(sentences), np.array([of[short] for short in shorts]), form])


def _form(text: str) -> list[float]:
    return [min(len(text), LONGEST) / LONGEST, *(float(mark in text) for mark in _MARKS)]


@cache
def _stance() -> tuple[Vector, float]:
    known = json.loads(files("openclaw_neuralstream.extract").joinpath("heads.json").read_text(encoding="utf-8"))
    return np.array(known["stance"], np.float32), float(known["stance_least"])
