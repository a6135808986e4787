"""A session that is deleted in a real gateway takes along what was derived from it."""

from __future__ import annotations

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
