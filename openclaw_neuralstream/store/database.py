"""One SQLite file with one writer at a time; which rows hold some terms."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from openclaw_neuralstream.errors import NeuralStreamError, StateBusy, StateDamaged, StateError, StateFull

BUSY_SECONDS = 10.0
IDLE_READERS = 4
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What the system calls a disk without room."""

# One statement each, for every connection. secure_delete: what is forgotten must not stay in free pages.
_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -8000",
)


class Database:
    """One SQLite file used from many threads.

    Writes go through one connection behind a lock, each block one `BEGIN IMMEDIATE` transaction, so that two threads
    queue here and two processes queue in SQLite. Reads borrow a connection of their own from a small pool: in WAL mode
    they see the last commit and wait for nobody. Every `sqlite3.Error` leaves as a StateError with a remedy.
    """

    def __init__(
        self, path: Path, prepare: Callable[[sqlite3.Connection], None] | None = None, *, durable: bool = True
    ) -> None:
        """Open or make the file, readable by its owner only; `prepare` is run on every new connection.

        durable: a commit is on the disk before the block ends; without it the last ones may be lost with the power
        (never with the process, and never the file's soundness): enough for what can be made anew.
        """
        self.path = path
        self._durable = durable
        self._prepare = prepare
        self._lock = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._pool = threading.Lock()
        self._closed = False
        with translated(path):
            make_private(path)
            before = _place_of(path)
            self._writer = self._connect()
            self._writer.execute("PRAGMA schema_version").fetchone()  # from here on the files beside it are open too
            self._beside = self._writer.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        self._place = _place_of(path)
        self._files = self._files_now() if before == self._place else (None,)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of the block, or nothing of it when it raises."""
        with self._lock, translated(self.path):
            self._check_open()
            self._check_there()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    with suppress(sqlite3.Error):
                        self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection to read with; every statement sees the last commit. Fetch all rows before leaving the block."""
        with translated(self.path):
            connection = self._borrow()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._give_back(connection)

    @property
    def whole(self) -> bool:
        """Whether the file and the two that SQLite keeps beside it are those that were opened.

        Where one of them was deleted or replaced, connections of before and after it no longer see the same.
        """
        return not self._closed and None not in self._files and self._files == self._files_now()

    @property
    def own(self) -> bool:
        """Whether the file itself is the one that was opened."""
        return self._place is not None and self._place == _place_of(self.path)

    @contextmanager
    def exclusive(self) -> Iterator[sqlite3.Connection]:
        """The writing connection without a transaction, for steps that open their own."""
        with self._lock, translated(self.path):
            self._check_open()
            yield self._writer

    def checkpoint(self) -> bool:
        """Write the log back into the file and cut it to nothing. False when a reader elsewhere stood in the way."""
        with self._lock, translated(self.path):
            self._check_open()
            busy, _, _ = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        with self._lock, self._pool:
            if self._closed:
                return
            self._closed = True
            for connection in (*self._readers, self._writer):
                with suppress(sqlite3.Error):
                    connection.close()
            self._readers.clear()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            for pragma in _PRAGMAS:
                connection.execute(pragma)
            if not self._durable:
                connection.execute("PRAGMA synchronous = NORMAL")
            if self._prepare:
                self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _borrow(self) -> sqlite3.Connection:
        with self._pool:
            self._check_open()
            if self._readers:
                return self._readers.pop()
        self._check_there()
        return self._connect()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._pool:
            if not self._closed and len(self._readers) < IDLE_READERS:
                self._readers.append(connection)
                return
        connection.close()

    def _check_there(self) -> None:
        """Nothing is accepted into a file that was moved or deleted, and no empty one is made in its place."""
        there = _place_of(self.path)
        if there is None:
            raise StateError(
                "the memory file is gone: it was moved or deleted", where=str(self.path), fix="put it back"
            )
        if there != self._place:  # damage, for its owner: the process ends, and the next one opens what lies there
            raise StateDamaged(
                "the memory file was replaced by another one", where=str(self.path), fix="neuralstream admin stop"
            )

    def _files_now(self) -> tuple[tuple[int, int] | None, ...]:
        beside = ("", "-wal", "-shm") if self._beside else ("",)
        return tuple(_place_of(self.path.with_name(self.path.name + suffix)) for suffix in beside)

    def _check_open(self) -> None:
        if self._closed:
            raise StateError("the memory file is closed", where=str(self.path))


def copy(source: Path, target: Path) -> None:
    """One moment of the file, whoever writes to it meanwhile (SQLite's online backup). Raises StateError."""
    with translated(source):
        reader = sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)
        try:
            make_private(target)
            writer = sqlite3.connect(target)
            try:
                reader.backup(writer)
                writer.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
            finally:
                writer.close()
        finally:
            reader.close()


def sound(path: Path) -> None:
    """Read the whole file. Raises StateDamaged."""
    if value(path, "PRAGMA quick_check(1)") != "ok":
        raise StateDamaged("the memory file does not read back", where=str(path))


def storable(text: str) -> str:
    """The text as SQLite and keys can hold it: a lone surrogate becomes its escape."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def value(path: Path, query: str) -> Any:
    """The first value that a query gives, on a file that nobody writes to. Raises StateError."""
    with translated(path):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return connection.execute(query).fetchone()[0]
        finally:
            connection.close()


def _place_of(path: Path) -> tuple[int, int] | None:
    """Which file lies there; None when there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def make_private_folder(folder: Path) -> None:
    """Make the folder for the owner only when it is not there. Raises StateError."""
    with _writable(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_private(path: Path) -> None:
    """Make the file (and its folder) for the owner only; SQLite gives its side files the same mode."""
    make_private_folder(path.parent)
    with _writable(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise full(path) from error
        raise StateError(
            f"the memory file cannot be opened for writing: {error.strerror}",
            where=str(path),
            fix="give your user write access to the state directory, or set NEURALSTREAM_STATE_DIR to another one",
        ) from error


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn every sqlite3 error of the block into the StateError that says what the reader can do.

    Damage leaves a mark beside the file, so that the next start reads all of it.
    """
    try:
        yield
    except sqlite3.Error as error:
        told = explained(error, path)
        if isinstance(told, StateDamaged):
            with suppress(OSError):
                suspicion_of(path).touch()
        raise told from error


def suspicion_of(path: Path) -> Path:
    """The mark that a memory file did not read back."""
    return path.with_name(f"{path.name}.suspect")


def explained(error: sqlite3.Error, path: Path) -> NeuralStreamError:
    """The error in our own terms: full, read-only, busy, damaged, or just refused."""
    name = getattr(error, "sqlite_errorname", "") or ""
    where = str(path)
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE")):
        return full(path)
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH")):
        return StateError(
            "the memory file cannot be written",
            where=where,
            fix="give your user write access to the state directory, or set NEURALSTREAM_STATE_DIR to another one",
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StateBusy(
            "another process is writing to the memory file",
            where=where,
            fix="try again; if it stays, `neuralstream status` shows who owns the state directory",
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ")):
        return StateDamaged(
            "the memory file is damaged",
            where=where,
            fix="restart: the damaged file is then moved aside and what can be read is kept",
        )
    told = f"{error} ({name})" if name else str(error)
    return StateError(f"the memory file refused a step: {told}", where=where, fix="neuralstream doctor")


def full(path: Path) -> StateFull:
    """The error of a disk without room."""
    fix = f"free some space on the disk of {path.parent}; the same step is then tried again"
    return StateFull("the disk is full: nothing was written", where=str(path), fix=fix)


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
