"""The doctor as a command: a sound memory is fine, a broken one costs the exit code and says what to type."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

from tests.cli.conftest import Cli


def test_a_sound_memory_is_fine(cli: Cli) -> None:
    found = json.loads(cli.ok("doctor", "--no-host", "--json"))
    assert found["worst"] in ("ok", "note")
    assert {"state", "settings", "disk", "spool", "process", "embedder", "index"} <= {
        f["check"] for f in found["findings"]
    }
    assert "nothing is wrong" in cli.ok("doctor", "--no-host")


def test_settings_that_are_refused_are_broken_and_named(cold: Cli) -> None:
    cold.state.path.mkdir(parents=True, exist_ok=True)
    (cold.state.path / "settings.toml").write_text("context_threshold = 95\n")
    result = cold("doctor", "--no-host")
    assert result.exit_code == 1
    assert "context_threshold: must be 40 to 80 (got 95)" in result.stdout
    assert "mend it: edit" in result.stdout


def test_a_user_s_hook_that_does_not_load_is_broken_and_named(cold: Cli) -> None:
    cold.state.hooks.mkdir(parents=True)
    (cold.state.hooks / "mine.py").write_text("def broken(:\n")
    result = cold("doctor", "--no-host")
    assert result.exit_code == 1
    assert "mine.py was refused: SyntaxError" in result.stdout


def test_a_host_that_is_not_there_is_broken(cli: Cli) -> None:
    result = cli("doctor", "--openclaw", "/nowhere/openclaw", "--json")
    assert result.exit_code == 1
    assert [f["check"] for f in json.loads(result.stdout)["findings"] if f["grade"] == "broken"] == ["openclaw"]


def test_a_damaged_memory_file_is_broken_and_mended_by_the_command_it_names(cold: Cli) -> None:
    for word in ("zanzibar", "kilimanjaro", "serengeti"):
        cold.ok("remember", f"The word of the day is {word}.")
    with closing(sqlite3.connect(cold.state.database)) as connection, connection:
        connection.execute("UPDATE words_data SET block = zeroblob(length(block)) WHERE id > 10")
    found = cold("doctor", "--no-host", "--json")
    assert found.exit_code == 1
    damage = [f for f in json.loads(found.stdout)["findings"] if f["check"] == "file"]
    assert [(f["grade"], f["fix"]) for f in damage] == [("broken", "neuralstream admin stop")]
    cold.ok("admin", "stop")
    assert "zanzibar" in cold.ok("recall", "what is the word of the day", "-k", "10")
    assert json.loads(cold("doctor", "--no-host", "--json").stdout)["worst"] != "broken"
