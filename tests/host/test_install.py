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


def findings(host: Host, check: str) -> list[dict[str, Any]]:
    done = host.neuralstream("doctor", "--json")
    return [finding for finding in json.loads(done.stdout)["findings"] if finding["check"] == check]


def test_install_registers_allows_and_proves_it_with_a_real_turn(host: Host) -> None:
    done = host.neuralstream("install", "--json")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert entry(host)["enabled"] is True
    assert entry(host)["hooks"]["allowConversationAccess"] is True
    turns = [request for request in host.model.requests if not request.is_summary]
    assert len(turns) == 2, [request.asked[:80] for request in turns]  # each is paid for
    assert "neuralstream-canary-" in turns[1].asked  # beside the message, where recall stands
    assert "neuralstream-canary-" not in turns[1].system


def test_doctor_finds_a_fresh_installation_well(host: Host) -> None:
    assert [finding["grade"] for finding in findings(host, "plugin")] == ["ok"]


def test_doctor_says_that_conversation_hooks_are_denied_and_what_to_type(host: Host) -> None:
    host.configure(lambda config: config["plugins"]["entries"][PLUGIN]["hooks"].update(allowConversationAccess=False))
    denied = [finding for finding in findings(host, "plugin") if finding["grade"] == "broken"]
    assert any("conversation" in finding["what"] + finding["why"] for finding in denied), denied
    assert all(finding["fix"] for finding in denied)


def test_uninstall_takes_it_out_and_leaves_the_memory(host: Host) -> None:
    done = host.neuralstream("uninstall", "--json")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert not entry(host).get("enabled")
    assert host.memory_dir.database.exists()
