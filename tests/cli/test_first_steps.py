"""What somebody types who is new here: refused with what to type instead, or simply done."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from openclaw_neuralstream.cli import main
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from tests.cli.conftest import Cli

PORT = "The staging database listens on port 5433."


# --- conversations and gems ----------------------------------------------------------------------------------------------

CHATS = {
    "chatgpt": [{"title": "Graz", "mapping": {"a": {"message": None, "children": []}}, "current_node": "a"}],
    "claude": [{"uuid": "u1", "name": "Graz", "chat_messages": [{"sender": "human", "text": "Я переехал в Грац"}]}],
    "openclaw": [{"type": "message", "message": {"role": "user", "content": "hello"}}],
    "jsonl": [{"role": "user", "text": "我搬到成都了"}, {"role": "assistant", "text": "好的"}],
}


@pytest.mark.parametrize("name", list(CHATS))
def test_exported_chats_are_refused_as_gems_with_the_command_that_takes_them(
    cold: Cli, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(CHATS[name], ensure_ascii=False))
    result = cold("gems", "import", str(file))
    assert result.exit_code == 1
    assert f"these are conversations ({name}), no gems" in result.stderr
    assert f"neuralstream backfill file {file}" in result.stderr


@pytest.mark.parametrize("lines", [True, False])
def test_messages_with_role_and_content_are_conversations_too_and_the_named_command_takes_them(
    cli: Cli, tmp_path: Path, lines: bool
) -> None:
    said = [{"role": "user", "content": f"{PORT} {lines}"}, {"role": "assistant", "content": "Noted."}]
    file = tmp_path / "chat.json"
    file.write_text("\n".join(map(json.dumps, said)) if lines else json.dumps({"messages": said}))
    assert "conversations (jsonl)" in cli("gems", "import", str(file)).stderr
    assert json.loads(cli.ok("backfill", "file", str(file), "--dry-run", "--json"))["turns"] == 1


def test_texts_with_one_role_and_gems_of_ours_still_come_in(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "texts.json"
    file.write_text(json.dumps([{"role": "user", "text": "The kettle in the office is blue."}]))
    assert json.loads(cli.ok("gems", "import", str(file), "--json"))["stored"] == 1
    file.write_text(json.dumps(CHATS["jsonl"]))
    assert json.loads(cli.ok("gems", "import", str(file), "--format", "json", "--json"))["stored"] >= 1


def test_gems_are_refused_as_conversations_with_the_command_that_takes_them(cold: Cli, tmp_path: Path) -> None:
    file = tmp_path / "gems.jsonl"
    file.write_text(json.dumps({"gem_id": "1", "content": PORT}) + "\n")
    result = cold("backfill", "file", str(file))
    assert result.exit_code == 1
    assert f"neuralstream gems import {file}" in result.stderr


# --- where options stand -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("config", "path", "--state-dir", "HERE"),
        ("config", "--state-dir", "HERE", "path"),
        ("config", "path", "--state-dir=HERE"),
        ("--state-dir", "HERE", "config", "path"),
    ],
)
def test_the_state_directory_may_be_named_anywhere(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    asked = [argument.replace("HERE", str(tmp_path / "here")) for argument in arguments]
    result = CliRunner().invoke(main, asked)
    assert result.stdout.strip() == str(tmp_path / "here" / "settings.toml")


def test_a_state_directory_without_a_name_is_a_usage_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["config", "path", "--state-dir"])
    assert (result.exit_code, "--state-dir needs a directory" in result.stderr) == (2, True)


READING = (
    ("recall", "the staging database"), ("explain", "the staging database"), ("context", "the staging database"), ("status",),
    ("gems", "list"), ("gems", "show", "1f3a9c20"), ("gems", "export"), ("admin", "batches", "list"), ("tags", "list"), ("entities",),
    ("qa", "list"), ("proposals", "list"), ("admin", "audit"), ("models", "--no-try"), ("admin", "plugins"), ("doctor", "--no-host"), ("forget", "Anna", "--dry-run"), ("admin", "logs"),
    ("config", "list"), ("admin", "harvest", "--dry-run"), ("retain", "Anna likes tea.", "--dry-run"), ("reflect", "--dry-run"), ("admin", "intake", "--dry-run"),
    ("tags", "merge", "k8s", "kubernetes", "--dry-run"), ("backfill", "file", "CHATS", "--dry-run"),
    ("admin", "move", "index", "--to", "qdrant", "--url", "http://127.0.0.1:1", "--dry-run"),
    ("admin", "move", "buffer", "--to", "redis", "--url", "redis://127.0.0.1:1/0", "--dry-run"),
)  # fmt: skip


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_who_only_reads_makes_no_memory_in_a_directory_that_was_mistyped(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    there, empty = tmp_path / "mistyped", tmp_path / "empty"
    empty.mkdir(mode=0o755)
    chats = tmp_path / "chats.jsonl"
    chats.write_text(
        '{"role": "user", "content": "The staging database listens on port 5544.", "timestamp": "2026-01-31T10:00:00Z"}\n'
    )
    for folder in (there, empty):
        result = Cli(StateDir(folder))(*(str(chats) if argument == "CHATS" else argument for argument in arguments))
        if arguments[0] not in ("config", "doctor") and "logs" not in arguments:
            assert result.exit_code == 1
            assert f"there is no memory here · {folder}" in result.stderr
            assert "--state-dir" in result.stderr
    assert not there.exists()
    assert (list(empty.iterdir()), empty.stat().st_mode & 0o777) == ([], 0o755)


def test_the_command_that_is_named_begins_a_memory_in_the_directory_that_was_meant(tmp_path: Path) -> None:
    there = tmp_path / "my notes"
    told = Cli(StateDir(there))("gems", "list").stderr
    typed = shlex.split(told[told.index("neuralstream remember") :])
    assert typed[:5] == ["neuralstream", "remember", "…", "--state-dir", str(there)]


@pytest.mark.parametrize("folder", ["hooks", "templates"])
def test_a_directory_that_holds_hooks_or_templates_of_ones_own_is_no_mistyped_one(tmp_path: Path, folder: str) -> None:
    own = Cli(StateDir(tmp_path / "new"))
    (own.state.path / folder).mkdir(parents=True)
    if folder == "hooks":
        (own.state.hooks / "mine.py").write_text("def turn_end(turn):\n    return turn\n")
    try:
        assert folder != "hooks" or "mine" in own.ok("admin", "plugins")
        assert json.loads(own.ok("gems", "list", "--json")) == []
    finally:
        client.stop(own.state)


def test_intake_keeps_something_and_begins_a_memory_where_it_is_told_to(tmp_path: Path) -> None:
    own = Cli(StateDir(tmp_path / "new"))
    try:
        result = own("admin", "intake")
        assert "there is no memory here" not in result.stderr
        assert own.state.database.exists()
    finally:
        client.stop(own.state)


def test_the_doctor_does_not_say_that_nothing_is_wrong_where_there_is_no_memory(tmp_path: Path) -> None:
    said = Cli(StateDir(tmp_path / "mistyped")).ok("doctor", "--no-host")
    assert "there is no memory in" in said
    assert "nothing is wrong" not in said


def test_what_brings_something_to_keep_begins_a_memory_where_it_is_told_to(tmp_path: Path) -> None:
    own = Cli(StateDir(tmp_path / "new"))
    try:
        own.ok("remember", "The staging database listens on port 5544.")
        assert "5544" in own.ok("gems", "list")
    finally:
        client.stop(own.state)


def test_behind_two_dashes_all_are_words(cli: Cli) -> None:
    cli.ok("remember", "--", "Use", "--state-dir", "for another memory of the tests.")
    assert "--state-dir" in cli.ok("gems", "list")


@pytest.mark.parametrize("arguments", [("-5",), ("-5", "--json"), ("-10h",), ("-.5",)])
def test_a_negative_value_is_refused_by_name_and_range(cold: Cli, arguments: tuple[str, ...]) -> None:
    result = cold("config", "set", "idle_timeout", *arguments)
    assert result.exit_code == 1
    assert "idle_timeout" in result.stderr
    assert "10 to 86400" in result.stderr


def test_a_negative_value_in_range_is_written(cold: Cli) -> None:
    cold.ok("config", "set", "model_keep_alive", "-1")
    assert tomllib.loads((cold.state.path / "settings.toml").read_text())["model_keep_alive"] == -1


# --- what was done, and what was not -------------------------------------------------------------------------------------


def test_a_topic_that_is_not_there_is_not_said_to_be_removed(cold: Cli, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    cold.ok("config", "set", "workspace", str(tmp_path / "workspace"))
    cold.ok("qa", "topics", "add", "sailing", "отпуск")
    result = cold("qa", "topics", "remove", "nothere")
    assert result.exit_code == 1
    assert "not among your topics: nothere" in result.stderr
    assert "sailing, отпуск" in result.stderr
    assert "✔" not in result.stdout
    partly = cold("qa", "topics", "remove", "отпуск", "nothere")
    assert partly.exit_code == 0
    assert "nothere: not among your topics" in partly.stderr
    assert json.loads(cold.ok("qa", "topics", "remove", "sailing", "--json"))["unknown"] == []


def test_a_backup_to_check_is_the_newest_one_here_or_asked_for(
    cold: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = cold("backup", "--check")
    assert result.exit_code == 1
    assert "which archive?" in result.stderr
    assert "neuralstream backup --check FILE" in result.stderr
    cold.ok("remember", PORT)
    cold.ok("backup")
    (made,) = tmp_path.glob("neuralstream-*.tar.gz")
    assert str(made) in cold.ok("backup", "--check")


@pytest.mark.parametrize(
    "arguments",
    [
        ("gems", "import", "NOPE/gems.jsonl"),
        ("gems", "export", "NOPE/gems.jsonl"),
        ("backfill", "file", "NOPE/chat.json"),
        ("backfill", "host", "--host-state", "NOPE"),
        ("backup", "NOPE/all.tar.gz"),
        ("backup", "--check", "NOPE/all.tar.gz"),
        ("restore", "NOPE/all.tar.gz", "--yes"),
        ("install", "--openclaw", "NOPE/openclaw.mjs"),
        ("doctor", "--openclaw", "NOPE/openclaw.mjs"),
    ],
)
def test_a_path_that_is_not_there_is_told_with_its_remedy(cli: Cli, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    cli.ok("remember", PORT)
    nope = str(tmp_path / "nope")
    result = cli(*(argument.replace("NOPE", nope) for argument in arguments))
    assert result.exit_code == 1
    assert nope in result.output
    assert "mend it:" in result.output or arguments[0] == "doctor"


def test_a_file_to_harvest_that_is_not_there_is_named(cold: Cli, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    cold.ok("config", "set", "workspace", str(tmp_path / "workspace"))
    result = cold("admin", "harvest", "--path", str(tmp_path / "nope" / "x.md"))
    assert result.exit_code == 1
    assert f"no such file · {tmp_path}/nope/x.md" in result.stderr
    assert f"ls {tmp_path}" in result.stderr


def test_help_and_error_name_the_same_kinds(cold: Cli) -> None:
    named = cold("recall", "x", "--kind", "nothing").stderr
    told = " ".join(cold.ok("recall", "--help").split())
    for kind in ("world", "opinion", "note", "turn", "decision", "todo"):
        assert f"'{kind}'" in named
        assert kind in told


@pytest.mark.parametrize(
    ("said", "left"), [("last week", 0), ("上周", 0), ("в прошлом месяце", 0), ("7d", 0), ("2020-01-01T00:00:00", 0)]
)
def test_forgetting_takes_the_words_for_days_that_other_commands_take(cli: Cli, said: str, left: int) -> None:
    cli.ok("remember", PORT)
    shown = cli.ok("forget", "--since", said, "--dry-run")
    assert "what was said from 20" in shown
    assert "UTC" in shown
    assert len(json.loads(cli.ok("gems", "list", "--json"))) == 1
    cli.ok("forget", "--since", said, "--yes")
    assert len(json.loads(cli.ok("gems", "list", "--json"))) == left


def test_forgetting_before_a_time_keeps_what_is_newer_and_nonsense_is_refused(cli: Cli) -> None:
    cli.ok("remember", PORT)
    assert "nothing like that" in cli.ok("forget", "--until", "last week", "--yes")
    result = cli("forget", "--since", "whenever")
    assert (result.exit_code, "is no day" in result.stderr) == (2, True)


# --- a context -----------------------------------------------------------------------------------------------------------


def test_a_context_parts_what_matches_from_what_is_only_new(cold: Cli) -> None:
    (cold.state.path / "settings.toml").write_text("recall_threshold = 0.3\n")
    cold.ok("remember", PORT)
    cold.ok("remember", "The kettle in the office is blue.")
    both = cold.ok("context", "which port does the staging database use")
    topic, new = both.split("*New, whatever it is about:*")
    assert "5433" in topic
    assert "kettle" in new
    assert "Nothing remembered matches" not in both
    none = cold.ok("context", "the boiling point of tungsten")
    assert "*Nothing remembered matches the question. New, whatever it is about:*" in none
    assert "*Tags: *" not in both + none
