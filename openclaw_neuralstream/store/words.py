"""The words of gems: FTS5 whose terms carry the scope's number, so that a search never touches another's postings."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from openclaw_neuralstream.lexicon import terms as terms_of
from openclaw_neuralstream.model import Gem, Scope
from openclaw_neuralstream.store.codec import storable

POSTINGS = 8_000
"""How many postings one search may look at; the rarest terms come first, the first one always counts."""

_K1, _B = 1.2, 0.5
_CANDIDATES = 3  # per asked result: FTS5 ranks by the rare terms, then all terms are counted exactly


@dataclass(frozen=True, slots=True)
class WordHit:
    """A gem found by its words. bm25: higher is better. matched: the asked terms it holds."""

    gem_id: str
    bm25: float
    matched: tuple[str, ...]


def insert(connection: sqlite3.Connection, row: int, gem: Gem) -> None:
    """Index the words of a gem: content, summary, topics and entities."""
    scope = connection.execute("SELECT scope_id FROM gems WHERE seq = ?", (row,)).fetchone()[0]
    found = [_clean(term) for term in terms_of("\n".join((gem.content, gem.summary, *gem.topics, *gem.entities)))]
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


def frequencies(connection: sqlite3.Connection, scopes: Iterable[int], terms: Iterable[str]) -> dict[str, int]:
    """How many gems of these scopes hold each term; terms that none holds are there with 0."""
    numbers = list(scopes)
    return {term: sum(_frequency(connection, number, _clean(term)) for number in numbers) for term in set(terms)}


def search(
    connection: sqlite3.Connection, terms: Sequence[str], scope: Scope, scope_id: int, limit: int, *, superseded: bool
) -> list[WordHit]:
    """The best gems of the scope by BM25 over the asked terms, best first; [] when no term is known there."""
    known = {term: n for term, n in frequencies(connection, [scope_id], terms).items() if n}
    rare = affordable(known, POSTINGS)
    if not rare:
        return []
    project = storable(scope.project)
    rows = connection.execute(
        """
        SELECT g.gem_id, w.tokens FROM words w JOIN gems g ON g.seq = w.rowid
        WHERE words MATCH ? AND (? OR g.superseded = 0) AND (? = '' OR g.project IN ('', ?))
        ORDER BY bm25(words) LIMIT ?
        """,
        (_match(scope_id, rare), superseded, project, project, limit * _CANDIDATES),
    ).fetchall()
    weigh = _Weigher(connection, scope_id, known)
    hits = [weigh.hit(gem_id, tokens) for gem_id, tokens in rows]
    return sorted(hits, key=lambda hit: (-hit.bm25, hit.gem_id))[:limit]


def affordable(frequency: dict[str, int], budget: int) -> list[str]:
    """The rarest terms whose postings together stay in the budget; at least the rarest one."""
    chosen: list[str] = []
    spent = 0
    for term, count in sorted(frequency.items(), key=lambda item: (item[1], item[0])):
        if chosen and spent + count > budget:
            break
        chosen.append(term)
        spent += count
    return chosen


class _Weigher:
    """BM25 of one scope (Robertson and Zaragoza 2009; idf kept positive by 1 +), exact over all asked terms."""

    def __init__(self, connection: sqlite3.Connection, scope_id: int, frequency: dict[str, int]) -> None:
        gems, words = connection.execute("SELECT gems, words FROM scopes WHERE scope_id = ?", (scope_id,)).fetchone()
        self._prefix = f"{scope_id}/"
        self._mean = max(1.0, words / max(1, gems))
        self._idf = {
            _clean(term): (term, math.log(1 + (max(gems, n) - n + 0.5) / (n + 0.5))) for term, n in frequency.items()
        }

    def hit(self, gem_id: str, tokens: str) -> WordHit:
        held = [token.removeprefix(self._prefix) for token in tokens.split()]
        norm = _K1 * (1 - _B + _B * len(held) / self._mean)
        score, matched = 0.0, []
        for clean, (term, idf) in self._idf.items():
            count = held.count(clean)
            if count:
                matched.append(term)
                score += idf * count * (_K1 + 1) / (count + norm)
        return WordHit(gem_id, score, tuple(matched))


def _frequency(connection: sqlite3.Connection, scope_id: int, clean: str) -> int:
    row = connection.execute("SELECT doc FROM words_seen WHERE term = ?", (f"{scope_id}/{clean}",)).fetchone()
    return int(row[0]) if row else 0


def _match(scope_id: int, terms: Iterable[str]) -> str:
    quoted = (f"{scope_id}/{_clean(term)}".replace('"', '""') for term in terms)
    return " OR ".join(f'"{term}"' for term in quoted)


def _clean(term: str) -> str:
    """A term as one token of the index: no blanks, no controls, nothing that UTF-8 refuses."""
    return "".join(c for c in storable(term).lower() if c > " " and c not in "'\"\x7f" and not c.isspace())


def _count(connection: sqlite3.Connection, scope: int, gems: int, words: int) -> None:
    connection.execute("UPDATE scopes SET gems = gems + ?, words = words + ? WHERE scope_id = ?", (gems, words, scope))
