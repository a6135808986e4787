"""The index of a workspace's Markdown in one SQLite file: derived, shared by processes, rebuilt whenever it is lost."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import structlog
from filelock import FileLock, Timeout

from openclaw_neuralstream.errors import StateBusy, StateDamaged, StateError, StateFull, StateNewer
from openclaw_neuralstream.model import Document, Entity, Fact, Known, Note, Problem, Wanted
from openclaw_neuralstream.ports import NoteHit, Vector
from openclaw_neuralstream.store.database import FULL, Database, full, make_private_folder, suspicion_of
from openclaw_neuralstream.workspace import rows as reading
from openclaw_neuralstream.workspace import rows as writing
from openclaw_neuralstream.workspace import search
from openclaw_neuralstream.workspace.rows import SCRIPT, VERSION

log = structlog.get_logger(__name__)

FOLDER = ".memory"
FILE = "index.sqlite"

_LOCK_SECONDS = 60
_TRIES = 4  # of one step whose index is lost under it
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Counts:
    """What the index holds."""

    files: int
    notes: int
    facts: int
    entities: int
    problems: int


def index_file(workspace: Path) -> Path:
    """Where the index of a workspace lies: `<workspace>/.memory/index.sqlite`."""
    return workspace / FOLDER / FILE


class NoteIndex:
    """The notes and facts of one workspace. Any process may open it; writers queue, readers wait for nobody.

    The file may be deleted or damaged at any moment: the next step finds an empty index with another `epoch`, and
    whoever keeps it up to date has to give all files anew. Answers depend on the documents alone.
    """

    def __init__(self, file: Path) -> None:
        """Use `NoteIndex.open`."""
        self.file = file
        self._lock = threading.RLock()
        self._closed = False
        self._counts: tuple[tuple[str, int], dict[str, int]] = (("", 0), {})
        self._flat = search.Flat()
        self._database = self._opened()

    @classmethod
    def open(cls, file: Path) -> NoteIndex:
        """Open the file, or make it (owner-only, its folder hidden from git); one of another version is made anew.

        Raises StateError where the folder cannot be written, StateNewer for a file of a newer program.
        """
        return cls(file)

    @classmethod
    def of(cls, workspace: Path) -> NoteIndex:
        """The index of this workspace."""
        return cls(index_file(workspace))

    # --- what a follower of the files asks and says -----------------------------------------------------------------

    @property
    def epoch(self) -> str:
        """Another text whenever the index began empty again."""
        return self._read(_epoch)

    def known(self) -> dict[str, Known]:
        """Every indexed file by its path."""
        rows = self._read(lambda c: c.execute("SELECT path, digest, size, mtime_ns FROM files").fetchall())
        return {path: Known(digest, size, mtime_ns) for path, digest, size, mtime_ns in rows}

    def replace(self, documents: Sequence[Document], known: Mapping[str, Known]) -> None:
        """Put these documents in the place of what was known of their paths, all in one transaction."""

        def step(connection: sqlite3.Connection) -> None:
            touched: set[str] = set()
            for document in documents:
                writing.take(connection, document.path, touched)
                writing.put(connection, document, known[document.path], touched)
            writing.resolve(connection, touched)
            _changed(connection)

        self._write(step)

    def remove(self, paths: Sequence[str]) -> int:
        """Forget these files; returns how many of them were known."""

        def step(connection: sqlite3.Connection) -> int:
            touched: set[str] = set()
            gone = sum(writing.take(connection, path, touched) for path in paths)
            writing.resolve(connection, touched)
            if gone:
                _changed(connection)
            return gone

        return self._write(step)

    def wipe(self) -> None:
        """Overwrite what removed text left behind: old segments of the word index, and the log."""
        self._write(lambda c: c.execute("INSERT INTO words(words) VALUES ('optimize')"))
        self._database.checkpoint()

    def touch(self, known: Mapping[str, Known]) -> None:
        """Note another time or size of files whose content is the same."""
        rows = [(item.digest, item.size, item.mtime_ns, path) for path, item in known.items()]
        self._write(lambda c: c.executemany("UPDATE files SET digest = ?, size = ?, mtime_ns = ? WHERE path = ?", rows))

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._closed = True
            self._database.close()

    # --- NoteSearch -------------------------------------------------------------------------------------------------

    def stored(self) -> int:
        """How many notes and facts there are."""
        return self._read(lambda c: int(c.execute("SELECT entries FROM totals").fetchone()[0]))

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """How many of them hold each term; 0 for what none holds."""
        return self._read(lambda c: self._frequencies(c, terms))

    def find_words(self, terms: Sequence[str], wanted: Wanted, *, limit: int) -> list[NoteHit]:
        """The best by BM25 over the terms, best first."""
        return self._read(lambda c: search.find_words(c, terms, self._frequencies(c, terms), wanted, limit))

    def newest(self, wanted: Wanted, *, limit: int) -> list[str]:
        """Ids of what is wanted, the newest first, whatever its words."""
        return self._read(lambda c: reading.newest(c, wanted, limit))

    def fetch(self, ids: Sequence[str]) -> dict[str, Note | Fact]:
        """Notes and facts by id; unknown ids are left out."""
        return self._read(lambda c: reading.fetch(c, ids))

    def facts(self, wanted: Wanted, *, limit: int = 0) -> list[Fact]:
        """The facts that are wanted, oldest first; 0 = all of them."""
        return self._read(lambda c: reading.facts(c, wanted, limit))

    def entities(self, *, limit: int = 0) -> list[Entity]:
        """Who and what is named, most often named first; 0 = all."""
        return self._read(lambda c: reading.entities(c, None, limit))

    def named_in(self, text: str) -> list[Entity]:
        """The entities that a text calls by a name or alias."""
        return self._read(lambda c: reading.entities(c, reading.named_in(c, text), 0))

    def tags(self) -> dict[str, int]:
        """Each tag and how many notes and facts carry it, most often first."""
        return self._read(reading.read_tags)

    def tagged(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of the keys (`tags.key_of`) that a note or fact carries, each with its most frequent spelling."""
        return self._read(lambda c: reading.tagged(c, keys))

    def tag_counts(self) -> dict[str, tuple[str, int]]:
        """Each tag's key, how it is mostly written, and how many notes and facts carry it."""
        return self._read(reading.tag_counts)

    def tag_total(self, keys: Sequence[str]) -> int:
        """How many notes and facts carry one of these keys, each counted once."""
        return self._read(lambda c: reading.tag_total(c, keys))

    def inferred(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The tags that were inferred for these; those without any are left out."""
        return self._read(lambda c: search.of(c, ids))

    def inferred_counts(self) -> dict[str, tuple[str, int]]:
        """Each inferred tag's key, how it is written, and for how many notes and facts it was inferred."""
        return self._read(search.counts)

    def uninferred(self, version: str, *, limit: int) -> dict[str, str]:
        """Ids and texts of some without a tag, for which this version of what is known has not been asked."""
        return self._read(lambda c: search.pending(c, version, limit))

    def infer(self, version: str, found: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Keep tags that were inferred, (key, name) by id; ids that are gone meanwhile are left out."""
        self._write(lambda c: search.put_inferred(c, version, found))

    def outdated(self, ids: Sequence[str], wanted: Wanted) -> dict[str, str]:
        """Those of the ids that do not hold (any more), and why: "superseded" or "expired"."""
        return self._read(lambda c: reading.outdated(c, ids, wanted))

    # --- meaning ----------------------------------------------------------------------------------------------------

    def embedded(self, embedder: str) -> int:
        """How many have a vector of this embedder."""
        return self._read(lambda c: search.count(c, embedder))

    def unembedded(self, embedder: str, *, limit: int) -> dict[str, str]:
        """Ids and texts of notes and facts without a vector of this embedder, the newest first."""
        return self._read(lambda c: search.missing(c, embedder, limit))

    def embed(self, embedder: str, found: Mapping[str, Vector]) -> None:
        """Keep these vectors by id; ids that are gone meanwhile are left out."""
        self._write(lambda c: search.put(c, embedder, found))

    def near(
        self, vector: Vector, embedder: str, wanted: Wanted, *, among: Sequence[str], limit: int
    ) -> dict[str, float]:
        """Cosines by id: of these that have a vector, and of the nearest of all where they are few enough to compare."""
        return self._read(
            lambda c: self._flat.near(
                c, vector, state=self._state(c), embedder=embedder, wanted=wanted, among=among, limit=limit
            )
        )

    # --- figures ----------------------------------------------------------------------------------------------------

    def count(self) -> Counts:
        """How much there is."""
        return Counts(*self._read(reading.counts))

    def problems(self) -> list[Problem]:
        """What could not be read as it was meant, by path and line."""
        return self._read(reading.problems)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _frequencies(self, connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
        """Counting a common term costs milliseconds, so counts are kept until the index changes."""
        state = self._state(connection)
        if self._counts[0] != state:
            self._counts = (state, {})
        kept = self._counts[1]
        kept.update(search.frequencies(connection, [term for term in terms if term not in kept]))
        return {term: kept[term] for term in dict.fromkeys(terms)}

    def _state(self, connection: sqlite3.Connection) -> tuple[str, int]:
        """What is equal only while the same documents are indexed."""
        return _epoch(connection), int(connection.execute("SELECT changes FROM totals").fetchone()[0])

    def _read(self, ask: Callable[[sqlite3.Connection], _T]) -> _T:
        def step(database: Database) -> _T:
            with database.read() as connection:
                return ask(connection)

        return self._stepped(step)

    def _write(self, act: Callable[[sqlite3.Connection], _T]) -> _T:
        def step(database: Database) -> _T:
            with database.write() as connection:
                return act(connection)

        return self._stepped(step)

    def _stepped(self, step: Callable[[Database], _T]) -> _T:
        """What a step gives; one that failed because the index was lost under it is done again, on the new one."""
        for _ in range(_TRIES - 1):
            database = self._present()
            try:
                return step(database)
            except (StateBusy, StateFull):
                raise
            except StateError:
                if self._closed or (database is self._database and self._sound(database)):
                    raise
        return step(self._present())

    def _sound(self, database: Database) -> bool:
        return database.whole and not suspicion_of(self.file).exists()

    def _present(self) -> Database:
        """The database, opened anew when its file was lost, damaged, or put in the place of another."""
        if self._closed or self._sound(self._database):
            return self._database
        with self._lock:
            if not self._closed and not self._sound(self._database):
                if not self.file.parent.parent.is_dir():
                    raise StateError("the index is gone with its folder", where=str(self.file), fix="bring it back")
                log.warning("notes.index_lost")
                self._database = self._opened(self._database)
            return self._database

    def _opened(self, before: Database | None = None) -> Database:
        """Open what lies there, after what was open before; it is made anew where something of it is missing."""
        make_private_folder(self.file.parent)
        _hide_from_git(self.file.parent)
        with _alone(self.file):
            torn = before is not None and before.own  # only SQLite's own files beside it were lost
            if before is not None:
                before.close()
            if torn or suspicion_of(self.file).exists() or not self.file.exists():
                _delete(self.file)  # what lies beside a lost file must not be taken for the next one's
            try:
                return _ready(self.file)
            except StateDamaged:
                log.warning("notes.index_damaged")
                _delete(self.file)
                return _ready(self.file)


def _ready(file: Path) -> Database:
    """A database at the present version; made anew when it is of an older one."""
    database = Database(file, durable=False)
    try:
        with database.exclusive() as connection:
            found = int(connection.execute("PRAGMA user_version").fetchone()[0])
            _check_newer(found, file)
            if found == 0:
                _make(connection)
    except BaseException:
        database.close()
        raise
    if found in {0, VERSION}:
        return database
    database.close()
    _delete(file)
    return _ready(file)


def _check_newer(found: int, file: Path) -> None:
    if found > VERSION:
        raise StateNewer(
            f"the index of the workspace has version {found}, this program knows {VERSION}",
            where=str(file),
            fix="install the newer version again, or delete the file: it is made anew from the Markdown",
        )


def _make(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    rest = ""
    for line in SCRIPT.splitlines(keepends=True):
        rest += line
        if sqlite3.complete_statement(rest):
            connection.execute(rest)
            rest = ""
    connection.execute("INSERT INTO meta VALUES ('epoch', ?)", (secrets.token_hex(8),))
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _epoch(connection: sqlite3.Connection) -> str:
    return str(connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0])


def _changed(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE totals SET changes = changes + 1")


def _delete(file: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal", ".suspect"):
        with suppress(FileNotFoundError):
            file.with_name(file.name + suffix).unlink()


def _hide_from_git(folder: Path) -> None:
    ignore = folder / ".gitignore"
    if not ignore.exists():
        with suppress(OSError):
            ignore.write_text("*\n", encoding="utf-8")


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Only one process at a time makes or replaces the file."""
    lock = FileLock(file.with_name(f"{file.name}.lock"), mode=0o600)
    try:
        with lock.acquire(timeout=_LOCK_SECONDS):
            yield
    except Timeout as error:
        raise StateBusy("another process is opening the index", where=str(file), fix="try again in a minute") from error
    except OSError as error:
        if error.errno in FULL:
            raise full(file) from error
        raise StateError(
            f"the index of the workspace cannot be written: {error.strerror or error}",
            where=str(file.parent),
            fix=f"give your user write access to {file.parent}",
        ) from error
