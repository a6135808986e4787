"""A damaged memory file: what still reads goes into a fresh one, the damaged one is moved aside, nothing is deleted."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import structlog

from openclaw_neuralstream.errors import StateDamaged
from openclaw_neuralstream.store import gems, labels
from openclaw_neuralstream.store.database import Database
from openclaw_neuralstream.store.mending import mend
from openclaw_neuralstream.store.pages import Value, leaf_rows
from openclaw_neuralstream.store.schema import migrate

log = structlog.get_logger(__name__)

_SIDE_FILES = ("-wal", "-shm")
_EVENTS_LEAP = 1_000_000
"""How far the numbers of events leap: no index may take a new event for one that it has applied."""

_PAGE = 4_096
_NUMBERS = frozenset({"seq", "rowid", "scope_id", "embedder_id"})
_LAST_NUMBER = 2**62

# Every table whose rows are copied as they are, with the key to walk it by. Words and totals are made anew.
_TABLES = {
    "meta": "key",
    "counters": "name",
    "sessions": "agent, key",
    "turns": "seq",
    "bodies": "seq",
    "batches": "batch_id",
    "scopes": "scope_id",
    "embedders": "embedder_id",
    "gems": "seq",
    "vectors": "rowid",
    "evidence": "gem, turn_id",
    "tombstones": "digest",
    "quarantine": "seq",
    "statements": "seq",
    "links": "older, newer, batch_id",
    "hands": "gem_id",
    "drops": "batch_id, place",
    "made": "batch_id",
    "refusals": "rowid",
    "tags": "key",
    "tag_parents": "child, parent",
    "tag_changes": "seq",
}

# How to know a row of these tables on a page of which nobody knows whose it is: by the number and kinds of its columns.
_LEAVES: dict[str, Callable[[Sequence[Value]], bool]] = {
    "gems": lambda row: len(row) == 8 and str(row[7]).startswith('{"gem_id"'),
    "bodies": lambda row: len(row) == 2 and isinstance(row[1], bytes) and row[1].startswith(b'{"turn_id"'),
    "turns": lambda row: (
        len(row) == 9 and row[0] is None and isinstance(row[1], str) and isinstance(row[6], int | float)
    ),
    "vectors": lambda row: len(row) == 3 and isinstance(row[0], int) and isinstance(row[2], bytes) and len(row[2]) > 0,
}
_NUMBERED = {"gems": True, "bodies": True, "turns": True, "vectors": False}
"""Whether the first column is the row's own number, which a page keeps apart."""


def salvage(path: Path, now: datetime) -> str:
    """Put a fresh file with all that still reads in the place of the damaged one; returns what happened, in words.

    The fresh file is complete before the damaged one is touched; interrupted, `finish` takes it from there.
    Raises StateDamaged when even that fails, with the damaged file where it was.
    """
    half, whole = _half(path), _whole(path)
    aside = path.with_name(f"{path.name}.damaged-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}")
    try:
        _remove(half)
        kept = _copied(path, half)
        report = f"the memory file was damaged; {kept}; the damaged one is kept as {aside.name}"
        fresh = Database(half)
        with fresh.write() as connection:
            labels.put(connection, "damaged", report)
            labels.put(connection, "damaged.aside", aside.name)
        fresh.checkpoint()
        fresh.close()
        half.rename(whole)
        finish(path)
    except (OSError, sqlite3.Error) as error:
        raise StateDamaged(
            f"the memory file is damaged and could not be mended: {error}",
            where=str(path),
            fix="free some space, or move the file away to begin anew",
        ) from error
    log.error("memory.salvaged", kept=kept, aside=aside.name)
    return report


def finish(path: Path) -> None:
    """Give a complete salvaged file its place; does nothing when there is none."""
    whole = _whole(path)
    if not whole.exists():
        return
    with closing(sqlite3.connect(whole)) as connection:
        name = labels.get(connection, "damaged.aside")
    for end in ("", *_SIDE_FILES):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(path.with_name(name + end))
    whole.rename(path)


def _half(path: Path) -> Path:
    return path.with_name(f"{path.name}.salvaging")


def _whole(path: Path) -> Path:
    return path.with_name(f"{path.name}.salvaged")


def _copied(path: Path, target: Path) -> str:
    """Copy all that reads; returns how much that was, in words."""
    database = Database(target)
    with database.exclusive() as connection:
        migrate(connection, target)
    counts: dict[str, int] = {}
    with _readable(path) as (source, copy), database.write() as connection:
        incomplete: list[str] = []
        for table, key in _TABLES.items():
            counts[table] = _copy_table(source, connection, table, key, incomplete)
        for table, added in _copy_leaves(copy, connection, incomplete).items():
            counts[table] += added
        mend(connection)
        leap = _last_event(source) + _EVENTS_LEAP
        connection.execute("INSERT INTO sqlite_sequence(name, seq) VALUES ('events', ?)", (leap,))
        for (gem_id,) in connection.execute("SELECT gem_id FROM gems ORDER BY seq").fetchall():
            gems.note(connection, gem_id, "stored", datetime.now(UTC))
    database.close()
    return f"{counts['gems']} gems and {counts['turns']} turns could be read and were kept"


@contextmanager
def _readable(path: Path) -> Iterator[tuple[sqlite3.Connection, Path]]:
    """A copy of the damaged file, opened: reading must change nothing of the original, not even its log.

    A file whose first page is lost gets that of an empty memory file: our tables are made in one order, so that they
    begin on the same pages in every file of one version.
    """
    copy = path.with_name(f"{path.name}.salvaging-copy")
    _copy_files(path, copy)
    source = sqlite3.connect(copy)
    try:
        if not _has_tables(source):
            source.close()
            _copy_files(path, copy)
            _set_head(copy)
            source = sqlite3.connect(copy)
        with suppress(sqlite3.Error):
            source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield source, copy
    finally:
        source.close()
        _remove(copy)


def _copy_files(path: Path, copy: Path) -> None:
    _remove(copy)
    for end in ("", "-wal"):
        with suppress(FileNotFoundError):
            shutil.copyfile(path.with_name(path.name + end), copy.with_name(copy.name + end))
    copy.chmod(0o600)


def _remove(path: Path) -> None:
    for end in ("", *_SIDE_FILES):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _has_tables(source: sqlite3.Connection) -> bool:
    with suppress(sqlite3.Error):
        found = source.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('gems', 'turns')").fetchone()
        return bool(found[0] == 2)
    return False


def _set_head(path: Path) -> None:
    model = path.with_name(f"{path.name}-model")
    _remove(model)
    empty = Database(model)
    with empty.exclusive() as connection:
        migrate(connection, model)
    empty.checkpoint()
    empty.close()
    head = model.read_bytes()[:_PAGE]
    pages = path.stat().st_size // _PAGE
    with path.open("r+b") as file:
        file.write(head[:28] + pages.to_bytes(4, "big") + head[32:])
    _remove(model)


def _copy_table(
    source: sqlite3.Connection, target: sqlite3.Connection, table: str, key: str, incomplete: list[str]
) -> int:
    names = ", ".join(f'"{column}"' for column in _columns_of(target, table))
    return sum(_insert(target, table, row) for row in _rows(source, table, names, key, incomplete))


def _copy_leaves(copy: Path, target: sqlite3.Connection, tables: Sequence[str]) -> dict[str, int]:
    """Rows of the tables that did not read to their end, found on the leaf pages; returns how many were new."""
    copied = {table: 0 for table in tables if table in _LEAVES}
    if copied:
        for number, values in leaf_rows(copy):
            for table in copied:
                if _LEAVES[table](values):
                    row = [number, *values[1:]] if _NUMBERED[table] else values
                    copied[table] += _insert(target, table, row)
    return copied


def _insert(target: sqlite3.Connection, table: str, row: Sequence[object]) -> int:
    marks = ", ".join("?" * len(row))
    with suppress(sqlite3.Error):  # a row that breaks a rule of the table is one that does not read
        return target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", tuple(row)).rowcount  # noqa: S608
    return 0


def _columns_of(target: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in target.execute(f"PRAGMA table_info({table})").fetchall()]


def _rows(
    source: sqlite3.Connection, table: str, names: str, key: str, incomplete: list[str]
) -> Iterator[tuple[object, ...]]:
    """The rows from the first on, past what does not read; then, after an error, from the last one backwards.

    Some rows come twice then, and the table is noted as incomplete.
    """
    try:
        yield from source.execute(f"SELECT {names} FROM {table} ORDER BY {key}")  # noqa: S608 - our own words
    except sqlite3.Error:
        incomplete.append(table)
        if key in _NUMBERS:
            yield from _past_holes(source, table, names, key)
        backwards = ", ".join(f"{column} DESC" for column in key.split(", "))
        with suppress(sqlite3.Error):
            yield from source.execute(f"SELECT {names} FROM {table} ORDER BY {backwards}")  # noqa: S608


def _past_holes(source: sqlite3.Connection, table: str, names: str, key: str) -> Iterator[tuple[object, ...]]:
    """Rows by number; where one does not read, begin again behind it, further on each time in a row that fails."""
    reached, step = -1, 1
    while reached < _LAST_NUMBER:
        try:
            for number, *row in source.execute(
                f"SELECT {key}, {names} FROM {table} WHERE {key} > ? ORDER BY {key}",  # noqa: S608 - our own words
                (reached,),
            ):
                reached, step = number, 1
                yield tuple(row)
        except sqlite3.Error:
            reached, step = reached + step, step * 2
        else:
            return


def _last_event(source: sqlite3.Connection) -> int:
    with suppress(sqlite3.Error):
        return int(source.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])
    return _EVENTS_LEAP
