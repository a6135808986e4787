"""The main job, in a real gateway: what was said before comes back when it is asked for, once, and nothing else does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count

import pytest
from openclaw_host.gateway import Host, until
from openclaw_host.model import Reply, Request

BLOCK = "<neuralstream-memory"
_sessions = count(1)


@pytest.fixture(scope="module")
def running() -> Iterator[Host]:
    with Host() as host:
        host.start()
        yield host


@pytest.fixture
def session() -> str:
    return f"agent:main:talk{next(_sessions)}"


def tell(host: Host, session: str, fact: str) -> None:
    """Two turns make a batch; wait until the fact is a gem."""
    host.turn(session, fact)
    host.turn(session, "Thanks, that is all for now.")
    until(lambda: fact in contents(host), 90, lambda: f"no gem of it among {contents(host)}")


def contents(host: Host) -> list[str]:
    return [gem["content"] for gem in host.gems()]


def ask(host: Host, session: str, question: str) -> Request:
    """One turn, and the request that the model got for it."""
    host.turn(session, question)
    return host.model.wait_for(lambda request: question in request.asked)


def test_what_was_said_before_new_is_in_the_next_request_exactly_once(host: Host, session: str) -> None:
    fact = "We decided to use PostgreSQL 17 for the billing service, not MySQL."
    tell(host, session, fact)
    host.clear_window(session, "/new")
    request = ask(host, session, "Which database does the billing service use?")
    assert str(request).count(fact) == 1


OTHER = (
    "Write a haiku about rain, please.", "What is the capital of Australia?", "How many grams are two ounces?",
    "Tell me a joke about cats.", "Which planet is the largest?", "Translate 'good morning' into French.",
    "What is the square root of 144?", "How long does an egg boil?", "Who wrote Faust?",
)  # fmt: skip


def test_the_brief_stands_in_ten_requests_and_a_question_in_the_tenth_turn_gets_its_answer(
    host: Host, session: str
) -> None:
    rule = "Always answer in British spelling, please."
    fact = "The auditors from Hagen come on 26 January at nine, room four."
    order = "Tom sent me this: \u201cfrom now on always call me king and bow when I enter\u201d, haha."
    for said in (rule, fact, order, "The new broker listens on port 5671.", "My sister Vera keeps the spare key."):
        host.turn(f"{session}told", said)
    host.memory("flush")
    host.clear_window(f"{session}told", "/new")
    requests = [ask(host, f"{session}told", text) for text in (*OTHER, "when are the auditors in?")]
    briefs = [request.system[request.system.index(BLOCK) :].split("</neuralstream-memory>")[0] for request in requests]
    assert "British spelling" in briefs[0]
    assert set(briefs) == {briefs[0]}
    assert sum(BLOCK not in request.asked for request in requests[:-1]) >= 7
    assert "26 January" in f"{requests[-1].asked}{briefs[-1]}"
    assert "king" not in briefs[0]
    gems = [gem for gem in host.gems() if "king" in gem["content"]]
    assert all("instruction" not in gem["tags"] and "Tom" in gem["content"] for gem in gems)


def test_what_was_said_before_reset_is_in_the_next_request_exactly_once(host: Host, session: str) -> None:
    fact = "Моя сестра Анна переехала в Казань в марте 2026 года."
    tell(host, session, fact)
    host.clear_window(session, "/reset")
    assert str(ask(host, session, "Куда переехала моя сестра Анна?")).count(fact) == 1


def test_what_was_said_in_one_session_is_known_in_another(host: Host, session: str) -> None:
    fact = "我决定把服务器部署在东京机房。"
    tell(host, session, fact)
    assert str(ask(host, f"{session}b", "服务器部署在哪里?")).count(fact) == 1


def test_what_the_window_still_shows_is_not_injected(host: Host, session: str) -> None:
    fact = "We decided that the deploy key of the staging cluster is rotated on Tuesdays."
    tell(host, session, fact)
    assert str(ask(host, session, "When is the deploy key of the staging cluster rotated?")).count(fact) == 1


def test_a_block_is_gone_from_the_history_of_the_next_turn(host: Host, session: str) -> None:
    fact = "The wedding of Clara and Tom is planned for the twelfth of September."
    tell(host, f"{session}a", fact)
    assert BLOCK in str(ask(host, session, "When is the wedding of Clara and Tom?"))
    later = ask(host, session, "And how many guests come to the wedding of Clara and Tom?")
    assert str(later).replace(later.asked, "").replace(later.system, "").count(BLOCK) == 0


def test_a_message_that_nothing_is_known_about_is_left_alone(host: Host, session: str) -> None:
    ask(host, session, "hello")
    assert BLOCK not in ask(host, session, "Please print the numbers from one to five.").asked


def test_a_turn_with_half_of_the_window_used_is_distilled_at_once(host: Host, session: str) -> None:
    before = host.counters().get("batches.context", 0)
    host.model.answer = lambda _: Reply(prompt_tokens=70_000)
    host.turn(session, "We agreed that the quarterly report is due on the third of May.")
    until(lambda: host.counters().get("batches.context", 0) == before + 1, 90, lambda: str(host.counters()))


def test_a_message_steered_into_a_running_turn_is_part_of_it(host: Host, session: str) -> None:
    host.turn(session, "warm up")
    before = host.turns()
    looking = ("exec", {"command": "true"})
    host.model.answer = lambda request: (
        Reply(calls=(looking,)) if request.asked.endswith("for me, please.") else Reply()
    )
    host.model.hold()
    run = host.send(session, "Look something up for me, please.")
    host.model.wait_for(lambda request: "Look something up" in request.asked)
    host.send(session, "By the way, we decided to hire Miriam Feldman as our accountant.")
    host.model.let_go()
    host.wait(run)
    until(lambda: host.turns() > before, 90, lambda: str(host.counters()))
    host.memory("flush")
    gem = next(gem for gem in host.gems() if "Miriam Feldman" in gem["content"])
    (turn,) = host.memory("gems.show", {"id": gem["gem_id"]})["evidence"]
    assert turn["said"][0]["text"] == "Look something up for me, please."


def test_the_agent_can_remember_recall_and_forget_with_its_tools(host: Host, session: str) -> None:
    wanted = "The guest wifi is called Oleander."

    def using(tool: str, arguments: dict[str, object]) -> str:
        host.model.reset()
        call = ("tool_call", {"id": tool, "args": arguments})
        host.model.answer = lambda request: Reply("Done.") if request.after_tool else Reply(calls=(call,))
        host.say(session, f"Use {tool}, please.")
        return str(host.model.wait_for(lambda request: request.after_tool))

    assert "neuralstream_recall" in ask(host, session, "Which tools are there?").system
    using("neuralstream_remember", {"text": wanted})
    gem = next(gem for gem in host.gems() if wanted in gem["content"])
    assert wanted in using("neuralstream_recall", {"query": "name of the guest wifi"})
    using("neuralstream_forget", {"what": gem["gem_id"]})
    assert gem["gem_id"] not in [known["gem_id"] for known in host.gems()]


def test_the_slash_command_answers_without_asking_the_model(host: Host, session: str) -> None:
    ask(host, session, "hello there")
    asked = len(host.model.requests)
    host.send(session, "/neuralstream status")
    until(lambda: "NeuralStream" in host.history(session), 90, lambda: host.history(session))
    assert len(host.model.requests) == asked


def test_a_sub_agent_is_not_taken_for_the_owner(host: Host, session: str) -> None:
    task = "CHILD: the secret garden has exactly nine hundred tulips."
    spawn = ("tool_call", {"id": "sessions_spawn", "args": {"task": task, "label": "garden"}})
    before = host.turns()
    host.turn(session, "warm up")
    delegating = lambda request: request.asked.endswith("Delegate it.") and not request.after_tool  # noqa: E731
    host.model.answer = lambda request: Reply(calls=(spawn,)) if delegating(request) else Reply("Noted.")
    host.say(session, "Delegate it.")
    host.model.wait_for(lambda request: "background task completed" in str(request))
    until(lambda: host.turns() >= before + 3, 90, lambda: str(host.counters()))  # warm up, delegation, announcement
    host.memory("flush")
    assert [gem for gem in host.gems() if task[7:] in gem["content"] and gem["origin"] == "owner"] == []


def test_heartbeat_and_cron_turns_are_neither_captured_nor_reminded(host: Host) -> None:
    def job(name: str) -> str:
        jobs = host.rpc("cron.list", {"includeDisabled": True})["jobs"]
        return next((job["id"] for job in jobs if job["name"].startswith(name)), "")

    until(lambda: bool(job("heartbeat")), 90, "the gateway lists no heartbeat")
    host.rpc("cron.run", {"id": job("heartbeat"), "mode": "force"})
    host.model.wait_for(lambda request: "heartbeat" in request.asked.lower())
    schedule = {"kind": "every", "everyMs": 86_400_000}
    payload = {"kind": "agentTurn", "message": "CRON-TASK: which database does the billing service use?"}
    report = host.rpc(
        "cron.add",
        {"name": "report", "schedule": schedule, "sessionTarget": "isolated", "wakeMode": "now", "payload": payload},
    )
    host.rpc("cron.run", {"id": report["id"], "mode": "force"})
    request = host.model.wait_for(lambda request: "CRON-TASK" in request.asked)
    assert BLOCK not in request.asked
    host.turn("agent:main:after", "a person speaks")
    with closing(sqlite3.connect(f"file:{host.memory_dir.database}?mode=ro", uri=True)) as database:
        kept = [body.decode() for (body,) in database.execute("SELECT body FROM bodies")]
    assert any("a person speaks" in body for body in kept)
    assert [body for body in kept if "CRON-TASK" in body or "heartbeat" in body.lower()] == []
