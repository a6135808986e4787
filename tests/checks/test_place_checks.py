"""Trouble with the state directory is found without any process."""

from __future__ import annotations

from pathlib import Path

import pytest

from openclaw_neuralstream.cli.checks import place as checks
from openclaw_neuralstream.cli.checks.finding import Finding, Grade
from openclaw_neuralstream.cli.checks.place import place
from openclaw_neuralstream.state import StateDir


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    return StateDir(tmp_path / "own").prepare()


def of(state: StateDir, check: str) -> list[Finding]:
    return [finding for finding in place(state) if finding.check == check]


def test_a_fresh_directory_is_fine(state: StateDir) -> None:
    assert {finding.grade for finding in place(state)} == {Grade.OK}


def test_one_that_does_not_exist_yet_is_a_note(tmp_path: Path) -> None:
    assert [f.grade for f in of(StateDir(tmp_path / "none"), "state")] == [Grade.NOTE]


def test_one_that_others_can_read_is_a_warning_with_the_command(state: StateDir) -> None:
    state.path.chmod(0o755)
    assert [(f.grade, f.fix) for f in of(state, "state")] == [(Grade.WARNING, f"chmod -R go-rwx {state.path}")]


def test_a_file_in_its_place_is_broken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert [f.grade for f in of(StateDir(tmp_path / "file"), "state")] == [Grade.BROKEN]


def test_refused_settings_are_named_one_by_one(state: StateDir) -> None:
    (state.path / "settings.toml").write_text("batch_size = 0\ncolour = 'red'\n")
    found = of(state, "settings")
    assert [f.grade for f in found] == [Grade.BROKEN, Grade.BROKEN]
    assert "batch_size: must be 1 to 100 (got 0)" in found[0].what
    assert "colour: unknown setting" in found[1].what


def test_a_small_spool_is_a_note_and_a_big_one_a_warning(state: StateDir) -> None:
    (state.spool / "1.jsonl").write_text("{}\n")
    assert [f.grade for f in of(state, "spool")] == [Grade.NOTE]
    (state.spool / "1.jsonl").write_text("x" * 2_000_000)
    assert [f.grade for f in of(state, "spool")] == [Grade.WARNING]


def test_refused_events_are_pointed_at(state: StateDir) -> None:
    (state.spool / "refused.jsonl.bad").write_text("?\n")
    assert any("refused.jsonl.bad" in f.what for f in of(state, "spool"))


@pytest.mark.parametrize(("free", "grade"), [(10**12, Grade.OK), (10**8, Grade.WARNING), (10**6, Grade.BROKEN)])
def test_a_full_disk_is_told_before_it_hurts(state: StateDir, free: int, grade: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks.shutil, "disk_usage", lambda _: type("Usage", (), {"free": free})())
    assert [f.grade for f in of(state, "disk")] == [grade]


def test_templates_of_the_user_are_read_before_they_are_needed(state: StateDir) -> None:
    state.templates.mkdir()
    (state.templates / "gem_block.md.j2").write_text("{% for record in %}")
    (state.templates / "gemblock.md.j2").write_text("fine")
    (state.templates / "session_start.md.j2").write_text("{{ records | length }}")
    found = {Path(f.what.split()[0]).name if f.grade is not Grade.OK else "own": f for f in of(state, "templates")}
    assert found["gem_block.md.j2"].grade is Grade.BROKEN
    assert found["gemblock.md.j2"].grade is Grade.WARNING
    assert "session_start.md.j2" in found["own"].what
