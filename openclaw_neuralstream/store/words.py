"""The words of gems: FTS5 whose terms carry the scope's number, so that a search never touches another's postings."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from openclaw_neuralstream import postings
from openclaw_neuralstream.database import storable
from openclaw_neuralstream.lexicon import affordable, bases
from openclaw_neuralstream.lexicon import terms as terms_of
from openclaw_neuralstream.model import Gem, Scope
from openclaw_neuralstream.postings import heaviest, in_rows, renamed, token_of

POSTINGS = 8_000
"""How many postings one search may look at; the rarest terms come first, the first one always counts."""

_K1, _B = 1.2, 0.5
_SPARE = 30  # candidates weighed beyond the asked number: the rare terms choose them, all terms order them
_COMMON = 1_000  # a term of more postings than this is counted once and then remembered
_DRIFT = 1.02  # until the scope has grown by so much


@dataclass(frozen=True, slots=True)
class WordHit:
    """A gem found by its words. bm25: higher is better. matched: the asked terms it holds."""

    gem_id: str
    bm25: float
    matched: tuple[str, ...]


def insert(connection: sqlite3.Connection, row: int, gem: Gem) -> None:
    """Index the words of a gem: content, summary, topics and entities."""
    scope = connection.execute("SELECT scope_id FROM gems WHERE seq = ?", (row,)).fetchone()[0]
    found = [token_of(term) for term in terms_of("\n".join((gem.content, gem.summary, *gem.topics, *gem.entities)))]
    tokens = " ".join(f"{scope}/{term}" for term in found if term)
    connection.execute("INSERT INTO words(rowid, tokens) VALUES (?, ?)", (row, tokens))
    _count(connection, scope, 1, len(found))


def delete(connection: sqlite3.Connection, row: int) -> None:
    """Take a gem's words out of the index."""
    known = connection.execute("SELECT tokens FROM words WHERE rowid = ?", (row,)).fetchone()
    scope = connection.execute("SELECT scope_id FROM gems WHERE seq = ?", (row,)).fetchone()
    connection.execute("DELETE FROM words WHERE rowid = ?", (row,))
    if known and scope:
        _count(connection, scope[0], -1, -len(known[0].split()))


def beginning(connection: sqlite3.Connection, scope_id: int, starts: Sequence[str]) -> list[str]:
    """The terms of the scope that begin so."""
    tokens = postings.beginning(connection, [_token(scope_id, start) for start in starts])
    return [token.partition("/")[2] for token in tokens]


def lead_back(connection: sqlite3.Connection) -> None:
    """Irregular forms that an older version indexed as they were written become those of their words."""
    renamed(connection, bases())


class Counts:
    """How many gems hold a term. Counting a common term costs milliseconds, so those are remembered."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}  # token -> gems in all when it was counted, gems that hold it

    def of(self, connection: sqlite3.Connection, scope_id: int, terms: Iterable[str]) -> dict[str, int]:
        """How many gems of the scope hold each term; terms that none holds are there with 0."""
        row = connection.execute("SELECT gems FROM scopes WHERE scope_id = ?", (scope_id,)).fetchone()
        gems = int(row[0]) if row else 0
        tokens = {term: _token(scope_id, term) for term in terms}
        counted = self._remembered(tokens.values(), gems)
        for token, count in in_rows(connection, [token for token in tokens.values() if token not in counted]).items():
            counted[token] = count
            if count > _COMMON:
                self._known[token] = (gems, count)
        return {term: counted[token] for term, token in tokens.items()}

    def _remembered(self, tokens: Iterable[str], gems: int) -> dict[str, int]:
        known = {token: self._known.get(token, (0, 0)) for token in tokens}
        return {token: count for token, (then, count) in known.items() if then <= gems <= then * _DRIFT and count}


def search(
    connection: sqlite3.Connection,
    counts: Counts,
    terms: Sequence[str],
    scope: Scope,
    scope_id: int,
    *,
    limit: int,
    superseded: bool,
    weights: Mapping[str, float] | None = None,
) -> list[WordHit]:
    """The best gems of the scope by BM25 over the asked terms, best first; [] when no term is known there.

    weights: how much each term counts, 1 where it is not named.
    """
    known = {term: n for term, n in counts.of(connection, scope_id, terms).items() if n}
    weigh = _Weigher(connection, scope_id, known, weights or {})
    chosen = {_token(scope_id, term): weigh.idf[term] for term in affordable(known, POSTINGS)}
    candidates = heaviest(connection, chosen)
    hits: list[WordHit] = []
    step = limit + _SPARE
    for start in range(0, len(candidates), step):
        rows = _visible(connection, candidates[start : start + step].tolist(), scope, superseded=superseded)
        hits += [weigh.hit(gem_id, tokens) for gem_id, tokens in rows]
        if len(hits) >= limit:
            break
    return sorted(hits, key=lambda hit: (-hit.bm25, hit.gem_id))[:limit]


def _visible(
    connection: sqlite3.Connection, rows: Sequence[int], scope: Scope, *, superseded: bool
) -> list[tuple[str, str]]:
    """Id and tokens of those of the rows that the scope's project may see."""
    project = storable(scope.project)
    return connection.execute(
        """
        SELECT g.gem_id, w.tokens FROM json_each(?) AS j CROSS JOIN gems g ON g.seq = j.value
        CROSS JOIN words w ON w.rowid = g.seq
        WHERE (? OR g.superseded = 0) AND (? = '' OR g.project IN ('', ?))
        """,
        (json.dumps(list(rows)), superseded, project, project),
    ).fetchall()


class _Weigher:
    """BM25 of one scope (Robertson and Zaragoza 2009; idf kept positive by 1 +), exact over all asked terms."""

    def __init__(
        self, connection: sqlite3.Connection, scope_id: int, frequency: dict[str, int], weights: Mapping[str, float]
    ) -> None:
        gems, words = connection.execute("SELECT gems, words FROM scopes WHERE scope_id = ?", (scope_id,)).fetchone()
        self._mean = max(1.0, words / max(1, gems))
        self.idf = {
            term: weights.get(term, 1.0) * math.log(1 + (max(gems, n) - n + 0.5) / (n + 0.5))
            for term, n in frequency.items()
        }
        self._terms = {_token(scope_id, term): term for term in frequency}

    def hit(self, gem_id: str, tokens: str) -> WordHit:
        held = tokens.split()
        norm = _K1 * (1 - _B + _B * len(held) / self._mean)
        matched = {self._terms[token]: held.count(token) for token in self._terms.keys() & set(held)}
        score = sum(self.idf[term] * count * (_K1 + 1) / (count + norm) for term, count in matched.items())
        return WordHit(gem_id, score, tuple(sorted(matched)))


def _token(scope_id: int, term: str) -> str:
    return f"{scope_id}/{token_of(term)}"


def _count(connection: sqlite3.Connection, scope: int, gems: int, words: int) -> None:
    connection.execute("UPDATE scopes SET gems = gems + ?, words = words + ? WHERE scope_id = ?", (gems, words, scope))
