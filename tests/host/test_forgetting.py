"""A session that is deleted in a real gateway takes along what was derived from it."""

from __future__ import annotations

import json

from openclaw_host.gateway import PATIENT, Host, until


def test_what_was_derived_from_a_deleted_session_goes_with_it() -> None:
    kept, gone = "We decided to plant two cherry trees behind the workshop.", "We decided to paint the gate dark green."
    with Host(config=PATIENT) as host:
        host.start()
        host.turn("agent:main:stays", kept)
        host.turn("agent:main:goes", gone)
        host.memory("flush")
        assert {kept, gone} <= {gem["content"] for gem in host.gems()}
        host.rpc("sessions.delete", {"key": "agent:main:goes"})
        until(lambda: gone not in {gem["content"] for gem in host.gems()}, 60, host.log_text)
        assert kept in {gem["content"] for gem in host.gems()}
        until(lambda: bool(host.memory("status")["forgotten"]), 60, host.log_text)
        assert host.memory("status")["forgotten"][0]["by"] == "host"


def test_what_the_host_was_told_to_forget_by_its_own_command_goes_too() -> None:
    kept, gone = "We decided to plant two cherry trees behind the workshop.", "We decided to paint the gate dark green."
    with Host(config=PATIENT) as host:
        host.start()
        host.turn("agent:main:stays", kept)
        host.turn("agent:main:goes", gone)
        host.memory("flush")
        done = host.run("memory", "forget", "--agent", "main", "--session", "agent:main:goes", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["sessionIds"]
        until(lambda: gone not in {gem["content"] for gem in host.gems()}, 60, host.log_text)
        assert kept in {gem["content"] for gem in host.gems()}
        until(lambda: bool(host.memory("status")["forgotten"]), 60, host.log_text)
        assert host.memory("status")["forgotten"][0]["by"] == "host"
        host.turn("agent:main:goes", "We decided to oil the hinges of the gate in spring.")
        host.memory("flush")
        assert any("hinges" in gem["content"] for gem in host.gems())
