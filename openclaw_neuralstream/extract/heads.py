"""Learned judgement of sentences: whether one is worth keeping, and of which kind it is.

Logistic regressions over the carried encoder's vectors of the sentence, of its message and of the sentence before it, with weights from `python -m benchmarks.training.heads`
(`stance.json`, `keep.json`, whose cards name their data, date and figures).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from openclaw_neuralstream.lexicon import WORDLESS, sentences
from openclaw_neuralstream.model import Kind
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import Embedder, Vector, Vectors

_SHORT = 30
"""Characters of a message that is read behind the agent's question: an answer needs its question."""

_LONGEST = 600
"""Characters of the message that are read."""

_SIZE = 512
_MARKS = '?？!！"“”«»「」:：…'
_UNSPACED = lazy(f"[{WORDLESS}]")
_LONGEST_QUESTION = 200


@dataclass(frozen=True, slots=True)
class Placed:
    """A sentence, the message it stands in, and the sentence before it, "" for the first."""

    text: str
    message: str
    before: str


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a sentence.

    own: how far above the threshold of its author's own statements, which are not quoted, imagined, joked. worth: how far above
    that of what is worth keeping. kind: of what is kept.
    """

    own: float
    worth: float
    kind: Kind


def judged(embedder: Embedder, sentences: Sequence[Placed]) -> list[Judged]:
    """What each sentence is worth. embedder: the carried encoder, with which the weights were trained. Raises VendorAway."""
    if not sentences:
        return []
    known = _heads()
    rows = features(embedder, sentences)
    own = without_before(rows) @ known.own - known.least_own
    worth, kinds = rows @ known.keep - known.least, (rows @ known.kinds).argmax(axis=1)
    return [Judged(float(o), float(w), known.names[int(at)]) for o, w, at in zip(own, worth, kinds, strict=True)]


def without_before(rows: Vectors) -> Vectors:
    """The same features without the sentence before, shape (n, 2 * 512 + 31)."""
    return np.hstack([rows[:, : 2 * _SIZE], rows[:, 3 * _SIZE :]])


def placed(texts: Sequence[str], message: str) -> list[Placed]:
    """The sentences of a message in their places."""
    return [Placed(text, message[:_LONGEST], before) for text, before in zip(texts, ["", *texts], strict=False)]


def features(embedder: Embedder, sentences: Sequence[Placed]) -> Vectors:
    """Vectors of each sentence, of its message and of the sentence before it, both texts' form, a constant: shape (n, 3 * 512 + 31)."""
    wanted = dict.fromkeys(part for one in sentences for part in (one.text, one.message, one.before) if part)
    of = dict(zip(wanted, embedder.embed_documents(list(wanted)), strict=True))
    of[""] = np.zeros(_SIZE, np.float32)
    rows = [np.hstack([of[one.text], of[one.message], of[one.before]]) for one in sentences]
    form = [[*_form(one.text), *_form(one.message), 1.0] for one in sentences]
    return np.hstack([np.array(rows), np.array(form, np.float32)])


def _form(text: str) -> list[float]:
    return [min(len(text), _LONGEST) / _LONGEST, *(float(mark in text) for mark in _MARKS)]


def readings(units: Sequence[str], asked: str) -> list[str]:
    """A message's units as they are judged and kept: a short one by itself behind what the agent asked last, "Which city? — Graz"."""
    if len(units) != 1 or not asked:
        return list(units)
    last = next(reversed(sentences(asked)), "").strip()
    share = 3 if _UNSPACED.search(units[0]) else 1
    answers = last.endswith(("?", "？")) and len(last) <= _LONGEST_QUESTION and share * len(units[0]) <= _SHORT
    return [f"{last} — {units[0]}"] if answers else list(units)


@dataclass(frozen=True, slots=True)
class _Heads:
    own: Vector
    least_own: float
    keep: Vector
    least: float
    names: tuple[Kind, ...]
    kinds: Vectors


@cache
def _heads() -> _Heads:
    stance, known = (
        json.loads(files("openclaw_neuralstream.extract").joinpath(f"{name}.json").read_text(encoding="utf-8"))
        for name in ("stance", "keep")
    )
    kinds = known["kinds"]
    return _Heads(
        np.array(stance["stance"], np.float32),
        float(stance["stance_least"]),
        np.array(known["keep"], np.float32),
        float(known["least"]),
        tuple(Kind(name) for name in kinds),
        np.array(list(kinds.values()), np.float32).T,
    )
