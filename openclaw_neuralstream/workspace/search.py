"""Search of notes by words and vectors."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from openclaw_neuralstream.model import Fact, Period, Wanted, slug_of
from openclaw_neuralstream.ports import NoteHit, Vector
from openclaw_neuralstream.store.database import holding, token_of
from openclaw_neuralstream.text.lexicon import affordable
from openclaw_neuralstream.workspace import markdown
from openclaw_neuralstream.workspace.markdown import from_json

POSTINGS = 8_000
"""How many postings one search looks at; the rarest terms come first, the first one always counts."""

POSTINGS_NARROWED = 60_000
"""The same where the answer is narrowed by day, entity or kind: most of what is found falls away."""

_K1, _B = 1.2, 0.5
_SPARE = 30  # candidates weighed beyond the asked number: the rare terms choose them, all terms order them

_HOLDS = "e.replaced IS NULL"
_OWN = "e.generated = 0"  # outside of our fences


def frequencies(connection: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
    """How many entries hold each term."""
    found = {}
    for term in dict.fromkeys(terms):
        row = connection.execute("SELECT doc FROM words_seen WHERE term = ?", (token_of(term),)).fetchone()
        found[term] = int(row[0]) if row else 0
    return found


def condition(connection: sqlite3.Connection, wanted: Wanted) -> tuple[str, list[object]]:
    """What is wanted as a WHERE clause over `entries e`."""
    parts: list[str] = []
    values: list[object] = []
    if wanted.period:
        first, last = _bounds(wanted.period)
        parts.append("e.first IS NOT NULL AND e.last >= ? AND e.first <= ?")
        values += [first, last]
    if wanted.kinds:
        parts.append(f"e.kind IN ({_marks(wanted.kinds)})")
        values += wanted.kinds
    if wanted.entities:
        slugs = sorted(aliases(connection, wanted.entities))
        parts.append(f"e.entry_id IN (SELECT entry_id FROM mentions WHERE slug IN ({_marks(slugs)}))")
        values += slugs
    if wanted.tags:
        names = list(wanted.tag_keys) or [markdown.canonical(tag) for tag in wanted.tags]
        carried = " UNION ".join(
            f"SELECT entry_id FROM {t} WHERE tag IN ({_marks(names)})" for t in ("tagged", "inferred")
        )
        parts.append(f"e.entry_id IN ({carried})")
        values += [*names, *names]
    if not wanted.generated:
        parts.append(_OWN)
    if wanted.as_of:
        first, last = _bounds(wanted.as_of)
        parts.append("(e.since IS NULL OR e.since <= ?) AND (e.ended IS NULL OR e.ended >= ?)")
        parts.append("(e.replaced IS NULL OR e.replaced > ?)")
        values += [last, first, last]
    elif not wanted.superseded:
        parts.append(_HOLDS)
    return " AND ".join(parts) or "1", values


def aliases(connection: sqlite3.Connection, names: Iterable[str]) -> set[str]:
    """The slugs of these names and of all that share a page with them."""
    slugs = {slug_of(name) for name in names}
    pages = connection.execute(
        f"SELECT DISTINCT page FROM names WHERE page != '' AND slug IN ({_marks(slugs)})", sorted(slugs)
    ).fetchall()
    shared = connection.execute(
        f"SELECT DISTINCT slug FROM names WHERE page != '' AND page IN ({_marks(pages)})", [page for (page,) in pages]
    ).fetchall()
    return slugs | {page for (page,) in pages} | {slug for (slug,) in shared}


def find_words(
    connection: sqlite3.Connection, terms: Sequence[str], counts: Mapping[str, int], wanted: Wanted, limit: int
) -> list[NoteHit]:
    """The best entries by BM25 over the terms, best first, ties by id. counts: how many entries hold each term."""
    known = {term: counts[term] for term in dict.fromkeys(terms) if counts.get(term)}
    if not known or limit < 1:
        return []
    where, values = condition(connection, wanted)
    weigh = _Weigher(connection, known)
    narrowed = where not in (_HOLDS, "1", _OWN, f"{_OWN} AND {_HOLDS}")
    chosen = affordable(known, POSTINGS_NARROWED if narrowed else POSTINGS)
    rows, totals = holding(connection, {token_of(term): weigh.idf[term] for term in sorted(chosen)})
    picked: list[tuple[int, str]] = []
    for bite in _bites(rows, np.round(totals, 9)):
        picked += _visible(connection, bite, where, values, limit + _SPARE - len(picked))
        if len(picked) >= limit + _SPARE:
            break
    held = dict(
        connection.execute(
            "SELECT w.rowid, w.tokens FROM json_each(?) j CROSS JOIN words w ON w.rowid = j.value",
            (as_json(entry_id for entry_id, _ in picked),),
        ).fetchall()
    )
    hits = [weigh.hit(name, held.get(entry_id, "")) for entry_id, name in picked]
    return sorted(hits, key=lambda hit: (-hit.bm25, hit.id))[:limit]


def _bites(rows: NDArray[np.int64], totals: NDArray[np.float64]) -> Iterable[dict[int, float]]:
    """The rows with their weights, the heaviest first, in growing bites; rows of equal weight are never parted."""
    order = np.argsort(-totals, kind="stable")
    rows, totals = rows[order], totals[order]
    start, size = 0, 256
    while start < len(rows):
        end = min(start + size, len(rows))
        end = int(np.searchsorted(-totals, -totals[end - 1], side="right"))
        yield dict(zip(rows[start:end].tolist(), totals[start:end].tolist(), strict=True))
        start, size = end, size * 4


def _visible(
    connection: sqlite3.Connection, bite: Mapping[int, float], where: str, values: Sequence[object], room: int
) -> list[tuple[int, str]]:
    """Id and name of the `room` best of these rows that are wanted: by weight, then the newest, then by their ids."""
    found = connection.execute(
        "SELECT e.entry_id, e.name, e.first, e.sorting FROM json_each(?) j CROSS JOIN entries e ON e.entry_id = j.value"
        f" WHERE {where}",
        (as_json(bite), *values),
    ).fetchall()
    found.sort(key=lambda row: (-bite[row[0]], -(row[2] or 0), row[3], row[1]))
    return [(entry_id, name) for entry_id, name, *_ in found[:room]]


class _Weigher:
    """BM25 (Robertson and Zaragoza 2009; idf kept positive by 1 +), exact over all asked terms."""

    def __init__(self, connection: sqlite3.Connection, frequency: Mapping[str, int]) -> None:
        entries, words = connection.execute("SELECT entries, words FROM totals").fetchone()
        self._mean = max(1.0, words / max(1, entries))
        self.idf = {term: math.log(1 + (max(entries, n) - n + 0.5) / (n + 0.5)) for term, n in frequency.items()}
        self._terms = {token_of(term): term for term in frequency}

    def hit(self, name: str, tokens: str) -> NoteHit:
        counts = Counter(tokens.split())
        norm = _K1 * (1 - _B + _B * counts.total() / self._mean)
        matched = sorted(self._terms.keys() & counts.keys())
        score = sum(self.idf[self._terms[t]] * counts[t] * (_K1 + 1) / (counts[t] + norm) for t in matched)
        return NoteHit(name, score, tuple(sorted(self._terms[token] for token in matched)))


def _bounds(period: Period) -> tuple[int, int]:
    return (period.start or date.min).toordinal(), (period.end or date.max).toordinal()


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)


def as_json(values: Iterable[object]) -> str:
    """Values as a JSON array, for `json_each`."""
    return json.dumps(list(values))


MOST_FLAT = 20_000
"""Vectors that are all compared with a question."""

_CHARS = 1_000  # of a text that are embedded
_EMPTY = np.empty((0, 0), np.float32)


def count(connection: sqlite3.Connection, embedder: str) -> int:
    """How many vectors of this embedder there are; counted no further than a scan would go."""
    row = connection.execute(
        "SELECT COUNT(*) FROM (SELECT 1 FROM vectors WHERE embedder = ? LIMIT ?)", (embedder, MOST_FLAT + 1)
    ).fetchone()
    return int(row[0])


def missing(connection: sqlite3.Connection, embedder: str, limit: int) -> dict[str, str]:
    """What has no vector of this embedder: id and the text to embed, the newest first."""
    rows = connection.execute(
        "SELECT e.name, b.body FROM entries e JOIN bodies b USING (entry_id)"
        " WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.entry_id = e.entry_id AND v.embedder = ?)"
        " ORDER BY e.first DESC, e.sorting LIMIT ?",
        (embedder, limit),
    ).fetchall()
    return {name: _text(body) for name, body in rows}


def _text(body: str) -> str:
    entry = from_json(body)
    head = " ".join(entry.entities) if isinstance(entry, Fact) else entry.title
    return f"{head}: {entry.text}"[:_CHARS]


def put(connection: sqlite3.Connection, embedder: str, found: Mapping[str, Vector]) -> None:
    """Keep these vectors."""
    connection.executemany(
        "INSERT OR REPLACE INTO vectors SELECT entry_id, ?, ? FROM entries WHERE name = ?",
        [(embedder, np.asarray(vector, np.float16).tobytes(), name) for name, vector in found.items()],
    )
    connection.execute("UPDATE totals SET changes = changes + 1")


class Flat:
    """All vectors of an index in memory, read again when the index changes."""

    def __init__(self) -> None:
        self._state: tuple[object, str] = (None, "")
        self._names: list[str] = []
        self._matrix: NDArray[np.float32] = _EMPTY

    def near(
        self,
        connection: sqlite3.Connection,
        vector: Vector,
        *,
        state: object,
        embedder: str,
        wanted: Wanted,
        among: Sequence[str],
        limit: int,
    ) -> dict[str, float]:
        """Cosines of `among`, and of the nearest of all that are wanted."""
        rows = connection.execute(
            "SELECT e.name, v.vector FROM json_each(?) j CROSS JOIN entries e ON e.name = j.value"
            " CROSS JOIN vectors v ON v.entry_id = e.entry_id WHERE v.embedder = ?",
            (as_json(among), embedder),
        ).fetchall()
        found = {name: float(np.frombuffer(blob, np.float16).astype(np.float32) @ vector) for name, blob in rows}
        if count(connection, embedder) <= MOST_FLAT:
            self._load(connection, state, embedder)
            found |= self._nearest(connection, vector, wanted, limit)
        return found

    def _nearest(
        self,
        connection: sqlite3.Connection,
        vector: Vector,
        wanted: Wanted,
        limit: int,
    ) -> dict[str, float]:
        if not self._names:
            return {}
        scores = self._matrix @ vector
        order = np.lexsort((np.arange(len(scores)), -scores))
        chosen: list[int] = []
        start, size = 0, 4 * limit
        while start < len(order) and len(chosen) < limit:  # what is narrowed to a few days may lie far down
            chosen += self._admitted(connection, wanted, [int(i) for i in order[start : start + size]])
            start, size = start + size, 8 * size
        return {self._names[i]: float(scores[i]) for i in chosen[:limit]}

    def _admitted(self, connection: sqlite3.Connection, wanted: Wanted, rows: Sequence[int]) -> list[int]:
        """Those of these rows that are wanted, in their order."""
        where, values = condition(connection, wanted)
        names = as_json([self._names[i] for i in rows])
        found = connection.execute(
            f"SELECT e.name FROM json_each(?) j CROSS JOIN entries e ON e.name = j.value WHERE {where}",
            (names, *values),
        ).fetchall()
        admitted = {name for (name,) in found}
        return [i for i in rows if self._names[i] in admitted]

    def _load(self, connection: sqlite3.Connection, state: object, embedder: str) -> None:
        if self._state == (state, embedder):
            return
        rows = connection.execute(
            "SELECT e.name, v.vector FROM vectors v JOIN entries e USING (entry_id) WHERE v.embedder = ? ORDER BY e.name",
            (embedder,),
        ).fetchall()
        self._names = [name for name, _ in rows]
        joined = b"".join(blob for _, blob in rows)
        self._matrix = np.frombuffer(joined, np.float16).astype(np.float32).reshape(len(rows), -1) if rows else _EMPTY
        self._state = (state, embedder)


def pending(connection: sqlite3.Connection, version: str, limit: int) -> dict[str, str]:
    """Ids and texts of some without a tag for which this version of what is known has not been asked, the newest first."""
    rows = connection.execute(
        "SELECT e.name, b.body FROM entries e JOIN bodies b USING (entry_id)"
        " WHERE NOT EXISTS (SELECT 1 FROM tagged t WHERE t.entry_id = e.entry_id)"
        " AND NOT EXISTS (SELECT 1 FROM looked l WHERE l.entry_id = e.entry_id AND l.version = ?)"
        " ORDER BY e.entry_id DESC LIMIT ?",
        (version, limit),
    ).fetchall()
    return {name: from_json(body).text for name, body in rows}


def put_inferred(connection: sqlite3.Connection, version: str, found: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Keep the tags that were inferred, (key, name) by id, in the place of earlier ones; ids that are gone are passed over."""
    for name, marks in found.items():
        row = connection.execute("SELECT entry_id FROM entries WHERE name = ?", (name,)).fetchone()
        if row is None:
            continue
        connection.execute("DELETE FROM inferred WHERE entry_id = ?", row)
        connection.execute("INSERT OR REPLACE INTO looked(entry_id, version) VALUES (?, ?)", (row[0], version))
        connection.executemany(
            "INSERT OR IGNORE INTO inferred(tag, entry_id, spelling) VALUES (?, ?, ?)",
            [(key, row[0], spelling) for key, spelling in marks],
        )


def of(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The inferred tags of these, as they are written; those without any are left out."""
    rows = connection.execute(
        "SELECT e.name, i.spelling FROM json_each(?) j CROSS JOIN entries e ON e.name = j.value"
        " CROSS JOIN inferred i ON i.entry_id = e.entry_id ORDER BY i.spelling",
        (as_json(ids),),
    ).fetchall()
    found: dict[str, tuple[str, ...]] = {}
    for name, spelling in rows:
        found[name] = (*found.get(name, ()), spelling)
    return found


def counts(connection: sqlite3.Connection) -> dict[str, tuple[str, int]]:
    """Each inferred tag's key, how it is written, and for how many notes and facts it was inferred."""
    rows = connection.execute("SELECT tag, MIN(spelling), COUNT(*) FROM inferred GROUP BY tag").fetchall()
    return {tag: (spelling, count) for tag, spelling, count in rows}
