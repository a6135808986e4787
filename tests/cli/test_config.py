"""Settings shown and changed: validated before they are written, comments kept, what overrules them told."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from openclaw_neuralstream.settings import RETIRED, schemas
from tests.cli.conftest import Cli


def file_of(cli: Cli) -> str:
    path = cli.state.path / "settings.toml"
    return path.read_text() if path.exists() else ""


def test_every_setting_is_listed_with_value_source_range_and_meaning(cold: Cli) -> None:
    found = {item["name"]: item for item in json.loads(cold.ok("config", "list", "--json"))}
    assert set(found) == set(schemas())
    assert found["context_threshold"]["allowed"] == "40 to 80"
    assert found["batch_size"]["source"] == "default"
    assert all(item["meaning"] for item in found.values())


def test_a_value_is_written_and_in_force(cold: Cli) -> None:
    assert "batch_size = 8" in cold.ok("config", "set", "batch_size", "8")
    assert cold.ok("config", "get", "batch_size") == "8\n"
    assert tomllib.loads(file_of(cold)) == {"batch_size": 8}
    changed = {item["name"]: item["source"] for item in json.loads(cold.ok("config", "list", "--changed", "--json"))}
    assert changed == {"batch_size": str(cold.state.path / "settings.toml"), "ollama_url": "environment"}


@pytest.mark.parametrize(
    ("name", "said", "written"),
    [
        ("idle_timeout", "10m", 600), ("context_threshold", "60%", 60), ("capture", "false", False),
        ("recall_threshold", "0.5", 0.5), ("redis_url", "redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("redis_url", "unix:///run/my cache/v.sock", "unix:///run/my cache/v.sock"),
    ],
)  # fmt: skip
def test_values_are_written_as_what_they_are(cold: Cli, name: str, said: str, written: object) -> None:
    cold.ok("config", "set", name, said)
    assert tomllib.loads(file_of(cold)) == {name: written}


def test_a_person_s_comments_and_order_are_kept(cold: Cli) -> None:
    cold.state.path.mkdir(parents=True, exist_ok=True)
    (cold.state.path / "settings.toml").write_text(
        "# my settings\nbatch_size = 6  # six is right\n\n[unused]\n".replace("\n[unused]\n", "")
    )
    cold.ok("config", "set", "batch_size", "7")
    cold.ok("config", "set", "inject", "true")
    assert file_of(cold).startswith("# my settings\nbatch_size = 7  # six is right\n")
    cold.ok("config", "unset", "batch_size")
    assert tomllib.loads(file_of(cold)) == {"inject": True}
    assert "# my settings" in file_of(cold)


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("batch_size", "0", "1 to 100"),
        ("context_threshold", "90", "40 to 80"),
        ("idle_timeout", "soon", "10 to 86400"),
        ("extractor", "magic", "auto, rules"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range_and_nothing_is_written(
    cold: Cli, name: str, value: str, complaint: str
) -> None:
    result = cold("config", "set", name, value)
    assert result.exit_code == 1
    assert name in result.stderr
    assert complaint in result.stderr
    assert file_of(cold) == ""


def test_an_unknown_setting_is_refused_with_a_guess(cold: Cli) -> None:
    result = cold("config", "set", "batchsize", "5")
    assert result.exit_code == 1
    assert "did you mean batch_size?" in result.stderr


def test_a_file_that_is_no_toml_is_left_alone(cold: Cli) -> None:
    cold.state.path.mkdir(parents=True, exist_ok=True)
    (cold.state.path / "settings.toml").write_text("batch_size = = 5\n")
    assert cold("config", "set", "batch_size", "5").exit_code == 1
    assert file_of(cold) == "batch_size = = 5\n"


def test_what_overrules_the_file_is_told_with_the_remedy(cold: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURALSTREAM_BATCH_SIZE", "9")
    result = cold("config", "set", "batch_size", "4")
    assert "unset NEURALSTREAM_BATCH_SIZE" in result.stderr
    assert cold.ok("config", "get", "batch_size") == "9\n"


def test_the_host_s_settings_overrule_too(cold: Cli) -> None:
    cold.state.path.mkdir(parents=True, exist_ok=True)
    cold.state.host_config.write_text('{"batch_size": 3}')
    result = cold("config", "set", "batch_size", "4")
    assert "openclaw config unset plugins.entries.neuralstream.config.batch_size" in result.stderr


def test_a_running_process_takes_the_new_value_up(cold: Cli) -> None:
    first = json.loads(cold.ok("status", "--json"))
    assert "starts anew" in cold.ok("config", "set", "max_gems_injected", "3")
    second = json.loads(cold.ok("status", "--json"))
    assert second["settings"]["max_gems_injected"]["value"] == 3
    assert second["pid"] != first["pid"]


def test_taking_out_what_is_not_there_is_an_error(cold: Cli) -> None:
    assert cold("config", "unset", "batch_size").exit_code == 1


def test_the_path_is_where_the_file_will_be(cold: Cli) -> None:
    assert cold.ok("config", "path") == f"{cold.state.path}/settings.toml\n"


def test_a_workspace_is_named_from_the_root_on(cold: Cli) -> None:
    result = cold("config", "set", "workspace", "notes/of mine")
    assert result.exit_code == 1
    assert "named from the root on" in result.stderr
    assert json.loads(cold.ok("config", "get", "workspace", "--json")) == ""


def test_a_workspace_that_is_not_there_is_said(cold: Cli, tmp_path: Path) -> None:
    (tmp_path / "笔记").mkdir()
    assert "is no folder yet" in cold("config", "set", "workspace", str(tmp_path / "заметки")).stderr
    assert "is no folder yet" not in cold("config", "set", "workspace", str(tmp_path / "笔记")).stderr


def test_an_option_of_a_table_is_set_shown_and_taken_out(cold: Cli) -> None:
    assert "redis.socket_timeout = 5" in cold.ok("config", "set", "redis.socket_timeout", "5s")
    cold.ok("config", "set", "redis.username", "memory")
    cold.ok("config", "set", "batch_size", "8")
    assert json.loads(cold.ok("config", "get", "redis", "--json")) == {"socket_timeout": 5, "username": "memory"}
    assert cold.ok("config", "get", "redis.socket_timeout").strip() == "5"
    cold.ok("config", "unset", "redis.username")
    assert json.loads(cold.ok("config", "get", "redis", "--json")) == {"socket_timeout": 5}
    cold.ok("config", "set", "qdrant", '{"shard_number": 2}')
    assert cold.ok("config", "get", "qdrant.shard_number").strip() == "2"
    refused = cold("config", "set", "redis.socket_timeout", "0")
    assert (refused.exit_code, "redis.socket_timeout: must be above 0 to 60" in refused.stderr) == (1, True)
    assert "did you mean redis.username?" in cold("config", "set", "redis.user_name", "x").stderr


@pytest.mark.parametrize("name", RETIRED)
def test_a_retired_setting_is_refused_with_its_new_name(cold: Cli, name: str) -> None:
    result = cold("config", "set", name, "1")
    assert result.exit_code == 1
    assert RETIRED[name] in result.stderr
    assert name in result.stderr


def test_a_retired_setting_in_the_file_warns_and_its_value_is_taken_over(cold: Cli) -> None:
    cold.state.prepare()
    (cold.state.path / "settings.toml").write_text('redis_timeout = "7s"\nqdrant_shards = 3\n[qdrant]\nshard_number = 2\n')
    result = cold("config", "get", "redis.socket_timeout")
    assert (result.exit_code, result.stdout.strip()) == (0, "7")
    assert cold.ok("config", "get", "qdrant.shard_number").strip() == "2"
    assert "redis_timeout is now redis.socket_timeout" in cold("config", "list").stderr
