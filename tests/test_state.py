"""The state directory: a link planted in the place of a file or folder of ours is refused, and nothing goes through it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from openclaw_neuralstream.cli.checks.finding import Grade
from openclaw_neuralstream.cli.checks.place import place
from openclaw_neuralstream.errors import StateError
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.server import client, server, spool
from openclaw_neuralstream.state import StateDir, write_private

ENVIRON = {"NEURALSTREAM_EMBEDDER": "embedded", "NEURALSTREAM_OLLAMA_URL": "http://127.0.0.1:9"}
FOLDERS = ("index", "turns", "spool", "logs")
FILES = (
    *("memory.sqlite", "memory.sqlite-wal", "memory.sqlite-shm", "memory.sqlite-journal"),
    *("serve.json", "serve.lock", "serve.sock", "host-config.json"),
    *("index/gems.sqlite", "turns/turns.sqlite", "logs/neuralstream.log", "spool/1.jsonl"),
)


def planted(tmp_path: Path, name: str, *, hard: bool = False) -> StateDir:
    """A state directory in which this file or folder leads to one elsewhere."""
    target, state = tmp_path / "elsewhere", StateDir(tmp_path / "state")
    target.mkdir() if name in FOLDERS else target.write_text("theirs")
    place = state.path / name
    place.parent.mkdir(parents=True)
    place.hardlink_to(target) if hard else place.symlink_to(target)
    return state


def untouched(tmp_path: Path) -> bool:
    target = tmp_path / "elsewhere"
    return not any(target.iterdir()) if target.is_dir() else target.read_text() == "theirs"


@pytest.mark.parametrize(
    ("name", "hard"), [*((name, False) for name in (*FOLDERS, *FILES)), *((name, True) for name in FILES)]
)
def test_a_link_in_the_place_of_our_own_is_refused_with_its_remedy(tmp_path: Path, name: str, hard: bool) -> None:
    state = planted(tmp_path, name, hard=hard)
    with pytest.raises(StateError) as refused:
        wiring.open_memory(state, environ=ENVIRON, start=False).close()
    assert (refused.value.where, untouched(tmp_path)) == (str(state.path / name), True)
    assert (str(state.path / name) in refused.value.fix, "link" in refused.value.what) == (True, True)


def test_hooks_of_the_owner_may_be_kept_elsewhere(tmp_path: Path) -> None:
    state = StateDir(tmp_path / "state")
    (tmp_path / "mine").mkdir()
    state.path.mkdir()
    (state.path / "hooks").symlink_to(tmp_path / "mine")
    wiring.open_memory(state, environ=ENVIRON, start=False).close()


def test_the_process_does_not_start_over_one(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="symbolic link"):
        server.serve(planted(tmp_path, "logs"))


def test_a_client_does_not_ask_whom_a_planted_link_names(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="symbolic link"):
        client.find(planted(tmp_path, "serve.json"))


def test_doctor_names_it(tmp_path: Path) -> None:
    found = [finding for finding in place(planted(tmp_path, "spool")) if finding.check == "links"]
    assert [finding.grade for finding in found] == [Grade.BROKEN]


def test_one_that_comes_while_the_process_runs_is_not_drained(tmp_path: Path) -> None:
    memory = wiring.open_memory(StateDir(tmp_path / "state"), environ=ENVIRON, start=False)
    (tmp_path / "elsewhere").write_text("theirs")
    (tmp_path / "state/spool/1.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="symbolic link"):
        spool.drain(memory, memory.parts.state.spool, {})
    memory.close()
    assert untouched(tmp_path)


def test_a_file_is_never_written_through_a_link_in_the_place_of_the_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("theirs")
    (tmp_path / f".own.json.{os.getpid()}.tmp").symlink_to(tmp_path / "elsewhere")
    write_private(tmp_path / "own.json", "ours")
    assert (untouched(tmp_path), (tmp_path / "own.json").read_text()) == (True, "ours")


def test_the_directory_itself_and_what_is_the_owners_may_be_links(tmp_path: Path) -> None:
    real = StateDir(tmp_path / "disk").prepare()
    (tmp_path / "mine.toml").write_text("batch_size = 5\n")
    (real.path / "settings.toml").symlink_to(tmp_path / "mine.toml")
    (tmp_path / "state").symlink_to(real.path)
    memory = wiring.open_memory(StateDir(tmp_path / "state"), environ=ENVIRON, start=False)
    assert memory.settings.batch_size == 5
    memory.close()
