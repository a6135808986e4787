"""The memory through the SDK's own client, which starts `neuralstream mcp` as an editor would."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from openclaw_neuralstream.cli import main
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StateDir]:
    monkeypatch.setenv("NEURALSTREAM_OLLAMA_URL", "http://127.0.0.1:9")
    state = StateDir(tmp_path / "state")
    client.connect(state).close()
    yield state
    client.stop(state)


@asynccontextmanager
async def session(state: StateDir, *more: str) -> AsyncIterator[ClientSession]:
    arguments = ["-m", "openclaw_neuralstream", "--state-dir", str(state.path), "mcp", *more]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as opened:
        await opened.initialize()
        yield opened


async def said(opened: ClientSession, tool: str, **arguments: object) -> str:
    result = await opened.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return str(result.content[0].text)


def test_a_client_remembers_recalls_and_forgets(state: StateDir) -> None:
    async def play() -> None:
        async with session(state) as opened:
            assert {tool.name for tool in (await opened.list_tools()).tools} == {"recall", "remember", "forget", "reflect"}
            kept = await said(opened, "remember", text="Пароль не нужен: Анна любит жасминовый чай.")
            gem_id = kept.split()[2].rstrip(":")
            assert "жасминовый" in await said(opened, "recall", query="какой чай любит Анна")
            await said(opened, "forget", what=gem_id)
            assert "Nothing relevant" in await said(opened, "recall", query="какой чай любит Анна")

    anyio.run(play)


def test_what_it_remembers_is_the_agents_word_and_fenced_when_it_comes_back(state: StateDir) -> None:
    async def play() -> None:
        async with session(state) as opened:
            await said(opened, "remember", text="The staging database listens on port 5544.")
            assert "<neuralstream-memory>" in await said(opened, "recall", query="staging database port")
            gems = json.loads((await opened.read_resource("neuralstream://gems")).contents[0].text)
            assert [gem["origin"] for gem in gems] == ["agent"]
            assert "5544" in await said(opened, "recall", query="staging database port", tags=["By-Hand"])
            assert "5544" not in await said(opened, "recall", query="staging database port", tags=["kubernetes"])
            tags = json.loads((await opened.read_resource("neuralstream://tags")).contents[0].text)
            assert {row["tag"]: row["gems"] for row in tags if row["tag"] == "by-hand"} == {"by-hand": 1}
            shown = await opened.read_resource(f"neuralstream://gems/{gems[0]['gem_id']}")
            assert json.loads(shown.contents[0].text)["gem"]["content"] == "The staging database listens on port 5544."

    anyio.run(play)


def test_another_agent_s_memory_is_not_there(state: StateDir) -> None:
    async def play() -> None:
        async with session(state, "--agent", "work") as opened:
            await said(opened, "remember", text="The cellar code of the office changes every May.")
            gem = json.loads((await opened.read_resource("neuralstream://gems")).contents[0].text)[0]
        async with session(state, "--agent", "home") as opened:
            assert "Nothing relevant" in await said(opened, "recall", query="cellar code of the office")
            assert json.loads((await opened.read_resource("neuralstream://gems")).contents[0].text) == []
            with pytest.raises(Exception, match=r"(?i)not found|error"):
                await opened.read_resource(f"neuralstream://gems/{gem['gem_id']}")

    anyio.run(play)


def test_reflect_writes_the_pages_of_the_workspace(state: StateDir, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory" / "2026-11-20.md").write_text("## Retain\n- W @Анна: Живёт в Казани.\n- W @Анна: Работает врачом.\n")
    CliRunner().invoke(main, ["--state-dir", str(state.path), "config", "set", "workspace", str(workspace)])
    client.stop(state)
    CliRunner().invoke(main, ["--state-dir", str(state.path), "admin", "harvest"])

    async def play() -> None:
        async with session(state) as opened:
            assert "bank/entities" in await said(opened, "reflect")

    anyio.run(play)
    assert any("Казани" in page.read_text() for page in (workspace / "bank" / "entities").iterdir())


def test_read_only_offers_nothing_that_changes_the_memory(state: StateDir) -> None:
    async def play() -> None:
        async with session(state, "--read-only") as opened:
            assert [tool.name for tool in (await opened.list_tools()).tools] == ["recall"]
            assert (await opened.call_tool("remember", {"text": "x"})).is_error

    anyio.run(play)


def test_the_entry_for_a_client_names_the_command_the_memory_and_the_agent(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["--state-dir", str(tmp_path), "mcp", "--agent", "work", "--show-config"])
    entry = json.loads(result.stdout)["mcpServers"]["neuralstream"]
    assert entry["args"] == ["--state-dir", str(tmp_path), "mcp", "--agent", "work", "--user", "owner"]
