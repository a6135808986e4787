"""`python -m benchmarks.training`: the weights of `recall/intent.py`, from the labelled messages and conversations here.

First, a support vector machine: does a message ask for memory, from its vector and its form (messages/train). Second, a regression:
is it to be answered with what was found, from the first one's verdict, and the coverage and meaning of the best records: questions
and messages asked of the memories of `benchmarks/told` and `benchmarks/ordered`, development halves. Deterministic; --report asks
the held-out messages as well, and writes the figures into the card.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from benchmarks.extraction.replay import Stage, stage
from benchmarks.ordered.conversations import load as load_ordered
from benchmarks.ordered.run import _say as say_ordered
from benchmarks.told.__main__ import prompt, say
from benchmarks.told.conversations import LANGUAGES, load
from benchmarks.training.labels import Message, Talk, dialogues, messages
from openclaw_neuralstream import logs
from openclaw_neuralstream.capture import Skipped, read_query
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.model import Query, Record
from openclaw_neuralstream.recall import intent
from openclaw_neuralstream.recall.intent import FLAG_WEIGHT, Intent, Weights, flags

OUT = Path(intent.__file__).with_name("intent.json")
_AXES, _GAMMA, _PENALTY, _SECOND_PENALTY = 128, 1.0, 10.0, 1.0
_FOLDS = 5
_SILENCE = 0.85  # what a message that needs nothing counts beside one that does, so that 96 of 100 bring nothing (dev)
_TALKS = 50  # labelled dialogues that each memory is asked
_A_MEMORY = 12  # labelled messages of each sort that each memory is asked


def features(embedder: EmbeddedEmbedder, texts: Sequence[str]) -> Any:
    """Vector and flags of each text, shape (n, 518)."""
    return np.hstack([embedder.embed_documents(texts), np.array([flags(text) for text in texts])])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument(
        "--report", action="store_true", help="ask the held-out messages too, and note the look in the card"
    )
    asked = parser.parse_args()
    logs.configure("error")
    embedder = EmbeddedEmbedder()
    embedder.warm()
    talks = dialogues()
    train, dev = [*messages("train"), *(talk.last for talk in talks)], messages("dev")
    table, labels = features(embedder, [m.text for m in train]), np.array([m.needs for m in train])
    first = machine(table, labels)
    known: dict[str, Any] = {"evidence": [1, 0, 0, 0], "evidence_bias": 0}
    unseen = np.zeros(len(train))
    for seen, others in KFold(_FOLDS, shuffle=True, random_state=7).split(table):
        unseen[others] = Weights.of(machine(table[seen], labels[seen]), known).verdict(table[others])
    logits = {message.text: float(logit) for message, logit in zip(train, unseen, strict=True)}
    np.savez_compressed(OUT.with_suffix(".npz"), **first)
    write(known)
    rows, wanted = zip(*asked_of_memories(Intent(embedder), train, talks, logits), strict=True)
    needed = float(np.mean(wanted))
    balance = {True: 1 / needed, False: _SILENCE / (1 - needed)}
    second = LogisticRegression(C=_SECOND_PENALTY, max_iter=5_000, class_weight=balance).fit(np.array(rows), wanted)
    known["evidence"] = [round(float(w), 4) for w in second.coef_[0]]
    known["evidence_bias"] = round(float(second.intercept_[0]), 4)
    print("evidence", known["evidence"], known["evidence_bias"], "of", len(rows))
    card: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "encoder": str(embedder.identity),
        "messages": len(train),
        "asked of memories": len(rows),
        "dev, right by the message alone": right(embedder, dev),
    }
    if asked.report:
        card["held out, right by the message alone"] = right(embedder, messages("heldout"))
    print(json.dumps(card, indent=1, ensure_ascii=False))
    write({"card": card, **known})


def machine(table: Any, labels: Any) -> dict[str, Any]:
    """The arrays of `intent.npz`: a machine with a radial kernel over the principal axes of the vectors, and the flags."""
    vectors = table[:, : -len(flags(""))]
    axes = PCA(_AXES, random_state=7).fit(vectors)
    projection, projection_scale = as_bytes(axes.components_.T)
    told = np.hstack(
        [(vectors - axes.mean_) @ (projection * projection_scale), FLAG_WEIGHT * table[:, vectors.shape[1] :]]
    )
    trained = SVC(C=_PENALTY, gamma=_GAMMA, class_weight="balanced").fit(told, labels)
    known, known_scale = as_bytes(trained.support_vectors_)
    return {
        "mean": axes.mean_.astype(np.float16),
        "projection": projection,
        "projection_scale": projection_scale,
        "known": known,
        "known_scale": known_scale,
        "sides": trained.dual_coef_[0].astype(np.float16),
        "gamma": np.float32(_GAMMA),
        "bias": np.float32(trained.intercept_[0]),
    }


def as_bytes(table: Any) -> tuple[Any, Any]:
    """A table as whole numbers from -127 to 127, and what one of them is worth."""
    scale = np.float32(np.abs(table).max() / 127)
    return np.round(table / scale).astype(np.int8), scale


def write(known: dict[str, Any]) -> None:
    """The weights file, a field a line; the running process reads it anew."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in known.items())
    OUT.write_text(f"{{{lines}}}\n", encoding="utf-8")
    intent.weights.cache_clear()


def right(embedder: EmbeddedEmbedder, asked: Sequence[Message]) -> dict[str, float]:
    """Percent of the messages judged right, of those that need nothing and of those that need memory, by language."""
    guessed = intent.weights().verdict(features(embedder, [m.text for m in asked])) > 0
    found = {}
    for language in ("all", *LANGUAGES):
        for needs in (False, True):
            hits = [
                g == needs
                for m, g in zip(asked, guessed, strict=True)
                if m.needs == needs and language in ("all", m.language)
            ]
            if hits:
                found[f"{language} {'needs' if needs else 'nothing'}"] = round(100 * float(np.mean(hits)), 1)
    return found


def asked_of_memories(  # noqa: C901
    judge: Intent, train: Sequence[Message], talks: Sequence[Talk], logits: dict[str, float]
) -> Iterator[tuple[Any, bool]]:
    """Features of the second regression and labels: questions, and messages of both sorts in and out of a dialogue."""
    rng = random.Random(7)

    def features_of(memory: Any, query: Query) -> Any:
        found = memory.recall(query)
        records: list[Record] = [*found.records, *(item.record for item in found.dropped)]
        row = judge.evidence(query.text, records)
        row[0] = logits.get(query.text, row[0])  # as if it had not been trained with it
        return row

    def labelled(
        memory: Any, plain: Query, dialogues: Sequence[tuple[str, ...]], language: str
    ) -> Iterator[tuple[Any, bool]]:
        for needs in (True, False):
            of = [m.text for m in train if m.needs == needs and m.language == language]
            for place, text in enumerate(rng.sample(of, _A_MEMORY)):
                dialogue = rng.choice(dialogues) if place % 2 else ()
                yield features_of(memory, replace(plain, text=text, dialogue=dialogue)), needs

    for conversation in load("dev"):
        with stage({"extractor": "rules"}, conversation.turns[0].at, environ=os.environ) as on:
            say(on, conversation)
            on.clock.now = conversation.questions[0].at
            plain = None
            for number, question in enumerate(conversation.questions):
                plain = _query(on, prompt(conversation, question, number))
                yield features_of(on.memory, plain), True
            talk = tuple(text for pair in conversation.talk for text in pair)
            said = tuple(text for turn in conversation.turns for text in (turn.text, turn.answer))
            dialogues = [talk[-12:], talk[:8], said[-12:], said[:10], said[10:22]]
            assert plain is not None
            yield from labelled(on.memory, plain, dialogues, conversation.language)
            of = [talk for talk in talks if talk.last.language == conversation.language]
            for talk in rng.sample(of, _TALKS):
                yield features_of(on.memory, replace(plain, text=talk.last.text, dialogue=talk.before)), talk.last.needs
    for story in (c for c in load_ordered() if c.half == "dev"):
        with stage({"extractor": "rules"}, story.turns[0].at, environ=os.environ) as on:
            say_ordered(on, story)
            marked = set(story.evidence.values())
            said = tuple(text for turn in story.turns for text in (turn.text, turn.answer))
            for place, turn in enumerate(story.turns):
                if place > 2 and any(words in turn.text for words in marked):
                    event = {
                        "agent": "main",
                        "session_key": "asking",
                        "prompt": turn.text,
                        "sender": {"id": "o", "owner": True},
                    }
                    dialogue = said[max(0, 2 * place - 12) : 2 * place]
                    yield features_of(on.memory, replace(_query(on, event), dialogue=dialogue)), True


def _query(on: Stage, event: dict[str, Any]) -> Query:
    query = read_query(event, now=on.clock.now, settings=on.memory.settings)
    if isinstance(query, Skipped):
        raise SystemExit(f"capture skipped {event['prompt']}")
    return query


if __name__ == "__main__":
    main()
