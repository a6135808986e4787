"""`python -m benchmarks.training.heads`: `extract/heads.npz`, what of a message is worth keeping and what its sentences do, from labelled conversations and messages.

A sentence is worth keeping when it holds the words of an expected gem of benchmarks/extraction, and of that gem's first kind; what must not be kept counts eightfold.
Messages that ask or order (statements/*.txt), those that need no memory (messages/train) and statements in a frame that undoes them (frames.txt) are worth
nothing. Each labelled message is learned a second time as it would be written with care, or without. The threshold is the one with the best F of `_BETA` by
cross-validation over files, each of which is one voice. Only the development part is read; `--report` also asks plain/heldout.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the same sums everywhere: threads add in another order
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
from benchmarks.training.labels import frames, messages, plain, statements
from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.extract import heads
from openclaw_neuralstream.extract.reading import opening, readings, units
from openclaw_neuralstream.ports import Embedder

_PENALTY, _OTHERS, _BARRED, _FRAMED, _FOLDS = 0.5, 0.5, 8.0, 0.5, 9
_BETA = 0.9
"""How much recall counts beside precision: what is not kept is still found, word for word, among the turns."""

_CORRECTS = 0.8
"""Precision, by cross-validation, from which a sentence is believed to correct another."""

_NOT_BACK = 0.998
"""Share of the conversations' sentences, none of which is labelled so, that must not be seen as taking something back."""

_LEANS = -0.8
"""Margin from which a sentence leans on the one before it. Few are labelled so, and most of the others above it are so by eye."""

_STANDING = ("instruction", "preference")
_STANDS = 0.5
"""Margin from which a sentence is an order or a taste; chosen on the development conversations."""

_CAREFUL = 1.0
"""How much a statement of plain/ counts: it stands for the many that conversations have few of."""

_KNOWN = 4.0
"""How much what everybody knows counts, of which plain/ has few and the world has many."""

_MATERIAL = 0.4
"""Margin from which an opening is one of a text to work on."""

_IN_FRAMES, _ASKED_TO_KEEP = 12, 24
"""Statements that each frame is put around; more where the frame asks to keep them."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence's labels. keep: None = either is right. weight: how much it counts for that head; acts: what else it does, None = not known."""

    keep: bool | None
    kind: str = ""
    weight: float = 1.0
    leans: bool | None = None
    back: bool | None = None
    corrects: bool | None = None
    material: bool | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A labelled message. voice: the file it is of."""

    heard: heads.Heard
    units: tuple[Unit, ...]
    voice: str


def labelled(part: str) -> list[Message]:
    """What people say in the conversations of a part."""
    return [message for conversation in load(part) for message in _of(conversation)]


def _of(conversation: Conversation) -> Iterator[Message]:
    asked = ""
    for number, turn in enumerate(conversation.turns, 1):
        expected = [one for one in conversation.expected if number in one.turns or not one.turns]
        for said in turn.said:
            if said.speaker not in ("owner", "third-party"):
                asked = said.text if said.speaker == "agent" else asked
                continue
            texts = readings(units(said.text), asked)
            if texts:
                found = tuple(_labels(texts, expected, conversation))
                yield Message(heads.Heard(tuple(texts), asked), found, conversation.voice)
            asked = ""


def _labels(texts: Sequence[str], expected: Sequence[Expected], conversation: Conversation) -> Iterator[Unit]:
    held = _held(texts, expected)
    for before, text in zip(["", *texts], texts, strict=False):
        found = held[text]
        allowed = any(holds(text, words) for words in conversation.allowed)
        barred = not found and any(holds(text, one.words) for one in conversation.forbidden)
        joined = [one for one in found if not holds(text, one.words) and holds(f"{before} {text}", one.words)]
        corrects = any(holds(text, one.new) and not holds(text, one.old) for one in conversation.replaced)
        yield Unit(
            True if found else None if allowed else False,
            found[0].kinds[0] if found else "",
            _BARRED if barred else 1.0,
            leans=bool(joined) if found else None,
            back=False,
            corrects=corrects if found else None,
        )


def _held(texts: Sequence[str], expected: Sequence[Expected]) -> dict[str, list[Expected]]:
    """What each unit holds; what none holds as a whole, the one that holds most of its words."""
    held = {text: [one for one in expected if holds(text, one.words)] for text in texts}
    for one in expected:
        if texts and not any(one in found for found in held.values()):
            words = [(sum(holds(text, (word,)) for word in one.words), text) for text in texts]
            if (best := max(words))[0]:
                held[best[1]].append(one)
    return held


def _others() -> list[Message]:
    """What people say to an agent that is nothing to keep (questions, orders, small talk), and messages that tell something."""
    told = [(text, tells, 1.0 if tells else _OTHERS) for text, tells in statements()]
    told += [(message.text, False, _OTHERS) for message in messages("train") if not message.needs]
    return [
        Message(heads.Heard(texts), tuple(Unit(tells, "", weight, back=False) for _ in texts), "")
        for text, tells, weight in told
        if (texts := tuple(units(text)))
    ]


def _plain(part: str) -> list[Message]:
    """Short statements, orders and decisions as they are written with care."""
    return [
        Message(heads.Heard((text,)), (Unit(bool(kind), kind, _CAREFUL if kind else _KNOWN, back=False),), "plain")
        for text, kind in plain(part)
    ]


def _openings() -> list[Message]:
    """Openings of messages, each whether it gives the agent a text to work on: frames and messages that ask do, what tells something does not."""
    told = [
        said.text
        for conversation in load("dev")
        for number, turn in enumerate(conversation.turns, 1)
        for said in turn.said
        if said.speaker == "owner" and any(number in one.turns for one in conversation.expected)
    ]
    found = [(text, False) for text in (*told, *(text for text, tells in statements() if tells))]
    found += [(one.text, True) for one in messages("train") if not one.needs]
    found += [(text, place == "<") for _, place, text in frames() if place in "<+"] * 5
    return [
        Message(heads.Heard((begin,)), (Unit(None, material=is_one),), "")
        for text, is_one in found
        if (begin := opening(text))
    ]


def _framed(known: Sequence[Message]) -> Iterator[Message]:
    """Statements in frames, most of which undo them; by a fixed seed."""
    chance = random.Random(1)
    of = {
        language: [message for message in known if message.voice.startswith(language) and _states(message)]
        for language in ("en", "zh", "ru")
    }
    for language, place, frame in frames():
        if place in "?!=":
            yield _alone(frame, Unit(place == "?", "", _FRAMED if place == "=" else 1.0, back=place == "="))
            continue
        for one in chance.sample(of[language], _ASKED_TO_KEEP if place == "+" else _IN_FRAMES):
            yield _in_frame(one, place, frame, " " if language != "zh" else "")


def _alone(text: str, unit: Unit) -> Message:
    return Message(heads.Heard((text,)), (unit,), "")


def _in_frame(stated: Message, place: str, frame: str, gap: str) -> Message:
    [text], [unit] = stated.heard.sentences, stated.units
    if place == "+":
        return _alone(f"{frame}{gap}{text}", replace(unit, weight=1.0, corrects=None, leans=None))
    texts = tuple(units(f"{frame}{gap}{text}" if place == "<" else f"{text}{gap}{frame}"))
    takes = {frame} if place == ">" else set()
    found = tuple(Unit(False, weight=_FRAMED, back=one in takes) for one in texts)
    return Message(heads.Heard(texts), found, "")


def _states(message: Message) -> bool:
    return len(message.units) == 1 and bool(message.units[0].keep)


_CONTRACTED = {
    "im": "I am", "i'm": "I am", "ive": "I have", "i've": "I have", "dont": "do not", "don't": "do not", "cant": "cannot", "can't": "cannot", "didnt": "did not", "didn't": "did not", "doesnt": "does not",
    "doesn't": "does not", "isnt": "is not", "isn't": "is not", "its": "it is", "it's": "it is", "thats": "that is", "that's": "that is", "we're": "we are", "were": "were", "i'll": "I will", "ill": "I will",
    "we'll": "we will", "u": "you", "ur": "your", "i": "I", "gonna": "going to", "wanna": "want to", "pls": "please", "plz": "please", "w": "with", "thx": "thanks", "rn": "right now", "bc": "because",
}  # fmt: skip


def with_care(text: str) -> str:
    """A text as it is written with care: a capital, a stop, contractions written out; one that is so already, without."""
    if text[:1].isupper() or (not text[:1].islower() and text.endswith(("。", "."))):
        return text[:1].lower() + text[1:].rstrip(".。！!") if not text.startswith("I ") else text.lower().rstrip(".!")
    plain = re.sub(r"[\w']+", lambda match: _CONTRACTED.get(match[0].casefold(), match[0]), text)
    plain = plain[:1].upper() + plain[1:]
    if plain.endswith((".", "。", "?", "？", "!", "！", "…")):
        return plain
    return plain + ("。" if re.search(r"[\u3400-\u9fff]", plain) else ".")


def _twice(known: Sequence[Message]) -> list[Message]:
    careful = [
        replace(one, heard=replace(one.heard, sentences=tuple(map(with_care, one.heard.sentences)))) for one in known
    ]
    return [*known, *careful]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of features with their labels."""

    rows: NDArray[np.float32]
    units: list[Unit]
    voices: list[str]

    def column(self, name: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows have this label, and which it is true of."""
        values = [getattr(unit, name) for unit in self.units]
        return np.array([value is not None for value in values]), np.array([bool(value) for value in values])


def table(embedder: Embedder, known: Sequence[Message]) -> Table:
    """The features of all sentences."""
    rows = heads.features(embedder, [one.heard for one in known])
    found = [unit for one in known for unit in one.units]
    return Table(rows, found, [one.voice for one in known for _ in one.units])


class Fitted:
    """Weights of the heads. keep and standing share their rows; standing = orders and tastes, of which there are few labels."""

    def __init__(self, known: Table, doubled: Table, beside: Table) -> None:
        """known: the conversations. doubled: the same written otherwise. beside: all other messages."""
        self.known, self.doubled, self.beside = known, doubled, beside

    def keep(self, seen: NDArray[np.intp]) -> LogisticRegression:
        """Worth keeping, learned of these rows of the conversations."""
        known, kept = self.known.column("keep")
        seen = seen[known[seen]]
        weight = np.array([unit.weight for unit in self.known.units])[seen]
        rows = np.vstack([self.known.rows[seen], self.doubled.rows[seen], self.beside.rows])
        weights = np.r_[weight, weight / 2, [unit.weight for unit in self.beside.units]]
        return _regression().fit(rows, np.r_[kept[seen], kept[seen], self.beside.column("keep")[1]], weights)

    def standing(self, seen: NDArray[np.intp]) -> LogisticRegression:
        """An order or a taste."""
        known, _ = self.known.column("keep")
        seen = seen[known[seen]]
        of = np.array([unit.kind in _STANDING for unit in self.known.units])
        beside = np.array([bool(unit.kind) or not unit.keep for unit in self.beside.units])
        others = np.array([unit.kind in _STANDING for unit in self.beside.units])[beside]
        rows = np.vstack([self.known.rows[seen], self.doubled.rows[seen], self.beside.rows[beside]])
        return _regression().fit(rows, np.r_[of[seen], of[seen], others])

    def act(self, name: str, seen: NDArray[np.intp]) -> LogisticRegression:
        """What a sentence does beside stating."""
        known, does = self.known.column(name)
        seen = seen[known[seen]]
        others, also = self.beside.column(name)
        rows = np.vstack([self.known.rows[seen], self.doubled.rows[seen], self.beside.rows[others]])
        return _regression().fit(rows, np.r_[does[seen], does[seen], also[others]])

    def material(self, known: Table) -> LogisticRegression:
        """Whether it opens a message that is a text to work on."""
        return _regression().fit(known.rows, known.column("material")[1])

    def kinds(self) -> LogisticRegression:
        """Of which kind a sentence is that is kept."""
        rows = np.vstack([self.known.rows, self.doubled.rows, self.beside.rows])
        kinds = np.array([unit.kind for table in (self.known, self.doubled, self.beside) for unit in table.units])
        return _regression().fit(rows[kinds != ""], kinds[kinds != ""])

    def unseen(self, name: str) -> NDArray[np.float64]:
        """What each row of the conversations scores where nothing of its voice was seen."""
        scores = np.zeros(len(self.known.units))
        fit = getattr(self, name, lambda seen: self.act(name, seen))
        for seen, rest in GroupKFold(_FOLDS).split(self.known.rows, groups=self.known.voices):
            scores[rest] = fit(seen).decision_function(self.known.rows[rest])
        return scores


def _regression() -> LogisticRegression:
    return LogisticRegression(C=_PENALTY, max_iter=3_000, class_weight="balanced", fit_intercept=False)


def main() -> None:
    embedder = EmbeddedEmbedder()
    embedder.warm()
    spoken, careful = labelled("dev"), _plain("train")
    doubled = _twice(spoken)[len(spoken) :]
    beside = [*_twice(careful), *_others(), *_framed(spoken)]
    fitted = Fitted(*(table(embedder, part) for part in (spoken, doubled, beside)))
    every = np.arange(len(fitted.known.units))
    known, kept = fitted.known.column("keep")
    scores = fitted.unseen("keep")
    least, best = _best(kept[known], scores[known])
    weights = {"keep": _packed(fitted.keep(every), least), "standing": _packed(fitted.standing(every), _STANDS)}
    card: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "encoder": str(embedder.identity),
        "sentences": int(known.sum()),
        "worth keeping": int(kept.sum()),
        "others": len(fitted.beside.units),
        "keep, auc on unseen voices": round(float(roc_auc_score(kept[known], scores[known])), 3),
        "keep, f1 on unseen voices": round(best, 3),
    }
    is_known, does = fitted.known.column("corrects")
    corrects, share = _sure(does[is_known], fitted.unseen("corrects")[is_known])
    card["corrections, share found"] = round(share, 2)
    weights["corrects"] = _packed(fitted.act("corrects", every), corrects)
    weights["back"] = _packed(fitted.act("back", every), float(np.quantile(fitted.unseen("back"), _NOT_BACK)))
    weights["leans"] = _packed(fitted.act("leans", every), _LEANS)
    opened = table(embedder, _openings())
    weights["material"] = _packed(fitted.material(opened), _MATERIAL)
    print(len(opened.units), "openings, of material", int(opened.column("material")[1].sum()))
    kinds = fitted.kinds()
    np.savez_compressed(
        Path(heads.__file__).with_name("heads.npz"),
        kinds=kinds.coef_.T.astype(np.float16),
        kind_names=kinds.classes_.astype(str),
        **weights,
    )
    heads.forget()
    if "--report" in sys.argv:
        card |= _report(embedder)
    Path(heads.__file__).with_name("heads.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(card, indent=1))


def _packed(model: LogisticRegression, least: float) -> NDArray[np.float16]:
    """Weights, then the threshold."""
    return np.r_[model.coef_[0], least].astype(np.float16)


def _report(embedder: Embedder) -> dict[str, str]:
    """How the statements written with care fare that were put aside."""
    careful = _plain("heldout")
    found = [bool(one) and one[0].kept for one in heads.judged(embedder, [one.heard for one in careful])]
    meant = [bool(one.units[0].keep) for one in careful]
    kept = sum(f and m for f, m in zip(found, meant, strict=True))
    return {
        "plain statements put aside, kept": f"{kept} of {sum(meant)}",
        "plain others put aside, kept": f"{sum(found) - kept} of {len(meant) - sum(meant)}",
    }


def _best(kept: NDArray[np.bool_], scores: NDArray[np.float64]) -> tuple[float, float]:
    """The threshold with the best F of `_BETA`, and the F1 there."""
    precision, recall, least = precision_recall_curve(kept, scores)
    both = np.maximum(precision * recall, 1e-9)
    at = int(((1 + _BETA**2) * both / (_BETA**2 * precision + recall + 1e-9))[:-1].argmax())
    print(f"precision {precision[at]:.3f} recall {recall[at]:.3f}")
    return float(least[at]), float(2 * both[at] / (precision[at] + recall[at]))


def _sure(does: NDArray[np.bool_], scores: NDArray[np.float64]) -> tuple[float, float]:
    """The lowest threshold at the precision `_CORRECTS`, and the share that is found there."""
    precision, recall, least = precision_recall_curve(does, scores)
    fits = np.flatnonzero(precision[:-1] >= _CORRECTS)
    at = int(fits[recall[:-1][fits].argmax()])
    return float(least[at]), float(recall[at])


if __name__ == "__main__":
    main()
