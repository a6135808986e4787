"""What can be asked of the process: reflect, decide, and the host's search; and the day it reflects by itself."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from openclaw_neuralstream.errors import BadRequest, NotFound, StateError
from openclaw_neuralstream.model import Scope
from openclaw_neuralstream.server import methods
from openclaw_neuralstream.workspace.pages import Report
from openclaw_neuralstream.workspace.workspace import Workspace
from tests.workspace.world import World, world

LOG = "# Log\n\n## Retain\n- W @Peter: Keeps the key of the boathouse under the red bucket.\n- O(c=0.9) @Peter: Prefers tea.\n"


@pytest.fixture
def here(tmp_path: Path) -> Iterator[World]:
    (tmp_path / "ws").mkdir()
    with world(tmp_path, workspace=tmp_path / "ws") as made:
        made.folder.keep("memory/2026-11-18.md", LOG)
        made.folder.harvest()
        yield made


def call(here: World, method: str, **params: Any) -> Any:
    return methods.call(here.memory, method, params)


def test_reflection_is_asked_for_by_agent_or_for_every_workspace(here: World) -> None:
    (report,) = call(here, "reflect", since_seconds=30 * 86_400, dry_run=True)["reports"]
    assert report["root"] == str(here.folder.root)
    assert call(here, "reflect", agent="main", dry_run=True)["reports"][0]["dry_run"]
    with pytest.raises(NotFound):
        call(here, "reflect", agent="nobody")
    with pytest.raises(BadRequest):
        call(here, "reflect", since_seconds=-1)


def test_a_proposal_is_listed_shown_and_accepted(here: World) -> None:
    call(here, "reflect")
    (one,) = [p for p in call(here, "proposals.list")["proposals"] if p["path"] == "MEMORY.md"]
    assert "+- Peter: bank/entities/Peter.md" in call(here, "proposals.show", id=one["id"])["diff"]
    assert call(here, "proposals.accept", id=one["id"])["path"] == "MEMORY.md"
    assert "- Peter: bank/entities/Peter.md" in here.folder.text("MEMORY.md")
    assert call(here, "proposals.list")["proposals"] == []


def test_a_proposal_is_rejected_for_good(here: World) -> None:
    call(here, "reflect")
    (one,) = call(here, "proposals.list")["proposals"]
    call(here, "proposals.reject", id=one["id"])
    call(here, "reflect")
    assert call(here, "proposals.list")["proposals"] == []
    with pytest.raises(NotFound):
        call(here, "proposals.show", id=one["id"])


def test_the_agents_tool_says_what_became_of_the_pages(here: World) -> None:
    assert "bank/entities/Peter.md: created" in call(here, "tool.reflect", agent="main")["text"]
    with pytest.raises(BadRequest):
        call(here, "tool.reflect", agent="main", user="telegram:7")


def test_the_hosts_search_finds_files_and_gems_with_their_places(here: World) -> None:
    session = here.memory.session("main", "agent:main:main")
    gem = here.memory.remember("The boathouse is painted green every spring", Scope("main"), session)
    found = call(here, "memory.search", query="boathouse", agent="main", session_key="agent:main:main")["results"]
    by_kind = {item["sourceType"]: item for item in found}
    assert by_kind["file"]["path"] == "memory/2026-11-18.md"
    assert (by_kind["file"]["startLine"], by_kind["file"]["citation"]) == (4, "memory/2026-11-18.md#L4")
    assert by_kind["gem"]["path"] == f"gems/{gem.gem_id[:8]}"
    assert all(0 <= item["score"] <= 1 and item["snippet"] for item in found)


def test_what_was_found_can_be_read_again(here: World) -> None:
    session = here.memory.session("main", "agent:main:main")
    gem = here.memory.remember("The boathouse is painted green every spring", Scope("main"), session)
    assert "green" in call(here, "memory.get", session_key="agent:main:main", lookup=f"gems/{gem.gem_id[:8]}")["found"]["content"]
    line = call(here, "memory.get", session_key="agent:main:main", lookup="memory/2026-11-18.md#L4")["found"]
    assert (line["fromLine"], line["lineCount"], "red bucket" in line["content"]) == (4, 1, True)
    lines = call(here, "memory.get", session_key="agent:main:main", lookup="memory/2026-11-18.md", from_line=3, line_count=2)["found"]
    assert lines["content"].splitlines()[0] == "## Retain"


KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx4fQ9w8zv2m\nq1k2Jr8sTn0pLw5yVbE3\n-----END RSA PRIVATE KEY-----"
)


@pytest.mark.parametrize(
    ("before", "encoding", "words"),
    [
        ("page\x0cbreak, line\u2028separator, next\x85line", "utf-8", "The boathouse has a red door"),
        ("дом у озера", "utf-16", "Лодочный сарай выкрашен зелёным"),
        ("旧笔记\u2029段落", "gb18030", "船屋的门是红色的，朝着湖边，早上很亮"),
        ("старые заметки о лодке и о доме", "cp1251", "Лодочный сарай выкрашен зелёным, дверь красная"),
        (f"a key:\n{KEY}", "utf-8", "The boathouse has a red door"),
    ],
)
def test_the_line_that_was_cited_is_the_line_that_is_read(here: World, before: str, encoding: str, words: str) -> None:
    here.folder.keep("memory/boat.md", f"{before}\r\n\r\n{words}\n".encode(encoding))
    here.folder.harvest()
    assert here.folder.index is not None
    line = before.count("\n") + 3
    found = call(here, "memory.get", session_key="agent:main:main", lookup=f"memory/boat.md#L{line}")["found"]
    assert (found["content"], found["lineCount"]) == (words, 1)


@pytest.mark.parametrize(
    "lookup", ["../state/settings.toml", "/etc/passwd", "memory/../../secret.md", "gems/0", "", ".memory/index.sqlite"]
)
def test_nothing_but_the_memory_is_read(here: World, lookup: str) -> None:
    assert call(here, "memory.get", session_key="agent:main:main", lookup=lookup)["found"] is None


def test_a_stranger_finds_nothing_of_the_owners(here: World) -> None:
    session = here.memory.session("main", "agent:main:main")
    gem = here.memory.remember("The boathouse is painted green every spring", Scope("main"), session)
    stranger = {"session_key": "agent:main:telegram:direct:7", "channel": "telegram", "sender": {"id": "7", "owner": False}}
    assert call(here, "memory.search", query="boathouse", **stranger)["results"] == []
    assert call(here, "memory.get", lookup=f"gems/{gem.gem_id[:8]}", **stranger)["found"] is None
    assert call(here, "memory.get", lookup="memory/2026-11-18.md", **stranger)["found"] is None


def test_a_sandboxed_session_sees_no_files(here: World) -> None:
    assert call(here, "memory.search", query="boathouse red bucket", session_key="agent:main:main", sandboxed=True)["results"] == []
    assert call(here, "memory.get", session_key="agent:main:main", lookup="memory/2026-11-18.md", sandboxed=True)["found"] is None


@pytest.mark.parametrize("asked", [{}, {"session_key": ""}, {"sender": {"id": "7"}}])
def test_who_names_no_session_finds_nothing(here: World, asked: dict[str, Any]) -> None:
    for method, what in (("memory.search", {"query": "boathouse"}), ("memory.get", {"lookup": "memory/2026-11-18.md"})):
        with pytest.raises(BadRequest):
            call(here, method, **what, **asked)


def test_it_reflects_by_itself_once_a_day(here: World) -> None:
    here.memory._reflect()  # a new memory begins to count
    assert not (here.folder.root / "bank").exists()
    here.later(hours=23)
    here.memory._reflect()
    assert not (here.folder.root / "bank").exists()
    here.later(hours=2)
    here.memory._reflect()
    assert (here.folder.root / "bank/entities/Peter.md").exists()
    (here.folder.root / "bank/entities/Peter.md").unlink()
    here.memory._reflect()
    assert not (here.folder.root / "bank/entities/Peter.md").exists()


def test_a_reflection_that_was_cut_short_is_done_again(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    here.memory._reflect()
    here.later(hours=25)
    with monkeypatch.context() as patch:
        patch.setattr(here.memory.reflector, "reflect", killed)
        with pytest.raises(KeyboardInterrupt):
            here.memory._reflect()
    here.memory._reflect()
    assert (here.folder.root / "bank/entities/Peter.md").exists()


def test_a_workspace_that_refuses_keeps_no_other_from_being_reflected_over(
    here: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    here.memory.parts.workspaces.seen("other", str(tmp_path / "other"))
    assert [w.root.name for w in here.memory.parts.workspaces.all()] == ["other", "ws"]
    reflect = here.memory.reflector.reflect

    def refuse(workspace: Workspace, agent: str, *, since: timedelta) -> Report:
        if agent == "other":
            raise StateError("the notes index cannot be read")
        return reflect(workspace, agent, since=since)

    monkeypatch.setattr(here.memory.reflector, "reflect", refuse)
    here.memory._reflect()
    here.later(hours=25)
    here.memory._reflect()
    assert (here.folder.root / "bank/entities/Peter.md").exists()


def test_with_reflect_every_zero_it_never_does(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    with world(tmp_path, workspace=tmp_path / "ws", reflect_every=0) as made:
        made.folder.keep("memory/2026-11-18.md", LOG)
        made.memory._reflect()
        made.later(days=9)
        made.memory._reflect()
        assert not (made.folder.root / "bank").exists()
