"""`python -m benchmarks.training.heads`: `extract/keep.json`, whether a sentence is worth keeping and of which kind, from the labelled conversations of benchmarks/extraction.

A unit of a message is worth keeping when it holds the words of an expected gem, and of that gem's first kind; messages that ask or
order (statements/*.txt) and those that need no memory (messages/train) are worth nothing, at a half of the weight, and what must not
be kept counts twice. The threshold is
the one with the best F0.7 by cross-validation, a file at a time: a file is one voice. Only the development part is read.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the same sums everywhere: threads add in another order
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_curve, roc_auc_score
from sklearn.model_selection import GroupKFold

from benchmarks.extraction.labels import Conversation, Expected, load
from benchmarks.extraction.matching import holds
from benchmarks.training.labels import messages, statements
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.extract import heads
from openclaw_neuralstream.extract.reading import units
from openclaw_neuralstream.model import Kind

_PENALTY, _OTHERS, _BARRED, _FOLDS = 1.0, 0.5, 2.0, 9
_BETA = 0.7
"""How much recall counts beside precision: what is not kept is still found, word for word, among the turns."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence as the extractor reads it. kept: None = either is right. barred: it must not be kept. voice: the conversation's file."""

    place: heads.Placed
    kept: bool | None
    barred: bool
    kind: str
    voice: str


def labelled(part: str) -> list[Unit]:
    """The units of what people say in the conversations of a part."""
    return [unit for conversation in load(part) for unit in _of(conversation)]


def _of(conversation: Conversation) -> Iterator[Unit]:
    asked = ""
    for number, turn in enumerate(conversation.turns, 1):
        expected = [one for one in conversation.expected if number in one.turns]
        for said in turn.said:
            if said.speaker not in ("owner", "third-party"):
                asked = said.text if said.speaker == "agent" else asked
                continue
            texts = heads.readings(units(said.text), asked)
            held = _held(texts, expected)
            for place in heads.placed(texts, said.text):
                text = place.text
                kept = (
                    True if held[text] else None if any(holds(text, words) for words in conversation.allowed) else False
                )
                kind = held[text][0].kinds[0] if held[text] else ""
                barred = not kept and any(holds(text, one.words) for one in conversation.forbidden)
                yield Unit(place, kept, barred, kind, conversation.voice)
            asked = ""


def _held(texts: list[str], expected: list[Expected]) -> dict[str, list[Expected]]:
    """What each unit holds; what none holds as a whole, the one that holds most of its words."""
    held = {text: [one for one in expected if holds(text, one.words)] for text in texts}
    for one in expected:
        if texts and not any(one in found for found in held.values()):
            words = [(sum(holds(text, (word,)) for word in one.words), text) for text in texts]
            if (best := max(words))[0]:
                held[best[1]].append(one)
    return held


def _others() -> list[heads.Placed]:
    """What people say to an agent that is nothing to keep: questions, orders, small talk."""
    asked = [text for text, tells in statements() if not tells]
    needless = [message.text for message in messages("train") if not message.needs]
    return [place for text in (*asked, *needless) for place in heads.placed(units(text), text)]


def _told() -> list[Unit]:
    """Messages that tell something, a voice of their own."""
    told = [text for text, tells in statements() if tells]
    return [Unit(place, True, False, "", "statements") for text in told for place in heads.placed(units(text), text)]


def main() -> None:
    embedder = EmbeddedEmbedder()
    embedder.warm()
    found = [unit for unit in labelled("dev") if unit.kept is not None]
    found += _told()
    table, kept = heads.features(embedder, [unit.place for unit in found]), np.array([unit.kept for unit in found])
    others = heads.features(embedder, _others())
    weights = np.where([unit.barred for unit in found], _BARRED, 1.0)
    scores = _unseen(table, kept, weights, [unit.voice for unit in found], others)
    least, best = _best(kept, scores)
    known_kind = np.array([bool(unit.kind) for unit in found])
    worth = np.array([unit.kind for unit in found])[known_kind]
    kinds = LogisticRegression(C=_PENALTY, max_iter=3_000, class_weight="balanced", fit_intercept=False).fit(
        table[known_kind], worth
    )
    keep = _fitted(table, kept, weights, others)
    card: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "encoder": str(embedder.identity),
        "units": len(kept),
        "worth keeping": int(kept.sum()),
        "others": len(others),
        "auc on unseen voices": round(float(roc_auc_score(kept, scores)), 3),
        "f1 on unseen voices": round(best, 3),
    }
    known = {
        "card": card,
        "least": round(least, 4),
        "keep": [round(float(value), 3) for value in keep.coef_[0]],
        "kinds": {
            str(Kind(name)): [round(float(value), 3) for value in row]
            for name, row in zip(kinds.classes_, kinds.coef_, strict=True)
        },
    }
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in known.items())
    Path(heads.__file__).with_name("keep.json").write_text(f"{{{lines}}}\n", encoding="utf-8")
    print(json.dumps(card, indent=1))


def _fitted(
    table: NDArray[np.float32], kept: NDArray[np.bool_], own: NDArray[np.float64], others: NDArray[np.float32]
) -> LogisticRegression:
    model = LogisticRegression(C=_PENALTY, max_iter=3_000, class_weight="balanced", fit_intercept=False)
    weights = np.r_[own, np.full(len(others), _OTHERS)]
    return model.fit(np.vstack([table, others]), np.r_[kept, np.zeros(len(others), bool)], weights)


def _unseen(
    table: NDArray[np.float32],
    kept: NDArray[np.bool_],
    own: NDArray[np.float64],
    voices: list[str],
    others: NDArray[np.float32],
) -> NDArray[np.float64]:
    """What each unit scores where nothing of its voice was seen."""
    scores = np.zeros(len(kept))
    for seen, unseen in GroupKFold(_FOLDS).split(table, kept, voices):
        scores[unseen] = _fitted(table[seen], kept[seen], own[seen], others).decision_function(table[unseen])
    return scores


def _best(kept: NDArray[np.bool_], scores: NDArray[np.float64]) -> tuple[float, float]:
    """The threshold with the best F of `_BETA`, and the F1 there."""
    precision, recall, least = precision_recall_curve(kept, scores)
    both = np.maximum(precision * recall, 1e-9)
    at = int(((1 + _BETA**2) * both / (_BETA**2 * precision + recall + 1e-9))[:-1].argmax())
    print(f"precision {precision[at]:.3f} recall {recall[at]:.3f}")
    return float(least[at]), float(2 * both[at] / (precision[at] + recall[at]))


if __name__ == "__main__":
    main()
