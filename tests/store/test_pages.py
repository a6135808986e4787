"""Rows read from the pages themselves are the rows that SQLite reads."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_neuralstream.store.pages import leaf_rows

values = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=300),
    st.binary(max_size=300),
    st.integers(0, 20_000).map(lambda n: b"\xab" * n),
)
rows = st.dictionaries(st.integers(-(2**63), 2**63 - 1), st.tuples(values, values, values), max_size=30)


@settings(max_examples=25)
@given(rows)
def test_every_row_is_found_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, written: dict[int, tuple[object, ...]]
) -> None:
    path = tmp_path_factory.mktemp("pages") / "any.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA page_size = 4096")
    connection.execute("CREATE TABLE t(a, b, c)")
    connection.executemany("INSERT INTO t(rowid, a, b, c) VALUES (?, ?, ?, ?)", [(n, *row) for n, row in written.items()])
    connection.commit()
    connection.close()
    found = {number: tuple(row) for number, row in leaf_rows(path) if len(row) == 3}
    assert found == written


def test_bytes_at_random_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "noise"
    path.write_bytes(b"".join(b"\x0d" + os.urandom(4095) for _ in range(200)))
    for _, row in leaf_rows(path):
        assert isinstance(row, list)
