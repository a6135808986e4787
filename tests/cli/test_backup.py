"""Everything in one archive: whole or refused, and back in place of what was there."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from pathlib import Path

import pytest

from openclaw_neuralstream.clock import utc_now
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.transfer import archive
from tests.cli.conftest import Cli

KETTLE = "The kettle in the office is blue."


@pytest.fixture
def kept(cold: Cli, tmp_path: Path):
    """A memory with a gem, a setting, a hook and a workspace; its archive."""
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "2026-11-20.md").write_text("# Чайник\n\nСиний чайник стоит в офисе.\n")
    cold.ok("config", "set", "workspace", str(workspace))
    cold.ok("config", "set", "batch_size", "7")
    cold.state.hooks.mkdir(parents=True, exist_ok=True)
    (cold.state.hooks / "mine.py").write_text("# a hook of mine\n")
    cold.ok("remember", KETTLE)
    cold.ok("admin", "harvest")
    file = tmp_path / "all.tar.gz"
    yield cold, file, json.loads(cold.ok("backup", str(file), "--json"))
    client.stop(cold.state)


def test_an_archive_brings_back_everything_in_another_place(kept, tmp_path: Path) -> None:
    _, file, told = kept
    assert (told["gems"], told["notes"], file.stat().st_mode & 0o777) == (1, 1, 0o600)
    other = Cli(StateDir(tmp_path / "other"))
    other.ok("restore", str(file), "--files", str(tmp_path / "markdown"), "--with-hooks")
    try:
        assert KETTLE in other.ok("recall", "what colour is the kettle in the office")
        assert other.ok("config", "get", "batch_size") == "7\n"
        assert (other.state.hooks / "mine.py").read_text() == "# a hook of mine\n"
        assert (tmp_path / "markdown" / "workspace" / "memory" / "2026-11-20.md").read_text().startswith("# Чайник")
    finally:
        client.stop(other.state)


def test_what_was_there_is_moved_aside(kept) -> None:
    cold, file, _ = kept
    cold.ok("remember", "Something said after the archive was made.")
    told = json.loads(cold.ok("restore", str(file), "--yes", "--json"))
    assert [gem["content"] for gem in json.loads(cold.ok("gems", "list", "--json"))] == [KETTLE]
    assert (Path(told["moved_aside"]) / "memory.sqlite").is_file()


@pytest.mark.parametrize("damage", ["cut", "flipped", "lies", "climbs", "empty", "smuggles"])
def test_an_archive_that_is_not_whole_changes_nothing(kept, tmp_path: Path, damage: str) -> None:
    cold, file, _ = kept
    bad = tmp_path / "bad.tar.gz"
    data = bytearray(file.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "flipped":
        data[len(data) // 2] ^= 0xFF
    elif damage == "empty":
        data = bytearray()
    bad.write_bytes(data)
    if damage in ("lies", "climbs", "smuggles"):
        with tarfile.open(file) as source, tarfile.open(bad, "w:gz") as target:
            for member in source:
                content = source.extractfile(member).read()
                if damage == "lies" and member.name.endswith("settings.toml"):
                    content = b"batch_size = 99\n"
                member.size = len(content)
                target.addfile(member, io.BytesIO(content))
            if damage in ("climbs", "smuggles"):
                outside = tarfile.TarInfo("../../outside.txt" if damage == "climbs" else "state/hooks/evil.py")
                outside.size = 4
                target.addfile(outside, io.BytesIO(b"evil"))
    before = (cold.state.path / "settings.toml").read_bytes()
    result = cold("restore", str(bad), "--yes")
    assert result.exit_code == 1
    assert "not a whole archive" in result.stderr
    assert (cold.state.path / "settings.toml").read_bytes() == before
    assert cold("backup", "--check", str(bad)).exit_code == 1
    assert not list(tmp_path.rglob("outside.txt"))
    assert KETTLE in cold.ok("gems", "list")


def test_a_copy_is_one_moment_of_a_memory_that_goes_on(kept, tmp_path: Path) -> None:
    cold, _, _ = kept
    counts = []
    for number in range(5):
        cold.ok("remember", f"Shelf number {number} holds the red boxes of {1990 + number}.")
        target = tmp_path / f"{number}.tar.gz"
        archive.write(cold.state, target, version="0", now=utc_now(), workspaces={})
        counts.append(archive.check(target).gems)
    assert counts == [2, 3, 4, 5, 6]


def test_there_must_be_something_to_keep(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="no memory"):
        archive.write(StateDir(tmp_path), tmp_path / "x.tar.gz", version="0", now=utc_now(), workspaces={})


def test_an_archive_lists_no_text_of_the_memory(kept) -> None:
    _, file, _ = kept
    with tarfile.open(file) as tar:
        manifest = tar.extractfile(archive.MANIFEST).read().decode()
    assert "kettle" not in manifest
    assert "чайник" not in manifest.casefold()


HOSTILE = {
    "a link to a folder": ("state/templates", tarfile.SYMTYPE, ".."),
    "a link to a file": ("state/hooks/link.py", tarfile.SYMTYPE, "../memory.sqlite"),
    "a hard link": ("state/hooks/twin.py", tarfile.LNKTYPE, "state/hooks/mine.py"),
    "a pipe": ("state/spool/pipe", tarfile.FIFOTYPE, ""),
    "a device": ("state/spool/null", tarfile.CHRTYPE, ""),
    "an address of a process": ("state/serve.json", tarfile.REGTYPE, ""),
    "a folder of an index": ("state/index", tarfile.DIRTYPE, ""),
    "an absolute name": ("/state/hooks/evil.py", tarfile.REGTYPE, ""),
    "a name of another system": ("state\\..\\..\\evil.md", tarfile.REGTYPE, ""),
    "nothing's name": (".", tarfile.DIRTYPE, ""),
    "a second one": ("state/settings.toml", tarfile.REGTYPE, ""),
}


def with_member(file: Path, target: Path, name: str, kind: bytes, link: str) -> None:
    """The archive with one member more, which its list of contents knows where it is a file."""
    with tarfile.open(file) as source, tarfile.open(target, "w:gz") as out:
        for member in source:
            content = source.extractfile(member).read()
            if member.name == archive.MANIFEST and kind in (tarfile.REGTYPE, tarfile.LNKTYPE):
                listed = json.loads(content)
                same = listed["files"].get("state/hooks/mine.py")
                empty = {"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
                listed["files"].setdefault(name, same if kind == tarfile.LNKTYPE else empty)
                content = json.dumps(listed).encode()
                member.size = len(content)
            out.addfile(member, io.BytesIO(content))
        more = tarfile.TarInfo(name)
        more.type, more.linkname = kind, link
        out.addfile(more, io.BytesIO(b""))


def test_a_note_may_have_a_backslash_in_its_name_where_that_parts_no_folders(kept, tmp_path: Path) -> None:
    _, file, _ = kept
    with_member(file, tmp_path / "good.tar.gz", "workspaces/a\\b.md", tarfile.REGTYPE, "")
    assert archive.check(tmp_path / "good.tar.gz").gems


@pytest.mark.parametrize("case", HOSTILE)
def test_an_archive_holds_plain_files_in_known_places_only(kept, tmp_path: Path, case: str) -> None:
    _, file, _ = kept
    name, kind, link = HOSTILE[case]
    bad = tmp_path / "bad.tar.gz"
    with_member(file, bad, name, kind, link)
    other = Cli(StateDir(tmp_path / "other"))
    result = other("restore", str(bad), "--yes")
    assert result.exit_code == 1
    assert re.search(rf"{re.escape(name)} is (neither a plain file|no place that|in it twice)", result.stderr)
    assert not [path for path in other.state.path.rglob("*") if path.is_file()]


def test_code_of_an_archive_is_left_out_until_somebody_wants_it(kept, tmp_path: Path) -> None:
    _, file, _ = kept
    other = Cli(StateDir(tmp_path / "other"))
    other.state.hooks.mkdir(parents=True)
    (other.state.hooks / "own.py").write_text("# of this machine\n")
    told = other("restore", str(file), "--yes")
    assert "code was left out: hooks/mine.py" in told.stderr
    assert [path.name for path in other.state.hooks.iterdir()] == ["own.py"]
    assert json.loads(other.ok("restore", str(file), "--yes", "--json"))["left_out"] == ["hooks/mine.py"]
    assert json.loads(other.ok("restore", str(file), "--yes", "--json", "--with-hooks"))["left_out"] == []
    assert [path.name for path in other.state.hooks.iterdir()] == ["mine.py"]


def test_code_that_is_in_place_already_is_not_asked_for(kept) -> None:
    cold, file, _ = kept
    assert json.loads(cold.ok("restore", str(file), "--yes", "--json"))["left_out"] == []
    assert (cold.state.hooks / "mine.py").is_file()


@pytest.mark.parametrize(("answer", "there"), [("y", True), ("n", False)])
def test_a_person_is_asked_for_the_code_by_name(
    kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, there: bool
) -> None:
    _, file, _ = kept
    monkeypatch.setattr("openclaw_neuralstream.cli.backup._at_terminal", lambda: True)
    other = Cli(StateDir(tmp_path / "other"))
    result = other("restore", str(file), stdin=f"{answer}\n")
    assert "hooks/mine.py" in result.stdout
    assert (other.state.hooks / "mine.py").is_file() is there
