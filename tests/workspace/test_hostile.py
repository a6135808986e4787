"""Files that nobody should have: huge, endless, of any name; the rest of the workspace is indexed all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from unicodedata import normalize

import pytest

from openclaw_neuralstream.model import Wanted
from openclaw_neuralstream.workspace.book import Workspaces
from openclaw_neuralstream.workspace.harvest import TOO_LARGE
from tests.waiting import until
from tests.workspace.files import write

Opened = Callable[..., Workspaces]


def test_a_hundred_megabytes_are_left_out_and_named_without_being_read(opened: Opened, root: Path) -> None:
    write(root, "memory/small.md", "- W @Peter: is found")
    with write(root, "memory/huge.md", "# Huge\n").open("ab") as file:
        file.truncate(100_000_000)
    done = opened(workspace=str(root)).for_agent("main").harvest()
    assert done.indexed == ["memory/small.md"]
    assert done.left_out == {"memory/huge.md": TOO_LARGE}


@pytest.mark.drill
def test_a_million_lines_are_indexed_as_far_as_is_sensible_and_the_rest_is_said(opened: Opened, root: Path) -> None:
    write(root, "memory/endless.md", "- x y\n" * 1_000_000)
    write(root, "memory/small.md", "## Retain\n- W @Peter: is found\n")
    workspace = opened(workspace=str(root)).for_agent("main")
    done = workspace.harvest()
    assert done.indexed == ["memory/endless.md", "memory/small.md"]
    assert [fact.text for fact in workspace.index.facts(Wanted(entities=("peter",)))] == ["is found"]
    assert "lines are indexed" in workspace.index.problems()[0].what


def test_names_in_any_script_are_found_under_that_name(opened: Opened, root: Path) -> None:
    names = ["日记.md", "Дневник.md", normalize("NFC", "café.md"), normalize("NFD", "café.md"), "🧠.md", "two\nlines.md", "a b#c?.md", "%41.md"]
    for number, name in enumerate(names):
        write(root, f"memory/{name}", f"## Retain\n- W @Peter: number {number}.\n")
    (root / "memory" / "\udcff.md").write_text("no text")
    workspaces = opened(start=True, workspace=str(root))
    workspace = workspaces.for_agent("main")
    until(lambda: workspace.index is not None and len(workspace.index.facts(Wanted())) == len(names))
    assert {fact.path: fact.text for fact in workspace.index.facts(Wanted())} == {f"memory/{name}": f"number {number}." for number, name in enumerate(names)}
    for name in names:
        (root / "memory" / name).unlink()
    until(lambda: workspace.index.known() == {})
    assert workspaces.status()[0]["left_out"] == {"memory/\\xff.md": "its name is not text"}
    assert workspaces.crashes == 0


def test_bytes_that_are_no_text_are_indexed_as_far_as_they_read(opened: Opened, root: Path) -> None:
    write(root, "memory/bytes.md", bytes(range(256)) * 100)
    write(root, "memory/cp1251.md", "## Retain\n- W @Анна: живёт в Казани\n".encode("cp1251"))
    write(root, "memory/nul.md", b"\0" * 10_000)
    done = opened(workspace=str(root)).for_agent("main").harvest()
    assert len(done.indexed) == 3
