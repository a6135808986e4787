"""What reflection wrote is no answer to a question: its sources are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.model import Period, Query, Record, Scope, Wanted
from openclaw_neuralstream.recall import NoteSource, recall
from openclaw_neuralstream.text.tokens import FormulaCounter
from openclaw_neuralstream.workspace.parse import parse
from tests.workspace.world import NOW, World, world

LOG = """## Retain
- O(c=0.95) @{name}: {likes}
- W @{name}: {was}
- O(c=0.95): prefers rye bread
"""


@pytest.fixture
def here(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path, memory_md="augment") as made:
        yield made


def asked(here: World, text: str, **query: Any) -> list[Record]:
    source = NoteSource(lambda _: here.folder.index)
    found = recall(
        Query(text, Scope("main"), NOW, **query),
        sources=(source,),
        settings=here.memory.settings,
        counter=FormulaCounter(),
    )
    return list(found.records)


@pytest.mark.parametrize(
    ("name", "likes", "was", "question"),
    [
        ("Anna", "prefers tea", "lives in Berlin", "tell me about Anna"),
        ("Анна", "предпочитает чай", "живёт в Берлине", "расскажи про Анну"),
        ("小李", "喜欢喝绿茶", "住在柏林", "小李喜欢喝什么？"),
    ],
)
def test_an_answer_comes_once_and_from_its_source(here: World, name: str, likes: str, was: str, question: str) -> None:
    here.folder.keep("memory/2026-11-18.md", LOG.format(name=name, likes=likes, was=was))
    assert "MEMORY.md" in here.reflect().written
    records = asked(here, question)
    assert sum(record.text.endswith(likes) for record in records) == 1
    assert {record.citation.partition("#")[0] for record in records} == {"memory/2026-11-18.md"}


def test_a_deleted_line_is_no_answer_before_the_next_reflection_either(here: World) -> None:
    here.folder.keep("memory/2026-11-18.md", LOG.format(name="Zed", likes="hates tea", was="has a record"))
    here.reflect()
    here.folder.keep("memory/2026-11-18.md", "Nothing.\n")
    here.folder.harvest()
    assert asked(here, "does Zed have a record?") == []
    assert asked(here, "what does Zed prefer?") == []


def test_what_held_then_is_not_told_by_pages_of_today(here: World) -> None:
    here.folder.keep("memory/2026-11-18.md", LOG.format(name="Peter", likes="prefers tea", was="lives in Berlin"))
    here.reflect()
    then = Wanted(as_of=Period(date(2026, 1, 1), date(2026, 1, 31)))
    assert asked(here, "Peter", wanted=then, everything=True) == []


def test_markers_are_no_notes() -> None:
    page = b"<!-- neuralstream:off -->\n\nMine.\n\n<!-- neuralstream:begin entity digest=703261f3d412b026 -->\nHers.\n<!-- neuralstream:end entity -->\n"
    assert [note.text for note in parse("bank/entities/Anna.md", page).notes] == ["Mine.", "Hers."]


def test_ones_own_words_on_a_page_are_found(here: World) -> None:
    here.folder.keep("bank/entities/Anna.md", "# Anna\n\nMet at the regatta in Kiel.\n")
    here.folder.keep("memory/2026-11-18.md", LOG.format(name="Anna", likes="prefers tea", was="lives in Berlin"))
    here.reflect()
    assert [record.citation for record in asked(here, "regatta in Kiel")][:1] == ["bank/entities/Anna.md#L1-L3"]


@pytest.mark.parametrize(
    "said",
    [
        "prefers budgets <1500 and > 900",
        "prefers the [plan](http://x) on paper",
        "любит <b>чай</b> при t < 5",
        "喜欢预算 <1500 的方案 ![x](y)",
    ],
)
def test_our_opinion_reads_back_as_it_was_said(here: World, said: str) -> None:
    here.folder.keep("memory/2026-11-18.md", f"## Retain\n- O(c=0.95) @Anna: {said}\n")
    here.reflect()
    assert "· updated 2026-11-18" in here.folder.text("bank/opinions.md")
    (ours,) = here.folder.facts("bank/opinions.md")
    assert (ours.text, ours.generated, ours.entities) == (said, True, ("Anna",))
