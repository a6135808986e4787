"""`neuralstream tags`: listed with counts over gems and notes, changed by name, refused with what mends it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.text.lines import gem_to_json
from tests.cli.conftest import Cli
from tests.values import gem

GEMS = [
    gem("11111111-a", "Debit spreads expire in 45 days.", tags=("fact", "Spreads")),
    gem("22222222-b", "Options are sold weekly.", tags=("fact", "options")),
    gem("33333333-c", "每周卖期权收租。", tags=("fact", "期权")),
    gem("44444444-d", "The cluster runs on three nodes.", tags=("fact", "k8s", "kubernetes")),
    gem("55555555-e", "The option desk opens at nine.", tags=("fact",)),
]


class Copies:
    """One memory at a time, made as a copy of one that no test touches; its process is ended with it."""

    def __init__(self, original: Path, folder: Path) -> None:
        self._original, self._folder, self._made = original, folder, 0
        self.cli = self._copied()
        self._untouched = self._shown()

    def restore(self) -> None:
        """Take the changes of tags back; where that does not give the original, the next test gets another copy."""
        while self.cli("tags", "undo").exit_code == 0:
            pass
        if self._shown() != self._untouched:
            self.close()
            self.cli = self._copied()

    def close(self) -> None:
        client.stop(self.cli.state)

    def _copied(self) -> Cli:
        self._made += 1
        folder = shutil.copytree(self._original, self._folder / str(self._made))
        own = Cli(StateDir(folder / "state"))
        own.ok("config", "set", "workspace", str(folder / "workspace"))
        return own

    def _shown(self) -> list[Any]:
        """All that a test here may change: the tags with their graph, what was done to them, the gems."""
        told = (("tags", "list", "--all"), ("tags", "list", "--tree"), ("tags", "history"), ("gems", "list"))
        return [json.loads(self.cli.ok(*words, "--json")) for words in told]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copies]:
    """A memory with five gems and a workspace of one note."""
    original = tmp_path_factory.mktemp("original")
    workspace = original / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "plan.md").write_text(
        "---\ntags: [Options, infra]\n---\n# Plan\n\nSell calls.\n", encoding="utf-8"
    )
    own = Cli(StateDir(original / "state"))
    own.ok("config", "set", "workspace", str(workspace))
    kept = original / "gems.jsonl"
    kept.write_text("\n".join(json.dumps(gem_to_json(item)) for item in GEMS), encoding="utf-8")
    own.ok("gems", "import", str(kept))
    own.ok("admin", "harvest")
    client.stop(own.state)
    copies = Copies(original, tmp_path_factory.mktemp("copies"))
    yield copies
    copies.close()


@pytest.fixture
def cli(memory: Copies) -> Iterator[Cli]:
    """The memory as it was made, whatever the tests before did to it."""
    yield memory.cli
    memory.restore()


def listed(cli: Cli, *options: str) -> dict[str, dict[str, Any]]:
    return {row["tag"]: row for row in json.loads(cli.ok("tags", "list", "--json", *options))}


def test_tags_are_listed_with_counts_over_gems_and_notes(cli: Cli) -> None:
    rows = listed(cli)
    assert (rows["options"]["gems"], rows["options"]["inferred"], rows["options"]["notes"]) == (1, 1, 1)
    assert "fact" not in rows
    assert listed(cli, "--all")["fact"]["mark"]
    assert cli.ok("tags").splitlines()[0].split("\t")[:2] == ["options", "3"]
    assert json.loads(cli.ok("tags", "--json"))[0]["count"] == 3


def test_aliases_that_are_given_together_are_one_change_and_taken_back_together(cli: Cli) -> None:
    told = json.loads(cli.ok("tags", "alias", "options", "期权", "опционы", "--json"))
    assert told["tag"]["aliases"] == ["опционы", "期权"]
    assert [change["names"] for change in json.loads(cli.ok("tags", "history", "--json"))] == [
        ["期权", "опционы", "options"]
    ]
    cli.ok("tags", "undo")
    assert listed(cli)["options"]["aliases"] == []


def test_aliases_in_other_languages_count_as_the_name(cli: Cli) -> None:
    cli.ok("tags", "alias", "options", "期权", "опционы")
    row = listed(cli)["options"]
    assert (row["gems"], row["aliases"]) == (2, ["опционы", "期权"])
    assert [g["gem_id"] for g in json.loads(cli.ok("gems", "list", "--tag", "Опционами", "--json"))] == [
        "55555555-e",
        "33333333-c",
        "22222222-b",
    ]


def test_a_parent_reaches_gems_and_notes_of_its_children(cli: Cli) -> None:
    cli.ok("tags", "parent", "spreads", "options")
    cli.ok("tags", "parent", "options", "trading")
    shown = json.loads(cli.ok("tags", "show", "trading", "--json"))
    assert [(row["tag"], row["steps"]) for row in shown["below"]] == [("options", 1), ("spreads", 2)]
    assert shown["records"] == {"gems": 2, "inferred": 1, "notes": 1}
    assert len(json.loads(cli.ok("gems", "list", "--tag", "trading", "--json"))) == 3
    found = json.loads(cli.ok("recall", "what is new?", "--tag", "trading", "--json"))["records"]
    assert {item["id"] for item in found if item["kind"] == "fact"} == {"11111111-a", "22222222-b", "55555555-e"}
    found = json.loads(cli.ok("recall", "sell calls", "--tag", "trading", "--files", "--json"))["records"]
    assert [item["citation"].split("#")[0] for item in found] == ["memory/plan.md"]
    assert cli.ok("tags", "list", "--tree").splitlines()[-3:] == ["trading\t0", "  options\t3", "    spreads\t1"]


def test_a_merge_is_shown_first_counts_each_gem_once_and_can_be_taken_back(cli: Cli) -> None:
    before = listed(cli)
    assert "nothing was changed" in cli.ok("tags", "merge", "k8s", "kubernetes", "--dry-run")
    assert listed(cli) == before
    cli.ok("tags", "merge", "K8S", "kubernetes")
    row = listed(cli)["kubernetes"]
    assert (row["gems"], row["aliases"]) == (1, ["k8s"])
    assert json.loads(cli.ok("gems", "show", "44444444", "--json"))["gem"]["tags"] == ["fact", "k8s", "kubernetes"]
    assert "merge k8s kubernetes" in cli.ok("tags", "undo")
    assert listed(cli) == before


def test_a_cycle_is_refused_by_its_path_and_a_wrong_name_gets_those_that_are_close(cli: Cli) -> None:
    cli.ok("tags", "parent", "options", "trading")
    refused = cli("tags", "parent", "trading", "options", "--json")
    assert refused.exit_code == 1
    error = json.loads(refused.stdout)["error"]
    assert "options → trading → options" in error["what"] or "trading → options → trading" in error["what"]
    assert "tags unparent" in error["fix"]
    unknown = cli("tags", "merge", "kubrenetes", "k8s")
    assert unknown.exit_code == 1
    assert "did you mean kubernetes" in unknown.output
    assert "tags merge k8s kubernetes" in cli("tags", "rename", "k8s", "kubernetes").output


def test_a_renamed_tag_keeps_its_old_name_and_a_removed_one_leaves_its_records(cli: Cli) -> None:
    cli.ok("tags", "rename", "k8s", "containers")
    assert listed(cli)["containers"]["aliases"] == ["k8s"]
    assert [c["action"] for c in json.loads(cli.ok("tags", "history", "--json"))] == ["rename"]
    cli.ok("tags", "remove", "containers")
    assert listed(cli)["k8s"]["gems"] == 1
    assert json.loads(cli.ok("tags", "history", "--json")) == []


def test_on_a_terminal_there_is_a_table_and_a_tree(cli: Cli) -> None:
    cli.ok("tags", "parent", "spreads", "options")
    table = cli.on_terminal("tags", "list")
    assert "gems" in table
    assert "+ 1" in table
    assert "spreads" in cli.on_terminal("tags", "list", "--tree", env={"NO_COLOR": "1"}).split("└── ", 1)[1]


def test_inferred_tags_are_marked_and_never_more_than_the_setting(cli: Cli) -> None:
    shown = json.loads(cli.ok("gems", "show", "55555555", "--json"))
    assert (shown["gem"]["tags"], shown["gem"]["inferred_tags"]) == (["fact"], ["options"])
    assert "(fact, options?)" in cli.ok("gems", "show", "55555555")
    assert json.loads(cli.ok("tags", "infer", "--json")) == {"looked": 5}


def test_forgetting_a_thing_forgets_the_tag_that_a_person_made_of_its_name(cli: Cli) -> None:
    cli.ok("tags", "alias", "trading", "zanzibarium")
    planned = json.loads(cli.ok("forget", "--entity", "Zanzibarium", "--dry-run", "--json"))
    assert planned["receipt"]["removed"]["tags"] == 1
    cli.ok("forget", "--entity", "Zanzibarium", "--yes")
    assert listed(cli)["trading"]["aliases"] == []
    assert "zanzibarium" not in cli.ok("tags", "history")
    cli.ok("tags", "remove", "trading")


def test_recall_says_the_canonical_name_and_the_gem_keeps_its_own(cli: Cli) -> None:
    cli.ok("tags", "rename", "spreads", "debit-spreads")
    (found,) = json.loads(cli.ok("recall", "When do debit spreads expire?", "--gems", "--json"))["records"][:1]
    assert found["tags"] == ["fact", "debit-spreads"]
    assert json.loads(cli.ok("gems", "show", "11111111", "--json"))["gem"]["tags"] == ["fact", "Spreads"]


def test_nothing_tagged_says_how_to_tag(cli: Cli) -> None:
    assert "No tag yet" in cli.ok("tags", "list", "--agent", "nobody")
