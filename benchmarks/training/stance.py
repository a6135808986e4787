"""`python -m benchmarks.training.stance`: `extract/stance.json`, whether a sentence is its author's own, from the labelled conversations of benchmarks/extraction.

Own statements are sentences with the words of an expected gem, all others those with words that are nobody's about the owner. The
threshold is the one at which 4 of 100 own statements are lost, by cross-validation over conversations.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from benchmarks.extraction.labels import load
from benchmarks.extraction.matching import holds
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.extract import heads
from openclaw_neuralstream.lexicon import sentences

_PENALTY, _LOST = 3.0, 0.04


def labelled(part: str) -> tuple[list[str], list[str], list[bool], list[str]]:
    """Sentences of owners, their messages, whether each is an own statement, and the conversations they are of."""
    rows = [
        (sentence, said.text, not other, conversation.name)
        for conversation in load(part)
        for turn in conversation.turns
        for said in turn.said
        if said.speaker == "owner"
        for sentence in sentences(said.text)
        for other in [any(label.own and holds(sentence, label.words) for label in conversation.forbidden)]
        if other or any(holds(sentence, label.words) for label in conversation.expected)
    ]
    texts, messages, own, names = zip(*rows, strict=True)
    return list(texts), list(messages), list(own), list(names)


def main() -> None:
    embedder = EmbeddedEmbedder()
    embedder.warm()
    texts, messages, labels, conversations = labelled("dev")
    table, own = (
        heads.without_before(
            heads.features(embedder, [heads.Placed(t, m[:600], "") for t, m in zip(texts, messages, strict=True)])
        ),
        np.array(labels),
    )
    model = LogisticRegression(C=_PENALTY, max_iter=5_000, class_weight="balanced", fit_intercept=False)
    unseen = cross_val_predict(model, table, own, groups=conversations, cv=GroupKFold(5), method="decision_function")
    least = float(np.quantile(unseen[own], _LOST))
    model.fit(table, own)
    card = {
        "date": datetime.now(UTC).date().isoformat(),
        "encoder": str(embedder.identity),
        "sentences": len(own),
        "of others, asked, imagined, joked": int((~own).sum()),
        "cross-validated auc": round(float(roc_auc_score(own, unseen)), 3),
        "of these kept out, percent": round(100 * float((unseen[~own] < least).mean()), 1),
    }
    known = {"card": card, "stance": [round(float(w), 4) for w in model.coef_[0]], "stance_least": round(least, 4)}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in known.items())
    Path(heads.__file__).with_name("stance.json").write_text(f"{{{lines}}}\n", encoding="utf-8")
    print(json.dumps(card, indent=1))


if __name__ == "__main__":
    main()
