"""The demo is what it claims to be: the real process, three languages, no secret on the disk, nothing left behind."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from click.testing import CliRunner

from openclaw_neuralstream.cli import main, story


def test_the_demo_remembers_across_new_in_three_languages_and_keeps_no_secret(tmp_path: Path) -> None:
    before = set(Path(tempfile.gettempdir()).glob("neuralstream-demo-*"))
    result = CliRunner().invoke(main, ["demo", "--json"])
    assert result.exit_code == 0, result.output
    played = json.loads(result.stdout)
    read = [f"{answer['brief']}\n{answer['text']}" for answer in played["answers"]]
    for answer, word in zip(read, ["5544", "花生", "10:00", "telescope"], strict=True):
        assert word in answer
    assert played["secret_on_disk"] is False
    assert len(played["gems"]) >= 8
    assert set(Path(tempfile.gettempdir()).glob("neuralstream-demo-*")) <= before


def test_the_demo_in_a_pipe_tells_the_story_and_not_the_secret() -> None:
    result = CliRunner().invoke(main, ["demo"])
    assert result.exit_code == 0, result.output
    assert "◆ gem  我对花生过敏" in result.stdout
    assert "<neuralstream-memory" in result.stdout
    assert "ghp_" in result.stdout
    assert not any(len(word.strip(".")) == 40 and word.startswith("ghp_") for word in result.stdout.split())


def test_the_story_ships_with_a_secret_made_up_each_time() -> None:
    first, second = story.load(), story.load()
    assert first.secret != second.secret
    assert any(first.secret in user for user, _ in first.turns)
    assert "ghp_" not in (story.project_root() / story.FILE).read_text()


def test_a_secret_in_a_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "file.bin").write_bytes(b"\x00\x01ghp_x\xff")
    assert story.holds(tmp_path, "ghp_x")
    assert not story.holds(tmp_path, "ghp_y")
