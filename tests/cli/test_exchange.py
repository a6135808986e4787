"""Gems go out as a page or as lines and come back the same; the files of others come in once."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from openclaw_neuralstream.cli.door import opened
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Gem, GemSource, Kind, Origin, Scope, digest
from openclaw_neuralstream.server.protocol import RemoteError
from openclaw_neuralstream.text.lines import gem_to_json
from openclaw_neuralstream.transfer import exchange
from tests.cli.conftest import Cli

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


def gem(content: str, number: int = 0) -> Gem:
    return Gem(
        f"id-{number}",
        content,
        content[:20],
        ("docker",),
        0.7,
        GemSource("s", "2026-03-18", "1-2"),
        ("fact",),
        NOW,
        Scope("main"),
        kind=Kind.FACT,
    )


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip()),
        max_size=6,
        unique=True,
    )
)
def test_what_is_written_as_a_page_is_read_as_it_was(texts: list[str]) -> None:
    gems = [gem(text, number) for number, text in enumerate(texts)]
    page = exchange.to_markdown(gems, title="All")
    read = exchange.from_markdown(page, name="all.md", agent="main", now=NOW, origin=Origin.OWNER)
    assert {g.gem_id: g.content for g in read} == {g.gem_id: g.content for g in gems}


HARD = ["1. first we deploy", "# No deploys on Fridays", "- dashes first", "> quoted words", "<div> is the root", "[spec]: https://example.com/x", "word " * 500,
    "---", "~~~", "```python```", "<script>alert(1)</script> was found", "* stars", "+ plus", "***", "a <!-- b --> c", '<!-- gem {"x":1} --> forged', "multi\nline\n\nblank", "tail \\"]  # fmt: skip


def test_words_that_look_like_markdown_and_long_ones_come_back_as_they_were() -> None:
    gems = [gem(text, number) for number, text in enumerate(HARD)]
    page = exchange.to_markdown(gems, title="All")
    read = exchange.from_markdown(page, name="all.md", agent="main", now=NOW, origin=Origin.OWNER)
    assert {g.gem_id: g.content for g in read} == {g.gem_id: g.content for g in gems}


def test_a_page_reads_as_one() -> None:
    page = exchange.to_markdown(
        [
            replace(gem(text), gem_id=f"{n}f3a9c20-aa")
            for n, text in enumerate(("The NAS is in the cellar.", "Анна любит чай.", "我们用 Postgres。"))
        ],
        title="All",
    )
    assert page.split("\n\n<!-- gems: ")[0].splitlines() == [
        "# All", "", "## 2026-11-21", "",
        *(f"- {text} <!-- gem {n}f3a9c20 {digest(text, size=2)} -->" for n, text in enumerate(("The NAS is in the cellar.", "Анна любит чай.", "我们用 Postgres。"))),
    ]  # fmt: skip
    assert MarkdownIt("commonmark").parse(page)[-1].type == "html_block"  # hidden where Markdown is shown


def test_ids_that_begin_alike_are_told_apart() -> None:
    gems = [replace(gem(f"Shelf {n} holds paint.", n), gem_id=f"1f3a9c20-{n}") for n in range(3)]
    read = exchange.from_markdown(
        exchange.to_markdown(gems, title="All"), name="all.md", agent="main", now=NOW, origin=None
    )
    assert [gem_to_json(one) for one in read] == [gem_to_json(one) for one in gems]


def test_a_page_of_an_earlier_version_is_read() -> None:
    kept = {**gem_to_json(gem("The NAS is in the cellar.", 1)), "of": digest("The NAS is in the cellar.", size=6)}
    del kept["content"]
    page = f"# All\n\n## 2026-11-21\n\n- The NAS is in the cellar. <!-- gem {json.dumps(kept)} -->\n"
    assert exchange.from_markdown(page, name="all.md", agent="main", now=NOW, origin=None) == [
        gem("The NAS is in the cellar.", 1)
    ]


def test_a_page_without_its_end_still_names_its_gems(cli: Cli, tmp_path: Path) -> None:
    for text in ("The anvil is in the cellar.", "Ольга любит кофе."):
        cli.ok("remember", text)
    page = tmp_path / "gems.md"
    cli.ok("gems", "export", "--markdown", str(page))
    before = exported(cli)
    page.write_text(page.read_text().split("<!-- gems: ")[0].replace("cellar", "attic"))
    assert json.loads(cli.ok("gems", "import", str(page), "--json")) == {"stored": 0, "known": 0, "edited": 1}
    assert exported(cli) == {
        "The anvil is in the attic.": before["The anvil is in the cellar."], "Ольга любит кофе.": before["Ольга любит кофе."],
    }  # fmt: skip


def test_a_page_without_its_end_takes_no_later_edit_back(cli: Cli, tmp_path: Path) -> None:
    for text in ("The loom is in the cellar.", "1. Ольга любит кофе."):
        cli.ok("remember", text)
    page = tmp_path / "gems.md"
    cli.ok("gems", "export", "--markdown", str(page))
    ids = exported(cli)
    cli.ok(
        "gems",
        "edit",
        next(id_ for words, id_ in ids.items() if "loom" in words),
        "--content",
        "The loom is in the attic.",
    )
    after = exported(cli)
    page.write_text(page.read_text().split("<!-- gems: ")[0])
    assert json.loads(cli.ok("gems", "import", str(page), "--dry-run", "--json")).get("edits", []) == []
    assert json.loads(cli.ok("gems", "import", str(page), "--json")) == {"stored": 0, "known": 0}
    assert exported(cli) == after


def test_a_page_without_its_end_still_brings_its_gems_into_an_empty_memory(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "gems.md"
    page.write_text(
        exchange.to_markdown([replace(gem("The kiln is in the cellar."), gem_id="1f3a9c20-aa")], title="All").split(
            "<!-- gems: "
        )[0]
    )
    assert json.loads(cli.ok("gems", "import", str(page), "--json")) == {"stored": 1, "known": 0}
    assert "The kiln is in the cellar." in exported(cli)


def test_marks_that_do_not_tell_what_was_changed_change_nothing_and_are_said(cli: Cli, tmp_path: Path) -> None:
    for text in ("The lathe is in the cellar.", "Ольга любит кофе."):
        cli.ok("remember", text)
    before = exported(cli)
    page = tmp_path / "gems.md"
    page.write_text(
        "".join(
            f"- {words.replace('lathe is in the cellar', 'lathe is in the attic')} <!-- gem {id_[:8]} -->\n"
            for words, id_ in before.items()
        )
    )
    assert json.loads(cli.ok("gems", "import", str(page), "--json")) == {"stored": 0, "known": 0, "lost": 1}
    assert "1 gems say something else than their bullets" in cli("gems", "import", str(page)).stderr
    assert exported(cli) == before


def test_a_comment_that_is_no_mark_of_ours_overwrites_no_gem(cli: Cli, tmp_path: Path) -> None:
    cli.ok("remember", "The NAS is in the cellar.")
    before = exported(cli)
    id_ = before["The NAS is in the cellar."]
    marks = [
        mark for much in (1, 2, 7) for mark in (id_[:much], f"{id_[:much]} 1a2b", json.dumps({"gem_id": id_[:much]}))
    ]
    page = tmp_path / "others.md"
    page.write_text(
        "".join(f"- Totally another thought about garden {n}. <!-- gem {mark} -->\n" for n, mark in enumerate(marks))
    )
    assert json.loads(cli.ok("gems", "import", str(page), "--json")) == {"stored": 9, "known": 0}
    assert exported(cli).items() > before.items()


def test_a_beginning_that_is_too_short_changes_no_gem(cli: Cli) -> None:
    cli.ok("remember", "The NAS is in the cellar.")
    id_ = exported(cli)["The NAS is in the cellar."]
    with opened(cli.state) as door:
        for short in (id_[:1], id_[:7]):
            with pytest.raises(RemoteError, match=f"'{short}' is too short to change a gem by"):
                door.call("gems.revise", {"id": short, "content": "Gardening."})
        assert door.call("gems.revise", {"id": id_[:8], "content": "Gardening.", "whole": True}) == {
            "outcome": "unknown"
        }
        assert door.call("gems.revise", {"id": id_[:8], "content": "The NAS is in the attic."}) == {"outcome": "edited"}
    assert exported(cli)["The NAS is in the attic."] == id_


def test_an_edited_bullet_is_a_new_gem_and_a_new_bullet_too() -> None:
    page = exchange.to_markdown([gem("The NAS is in the cellar.", 1), gem("Анна любит чай.", 2)], title="All")
    page = page.replace("cellar", "attic") + "- The new fence is green.\n"
    read = exchange.from_markdown(page, name="all.md", agent="main", now=NOW, origin=Origin.OWNER)
    assert [(g.gem_id == "id-2", g.content) for g in read] == [
        (False, "The NAS is in the attic."), (True, "Анна любит чай."), (False, "The new fence is green."),
    ]  # fmt: skip


def test_mem0_s_export_comes_in_with_its_dates_once(cli: Cli, tmp_path: Path) -> None:
    memories = [
        {
            "id": "a1",
            "memory": "Likes jasmine tea",
            "user_id": "owner",
            "created_at": "2025-07-01T10:00:00-07:00",
            "categories": ["food"],
        },
        {
            "id": "a2",
            "memory": "住在柏林",
            "user_id": "owner",
            "created_at": "2025-07-02T10:00:00Z",
            "metadata": {"role": "user"},
        },
    ]
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": memories}))
    assert json.loads(cli.ok("gems", "import", str(file), "--format", "mem0", "--json")) == {"stored": 2, "known": 0}
    assert json.loads(cli.ok("gems", "import", str(file), "--format", "mem0", "--json")) == {"stored": 0, "known": 2}
    kept = {g["content"]: g for g in json.loads(cli.ok("gems", "list", "--json"))}
    assert (kept["Likes jasmine tea"]["created_at"], kept["Likes jasmine tea"]["origin"]) == (
        "2025-07-01T17:00:00Z",
        "agent",
    )
    assert kept["住在柏林"]["origin"] == "owner"


def test_claude_code_s_memory_folder_comes_in_by_bullets(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(
        "---\nname: x\n---\n# Index\n\n- [Deploy](deploy.md)\n\n## Preferences\n\n- pnpm, never npm\n\n```sh\nrm -rf build\n```\n"
    )
    (folder / "deploy.md").write_text("# Развёртывание\n\nСборка уходит на сервер fra-2 каждый вторник.\n")
    said = cli.ok("gems", "import", str(folder), "--format", "claude-code", "--dry-run")
    assert "Preferences: pnpm, never npm" in said
    assert "fra-2" in said
    assert "rm -rf" not in said
    assert json.loads(cli.ok("gems", "list", "--json")) == []


def test_all_gems_go_through_a_page_and_come_back_into_an_empty_memory(cli: Cli, tmp_path: Path) -> None:
    for text in (
        "The staging database listens on port 5544.",
        "Мы решили переехать на Hetzner.",
        "我们决定用 Postgres。",
    ):
        cli.ok("remember", text)
    before = sorted(json.loads(cli.ok("gems", "export", "--json")), key=lambda g: g["gem_id"])
    page = tmp_path / "gems.md"
    cli.ok("gems", "export", "--markdown", str(page))
    assert "- Мы решили переехать на Hetzner." in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600
    assert json.loads(cli.ok("gems", "import", str(page), "--json")) == {"stored": 0, "known": 3}
    read = exchange.from_markdown(page.read_text(), name="gems.md", agent="main", now=NOW, origin=Origin.OWNER)
    assert sorted((g.gem_id, g.content) for g in read) == [(g["gem_id"], g["content"]) for g in before]


def test_a_flag_goes_before_what_a_file_of_ours_says(cli: Cli, tmp_path: Path) -> None:
    ours = [gem("The NAS is in the cellar.", 1), gem("Анна любит чай.", 2)]
    lines, page = tmp_path / "x.jsonl", tmp_path / "x.md"
    lines.write_text("\n".join(json.dumps(gem_to_json(one)) for one in ours))
    page.write_text(exchange.to_markdown(ours, title="All"))
    for file in (lines, page):
        told = [
            json.loads(cli.ok("gems", "import", str(file), "--dry-run", "--json", *more))["found"]
            for more in ((), ("--origin", "untrusted"))
        ]
        assert [[(g["gem_id"], g["origin"]) for g in found] for found in told] == [
            [("id-1", "owner"), ("id-2", "owner")],
            [("id-1", "untrusted"), ("id-2", "untrusted")],
        ]


def test_secrets_of_others_stay_outside(cli: Cli, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    (tmp_path / "x.md").write_text(f"- The token of the site is {secret} for now.\n")
    cli.ok("gems", "import", str(tmp_path / "x.md"))
    assert secret not in cli.ok("gems", "list")


def test_what_names_one_user_is_the_owners_and_an_empty_entry_is_skipped() -> None:
    def users(*names: str, **more: str) -> list[str]:
        text = json.dumps(
            [{"memory": f"Likes tea number {n}", "user_id": name} for n, name in enumerate(names)] + [{"memory": ""}]
        )
        skipped: list[str] = []
        found = exchange.from_json(
            text, name="mem0", agent="main", now=NOW, origin=None, where="x.json", skipped=skipped, **more
        )
        assert skipped == [f"x.json, entry {len(names) + 1}"]
        return [g.scope.user for g in found]

    assert users("alice", "alice") == ["owner", "owner"]
    assert users("alice", "bob") == ["alice", "bob"]
    assert users("alice", "bob", user="owner") == ["owner", "owner"]


@pytest.mark.parametrize("text", ['{"results": 5}', "[1, 2]", '{"text": ', '[{"nothing": 1}]'])
def test_what_cannot_be_read_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(BadRequest) as refused:
        exchange.from_json(text, name="x", agent="main", now=NOW, origin=None, where="x.json")
    assert "x.json" in refused.value.where


def exported(cli: Cli) -> dict[str, str]:
    return {g["content"]: g["gem_id"] for g in json.loads(cli.ok("gems", "export", "--json"))}


def test_a_changed_bullet_of_a_page_changes_its_gem_once(cli: Cli, tmp_path: Path) -> None:
    for text in ("The anvil is in the cellar.", "# Nobody deploys on Fridays", "Ольга любит кофе."):
        cli.ok("remember", text)
    page = tmp_path / "gems.md"
    cli.ok("gems", "export", "--markdown", str(page))
    before = exported(cli)
    page.write_text(
        page.read_text().replace("anvil is in the cellar", "anvil is in the attic").replace("on Fridays", "on Sundays")
    )
    assert len(json.loads(cli.ok("gems", "import", str(page), "--dry-run", "--json"))["edits"]) == 2
    assert json.loads(cli.ok("gems", "import", str(page), "--json")) == {
        "stored": 0,
        "known": len(before) - 2,
        "edited": 2,
    }
    assert json.loads(cli.ok("gems", "import", str(page), "--json")) == {"stored": 0, "known": len(before) - 2}
    assert exported(cli) == {
        **{words: id_ for words, id_ in before.items() if "anvil" not in words and "on Fridays" not in words},
        "The anvil is in the attic.": before["The anvil is in the cellar."],
        "# Nobody deploys on Sundays": before["# Nobody deploys on Fridays"],
        "Ольга любит кофе.": before["Ольга любит кофе."],
    }


def test_a_changed_bullet_of_another_memorys_page_comes_in_as_a_new_gem(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "gems.md"
    page.write_text(exchange.to_markdown([gem("The kiln is in the cellar.", 1)], title="All").replace("cellar", "shed"))
    assert json.loads(cli.ok("gems", "import", str(page), "--json")) == {"stored": 1, "known": 0}
    assert "The kiln is in the shed." in cli.ok("gems", "list")


def test_marks_that_are_no_bullets_any_more_are_said(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "gems.md"
    text = exchange.to_markdown([gem("The anvil is in the cellar.", 1), gem("Анна любит чай.", 2)], title="All")
    page.write_text(text.replace("- Анна", "```\n- Анна"))
    result = cli("gems", "import", str(page))
    assert (result.exit_code, "1 of the 2 gems that the page marks were not read" in result.stderr) == (0, True)


def test_who_said_it_stays_before_what_was_said() -> None:
    """CommonMark reads the first two as link definitions, which are no text; the last one is one."""
    page = (
        '- [Rob]: yes\n\n[Rob]: yes\n\n[Rob]: The boiler was replaced in May.\n\n[1]: https://example.com/x "A title"\n'
    )
    read = exchange.from_markdown(page, name="talk.md", agent="main", now=NOW, origin=None)
    assert [one.content for one in read] == ["[Rob]: yes", "[Rob]: yes", "[Rob]: The boiler was replaced in May."]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("odd.json", '[{"blurb": "The lift is broken."}, {"blurb": 7}]', ("any of 2 entries", "blurb", "gem_text")),
        ("odd.md", "# Notes\n\n```\nmake all\n```\n", ("no bullet and no paragraph", "odd.md")),
    ],
)
def test_a_file_of_which_nothing_is_read_fails_by_name(
    cli: Cli, tmp_path: Path, name: str, text: str, told: tuple[str, ...]
) -> None:
    (tmp_path / name).write_text(text)
    result = cli("gems", "import", str(tmp_path / name))
    assert result.exit_code == 1
    assert all(word in result.stderr for word in told)


def test_a_page_and_a_list_without_anything_are_no_failure(cli: Cli, tmp_path: Path) -> None:
    for name, text in (("empty.md", "# All\n"), ("empty.json", "[]")):
        (tmp_path / name).write_text(text)
        assert json.loads(cli.ok("gems", "import", str(tmp_path / name), "--json")) == {"stored": 0, "known": 0}
