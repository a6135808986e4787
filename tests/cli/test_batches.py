"""Batches and dead letters on the command line: listed, shown, taken back, done again; errors also as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

import pytest
from click.testing import CliRunner

from openclaw_neuralstream.cli import main
from tests.cli.conftest import Cli, with_door
from tests.worlds import turn_event

OLD = "The staging database listens on port 5433."
NEW = "Correction: the staging database listens on port 5544 now, not 5433."


def distilled(cli: Cli, text: str, key: str) -> None:
    def work(door: Any) -> None:
        door.call("turn_end", turn_event(text, key=key))
        door.call("flush", {}, timeout=60)

    with_door(cli.state, work)


def told(cli: Cli, *words: str) -> Any:
    return json.loads(cli(*words, "--json").stdout)


def test_a_correction_is_seen_taken_back_and_done_again(cli: Cli) -> None:
    distilled(cli, OLD, "agent:main:batches-1")
    distilled(cli, NEW, "agent:main:batches-2")
    (gem,) = told(cli, "gems", "list")
    assert "5544" in gem["content"]
    (row,) = [
        b
        for b in told(cli, "admin", "batches", "list")
        if b["session_key"] == "agent:main:batches-2" and b["state"] == "stored"
    ]
    assert (row["extractor"]["name"], row["replaced"]) == ("rules", 1)
    shown = cli("admin", "batches", "show", row["batch_id"][:10]).stdout
    assert NEW in shown
    assert "denies" in shown
    assert OLD in cli("gems", "show", gem["gem_id"]).stdout
    table = cli.on_terminal("admin", "batches", "list", env={"NO_COLOR": "1", "COLUMNS": "110"})
    (line,) = [line for line in table.splitlines() if row["batch_id"][:8] in line]
    assert "agent:main:batches-2" in line  # it fits: nothing of a row is folded
    assert "(1 replaced)" in line
    plan = told(cli, "admin", "batches", "undo", row["batch_id"], "--dry-run")
    assert ([g["content"] for g in plan["restored"]], len(plan["removed"])) == ([OLD], 1)
    assert len(told(cli, "gems", "list")) == 1
    told(cli, "admin", "batches", "undo", row["batch_id"], "--yes")
    assert [g["content"] for g in told(cli, "gems", "list")] == [OLD]
    again = told(cli, "admin", "batches", "again", row["batch_id"], "--extractor", "rules")
    assert [len(item["gems"]) for item in again["batches"]] == [1]
    assert "5544" in told(cli, "gems", "list")[0]["content"]
    many = told(cli, "admin", "batches", "again", "--session", "agent:main:batches-2", "--extractor", "rules")
    assert [item["skipped"] for item in many["batches"]] == [True]


def test_a_name_that_nothing_has_fails_with_what_to_type_and_as_json(cli: Cli) -> None:
    for words in (
        ("gems", "show", "nope"),
        ("admin", "batches", "show", "nope"),
        ("admin", "dead", "show", "nope"),
        ("admin", "dead", "retry", "nope"),
        ("gems", "confirm", "nope"),
    ):
        done = cli(*words)
        assert (done.exit_code, "mend it" in done.stderr) == (1, True), words
        error = json.loads(cli(*words, "--json").stdout)["error"]
        assert (error["code"], bool(error["fix"])) == ("not-found", True)


def test_what_somebody_else_said_is_confirmed(cli: Cli) -> None:
    with_door(
        cli.state, lambda door: door.call("tool.remember", {"text": "The lift is out of order.", "user": "telegram:42"})
    )
    (gem,) = told(cli, "gems", "list")
    assert gem["origin"] == "untrusted"
    assert told(cli, "gems", "confirm", gem["gem_id"])["origin"] == "owner"
    assert "confirmed" in told(cli, "gems", "show", gem["gem_id"])["gem"]["tags"]


class Dead:
    """A memory in which two batches were set aside."""

    def __init__(self) -> None:
        self.retried = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def call(self, method: str, _params: object) -> dict[str, list[str]]:
        self.retried += method == "dead.retry"
        return {"batches": ["a", "b"], "revived": ["a", "b"]}


@pytest.mark.parametrize(
    ("words", "terminal", "answer", "retried"),
    [((), True, "n", 0), ((), True, "y", 1), (("--yes",), True, "", 1), ((), False, "", 1), (("a",), True, "", 1)],
)
def test_all_dead_letters_are_tried_again_only_when_somebody_says_so(
    words: tuple[str, ...],
    *,
    terminal: bool,
    answer: str,
    retried: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    dead = Dead()
    monkeypatch.setattr("openclaw_neuralstream.cli.batches.opened", lambda _: dead)
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: terminal)
    CliRunner().invoke(main, ["--state-dir", str(tmp_path), "admin", "dead", "retry", *words], input=f"{answer}\n")
    assert dead.retried == retried
