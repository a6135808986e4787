"""A real OpenClaw workspace: what stands in its memory folder is in the next request, with its citation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from openclaw_host.gateway import Host, until
from openclaw_host.model import Reply

DAY = datetime.now(UTC).strftime("%Y-%m-%d")


@pytest.fixture(scope="module")
def running() -> Iterator[Host]:
    with Host(agents=("work",)) as host:
        host.start()
        yield host


def asked(host: Host, session: str, question: str) -> str:
    """What the model reads: the brief of the session, and the message with the records beside it."""
    host.turn(session, question)
    request = host.model.wait_for(lambda request: question in request.asked)
    return f"{request.system}\n{request.asked}"


def files(host: Host, agent: str) -> int:
    """How many files of the agent's workspace are indexed."""
    known = host.memory("workspaces")["workspaces"]
    return next((item["files"] for item in known if agent in item["agents"]), 0)


def test_a_note_in_the_workspace_is_in_the_next_request_with_its_citation(host: Host) -> None:
    folder = host.workspace / "main" / "memory"
    folder.mkdir(parents=True, exist_ok=True)
    host.turn("agent:main:one", "Good morning.")
    before = files(host, "main")
    (folder / f"{DAY}.md").write_text(f"# {DAY}\n\n## Retain\n- W @Miriam: The guest wifi of the Lindenstrasse office is called Oleander.\n")
    until(lambda: files(host, "main") > before, 90, lambda: str(host.memory("workspaces")))
    request = asked(host, "agent:main:two", "What is the guest wifi of the Lindenstrasse office called?")
    assert "Oleander" in request
    assert f"memory/{DAY}.md#L4" in request


def test_the_workspaces_are_known_before_an_agent_has_said_a_word(host: Host) -> None:
    roots = {agent: item["root"] for item in host.memory("workspaces")["workspaces"] for agent in item["agents"]}
    assert roots["work"] == str((host.workspace / "work").resolve())


def test_another_agent_does_not_see_it(host: Host) -> None:
    assert "Oleander" not in asked(host, "agent:work:one", "What is the guest wifi of the Lindenstrasse office called, work?")


def test_what_the_agent_writes_itself_is_just_a_file(host: Host) -> None:
    path = "memory/projects/halcyon.md"
    text = "# Halcyon\n\nThe launch of Halcyon was moved to the ninth of March because the supplier in Tallinn is late.\n"
    call = ("write", {"path": path, "content": text})
    host.model.answer = lambda request: Reply("Written.") if request.after_tool else Reply(calls=(call,))
    host.say("agent:main:three", "Write it down, please.")
    until((host.workspace / "main" / path).exists, 60, lambda: str(host.model.requests[-1:])[-2000:])
    host.model.reset()
    question = "To which day was the launch of Halcyon moved?"

    def recalled() -> str:
        host.model.reset()  # what is looked at is this request, not an earlier one
        return asked(host, "agent:main:four", question)

    until(lambda: "ninth of March" in recalled(), 60, "the agent's own file is not recalled")
    assert f"{path}#L" in recalled()


def test_the_agents_tool_retains_in_todays_log(host: Host) -> None:
    sentence = "O(c=0.8) @Peter: Prefers the window seat on the night train to Vienna"
    call = ("tool_call", {"id": "neuralstream_retain", "args": {"text": sentence}})
    host.model.answer = lambda request: Reply("Kept.") if request.after_tool else Reply(calls=(call,))
    host.say("agent:main:six", "Keep it, please.")
    folder = host.workspace / "main" / "memory"
    until(lambda: any(sentence in file.read_text() for file in folder.glob("*.md")), 60, lambda: str(list(folder.iterdir())))
