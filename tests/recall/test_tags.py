"""Questions that mention a tag or a name reach what carries it, near and far; where none is mentioned, likeness answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from openclaw_neuralstream.errors import StateError
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Query, Recall, Scope, Wanted
from openclaw_neuralstream.recall import recall
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store.tags import FADE, TagGraph
from tests.values import MAIN, NOW, gem
from tests.workspace.files import write

OTHER = Scope("other")
GEMS = (
    gem("debit", "Debit structures expire in 30 to 45 days.", tags=("preference", "spreads")),
    gem("weekly", "Puts are sold on Fridays only.", tags=("fact", "options")),
    gem("rule", "Never risk more than two percent on one position.", tags=("instruction", "trading")),
    gem("nodes", "The cluster runs on three nodes in the cellar.", tags=("fact", "kubernetes")),
    gem("отпуск", "Билеты на Камчатку уже куплены.", tags=("fact", "отпуск")),
    gem("期权", "每周五卖出看跌合约。", tags=("fact", "期权")),
    gem("shares", "Dividend shares are bought and held for many years.", tags=("fact",)),
    gem("tea", "Peter drinks green tea in the morning.", tags=("fact",), entities=("Peter Müller",)),
    gem("fridge", "The fridge was repaired in May.", tags=("fact", "by-hand")),
    replace(gem("theirs", "A secret way of trading.", tags=("fact", "trading")), scope=OTHER),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    folder = tmp_path_factory.mktemp("tags")
    write(folder / "ws", "bank/entities/Peter.md", '---\naliases: ["Peter Müller", "Петя", "小彼"]\n---\n# Peter\n')
    write(folder / "ws", "memory/plan.md", "---\ntags: [sailing]\n---\n# Plan\n\nWe leave in June.\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEURALSTREAM_EMBEDDER", "embedded")
        patch.setenv("NEURALSTREAM_WORKSPACE", str(folder / "ws"))
        memory = wiring.open_memory(StateDir(folder / "state"), start=False, clock=lambda: NOW)
    workspace = memory.parts.workspaces.for_agent("main")
    assert workspace
    workspace.harvest()
    memory.import_gems(GEMS)
    said = memory.truth.tags
    said.change("parent", [], lambda g: g.put_under("options", "trading").put_under("spreads", "options"), NOW)
    said.change("alias", [], lambda g: g.alias("k8s", "kubernetes").alias("期权", "options").alias("опционы", "options"), NOW)
    yield memory
    memory.close()


def asked(memory: Memory, text: str, scope: Scope = MAIN, **more: object) -> Recall:
    return memory.recall(replace(Query(text, scope, NOW), **more))  # type: ignore[arg-type]


def ids(found: Recall) -> list[str]:
    return [record.id for record in found.records]


def fit(found: Recall, signal: str) -> dict[str, float]:
    every = (*found.records, *(item.record for item in found.dropped))
    return {record.id: record.factors[signal] for record in every if signal in record.factors}


def test_a_question_on_a_parent_reaches_children_and_grandchildren_each_step_less(memory: Memory) -> None:
    found = asked(memory, "What do you know about my trading?")
    assert {"rule", "weekly", "debit", "期权"} <= set(ids(found))
    fits = fit(found, "tags")
    assert fits["weekly"] / fits["rule"] == pytest.approx(FADE, abs=0.01)
    assert fits["debit"] / fits["rule"] == pytest.approx(FADE**2, abs=0.01)
    assert fits["期权"] == fits["weekly"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what runs on K8s here?", "nodes"),
        ("Что я знаю про опционы?", "weekly"),
        ("期权有哪些？", "weekly"),
        ("tell me about options", "期权"),
        ("Что у нас с отпуском?", "отпуск"),
    ],
)
def test_an_alias_counts_as_the_name_in_each_language(memory: Memory, question: str, expected: str) -> None:
    assert expected in ids(asked(memory, question))


@pytest.mark.parametrize("question", ["Tell me about Peter Müller", "Расскажи про Петю", "小彼是谁？"])
def test_a_name_of_the_pages_finds_the_gems_about_it(memory: Memory, question: str) -> None:
    found = asked(memory, question)
    assert "tea" in ids(found)
    assert fit(found, "entity")["tea"] == 1


def test_a_tag_of_another_agent_is_no_tag_here_and_its_records_never_come(memory: Memory) -> None:
    assert "theirs" not in ids(asked(memory, "what do you know about trading?"))
    assert ids(asked(memory, "what do you know about trading?", OTHER)) == ["theirs"]
    assert memory.parts.vocabulary.tags_of("kubernetes and отпуск", OTHER) == {"kubernetes"}  # a person has named one


def test_where_tags_match_little_likeness_carries_the_answer(memory: Memory) -> None:
    """CG-11: the untagged record about the same is found beside the tagged ones, and alone when no tag is mentioned."""
    assert "shares" in ids(asked(memory, "Which shares does my trading hold for years?"))
    plain = asked(memory, "Which dividend shares are held for years?")
    assert ids(plain)[0] == "shares"
    assert fit(plain, "tags") == {}


def test_without_a_tag_or_name_in_the_question_the_answer_is_the_same_as_without_the_two_sources(memory: Memory) -> None:
    question = Query("When was the fridge repaired?", MAIN, NOW)
    sources = [source for source in memory.parts.sources if source.name not in ("tags", "entities")]
    without = recall(question, sources=sources, settings=memory.settings, counter=memory.parts.counter)
    found = memory.recall(question)
    assert [(r.id, r.score) for r in found.records] == [(r.id, r.score) for r in without.records]


def test_what_says_how_a_gem_came_to_be_is_no_tag_of_a_question(memory: Memory) -> None:
    assert memory.parts.vocabulary.tags_of("Is it a fact that this was done by hand, an instruction?", MAIN) == set()


def test_tags_of_a_text_are_canonical_and_those_of_notes_count(memory: Memory) -> None:
    names = memory.parts.vocabulary.tags_of("опционами и K8s, sailing, spreads", MAIN)
    assert names == {"options", "kubernetes", "sailing", "spreads"}


def test_a_note_without_tags_gets_those_it_mentions_marked_and_no_more_than_allowed(memory: Memory) -> None:
    workspace = memory.parts.workspaces.for_agent("main")
    assert workspace
    write(workspace.root, "memory/harbour.md", "# Harbour\n\nОпционы и K8s обсудим после sailing.\n")
    workspace.harvest()
    names = memory.parts.vocabulary
    assert workspace.index
    while names.infer_notes(workspace.index, MAIN, 2, 10):
        pass
    row = names.known("options", MAIN)
    assert (row.notes, row.notes_inferred) == (0, 1)
    found = asked(memory, "Что обсудим?", wanted=Wanted(tags=("trading",)), sources=frozenset({"notes"}), everything=True)
    told = [(r.citation.split("#")[0], r.tags, r.inferred_tags) for r in found.records]
    assert told == [("memory/harbour.md", (), ("options", "sailing"))]
    assert not workspace.index.uninferred(f"{names.tags.version()}/2", limit=1)


def test_a_person_narrows_to_a_parent_and_gets_all_below_it_newest_or_not(memory: Memory) -> None:
    found = asked(memory, "what is new?", wanted=Wanted(tags=("Trades",)), everything=True, limit=20)
    assert set(ids(found)) == {"rule", "weekly", "debit", "期权"}


def test_a_vocabulary_that_cannot_be_read_is_left_out_and_the_rest_answers(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(*_: object) -> object:
        raise StateError("the tags do not read")

    monkeypatch.setattr(type(memory.truth.tags), "mentioned", torn)
    found = asked(memory, "When was the fridge repaired?")
    assert ids(found)[0] == "fridge"
    assert found.left_out == {"vocabulary": "the tags do not read"}


def test_a_tag_that_nearly_all_carry_says_little(memory: Memory, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEURALSTREAM_EMBEDDER", "embedded")
        own = wiring.open_memory(StateDir(tmp_path / "state"), start=False, clock=lambda: NOW)
    own.import_gems([gem(f"c{n}", f"Common thing number {n}.", tags=("fact", "common")) for n in range(20)])
    own.import_gems([gem("r", "Something else entirely.", tags=("fact", "rare"))])
    found = asked(own, "what is common and rare?", everything=True)
    fits = fit(found, "tags")
    assert fits["r"] > 3 * max(value for key, value in fits.items() if key != "r")
    own.close()


def test_tags_read_the_same_way_whoever_asks() -> None:
    graph = TagGraph().alias("k8s", "kubernetes")
    assert graph.canonical("K8S") == graph.canonical("Kubernetes") == "kubernetes"
