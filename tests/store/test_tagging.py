"""Tags in the memory file: labels follow the gems, a change is one transaction, forgotten content leaves no trace."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Scope
from openclaw_neuralstream.store.schema import MIGRATIONS, VERSION, seconds, statements, version_of
from openclaw_neuralstream.store.tags import TagGraph, key_of
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.lines import gem_to_json
from tests.erasing import forget
from tests.values import MAIN, NOW, gem


def keep(truth: Truth, *gems: object) -> None:
    truth.import_gems([(g, None) for g in gems], None, NOW)  # type: ignore[misc]


def carried(truth: Truth, tag: str, scope: Scope = MAIN) -> set[str]:
    return {found.gem_id for found in truth.gems(scope, tag=tag)}



def version_2(path: Path) -> None:
    """A file as version 2 left it, with two gems."""
    connection = sqlite3.connect(path)
    for script in MIGRATIONS[:2]:
        for statement in statements(script):
            connection.execute(statement)
    connection.execute("PRAGMA user_version = 2")
    connection.execute("INSERT INTO scopes(scope_id, agent, user, gems, words) VALUES (1, ?, ?, 3, 1)", (MAIN.agent, MAIN.user))
    kept = [
        gem("one", "We trade options.", tags=("fact", "Trading"), entities=("Anna Weber",)),
        gem("two", "Bonds are for trading, too.", tags=("fact",)),
        gem("torn", "does not read", tags=("fact", "lost")),
    ]
    for row, item in enumerate(kept, 1):
        body = json.dumps(gem_to_json(item)) if item.gem_id != "torn" else "{"
        connection.execute(
            "INSERT INTO gems VALUES (?, ?, 1, '', ?, 0, '', ?)", (row, item.gem_id, seconds(item.created_at), body)
        )
        connection.execute("INSERT INTO words(rowid, tokens) VALUES (?, '1/x')", (row,))
    connection.commit()
    connection.close()


def test_a_file_of_version_2_learns_which_gem_carries_which_tag(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    version_2(path)
    truth = Truth.open(path)
    assert carried(truth, "trades") == {"one"}
    assert [label.name for label in truth.tags.counts(MAIN)] == ["fact", "Trading"]
    assert set(truth.tags.named("What did Anna Weber say?", MAIN)) == {key_of("Anna Weber")}
    while truth.tags.infer_some(1):
        pass
    assert truth.tags.inferred(["one", "two"]) == {"two": ("Trading",)}
    truth.close()
    with sqlite3.connect(path) as connection:
        assert version_of(connection) == VERSION


def test_a_migration_that_is_killed_leaves_the_old_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.sqlite"
    version_2(path)
    with monkeypatch.context() as killed:
        killed.setattr("openclaw_neuralstream.store.schema._FILLED", {3: _power_cut})
        with pytest.raises(KeyboardInterrupt):
            Truth.open(path)
    with sqlite3.connect(path) as connection:
        assert version_of(connection) == 2
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE name IN ('labels', 'tags')").fetchall()
    truth = Truth.open(path)
    assert carried(truth, "trading") == {"one"}
    truth.close()


def _power_cut(_: sqlite3.Connection) -> None:
    raise KeyboardInterrupt


def test_a_parent_holds_the_gems_of_its_children_and_grandchildren_under_every_name(truth: Truth) -> None:
    keep(
        truth,
        gem("1", "debit spreads", tags=("spreads",)),
        gem("2", "options", tags=("Option",)),
        gem("3", "期权", tags=("期权",)),
        gem("4", "python", tags=("dev/python",)),
        gem("5", "bonds", tags=("bonds",)),
    )
    truth.tags.change("put", [], lambda g: g.put_under("options", "trading").put_under("spreads", "options"), NOW)
    truth.tags.change("alias", [], lambda g: g.alias("期权", "options"), NOW)
    assert carried(truth, "trading") == {"1", "2", "3"}
    assert carried(truth, "期权") == {"1", "2", "3"}
    assert carried(truth, "spread") == {"1"}
    assert carried(truth, "dev") == {"4"}
    assert carried(truth, "trading", replace(MAIN, agent="other")) == set()


def test_a_merge_keeps_the_counts_and_the_readings_and_is_taken_back(truth: Truth) -> None:
    keep(truth, gem("1", "a", tags=("k8s",)), gem("2", "b", tags=("kubernetes",)), gem("3", "c", tags=("K8s", "x")))
    _, after = truth.tags.change("merge", ["k8s", "kubernetes"], lambda g: g.merge("k8s", "kubernetes"), NOW)
    assert after.canonical("K8S") == "kubernetes"
    assert carried(truth, "kubernetes") == {"1", "2", "3"} == carried(truth, "k8s")
    assert {found.gem_id: found.tags for found in truth.gems()}["3"] == ("K8s", "x")
    assert [change.action for change in truth.tags.changes()] == ["merge"]
    assert truth.tags.undo().names == ("k8s", "kubernetes")
    assert carried(truth, "kubernetes") == {"2"}
    assert truth.tags.graph() == TagGraph()
    with pytest.raises(BadRequest, match="nothing was changed"):
        truth.tags.undo()


def test_what_a_change_refuses_changes_nothing_and_what_it_does_is_there_after_a_restart(path: Path) -> None:
    truth = Truth.open(path)
    truth.tags.change("put", ["a", "b"], lambda g: g.put_under("a", "b"), NOW)
    with pytest.raises(BadRequest):
        truth.tags.change("put", ["b", "a"], lambda g: g.put_under("b", "a"), NOW)
    truth.tags.change("put", ["b", "c"], lambda g: g.put_under("b", "c"), NOW, rehearse=True)
    before = truth.tags.graph()
    truth.close()
    again = Truth.open(path)
    assert again.tags.graph() == before
    assert len(again.tags.changes()) == 1
    again.close()


def test_a_write_that_is_killed_leaves_the_old_graph(truth: Truth, monkeypatch: pytest.MonkeyPatch) -> None:
    truth.tags.change("put", [], lambda g: g.put_under("a", "b"), NOW)
    before = truth.tags.graph()
    with monkeypatch.context() as killed:
        killed.setattr("openclaw_neuralstream.store.tagging._changed", _power_cut)
        with pytest.raises(KeyboardInterrupt):
            truth.tags.change("put", [], lambda g: g.put_under("b", "c"), NOW)
    assert truth.tags.graph() == before
    assert len(truth.tags.changes()) == 1


@pytest.mark.parametrize(
    ("known", "text"),
    [("deployments", "The deployment failed on Friday."), ("отпуск", "До отпуска надо сдать отчёт."), ("期权", "我每周卖期权收租。")],
)
def test_a_gem_without_tags_gets_those_that_its_text_mentions(truth: Truth, known: str, text: str) -> None:
    keep(truth, gem("1", "something else", tags=("fact", known)))
    keep(truth, gem("2", text, tags=("fact",)), gem("3", text + " !", tags=("fact", "own")))
    assert truth.tags.inferred(["1", "2", "3"]) == {"2": (known,)}
    assert carried(truth, known) == {"1", "2"}
    assert {found.gem_id: found.tags for found in truth.gems()}["2"] == ("fact",)


def test_no_more_is_inferred_than_is_allowed_and_topics_stand_in_for_tags(truth: Truth) -> None:
    keep(truth, gem("1", "x", tags=("alpha", "beta", "gamma")))
    keep(truth, gem("2", "alpha, beta and gamma", tags=("fact",), topics=("food",)))
    keep(truth, gem("3", "lunch at noon", tags=("fact",), topics=("food", "work")))
    assert truth.tags.inferred(["2", "3"]) == {"2": ("alpha", "beta", "gamma"), "3": ("food", "work")}
    for most, expected in ((1, {"2": ("alpha",), "3": ("food",)}), (0, {})):
        truth.tags.allow(most)
        while truth.tags.infer_some():
            pass
        assert truth.tags.inferred(["2", "3"]) == expected


def test_what_is_forgotten_leaves_no_trace_among_the_tags(truth: Truth, path: Path) -> None:
    keep(truth, gem("1", "the code name is zanzibarium", tags=("fact", "zanzibarium"), entities=("Zanzibarium",)))
    keep(truth, gem("2", "nothing of note", tags=("fact", "other")))
    assert forget(truth, ["1"]) == 1
    assert [label.name for label in truth.tags.counts(MAIN)] == ["fact", "other"]
    assert truth.tags.mentioned("zanzibarium", MAIN) == {}
    truth.erasing.wipe()
    truth.close()
    for file in path.parent.glob(path.name + "*"):
        assert b"zanzibarium" not in file.read_bytes().lower()


def test_a_tag_nobody_says_any_more_is_inferred_no_longer_unless_a_person_named_it(truth: Truth) -> None:
    keep(truth, gem("1", "x", tags=("kite",)), gem("2", "y", tags=("boat",)))
    truth.tags.change("alias", [], lambda g: g.alias("ship", "boat"), NOW)
    keep(truth, gem("3", "a kite on a boat", tags=("fact",)))
    assert truth.tags.inferred(["3"]) == {"3": ("boat", "kite")}
    forget(truth, ["1", "2"])
    assert truth.tags.inferred(["3"]) == {"3": ("boat",)}


def test_what_was_said_of_a_tag_is_gone_with_its_history_when_it_is_removed(truth: Truth, path: Path) -> None:
    truth.tags.change("alias", ["zanzibarium", "x"], lambda g: g.alias("zanzibarium", "x"), NOW)
    truth.tags.remove("zanzibarium")
    assert truth.tags.changes() == []
    truth.erasing.wipe()
    truth.close()
    for file in path.parent.glob(path.name + "*"):
        assert b"zanzibarium" not in file.read_bytes().lower()


def test_an_edit_by_hand_moves_the_label(truth: Truth) -> None:
    keep(truth, gem("1", "x", tags=("fact", "old")))
    truth.edit("1", tags=("fact", "new"), at=NOW)
    assert carried(truth, "old") == set()
    assert carried(truth, "new") == {"1"}
