"""A harvest brings the index up to what the files say, and no further."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from openclaw_neuralstream.errors import StateError
from openclaw_neuralstream.workspace.harvest import TOO_LARGE, UNREADABLE
from tests.workspace.files import Shelf, harvester, write


def aged(file: Path, seconds: int = 100) -> Path:
    """As if it had been written a while ago: its time is settled."""
    status = file.stat()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns - seconds * 1_000_000_007))
    return file


def test_what_is_new_changed_and_gone_is_said_and_done(tmp_path: Path) -> None:
    shelf = Shelf()
    for name in "abc":
        aged(write(tmp_path, f"memory/{name}.md", name))
    assert harvester(tmp_path, shelf).harvest().indexed == ["memory/a.md", "memory/b.md", "memory/c.md"]
    write(tmp_path, "memory/b.md", "B")
    (tmp_path / "memory/c.md").unlink()
    done = harvester(tmp_path, shelf).harvest()
    assert (done.indexed, done.removed, done.same) == (["memory/b.md"], ["memory/c.md"], 1)
    assert shelf.texts == {"memory/a.md": "a", "memory/b.md": "B"}


def test_a_second_run_reads_nothing(tmp_path: Path) -> None:
    shelf = Shelf()
    file = aged(write(tmp_path, "memory/a.md"))
    harvester(tmp_path, shelf).harvest()
    file.chmod(0)
    done = harvester(tmp_path, shelf).harvest()
    assert (done.indexed, done.removed, done.same, shelf.transactions) == ([], [], 1, 1)


def test_the_same_words_at_another_time_are_not_indexed_again(tmp_path: Path) -> None:
    shelf = Shelf()
    file = aged(write(tmp_path, "memory/a.md"))
    harvester(tmp_path, shelf).harvest()
    before = shelf.files["memory/a.md"]
    aged(file)
    done = harvester(tmp_path, shelf).harvest()
    assert (done.indexed, done.same, shelf.transactions) == ([], 1, 1)
    assert shelf.files["memory/a.md"].mtime_ns < before.mtime_ns


def test_a_change_within_one_tick_of_the_clock_is_found_by_the_next_harvest(tmp_path: Path) -> None:
    shelf = Shelf()
    file = write(tmp_path, "memory/a.md", "one")
    status = file.stat()
    harvester(tmp_path, shelf).harvest()
    file.write_text("two")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert harvester(tmp_path, shelf).harvest().indexed == ["memory/a.md"]


def test_force_indexes_everything_anew_and_a_dry_run_nothing(tmp_path: Path) -> None:
    shelf = Shelf()
    aged(write(tmp_path, "memory/a.md"))
    assert harvester(tmp_path, shelf).harvest(dry_run=True).indexed == ["memory/a.md"]
    assert shelf.files == {}
    harvester(tmp_path, shelf).harvest()
    assert harvester(tmp_path, shelf).harvest(force=True).indexed == ["memory/a.md"]
    assert shelf.transactions == 2


def test_a_file_too_large_or_not_readable_is_named_and_leaves_the_index(tmp_path: Path) -> None:
    shelf = Shelf()
    write(tmp_path, "memory/a.md", "short")
    harvester(tmp_path, shelf).harvest()
    with (tmp_path / "memory/a.md").open("wb") as file:
        file.truncate(100_000_000)
    done = harvester(tmp_path, shelf).harvest()
    assert (done.removed, done.left_out) == (["memory/a.md"], {"memory/a.md": TOO_LARGE})
    assert shelf.files == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    write(tmp_path, "memory/a.md").chmod(0)
    assert harvester(tmp_path, Shelf()).harvest().left_out == {"memory/a.md": UNREADABLE}


def test_a_pipe_or_a_folder_with_the_name_of_a_note_does_not_hold_it_up(tmp_path: Path) -> None:
    write(tmp_path, "memory/folder.md/inner.md", "inner")
    os.mkfifo(tmp_path / "memory/pipe.md")
    assert harvester(tmp_path, Shelf()).harvest().indexed == ["memory/folder.md/inner.md"]


def test_a_file_that_becomes_a_folder_and_back_is_followed(tmp_path: Path) -> None:
    shelf, file = Shelf(), write(tmp_path, "memory/x.md", "file")
    reaper = harvester(tmp_path, shelf)
    reaper.harvest()
    file.unlink()
    write(tmp_path, "memory/x.md/y.md", "inside")
    reaper.harvest({"memory/x.md"})
    assert shelf.texts == {"memory/x.md/y.md": "inside"}
    (tmp_path / "memory/x.md/y.md").unlink()
    (tmp_path / "memory/x.md").rmdir()
    write(tmp_path, "memory/x.md", "file")
    reaper.harvest({"memory/x.md"})
    assert shelf.texts == {"memory/x.md": "file"}


def test_it_can_be_stopped_between_two_transactions(tmp_path: Path) -> None:
    for number in range(900):
        write(tmp_path, f"memory/{number:03}.md")
    stop, shelf = threading.Event(), Shelf()
    done = harvester(tmp_path, shelf).harvest(stopping=stop.is_set, progress=lambda _: stop.set())
    assert done.stopped
    assert len(shelf.files) == len(done.indexed) == 400


def test_progress_tells_of_every_file_in_the_end(tmp_path: Path) -> None:
    for number in range(401):
        write(tmp_path, f"memory/{number:03}.md")
    told = []
    harvester(tmp_path, Shelf()).harvest(progress=told.append)
    assert [(step.done, step.planned) for step in told] == [(400, 401), (401, 401)]


def test_an_index_that_refuses_is_asked_again_what_it_holds(tmp_path: Path) -> None:
    class Full(Shelf):
        full = True

        def replace(self, documents: object, known: object) -> None:
            if self.full:
                raise StateError("the disk is full")
            super().replace(documents, known)

    write(tmp_path, "memory/a.md")
    shelf = Full()
    reaper = harvester(tmp_path, shelf)
    with pytest.raises(StateError):
        reaper.harvest({"memory/a.md"})
    shelf.full = False
    assert reaper.harvest({"memory/a.md"}).indexed == ["memory/a.md"]
