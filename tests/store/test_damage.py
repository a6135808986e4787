"""Bad days of the memory file: damaged, newer, read-only, a full disk, many processes at once. Never a loss in silence."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import signal
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from openclaw_neuralstream.errors import StateBusy, StateDamaged, StateError, StateNewer
from openclaw_neuralstream.model import Trigger
from openclaw_neuralstream.store import salvage, schema
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text import lexicon
from tests.erasing import forget
from tests.values import MAIN, NOW, SESSION, SMALL, gem, turn, unit

LEASE = timedelta(seconds=60)


def filled(path: Path, *, turns: int = 60, gems: int = 40) -> None:
    """A memory file with turns waiting, turns extracted and gems with vectors, closed."""
    truth = Truth.open(path)
    for number in range(1, turns + 1):
        truth.append(turn(number, f"turn {number} " + "words " * 200))
    batch = truth.claim(SESSION, limit=turns // 2, lease=LEASE, now=NOW, trigger=Trigger.BATCH)
    assert batch
    made = [(gem(f"gem-{n}", f"fact number {n} about zanzibar"), unit(1, n)) for n in range(gems)]
    assert truth.store(batch, made, embedder=SMALL, at=NOW) is not None
    truth.close()


def aside(path: Path) -> list[Path]:
    return sorted(path.parent.glob("memory.sqlite.damaged-*"))


def smear(path: Path, start: int, length: int) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xa5" * length)


def in_a_child(work: Callable[[], str]) -> str:
    """What the work says, done in a forked process."""
    ours, theirs = multiprocessing.get_context("fork").Pipe()
    process = multiprocessing.get_context("fork").Process(target=lambda: theirs.send(work()))
    process.start()
    assert ours.poll(60), "the child said nothing"
    said = ours.recv()
    process.join(30)
    return said


# --- damaged ------------------------------------------------------------------------------------------------------------


def test_a_file_of_garbage_is_moved_aside_and_memory_begins_anew(path: Path) -> None:
    path.write_bytes(b"this is not a database, by no means" * 500)
    truth = Truth.open(path)
    assert truth.append(turn(1)) is True
    assert aside(path)[0].read_bytes().startswith(b"this is not a database")
    assert "was damaged" in truth.meta("damaged")
    assert aside(path)[0].name in truth.meta("damaged")
    truth.close()


def test_a_lost_first_page_costs_nothing(path: Path) -> None:
    filled(path)
    smear(path, 0, 4096)
    truth = Truth.open(path)
    assert (truth.gem_count(), truth.stats(NOW)[0].waiting, truth.embedded_count(SMALL)) == (40, 30, 40)
    assert "40 gems and 60 turns" in truth.meta("damaged")
    truth.close()


def test_damage_in_the_middle_costs_what_was_there_and_no_more(path: Path) -> None:
    filled(path)
    size = path.stat().st_size
    smear(path, size // 2 // 4096 * 4096, 4096)
    truth = Truth.open(path)
    kept = truth.gem_count() + sum(b.waiting for b in truth.stats(NOW)) + len(truth.history(SESSION, turn(999), 999))
    assert kept >= 80
    assert len(truth.search_words(lexicon.terms("zanzibar"), MAIN, 50)) == truth.gem_count() == len(truth.gems(limit=99))
    assert aside(path)
    truth.close()


@pytest.mark.parametrize("table", ["gems", "turns", "bodies", "vectors"])
def test_the_top_of_a_table_is_lost_and_its_rows_are_not(path: Path, table: str) -> None:
    filled(path, turns=200, gems=150)
    with sqlite3.connect(path) as connection:
        page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    connection.close()
    smear(path, (page - 1) * 4096, 4096)
    truth = Truth.open(path)
    assert aside(path)
    assert (truth.gem_count(), truth.stats(NOW)[0].waiting, truth.embedded_count(SMALL)) == (150, 100, 150)
    assert len(truth.extracted([turn(n).turn_id for n in range(1, 201)])) == 100
    truth.close()


@pytest.mark.parametrize("page", range(1, 40, 3))
def test_whichever_page_is_lost_the_file_opens_and_works(path: Path, page: int) -> None:
    filled(path, turns=20, gems=10)
    smear(path, page * 4096, 4096)
    truth = Truth.open(path)
    assert truth.append(turn(1000)) is True
    truth.import_gems([(gem("after", "life goes on"), unit(1))], SMALL, NOW)
    assert truth.search_words(lexicon.terms("life goes on"), MAIN, 5)[0].gem_id == "after"
    assert forget(truth, ["after"]) == 1
    truth.close()
    assert Truth.open(path).append(turn(1001)) is True


def test_a_file_cut_in_half_keeps_what_is_left(path: Path) -> None:
    filled(path)
    os.truncate(path, path.stat().st_size // 2)
    truth = Truth.open(path)
    assert aside(path)
    assert truth.append(turn(1000)) is True
    truth.close()


def test_numbers_of_events_never_go_back(path: Path) -> None:
    filled(path)
    before = Truth.open(path)
    last = before.last_event()
    before.close()
    smear(path, 0, 4096)
    truth = Truth.open(path)
    assert len(truth.events(last)) == truth.gem_count()
    truth.close()


def test_a_mended_file_is_not_mended_again(path: Path) -> None:
    filled(path)
    smear(path, 0, 4096)
    for _ in range(3):
        Truth.open(path).close()
    assert len(aside(path)) == 1


def test_a_mending_that_was_interrupted_is_finished(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path)
    smear(path, 0, 4096)
    with monkeypatch.context() as interrupted:
        interrupted.setattr(salvage, "finish", _power_cut)
        with pytest.raises(StateDamaged):
            salvage.salvage(path, NOW)
    assert path.exists()
    truth = Truth.open(path)
    assert (truth.gem_count(), len(aside(path))) == (40, 1)
    truth.close()


def _power_cut(_: Path) -> None:
    raise OSError("power cut")


def test_damage_that_shows_later_is_mended_at_the_next_start(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openclaw_neuralstream.store.opening._CHECKED_AT_EVERY_START", 0)
    filled(path)
    with sqlite3.connect(path) as connection:
        page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'gems'").fetchone()[0]
    connection.close()
    smear(path, (page - 1) * 4096, 4096)
    truth = Truth.open(path)
    with pytest.raises(StateDamaged, match="restart"):
        truth.gems(text="zanzibar")
    truth.close()
    mended = Truth.open(path)
    assert mended.append(turn(1000)) is True
    assert aside(path)
    assert not path.with_name("memory.sqlite.suspect").exists()
    mended.close()


def test_a_check_finds_a_damaged_word_index_and_the_next_start_makes_it_anew(path: Path) -> None:
    filled(path)
    truth = Truth.open(path)
    truth.check()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE words_data SET block = zeroblob(length(block)) WHERE id > 10")
    connection.close()
    with pytest.raises(StateDamaged, match="restart"):
        truth.check()
    truth.close()
    mended = Truth.open(path)
    assert len(mended.search_words(lexicon.terms("zanzibar"), MAIN, 50)) == mended.gem_count() == 40
    mended.close()


def test_a_gem_that_does_not_read_is_left_out(path: Path) -> None:
    filled(path, gems=3)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE gems SET body = '{\"gem_id\": 1' WHERE gem_id = 'gem-1'")
    connection.close()
    truth = Truth.open(path)
    assert sorted(g.gem_id for g in truth.gems()) == ["gem-0", "gem-2"]
    assert truth.gem("gem-1") is None
    assert forget(truth, ["gem-1"]) == 1
    truth.close()


# --- versions -----------------------------------------------------------------------------------------------------------


def test_a_newer_file_is_refused_and_left_untouched(path: Path) -> None:
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StateNewer, match="newer version"):
        Truth.open(path)
    assert (path.read_bytes(), aside(path)) == (before, [])


def test_a_migration_that_fails_leaves_the_old_version(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path)
    broken = (*schema.MIGRATIONS, "CREATE TABLE more(x); CREATE TABLE gems(y);")
    with monkeypatch.context() as later:
        later.setattr(schema, "MIGRATIONS", broken)
        later.setattr(schema, "VERSION", len(broken))
        with pytest.raises(StateError):
            Truth.open(path)
    truth = Truth.open(path)
    assert truth.gem_count() == 40
    truth.close()


def test_a_later_version_is_reached_step_by_step(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path)
    steps = (*schema.MIGRATIONS, "CREATE TABLE more(x);\n", "INSERT INTO more VALUES ('a;b');\n")
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    monkeypatch.setattr(schema, "VERSION", len(steps))
    Truth.open(path).close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT x FROM more").fetchall() == [("a;b",)]
    assert connection.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION
    connection.close()


# --- places that cannot be written --------------------------------------------------------------------------------------


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user may enter, outside of pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def _as_a_user_without_rights(work: Callable[[], object]) -> Callable[[], str]:
    def run() -> str:
        if os.geteuid() == 0:
            os.setresuid(65534, 65534, 65534)
        try:
            work()
        except StateError as error:
            return f"{type(error).__name__}: {error}"
        return "it worked"

    return run


def test_a_read_only_folder_is_an_error_that_says_what_to_do(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    said = in_a_child(_as_a_user_without_rights(lambda: Truth.open(open_folder / "memory.sqlite")))
    assert said.startswith("StateError")
    assert "NEURALSTREAM_STATE_DIR" in said


def test_a_read_only_file_is_an_error_that_says_what_to_do(open_folder: Path) -> None:
    path = open_folder / "memory.sqlite"
    filled(path, turns=2, gems=1)
    open_folder.chmod(0o777)
    for file in open_folder.iterdir():
        file.chmod(0o666 if file.name.endswith(".lock") else 0o444)
    said = in_a_child(_as_a_user_without_rights(lambda: Truth.open(path)))
    assert said.startswith("StateError")
    assert "NEURALSTREAM_STATE_DIR" in said
    assert aside(path) == []


def test_a_folder_in_the_place_of_the_file_is_an_error(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StateError):
        Truth.open(path)


def test_files_are_for_their_owner_only(path: Path) -> None:
    truth = Truth.open(path)
    truth.append(turn(1))
    assert {oct(file.stat().st_mode & 0o777) for file in path.parent.iterdir()} == {"0o600"}
    truth.close()


def test_a_full_disk_loses_nothing_that_was_accepted(path: Path) -> None:
    def until_full() -> str:
        truth = Truth.open(path)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))
        accepted, said = 0, ""
        while not said:
            try:
                accepted += truth.append(turn(accepted + 1, "x" * 10_000))
            except StateError as error:
                said = str(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        again = truth.append(turn(accepted + 1, "now there is room"))
        truth.close()
        return f"{accepted} {again} {said}"

    accepted, again, said = in_a_child(until_full).split(" ", 2)
    assert "disk is full" in said
    assert "free some space" in said
    assert again == "True"
    truth = Truth.open(path)
    assert truth.stats(NOW)[0].waiting == int(accepted) + 1
    truth.close()


# --- several at once ----------------------------------------------------------------------------------------------------


def test_many_processes_open_a_new_file_at_once(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    start, answers = context.Barrier(12), context.Queue()

    def open_and_append(number: int) -> None:
        start.wait(60)
        truth = Truth.open(path)
        answers.put(truth.append(turn(number)))
        truth.close()

    processes = [context.Process(target=open_and_append, args=(n,)) for n in range(12)]
    for process in processes:
        process.start()
    assert [answers.get(timeout=60) for _ in processes] == [True] * 12
    for process in processes:
        process.join(30)
    truth = Truth.open(path)
    batch = truth.claim(SESSION, limit=99, lease=LEASE, now=NOW, trigger=Trigger.BATCH)
    assert batch
    assert [t.index for t in batch.turns] == list(range(1, 13))
    truth.close()


def test_threads_and_processes_append_side_by_side(path: Path) -> None:
    context = multiprocessing.get_context("fork")

    def append(first: int) -> None:
        truth = Truth.open(path)
        threads = [
            threading.Thread(target=lambda s=s: [truth.append(turn(n)) for n in range(s, s + 25)])
            for s in (first, first + 25)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        truth.close()

    processes = [context.Process(target=append, args=(first,)) for first in (1, 51, 26)]  # the third repeats some
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    truth = Truth.open(path)
    batch = truth.claim(SESSION, limit=999, lease=LEASE, now=NOW, trigger=Trigger.BATCH)
    assert batch
    assert [t.index for t in batch.turns] == list(range(1, 101))
    assert len({t.turn_id for t in batch.turns}) == 100
    truth.close()


def test_a_writer_that_stays_too_long_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openclaw_neuralstream.store.database.BUSY_SECONDS", 0.05)
    truth = Truth.open(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StateBusy, match="another process"):
        truth.append(turn(1))
    assert truth.stats(NOW) == []
    other.execute("ROLLBACK")
    assert truth.append(turn(1)) is True
    other.close()
    truth.close()


def test_a_closed_truth_says_so_and_closes_twice(truth: Truth) -> None:
    truth.close()
    truth.close()
    with pytest.raises(StateError, match="closed"):
        truth.append(turn(1))


def test_a_memory_file_that_was_moved_away_accepts_nothing_until_it_is_back(path: Path) -> None:
    truth = Truth.open(path)
    truth.append(turn(1))
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    with pytest.raises(StateError, match="gone: it was moved or deleted"):
        truth.append(turn(2))
    assert not path.exists()  # and no empty one was made in its place
    elsewhere.rename(path)
    assert truth.append(turn(2)) is True
    assert [backlog.waiting for backlog in truth.stats(NOW)] == [2]
    truth.close()


def test_a_memory_file_that_was_replaced_ends_the_one_who_has_the_old_one_open(path: Path) -> None:
    """As after a restored backup: the process ends at StateDamaged, the next one opens what lies there."""
    truth = Truth.open(path)
    truth.append(turn(1))
    shutil.copy(path, copy := path.with_name("backup"))
    copy.replace(path)
    with pytest.raises(StateDamaged, match="replaced"):
        truth.append(turn(2))
    truth.close()
