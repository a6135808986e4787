"""Learned judgement of the sentences of a message: logistic regressions over the carried encoder's vectors.

A sentence is seen with the one before it, the one after it, its whole message, what the agent said before it, and the form of both. The weights come
from `python -m benchmarks.training.heads` (`heads.npz`, whose card `heads.json` names data, date and figures).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from openclaw_neuralstream.model import Kind
from openclaw_neuralstream.ports import Embedder, Vector, Vectors

_SIZE = 512
_PARTS = 5
_LONGEST = 600
"""Characters up to which the length of a text counts, and of what the agent said that is read, from its end."""

_STANDING = (Kind.INSTRUCTION, Kind.PREFERENCE)

_MARKS = '?？!！"“”«»「」:：…'


@dataclass(frozen=True, slots=True)
class Heard:
    """A message as sentences, and what the agent said last before it, "" for nothing."""

    sentences: tuple[str, ...]
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a sentence; each number says how far above its head's threshold it is.

    keep: it is worth keeping, and its author's own. standing: it is an order or a taste. kind: of what is kept. leans: it cannot stand without the sentence before it.
    back: it takes back what was said just before, or wants it kept off the record. corrects: it says that something is no longer so.
    material: it is the opening of a message whose rest is a text to work on, and nobody's statement.
    """

    keep: float
    standing: float
    kind: Kind
    leans: float
    back: float
    corrects: float
    material: float

    @property
    def kept(self) -> bool:
        """Whether it is worth keeping."""
        return self.keep >= 0 or self.standing >= 0


def judged(embedder: Embedder, messages: Sequence[Heard]) -> list[list[Judged]]:
    """What each sentence of each message is worth. embedder: the carried encoder, with which the weights were trained. Raises VendorAway."""
    known = _heads()
    flat: list[Judged] = []
    if any(message.sentences for message in messages):
        rows = features(embedder, messages)
        of = {name: rows @ weights - least for name, (weights, least) in known.acts.items()}
        scores = rows @ known.kinds
        alone = (of["keep"] < 0) & (of["standing"] >= 0)
        scores[np.ix_(alone, np.array([kind not in _STANDING for kind in known.names]))] = -np.inf
        kinds = scores.argmax(axis=1)
        flat = [
            Judged(kind=known.names[int(kind)], **{name: float(values[n]) for name, values in of.items()})
            for n, kind in enumerate(kinds)
        ]
    found = iter(flat)
    return [[next(found) for _ in message.sentences] for message in messages]


def features(embedder: Embedder, messages: Sequence[Heard]) -> Vectors:
    """A row for each sentence of each message: shape (n, 5 * 512 + 31)."""
    wanted = dict.fromkeys(part for one in messages for part in (*one.sentences, one.asked[-_LONGEST:]) if part)
    of = dict(zip(wanted, embedder.embed_documents(list(wanted)), strict=True))
    none = np.zeros(_SIZE, np.float32)
    rows = []
    for one in messages:
        own = [of.get(text, none) for text in one.sentences]
        whole = np.mean(own, axis=0) if own else none
        form = _form("\n".join(one.sentences))
        asked = of.get(one.asked[-_LONGEST:], none)
        for text, vector, before, after in zip(one.sentences, own, [none, *own], [*own[1:], none], strict=False):
            rows.append(np.hstack([vector, before, after, whole, asked, _form(text), form, [1.0]]))
    return np.array(rows, np.float32)


def _form(text: str) -> list[float]:
    return [min(len(text), _LONGEST) / _LONGEST, *(float(mark in text) for mark in _MARKS)]


@dataclass(frozen=True, slots=True)
class _Heads:
    acts: Mapping[str, tuple[Vector, float]]
    names: tuple[Kind, ...]
    kinds: Vectors


@cache
def _heads() -> _Heads:
    with files("openclaw_neuralstream.extract").joinpath("heads.npz").open("rb") as file, np.load(file) as known:
        names = [name for name in known.files if not name.startswith("kind")]
        acts = {name: (known[name][:-1].astype(np.float32), float(known[name][-1])) for name in names}
        return _Heads(acts, tuple(Kind(str(name)) for name in known["kind_names"]), known["kinds"].astype(np.float32))


def forget() -> None:
    """Read the weights anew at the next judgement."""
    _heads.cache_clear()
