"""The host's own memory search, in a real gateway: what we remember is one more corpus of it, beside its own files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openclaw_host.gateway import Host, until
from openclaw_host.model import Reply, Request

GEM = "The boathouse key hangs under the red bucket by the pier."
LOG = "# Log\n\n## Retain\n- W @Peter: Painted the boathouse green in May.\n"
SESSION = "agent:main:search"


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with Host() as made:
        (made.workspace / "memory").mkdir(parents=True, exist_ok=True)
        (made.workspace / "memory" / "2026-11-18.md").write_text(LOG, encoding="utf-8")
        made.start()
        made.turn(SESSION, "Good morning.")  # the process starts with it
        made.memory("remember", {"text": GEM, "agent": "main", "session_key": SESSION})
        yield made


def used(host: Host, tool: str, arguments: dict[str, Any]) -> str:
    """The model uses a tool; what the tool answered it."""
    host.model.reset()
    call = ("tool_call", {"id": tool, "args": arguments})
    host.model.answer = lambda request: Reply("Done.") if request.after_tool else Reply(calls=(call,))
    host.turn(SESSION, "Where does the key of the boathouse hang?")
    request = host.model.wait_for(lambda request: request.after_tool)
    return answered(request)


def answered(request: Request) -> str:
    return "\n".join(json.dumps(m.get("content"), ensure_ascii=False) for m in request.messages if m["role"] == "tool")


def test_the_hosts_search_returns_our_gem_with_its_citation_beside_its_own(host: Host) -> None:
    (gem,) = [gem for gem in host.gems() if gem["content"] == GEM]
    until(lambda: bool(host.memory("memory.search", {"query": "boathouse green", "session_key": "agent:main:main"})["results"]), 90, "the log is not indexed")
    answer = used(host, "memory_search", {"query": "key of the boathouse", "corpus": "all"})
    assert GEM in answer
    assert f"gems/{gem['gem_id'][:8]}" in answer
    assert "Wiki corpus unavailable" not in answer


def test_what_was_found_is_read_with_the_hosts_own_tool(host: Host) -> None:
    (gem,) = [gem for gem in host.gems() if gem["content"] == GEM]
    assert GEM in used(host, "memory_get", {"path": f"gems/{gem['gem_id'][:8]}", "corpus": "all"})


def test_the_agent_may_ask_for_reflection_and_the_page_is_a_file(host: Host) -> None:
    host.memory("reflect", {"since_seconds": 0})
    answer = used(host, "neuralstream_reflect", {})
    assert "up to date" in answer or "bank/" in answer
    assert "Painted the boathouse green" in (host.workspace / "bank" / "entities" / "Peter.md").read_text(encoding="utf-8")
