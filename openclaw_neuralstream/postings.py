"""Which rows of a full-text table hold some terms: FTS5's postings as numbers, weighed before any row is read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from openclaw_neuralstream.database import storable

_MOST = 3_000
"""Tokens of one beginning that are read; each costs about a microsecond."""


@lru_cache(maxsize=65_536)
def token_of(term: str) -> str:
    """A term as one token of the table: no blanks, no controls, nothing that UTF-8 refuses."""
    if term.isascii() and term.isalnum():
        return term.lower()
    return "".join(c for c in storable(term).lower() if c > " " and c not in "'\"\x7f" and not c.isspace())


def in_rows(connection: sqlite3.Connection, tokens: Sequence[str]) -> dict[str, int]:
    """How many rows of the table hold each token, in one statement; 0 for what none holds."""
    rows = connection.execute(
        "SELECT j.value, v.doc FROM json_each(?) j CROSS JOIN words_seen v ON v.term = j.value", (json.dumps(tokens),)
    ).fetchall()
    return {**dict.fromkeys(tokens, 0), **{token: int(count) for token, count in rows}}


def beginning(connection: sqlite3.Connection, starts: Sequence[str]) -> list[str]:
    """The tokens of the table that begin so, at most `_MOST` for each beginning."""
    found: list[str] = []
    for start in starts:
        rows = connection.execute(
            "SELECT term FROM words_seen WHERE term >= ? AND term < ? LIMIT ?", (start, f"{start}\U0010ffff", _MOST)
        ).fetchall()
        found += (term for (term,) in rows)
    return found


def renamed(connection: sqlite3.Connection, names: Mapping[str, str]) -> NDArray[np.int64]:
    """Call terms otherwise in all rows that hold them, whatever their scope ("1/met" → "1/meet"); returns these rows."""
    said = [token for (token,) in connection.execute("SELECT term FROM words_seen").fetchall()]
    others = {
        token: scope + mark + names[term]
        for token in said
        for scope, mark, term in [token.partition("/")]  # what stands behind it may hold one itself: "src/met"
        if term in names
    }
    rows, _ = holding(connection, dict.fromkeys(others, 1.0))
    for row in rows.tolist():
        tokens = connection.execute("SELECT tokens FROM words WHERE rowid = ?", (row,)).fetchone()[0]
        new = " ".join(others.get(token, token) for token in tokens.split())
        connection.execute("UPDATE words SET tokens = ? WHERE rowid = ?", (new, row))
    return rows


def holding(
    connection: sqlite3.Connection, weights: Mapping[str, float]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Rows of the table `words` that hold one of these tokens, ascending, and the weight of the tokens that each holds."""
    rows, held = [np.empty(0, np.int64)], [np.empty(0)]
    for token, weight in weights.items():
        quoted = token.replace('"', '""')
        # one text of all numbers: three times as fast as a Python object for each row
        joined = connection.execute(
            "SELECT group_concat(rowid) FROM words WHERE words MATCH ?", (f'"{quoted}"',)
        ).fetchone()[0]
        found = np.fromstring(joined or "", np.int64, sep=",")
        rows.append(found)
        held.append(np.full(len(found), weight))
    unique, places = np.unique(np.concatenate(rows), return_inverse=True)
    total: NDArray[np.float64] = np.bincount(places, np.concatenate(held), len(unique)).astype(np.float64)
    return unique, total


def heaviest(connection: sqlite3.Connection, weights: Mapping[str, float]) -> NDArray[np.int64]:
    """Those rows, the ones with the most weight first, the newest first among equals."""
    rows, totals = holding(connection, weights)
    newest_first = rows[::-1]
    return newest_first[np.argsort(-totals[::-1], kind="stable")]
