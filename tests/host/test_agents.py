"""A gateway with two agents and a small window: memories that never mix, and what happens when the host compacts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openclaw_host.gateway import Host, until
from openclaw_host.model import Reply

WINDOW = 32_000


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    only_when_asked = {"batch_size": 100, "context_threshold": 80}
    with Host(config=only_when_asked, agents=("work",)) as host:
        host.configure(small_window)
        host.start()
        yield host


def small_window(config: dict) -> None:
    config["models"]["providers"]["fake"]["models"][0]["contextWindow"] = WINDOW


def test_two_agents_never_see_each_others_gems(host: Host) -> None:
    host.turn("agent:main:s", "We decided to call the new product Halcyon.")
    host.turn("agent:work:s", "We decided to call the new product Zephyrine.")
    host.memory("flush")
    assert {gem["agent"] for gem in host.gems()} == {"main", "work"}
    for agent, own, other in (("main", "Halcyon", "Zephyrine"), ("work", "Zephyrine", "Halcyon")):
        question = f"What did we decide to call the new product, {agent}?"
        host.turn(f"agent:{agent}:later", question)
        request = str(host.model.wait_for(lambda request, said=question: said in request.asked))
        assert own in request
        assert other not in request


def test_an_agents_tool_finds_only_its_own_gems(host: Host) -> None:
    host.model.reset()
    call = ("tool_call", {"id": "neuralstream_recall", "args": {"query": "what is the new product called"}})
    host.model.answer = lambda request: Reply("Done.") if request.after_tool else Reply(calls=(call,))
    host.say("agent:work:tools", "Look it up.")
    found = str(host.model.wait_for(lambda request: request.after_tool))
    assert "Zephyrine" in found
    assert "Halcyon" not in found


def test_what_is_said_is_distilled_before_the_host_compacts_its_window(host: Host) -> None:
    """The model reports ever fuller windows; the host flushes its own memory and compacts; our gem is made by then."""
    host.model.reset()
    session = "agent:main:long"
    fact = "We decided to move the archive to the basement of the Lindenstrasse office."
    host.turn(session, fact)
    assert fact not in [gem["content"] for gem in host.gems()]
    host.model.answer = lambda _: Reply(prompt_tokens=24_800)
    for number in range(6):
        host.turn(session, f"Chapter {number}. " + f"It was a quiet evening in village {number}. " * 150)
        if any(request.is_summary for request in host.model.requests):
            break
    host.model.wait_for(lambda request: request.is_summary, 90)
    until(lambda: host.counters().get("batches.compaction", 0) > 0, 90, lambda: str(host.counters()))
    until(lambda: fact in [gem["content"] for gem in host.gems()], 90, lambda: str(host.gems()))


def test_after_a_compaction_what_the_summary_dropped_comes_back(host: Host) -> None:
    host.model.reset()
    question = "Where did we decide to move the archive?"
    host.turn("agent:main:long", question)
    request = host.model.wait_for(lambda request: question in request.asked)
    assert "basement of the Lindenstrasse" in str(request)


def test_the_hosts_own_memory_flush_is_not_captured(host: Host) -> None:
    flushes = [request for request in host.model.requests if "memory flush" in request.asked]
    assert all("<neuralstream-memory" not in request.asked for request in flushes)
    assert [gem for gem in host.gems() if "memory flush" in gem["content"]] == []
