"""Writing: atomic, with mode kept, never over newer changes, never out of the workspace; a kill leaves old or new."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from openclaw_neuralstream.text.fences import fences
from openclaw_neuralstream.workspace.writing import SUFFIX, FileChanged, FileRefused, Place, read, sweep, write

WRITER = """
import sys
from pathlib import Path
from openclaw_neuralstream.workspace.writing import rewrite
from openclaw_neuralstream.text.fences import fences
from openclaw_neuralstream.workspace.writing import Place, read, write
place = Place(Path(sys.argv[1]), "MEMORY.md")
print("ready", flush=True)
for number in range(1_000_000):
    before = read(place)
    write(place, rewrite(before, "memory", f"- version {number}\\n" * 400).after, read_as=before)
"""


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    (tmp_path / "a.md").chmod(0o640)
    write(Place(tmp_path, "a.md"), b"new", read_as=b"old")
    assert ((tmp_path / "a.md").read_bytes(), (tmp_path / "a.md").stat().st_mode & 0o777) == (b"new", 0o640)


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    write(Place(tmp_path, "bank/entities/Питер.md"), b"new", read_as=None)
    assert (tmp_path / "bank/entities/Питер.md").stat().st_mode & 0o777 == 0o600


def test_newer_changes_of_a_person_win(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"newer")
    with pytest.raises(FileChanged):
        write(Place(tmp_path, "a.md"), b"ours", read_as=b"old")
    assert (tmp_path / "a.md").read_bytes() == b"newer"


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"theirs")
    with pytest.raises(FileChanged):
        write(Place(tmp_path, "a.md"), b"ours", read_as=None)
    assert names(tmp_path) == ["a.md"]


def test_a_file_that_was_deleted_meanwhile_stays_deleted(tmp_path: Path) -> None:
    with pytest.raises(FileChanged):
        write(Place(tmp_path, "a.md"), b"ours", read_as=b"old")
    assert names(tmp_path) == []


def test_a_link_out_of_the_workspace_is_neither_read_nor_written(tmp_path: Path) -> None:
    (tmp_path / "out.md").write_bytes(b"secret")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a.md").symlink_to(tmp_path / "out.md")
    place = Place(tmp_path / "ws", "a.md")
    with pytest.raises(FileRefused):
        read(place)
    with pytest.raises(FileRefused):
        write(place, b"ours", read_as=b"secret")
    assert (tmp_path / "out.md").read_bytes() == b"secret"


def test_a_link_inside_the_workspace_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_bytes(b"old")
    (tmp_path / "a.md").symlink_to("real.md")
    write(Place(tmp_path, "a.md"), b"new", read_as=b"old")
    assert (tmp_path / "a.md").is_symlink()
    assert (tmp_path / "real.md").read_bytes() == b"new"


def test_a_workspace_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    there = tmp_path / "typo"
    with pytest.raises(FileRefused, match="not there"):
        write(Place(there, "memory/2026-11-21.md"), b"- one", read_as=None)
    assert not there.exists()


def test_a_read_only_file_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"old")
    (tmp_path / "a.md").chmod(0o444)
    with pytest.raises(FileRefused):
        write(Place(tmp_path, "a.md"), b"new", read_as=b"old")


def test_what_a_killed_process_left_is_swept_away(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / f".a.md.{gone.pid}{SUFFIX}").write_bytes(b"half")
    (tmp_path / f".a.md.{os.getppid()}{SUFFIX}").write_bytes(b"at work")
    (tmp_path / ".swap.tmp").write_bytes(b"not ours")
    assert sweep(tmp_path) == 1
    assert len(names(tmp_path)) == 2


def test_a_kill_at_any_moment_leaves_the_file_whole(tmp_path: Path) -> None:
    mine = b"# Mine\r\n\xff\xfe not even UTF-8\r\n"
    file = tmp_path / "MEMORY.md"
    file.write_bytes(mine)
    for spins in range(1, 9):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            before = file.stat().st_ino
            for _ in range(spins):  # some writes further each time
                while file.stat().st_ino == before:
                    pass
                before = file.stat().st_ino
            os.kill(writer.pid, signal.SIGKILL)
        now = file.read_bytes()
        assert now.startswith(mine)
        (fence,) = fences(now)
        assert not fence.touched
        assert len(set(fence.body.splitlines())) == 1
        sweep(tmp_path)
    assert names(tmp_path) == ["MEMORY.md"]
