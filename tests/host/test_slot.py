"""OpenClaw's memory slot in a real gateway: taken when asked for, ours while we hold it, given back when we leave."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openclaw_host.gateway import PATIENT, PLUGIN, Host
from openclaw_host.model import Reply, Request

GEM = "The boathouse key hangs under the red bucket by the pier."
SESSION = "agent:main:slot"
OTHER = {"id": "other-memory", "kind": "memory", "configSchema": {"type": "object", "properties": {}}, "activation": {"onStartup": True}}


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with Host(plugin=False) as made:
        other = rival(made.folder / "other")
        made.configure(lambda config: config.update(plugins={"load": {"paths": [str(other)]}, "entries": {"other-memory": {"enabled": True}}, "slots": {"memory": "other-memory"}}))
        yield made


def rival(folder: Path) -> Path:
    """Another memory plugin, which holds the slot before us."""
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"name": "other-memory", "version": "1.0.0", "type": "module", "openclaw": {"extensions": ["./index.js"], "compat": {"pluginApi": ">=2026.9.6"}}}))
    (folder / "openclaw.plugin.json").write_text(json.dumps(OTHER))
    (folder / "index.js").write_text("export default { id: 'other-memory', name: 'Other', description: 'Other', register() {} };\n")
    return folder


def slot(host: Host) -> str:
    config = json.loads((host.state / "openclaw.json").read_text())
    return str(config["plugins"].get("slots", {}).get("memory", ""))


def core(host: Host) -> bool | None:
    """Whether the host's own memory plugin is switched on; None where its config says nothing."""
    config = json.loads((host.state / "openclaw.json").read_text())
    enabled: bool | None = config["plugins"]["entries"].get("memory-core", {}).get("enabled")
    return enabled


def neuralstream(host: Host, *arguments: str) -> dict[str, Any]:
    done = host.neuralstream(*arguments, "--json")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return dict(json.loads(done.stdout))


def used(host: Host, tool: str, arguments: dict[str, Any]) -> str:
    """The model uses a tool; what the tool answered it."""
    host.model.reset()
    call = ("tool_call", {"id": tool, "args": arguments})
    host.model.answer = lambda request: Reply("Done.") if request.after_tool else Reply(calls=(call,))
    host.turn(SESSION, "Where does the key of the boathouse hang?")
    request: Request = host.model.wait_for(lambda request: request.after_tool)
    return "\n".join(json.dumps(m.get("content"), ensure_ascii=False) for m in request.messages if m["role"] == "tool")


def test_an_ordinary_installation_leaves_the_slot_to_whom_it_belongs(host: Host) -> None:
    neuralstream(host, "install", "--no-canary")
    assert slot(host) == "other-memory"


def test_the_slot_is_taken_on_request_and_a_repeated_installation_keeps_it(host: Host) -> None:
    assert neuralstream(host, "install", "--no-canary", "--memory-slot")["memory_slot"] is True
    assert slot(host) == PLUGIN
    assert neuralstream(host, "install", "--no-canary")["memory_slot"] is True
    assert slot(host) == PLUGIN
    told = [finding for finding in json.loads(host.neuralstream("doctor", "--json").stdout)["findings"] if finding["check"] in ("memory slot", "plugin")]
    assert {finding["grade"] for finding in told} == {"ok"}, told


def test_the_agents_memory_tools_and_the_prompts_memory_section_are_ours_then(host: Host) -> None:
    host.configure(lambda config: config["plugins"]["entries"][PLUGIN]["config"].update(PATIENT))
    host.start()
    host.turn(SESSION, "Good morning.")
    host.memory("remember", {"text": GEM, "agent": "main", "session_key": SESSION})
    (gem,) = [gem for gem in host.gems() if gem["content"] == GEM]
    path = f"gems/{gem['gem_id'][:8]}"
    found = used(host, "memory_search", {"query": "key of the boathouse"})
    assert GEM in found
    assert path in found
    assert GEM in used(host, "memory_get", {"path": path})
    assert "not_found" in used(host, "memory_get", {"path": "gems/00000000"})
    shown = host.model.wait_for(lambda request: "boathouse" in request.asked)
    assert shown.system.count("## Memory Recall") == 1
    assert "neuralstream-memory block" in shown.system
    host.stop()


def test_giving_it_back_restores_whose_it_was(host: Host) -> None:
    assert neuralstream(host, "install", "--no-canary", "--no-memory-slot")["memory_slot"] is False
    assert slot(host) == "other-memory"
    assert core(host) is None


def test_leaving_with_the_slot_gives_it_back_too(host: Host) -> None:
    neuralstream(host, "install", "--no-canary", "--memory-slot")
    assert slot(host) == PLUGIN
    assert core(host) is False
    neuralstream(host, "uninstall")
    assert slot(host) == "other-memory"
    assert core(host) is None
    assert not host.memory_dir.memory_slot.exists()
