"""What is a note and what is not."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest

from openclaw_neuralstream.workspace.harvest import A_LINK, NO_TEXT, Choice, Rules, look, scan
from tests.workspace.files import write


def notes(root: Path, **choice: object) -> list[str]:
    return sorted(scan(root, Rules(root, Choice(**choice))).files)


def test_the_usual_layout_is_found_and_nothing_else(tmp_path: Path) -> None:
    kept = ["MEMORY.md", "bank/entities/Peter.md", "bank/world.md", "memory/2026-11-21.md", "memory/daily/2026-11-20.md", "memory/projects/a/b.markdown", "notes/garden/roses.md"]
    for path in (*kept, "SOUL.md", "README.md", "project/notes.md", "memory/picture.png", "memory/list.txt", "deep/MEMORY.md", "membership/x.md"):
        write(tmp_path, path)
    assert notes(tmp_path) == kept


@pytest.mark.parametrize(
    "path",
    [
        ".memory/index.md", "memory/.memory/x.md", "memory/.git/x.md", "memory/node_modules/x.md", "memory/.obsidian/x.md", "memory/.hidden.md",
        "memory/.#note.md", "memory/#note.md#", "memory/~$note.md", "memory/note.md~", "memory/.note.md.swp", "memory/note.tmp.md", "memory/._note.md", "memory/4913",
    ],
)  # fmt: skip
def test_what_git_editors_and_we_ourselves_make_is_no_note(tmp_path: Path, path: str) -> None:
    write(tmp_path, path)
    assert notes(tmp_path) == []


def test_hidden_files_are_notes_when_their_owner_says_so(tmp_path: Path) -> None:
    for path in ("memory/.drafts/one.md", "memory/.two.md", "memory/.git/config.md", "memory/.#three.md"):
        write(tmp_path, path)
    assert notes(tmp_path, hidden=True) == ["memory/.drafts/one.md", "memory/.two.md"]


def test_gitignore_counts_in_every_folder_and_the_nearest_one_wins(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", "*.private.md\n/memory/drafts/\nkeep*.md\n")
    write(tmp_path, "memory/.gitignore", "!keep-this.md\n/top.md\n")
    for path in ("memory/a.md", "memory/b.private.md", "memory/drafts/c.md", "memory/keep-that.md", "memory/keep-this.md", "memory/top.md", "memory/in/top.md"):
        write(tmp_path, path)
    assert notes(tmp_path) == ["memory/a.md", "memory/in/top.md", "memory/keep-this.md"]
    assert "memory/drafts/c.md" in notes(tmp_path, gitignore=False)


def test_patterns_of_the_owner_choose_and_leave_out(tmp_path: Path) -> None:
    for path in ("a.md", "journal/2026/11/x.md", "journal/private/y.md", "work/notes/z.md", "other/q.md"):
        write(tmp_path, path)
    assert notes(tmp_path, include=("journal/", "*/notes/*.md"), exclude=("journal/private/",)) == ["journal/2026/11/x.md", "work/notes/z.md"]
    assert len(notes(tmp_path, include=(".",))) == 5
    assert notes(tmp_path, include=(".", "!journal/*/y.md")) == ["a.md", "journal/2026/11/x.md", "other/q.md", "work/notes/z.md"]


def test_another_agents_workspace_inside_is_not_entered(tmp_path: Path) -> None:
    write(tmp_path, "memory/mine.md")
    write(tmp_path, "memory/area/memory/theirs.md")
    assert notes(tmp_path, apart=frozenset({"memory/area"})) == ["memory/mine.md"]


def test_links_are_not_followed_and_are_named(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    write(outside, "secret.md")
    root = tmp_path / "ws"
    write(root, "memory/a.md")
    (root / "memory/link.md").symlink_to(outside / "secret.md")
    (root / "memory/folder").symlink_to(outside)
    (root / "bank").symlink_to(outside)
    found = scan(root, Rules(root, Choice()))
    assert list(found.files) == ["memory/a.md"]
    assert found.left_out == dict.fromkeys(("memory/link.md", "memory/folder", "bank"), A_LINK)
    assert look(root, Rules(root, Choice()), ["memory/folder/secret.md", "bank/secret.md"]).files == {}


def test_names_in_any_script_are_kept_as_they_are(tmp_path: Path) -> None:
    names = ["日记.md", "Дневник.md", normalize("NFC", "café.md"), normalize("NFD", "café.md"), "🧠.md", "two\nlines.md", "a b#c?.md", "x" * 200 + ".md"]
    for name in names:
        write(tmp_path, f"memory/{name}")
    assert notes(tmp_path) == sorted(f"memory/{name}" for name in names)


def test_a_name_that_is_no_text_is_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path, "memory/ok.md")
    (tmp_path / "memory" / "\udcff.md").write_text("x")
    found = scan(tmp_path, Rules(tmp_path, Choice()))
    assert list(found.files) == ["memory/ok.md"]
    assert found.left_out == {"memory/\\xff.md": NO_TEXT}
    assert look(tmp_path, Rules(tmp_path, Choice()), ["memory/\udcff.md"]).left_out == {"memory/\\xff.md": NO_TEXT}


@pytest.mark.parametrize("choice", [Choice(), Choice(include=(".",)), Choice(include=("**/notes/",), exclude=("memory/x*",), hidden=True)])
def test_looking_at_a_path_and_scanning_everything_agree(tmp_path: Path, choice: Choice) -> None:
    write(tmp_path, ".gitignore", "ignored/\n*.no.md\n")
    paths = ["MEMORY.md", "a/notes/b.md", "memory/ignored/c.md", "memory/d.no.md", "memory/.e.md", "memory/x1/f.md", "memory/g.md", ".git/notes/h.md"]
    for path in paths:
        write(tmp_path, path)
    rules = Rules(tmp_path, choice)
    whole = scan(tmp_path, rules).files
    assert {path: seen for path in paths for path, seen in look(tmp_path, rules, [path]).files.items()} == whole
