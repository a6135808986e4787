"""Whether two records say one thing: made from the same turns, or in the same words, numbers and signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from openclaw_neuralstream.lexicon import content_terms, script_of, signs
from openclaw_neuralstream.model import Record
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.recall.source import Found

SEQUENCE = "sequence"
"""The kind of a record that is several turns in their order."""

TURN = "turn"
"""The source of a record that is one contribution to a turn, word for word."""

MADE = "made"
"""The source of a record that was made from turns or stands in a file."""

_ALIKE = 0.8  # share of common terms at which two texts say the same
_FEW = 3  # terms below which they do so only when all are common
_HELD = 0.9  # share of the shorter one's terms that the longer one holds
_AS_LONG = 0.5  # how long the shorter one must be beside the longer one
_LIKE_ITS_TURN = 0.4  # share of a gem's terms that come back in the turn it was made from
_TOLD = 0.8  # share of a sequence's terms that one record holds when the sequence adds nothing
_TELLING = 3  # content terms below which a question or an answer of a sequence is small talk, unless it has a number
LABEL = lazy(r"\b[QA]\d+(?: \([^)]*\))?:")  # what a sequence puts before what was said
_DIGITS = lazy(r"\d")
DAYS = lazy(r" ?\(\d{4}-\d\d(?:-\d\d)?(?: – \d{4}-\d\d(?:-\d\d)?)?\)")


@dataclass(frozen=True, slots=True)
class Saying:
    """What a record says, as far as terms can tell.

    text: what its terms are of. numbers: its terms with a digit. source: what kind of
    memory it is of, so that only different kinds are held against each other by their turns. who: of a verbatim turn,
    whose words it is; the same words of two people are two things.
    """

    text: str
    terms: frozenset[str]
    numbers: frozenset[str]
    script: str
    evidence: frozenset[str]
    source: str
    who: frozenset[str]


def telling(record: Record) -> list[str]:
    """What a record tells: its text; of a sequence each question and answer that is no small talk, without its label."""
    if record.kind != SEQUENCE:
        return [record.text]
    parts = [part.strip(" →\n") for part in LABEL.split(record.text)]
    return [part for part in parts if len(content_terms(part)) >= _TELLING or _DIGITS.search(part)]


def saying(record: Record, found: Found) -> Saying:
    """What this record says."""
    text = "\n".join(telling(record)) or record.text
    terms, numbers, script = _read(text)
    source = SEQUENCE if record.kind == SEQUENCE else TURN if found.verbatim else MADE
    who = found.who if source == TURN else frozenset[str]()
    return Saying(text, terms, numbers, script, found.evidence, source, who)


def same(one: Saying, other: Saying, asked: frozenset[str], *, shown: bool = False) -> bool:
    """Whether `other` adds nothing to `one`: nothing of what is asked, no number, no opposite.

    By their turns first (a gem and the turn it was made from, in whatever language), then by their terms. shown: the model sees `one`
    already, and nothing else of its turn comes with it: a turn that says more than such a gem is news.
    """
    if not other.terms.isdisjoint(asked - one.terms):
        return False
    if SEQUENCE in (one.source, other.source):  # it shows some answers and not others, so only words tell what it says
        return _holds(one.terms, other.terms) and _agree(one, other)
    if one.source != other.source and not one.evidence.isdisjoint(other.evidence):
        if shown and one.source == MADE and other.source == TURN and one.script == other.script:
            return _holds(one.terms, other.terms)
        return one.script != other.script or _overlap(one.terms, other.terms) >= _LIKE_ITS_TURN
    return _alike(one.terms, other.terms) and _agree(one, other)


def cut_out_of(gem: str, turn: str) -> bool:
    """Whether a gem is a stretch of the turn, letter by letter, beside the days that were put in brackets behind its own.

    What a person edited or a model wrote is none.
    """
    cut = _letters(DAYS.sub(" ", gem))
    return bool(cut) and cut in _letters(turn)


@lru_cache(maxsize=4_096)
def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def likenesses(texts: Sequence[frozenset[str]]) -> NDArray[np.float32]:
    """How much of what two texts say is common, in [0, 1], for each pair of them: the Jaccard index of their terms; 0 where one says nothing."""
    columns: dict[str, int] = {}
    cells = [(row, columns.setdefault(term, len(columns))) for row, terms in enumerate(texts) for term in terms]
    held = np.zeros((len(texts), len(columns)), np.float32)
    if cells:
        rows, at = zip(*cells, strict=True)
        held[rows, at] = 1
    common, sizes = held @ held.T, held.sum(axis=1)
    found: NDArray[np.float32] = common / np.maximum(sizes[:, None] + sizes - common, 1)
    return found


def _agree(one: Saying, other: Saying) -> bool:
    """Whether neither contradicts the other: 5433 is not 5544, "likes" not "does not like", Anna's words not Ben's."""
    numbers = one.numbers <= other.numbers or other.numbers <= one.numbers
    persons = not one.who or not other.who or bool(one.who & other.who)
    return numbers and persons and _signs(one.text) == _signs(other.text)


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    shorter, longer = sorted((len(left), len(right)))
    if shorter < _FEW or shorter < _AS_LONG * longer:
        return left == right
    common = len(left & right)
    if common >= _HELD * shorter:
        return True
    return shorter > _FEW and common >= _ALIKE * (shorter + longer - common)


def _holds(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _TOLD * len(other)


def _overlap(left: frozenset[str], right: frozenset[str]) -> float:
    least = min(len(left), len(right))
    return len(left & right) / least if least else 0.0


@lru_cache(maxsize=4_096)
def _read(text: str) -> tuple[frozenset[str], frozenset[str], str]:
    terms = frozenset(content_terms(text)) or frozenset({text})
    numbers = frozenset(term for term in terms if not term.isalpha() and _DIGITS.search(term))
    return terms, numbers, script_of(text)


@lru_cache(maxsize=4_096)
def _signs(text: str) -> tuple[bool, int]:
    """Whether a text denies, and whether it likes or hates: read of the few that agree in all else."""
    return signs(text)
