"""Whose child a sub-agent is, what it was told, and what it brought back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from openclaw_neuralstream import capture
from openclaw_neuralstream.model import Origin
from openclaw_neuralstream.settings import Settings

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
CHILD = "agent:main:subagent:9c0540b6-36af-4695-a5b3-33b7dd80e3b6"
PROMPT = (
    "[Subagent Context] You are running as a subagent (depth 1/5). Complete the current [Subagent Task]; inherited conversation "
    "is background context, not your assignment.\n\n[Subagent Task]\n\ncount the files\n\nBegin. Execute the assigned task to completion."
)


def event(**more: object) -> dict:
    return {"agent": "main", "session_key": CHILD, "session_id": "s", "run_id": "r1", **more}


def ended(answer: str, **more: object) -> dict:
    messages = [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": [{"type": "text", "text": answer}], "stopReason": "stop"}]
    return event(messages=messages, success=True, parent_key="agent:work:telegram:7", label="file-counter", **more)


def findings(told: dict):
    return capture.read_findings(told, capture.read_child(told), now=NOW, settings=Settings(), heard="owner")


def test_the_child_is_told_from_any_other_conversation_and_its_task_is_bare():
    child = capture.read_child(event(prompt=PROMPT, parent_key="agent:work:telegram:7", label="file-counter", light=True))
    assert (child.task, child.label, child.light) == ("count the files", "file-counter", True)
    assert (child.parent.agent, child.parent.key) == ("work", "agent:work:telegram:7")
    assert capture.read_child({"agent": "main", "session_key": "agent:main:main"}) is None


def test_an_unnamed_parent_is_the_agents_main_conversation():
    assert capture.read_child(event(prompt=PROMPT)).parent.key == "agent:main:main"


def test_what_it_found_is_a_turn_of_its_parent_and_nobody_elses_words():
    turn = findings(ended("There are 412 files in the archive."))
    assert (turn.session.key, turn.scope.agent) == ("agent:work:telegram:7", "work")
    assert [(u.speaker, u.origin, u.name) for u in turn.utterances] == [("system", Origin.AGENT, "sub-agent file-counter")] * 2
    assert [u.text for u in turn.utterances] == ["Task: count the files", "Sub-agent 'file-counter' reported: There are 412 files in the archive."]


def test_the_announcement_names_the_same_turn():
    turn = findings(ended("There are 412 files."))
    told = {"agent": "main", "session_key": "agent:work:telegram:7", "run_id": f"announce:v1:{CHILD}:r1"}
    assert capture.announces(told) == turn.turn_id
    assert capture.announces({**told, "run_id": "run-1"}) == ""


@pytest.mark.parametrize("answer", ["NO_REPLY", "", "   "])
def test_a_child_that_says_nothing_has_found_nothing(answer):
    assert findings(ended(answer)) is None


def test_a_failed_child_has_found_nothing_and_a_setting_keeps_nothing():
    assert findings({**ended("x y z"), "success": False}) is None
    told = ended("There are 412 files.")
    assert capture.read_findings(told, capture.read_child(told), now=NOW, settings=Settings(subagent_findings=False)) is None


def test_secrets_are_cut_out_of_tasks_and_findings():
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    told = ended(f"The token is {secret} for the archive.", prompt=f"use {secret}")
    assert secret not in str(findings(told))
