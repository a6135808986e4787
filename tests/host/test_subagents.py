"""Sub-agents of the real host: briefed for their task, and what they found answers a question later."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from openclaw_host.gateway import Host, until
from openclaw_host.model import Reply, Request

CELLAR = "NAS in the cellar"


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with Host(config={"batch_size": 100, "context_threshold": 80}) as host:
        host.start()
        host.turn("agent:main:before", f"We decided to keep the backups of the photo archive on the {CELLAR}.")
        host.memory("flush")
        yield host


def spawn(*tasks: str, **more: object) -> tuple[tuple[str, dict], ...]:
    return tuple(("tool_call", {"id": "sessions_spawn", "args": {"task": task, **more}}) for task in tasks)


def of_child(request: Request) -> bool:
    return "[Subagent Task]" in str(request) and "Subagent Context" in request.asked


def script(host: Host, order: str, calls: tuple, found: str) -> None:
    """The parent spawns when it hears the order; a child answers what it found."""
    host.model.reset()

    def answer(request: Request) -> Reply:
        if of_child(request):
            return Reply(found.replace("{task}", request.asked.split("[Subagent Task]")[-1].strip()[:40]))
        if order in request.asked and not request.after_tool:
            return Reply(calls=calls)
        return Reply("Done.")

    host.model.answer = answer


@pytest.mark.parametrize("context", ["isolated", "fork"])
def test_its_first_request_holds_the_brief_and_its_findings_answer_a_question_in_the_next_session(host: Host, context: str) -> None:
    found = f"The archive holds {412 if context == 'isolated' else 733} photos of Lake Baikal for the {context} count."
    script(host, f"delegate {context}", spawn("Find out where the backups of the photo archive are kept", label=f"archivist-{context}", context=context), found)
    host.say(f"agent:main:parent-{context}", f"delegate {context}")
    request = host.model.wait_for(of_child)
    assert str(request).count(CELLAR) == 1
    assert 'kind="task"' in str(request)
    until(lambda: bool(host.memory("flush")) and kept(host, context) == 1, 60, lambda: str(host.gems()))
    gem = next(gem for gem in host.gems() if "Baikal" in gem["content"] and context in gem["content"])
    assert (gem["speaker"], gem["origin"]) == (f"sub-agent archivist-{context}", "agent")
    question = f"How many photos of Lake Baikal are there in the {context} count?"
    host.turn(f"agent:main:next-{context}", question)
    assert found in str(host.model.wait_for(lambda request: question in request.asked))
    assert kept(host, context) == 1  # the announcement said it again: it is kept once


def kept(host: Host, word: str) -> int:
    return sum("Baikal" in gem["content"] and word in gem["content"] for gem in host.gems())


def test_a_light_context_is_left_alone(host: Host) -> None:
    script(host, "delegate lightly", spawn("Say where the backups of the photo archive are kept, lightly", context="isolated", lightContext=True), "NO_REPLY")
    host.say("agent:main:light", "delegate lightly")
    assert "neuralstream-memory" not in str(host.model.wait_for(of_child))


def test_ten_at_once_are_each_briefed_and_none_of_their_findings_is_lost(host: Host) -> None:
    tasks = [f"Find the serial number of camera {n} in the photo archive" for n in range(10)]
    calls = [call for n, task in enumerate(tasks) for call in spawn(task, label=f"scout-{n}", context="isolated")]
    host.model.reset()

    def answer(request: Request) -> Reply:
        if of_child(request):
            camera = request.asked.split("camera ")[-1][:1]
            return Reply(f"Camera {camera} of the photo archive has the serial number XK-77{camera}.")
        first = "delegate the first half" in request.asked
        if (first or "delegate the second half" in request.asked) and not request.after_tool:
            return Reply(calls=tuple(calls[:5] if first else calls[5:]))  # the host lets one parent have five at a time
        return Reply("Done.")

    host.model.answer = answer
    runs = [host.send(f"agent:main:ten-{half}", f"delegate the {half} half") for half in ("first", "second")]
    for run in runs:
        host.wait(run)
    until(lambda: bool(host.memory("flush")) and serials(host) >= 10, 120, lambda: f"{serials(host)} {host.counters()}")
    assert serials(host) == 10


def serials(host: Host) -> int:
    return len({gem["speaker"] for gem in host.gems(limit=200) if "XK-77" in gem["content"] and gem["speaker"].startswith("sub-agent scout-")})
