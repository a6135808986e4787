"""Opening the memory file: one process at a time, versions checked, damage mended."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from openclaw_neuralstream.clock import utc_now
from openclaw_neuralstream.errors import StateBusy, StateDamaged, StateError
from openclaw_neuralstream.store import gems
from openclaw_neuralstream.store.database import Database, make_private_folder, suspicion_of, translated
from openclaw_neuralstream.store.salvage import finish, salvage
from openclaw_neuralstream.store.schema import migrate

_CHECKED_AT_EVERY_START = 8 * 1024 * 1024
"""Bytes up to which reading the whole file costs next to nothing; a bigger one is checked when it gave cause."""

_LOCK_SECONDS = 60


def opened(path: Path) -> Database:
    """The file at the present version; a damaged one is mended first."""
    make_private_folder(path.parent)
    with _alone(path):
        finish(path)
        try:
            return _checked(path)
        except StateDamaged:
            salvage(path, utc_now())
            return _checked(path)


def _checked(path: Path) -> Database:
    database = Database(path, prepare=_prepare)
    try:
        with database.exclusive() as connection:
            migrate(connection, path)
            _check(connection, path)
    except BaseException:
        database.close()
        raise
    suspicion_of(path).unlink(missing_ok=True)
    return database


def _check(connection: sqlite3.Connection, path: Path) -> None:
    """Read the whole file when it is small or under suspicion. Raises StateDamaged."""
    if suspicion_of(path).exists() or path.stat().st_size <= _CHECKED_AT_EVERY_START:
        check(connection, path)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Read the whole file, whatever its size. Raises StateDamaged, and leaves the mark that has it mended at a start."""
    with translated(path):
        found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if found != "ok":
            suspicion_of(path).touch()
            raise StateDamaged(f"the memory file is damaged: {found}", where=str(path), fix="restart to have it mended")
        connection.execute("INSERT INTO words(words) VALUES ('integrity-check')")


def _prepare(connection: sqlite3.Connection) -> None:
    connection.create_function("contains", -1, gems.contains)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Only one process at a time makes, migrates or mends the file."""
    lock = FileLock(path.with_name(f"{path.name}.lock"), mode=0o600)
    try:
        with lock.acquire(timeout=_LOCK_SECONDS):
            yield
    except Timeout as error:
        raise StateBusy(
            "another process is opening the memory file", where=str(path), fix="try again in a minute"
        ) from error
    except OSError as error:
        raise StateError(
            f"the state directory cannot be written: {error.strerror or error}",
            where=str(path.parent),
            fix="give your user write access to it, or set NEURALSTREAM_STATE_DIR to another one",
        ) from error
