"""The words of passages, read: how many hold a term, which hold the asked ones best, and how often each stands where.

FTS5 finds the passages of a term; how often a term stands in one is counted in the passage's own row of term codes,
all passages at once, which takes a tenth of the time of FTS5's BM25 and of reading texts again.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from openclaw_neuralstream.ports import PassageCounts
from openclaw_neuralstream.postings import heaviest, in_rows

CODE = np.dtype("<u4")
"""A term in a passage's row: its CRC-32. Two words of a question and of a passage are confused once in millions."""

STRETCH_BITS = 20
"""A place is the number of its stretch of conversation, and in these bits its number there."""

_K1, _B = 1.2, 0.75
_WEIGHED = 2
"""How many times as many passages as are wanted are weighed: those with the rarest terms, all by BM25."""

_COMMON = 1_000  # a term of more passages than this is counted once and then remembered
_DRIFT = 1.02  # until the scope has grown by so much


def coded(terms: Iterable[str]) -> NDArray[np.uint32]:
    """Each term's code, in their order."""
    return np.fromiter((crc32(term.encode("utf-8", "surrogatepass")) for term in terms), CODE)


class Frequencies:
    """How many passages hold a term. Counting a common one takes its time, so those are remembered."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}  # token -> passages in all when it was counted, those that hold it

    def of(self, connection: sqlite3.Connection, scope: int, passages: int, terms: Iterable[str]) -> dict[str, int]:
        """How many passages of the scope, which has so many, hold each term; 0 for what none holds."""
        tokens = {term: f"{scope}/{term}" for term in terms}
        known = {token: self._known.get(token, (0, 0)) for token in tokens.values()}
        counted = {token: n for token, (then, n) in known.items() if n and then <= passages <= then * _DRIFT}
        for token, count in in_rows(connection, [token for token in known if token not in counted]).items():
            counted[token] = count
            if count > _COMMON:
                self._known[token] = (passages, count)
        return {term: counted[token] for term, token in tokens.items()}


def match(
    connection: sqlite3.Connection,
    frequency: Mapping[str, int],
    scope: int,
    project: str,
    *,
    limit: int,
    passages: int,
    mean: float,
) -> list[int]:
    """The places of the best passages by BM25 over these terms, best first; the newest first among equals.

    As FTS5 weighs them: a term that most passages hold says nothing. frequency: the terms, and how many of the scope's
    passages hold each. mean: how many terms one has.
    """
    idf = {term: max(1e-6, math.log((max(passages, n) - n + 0.5) / (n + 0.5))) for term, n in frequency.items()}
    candidates = heaviest(connection, {f"{scope}/{term}": weight for term, weight in idf.items()})
    weights = np.fromiter(idf.values(), float)
    places: list[NDArray[np.int64]] = []
    scores: list[NDArray[np.float64]] = []
    found, step = 0, _WEIGHED * limit
    for start in range(0, len(candidates), step):
        read = counts(connection, candidates[start : start + step].tolist(), list(idf), scope, project)
        norm = _K1 * (1 - _B + _B * read.lengths / mean)
        places.append(read.places)
        scores.append((read.counts * (_K1 + 1) / (read.counts + norm[:, None])) @ weights)
        found += len(read.places)
        if found >= limit:
            break
    if not found:
        return []
    there, score = np.concatenate(places), np.concatenate(scores)
    return [int(place) for place in there[np.lexsort((-there, -score))[:limit]]]


def counts(
    connection: sqlite3.Connection,
    places: Sequence[int],
    terms: Sequence[str],
    scope: int,
    project: str,
    *,
    beginning: int = 0,
) -> PassageCounts:
    """How often each of the terms stands in the passages at these places, by place."""
    rows = connection.execute(  # "+": by the places, not by walking all of the scope
        """
        SELECT place, id, row, terms FROM passages WHERE place IN (SELECT value FROM json_each(?)) AND +scope = ?
        AND (? = '' OR project IN ('', ?)) ORDER BY place
        """,
        (json.dumps(list(places)), scope, project, project),
    ).fetchall()
    there, ids, vectors, texts = zip(*rows, strict=True) if rows else ((), (), (), ())
    held = np.frombuffer(b"".join(texts), CODE)
    lengths = np.array([len(text) for text in texts], np.int64) // CODE.itemsize
    starts = np.cumsum(lengths) - lengths
    whole, begun = _counted(held, starts, coded(terms), beginning)
    at = np.array(there, np.int64)
    return PassageCounts(
        places=at,
        ids=ids,
        stretches=at >> STRETCH_BITS,
        rows=np.array(vectors, np.int64),
        lengths=lengths,
        counts=whole,
        begun=begun,
    )


def _counted(
    held: NDArray[np.uint32], starts: NDArray[np.int64], asked: NDArray[np.uint32], beginning: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Passages × asked terms: how often, and how often within the first so many terms of the passage."""
    passages, terms = len(starts), len(asked)
    if not held.size or not terms:
        nothing = np.zeros((passages, terms), np.int64)
        return nothing, nothing
    order = np.argsort(asked)
    at = np.minimum(np.searchsorted(asked[order], held), terms - 1)
    column = order[at]
    where = np.flatnonzero(asked[column] == held)
    owner = np.searchsorted(starts, where, side="right") - 1
    cells = owner * terms + column[where]
    early = where - starts[owner] < beginning
    shape, room = (passages, terms), passages * terms
    return np.bincount(cells, minlength=room).reshape(shape), np.bincount(cells[early], minlength=room).reshape(shape)
