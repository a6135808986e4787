"""The installer against the real host: installed and proven live, missing permissions found, taken out again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openclaw_host.gateway import PLUGIN, Host


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with Host(plugin=False) as host:
        yield host


def entry(host: Host) -> dict[str, Any]:
    config = json.loads((host.state / "openclaw.json").read_text())
    return dict(config.get("plugins", {}).get("entries", {}).get(PLUGIN, {}))


def findings(host: Host) -> dict[str, dict[str, Any]]:
    done = host.neuralstream("doctor", "--json")
    return {finding["check"]: finding for finding in json.loads(done.stdout)["findings"]}


def test_install_registers_allows_and_proves_it_with_a_real_turn(host: Host) -> None:
    done = host.neuralstream("install", "--json")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert entry(host)["enabled"] is True
    assert entry(host)["hooks"]["allowConversationAccess"] is True
    assert any("neuralstream-canary-" in request.asked for request in host.model.requests)


def test_doctor_finds_a_fresh_installation_well(host: Host) -> None:
    found = findings(host)
    assert found["plugin"]["grade"] == "ok", found
    assert found["openclaw"]["grade"] == "ok", found


def test_doctor_says_that_conversation_hooks_are_denied_and_what_to_type(host: Host) -> None:
    host.configure(lambda config: config["plugins"]["entries"][PLUGIN]["hooks"].update(allowConversationAccess=False))
    denied = findings(host)["plugin"]
    assert denied["grade"] == "broken", denied
    assert "conversation" in json.dumps(denied)
    assert denied["fix"]


def test_uninstall_takes_it_out_and_leaves_the_memory(host: Host) -> None:
    done = host.neuralstream("uninstall", "--json")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert not entry(host).get("enabled")
    assert host.memory_dir.database.exists()
