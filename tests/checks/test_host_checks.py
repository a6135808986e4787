"""Trouble between the host and the plugin is found from what the host says."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from openclaw_neuralstream.cli.checks.finding import Finding, Grade
from openclaw_neuralstream.cli.checks.host import HostFacts, host, look
from openclaw_neuralstream.cli.host import plugin
from openclaw_neuralstream.cli.host.plugin import Inspection
from openclaw_neuralstream.state import NAME, StateDir

VERSION = "0.1.0"
WELL = Inspection(
    enabled=True, status="loaded", version=VERSION, folder="/x", hooks=plugin.expected_hooks(), diagnostics=(),
    policy={"allowConversationAccess": True},
)  # fmt: skip
FACTS = HostFacts(version="2026.9.6", node="24.19.0", inspection=WELL, python=sys.executable, python_says=VERSION)


def bad(facts: HostFacts) -> list[Finding]:
    return [finding for finding in host(facts, version=VERSION) if finding.grade is not Grade.OK]


def test_nothing_is_wrong_with_a_working_host() -> None:
    assert bad(FACTS) == []


@pytest.mark.parametrize(
    ("facts", "check", "says", "fix"),
    [
        (HostFacts(trouble="OpenClaw was not found · openclaw"), "openclaw", "not found", "OPENCLAW_BIN"),
        (replace(FACTS, version="2026.8.1"), "openclaw", "2026.8.1, >=2026.9.6 is needed", "npm install"),
        (replace(FACTS, node="22.1.0"), "node", "22.1.0", "Node 24"),
        (replace(FACTS, inspection=None), "plugin", "not installed", "neuralstream install"),
        (replace(FACTS, inspection=replace(WELL, enabled=False)), "plugin", "disabled", "openclaw plugins enable neuralstream"),
        (replace(FACTS, inspection=replace(WELL, policy={})), "plugin", "allowConversationAccess", "openclaw config set plugins.entries.neuralstream.hooks.allowConversationAccess true --strict-json"),
        (replace(FACTS, inspection=replace(WELL, policy={"allowConversationAccess": True, "allowPromptInjection": False})), "plugin", "allowPromptInjection is false", "allowPromptInjection true"),
        (replace(FACTS, inspection=replace(WELL, hooks=WELL.hooks - {"agent_end"})), "plugin", "agent_end", "neuralstream install"),
        (replace(FACTS, inspection=replace(WELL, diagnostics=("unknown typed hook",))), "plugin", "unknown typed hook", "neuralstream install"),
        (replace(FACTS, python="/nowhere/python", python_says=""), "python", "does not exist any more", "neuralstream install"),
        (replace(FACTS, python_says=""), "python", "has no openclaw-neuralstream", "neuralstream install"),
    ],
)  # fmt: skip
def test_each_trouble_is_broken_and_names_its_command(facts: HostFacts, check: str, says: str, fix: str) -> None:
    found = bad(facts)
    assert [(f.check, f.grade) for f in found] == [(check, Grade.BROKEN)]
    assert says in found[0].what
    assert fix in found[0].fix


@pytest.mark.parametrize(
    "facts",
    [
        replace(FACTS, inspection=replace(WELL, version="0.0.1")),
        replace(FACTS, python_says="0.0.1"),
        replace(FACTS, python=""),
        replace(FACTS, memory_slot="memory-lancedb"),
        replace(FACTS, version=""),
    ],
)
def test_what_is_odd_but_works_is_told_and_not_broken(facts: HostFacts) -> None:
    assert [f.grade for f in bad(facts)] in ([Grade.NOTE], [Grade.WARNING])


def test_a_host_that_is_not_there_is_a_fact_and_no_error(tmp_path: Path) -> None:
    assert "not found" in look(str(tmp_path / "openclaw")).trouble
    (tmp_path / "openclaw").write_text("#!/bin/sh\necho 'Segmentation fault' >&2\nexit 139\n")
    (tmp_path / "openclaw").chmod(0o755)
    assert "Segmentation fault" in look(str(tmp_path / "openclaw")).trouble


def openclaw(folder: Path) -> Path:
    """One that notes what it was asked and answers with nothing that is known."""
    command = folder / "openclaw"
    command.write_text(f"#!/bin/sh\necho \"$1 $2\" >> {folder}/asked\necho '{{}}'\n")
    command.chmod(0o755)
    return command


def test_the_configuration_is_read_and_the_host_not_started_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENCLAW_CONFIG_PATH", raising=False)
    plugins = {"slots": {"memory": "other"}, "entries": {plugin.plugin_id(): {"config": {"python": "/nowhere/python"}}}}
    (tmp_path / "openclaw.json").write_text(json.dumps({"plugins": plugins}))
    facts = look(str(openclaw(tmp_path)), StateDir(tmp_path / NAME))
    assert (facts.python, facts.memory_slot) == ("/nowhere/python", "other")
    assert (tmp_path / "asked").read_text().splitlines() == ["--version ", "plugins inspect"]


@pytest.mark.parametrize("text", ["", "// JSON5\n{plugins: {}}", '{"$include": "more.json", "plugins": {}}', '{"plugins": {"slots": {"memory": "${SLOT}"}}}'])
def test_a_configuration_that_only_the_host_can_read_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.delenv("OPENCLAW_CONFIG_PATH", raising=False)
    (tmp_path / "openclaw.json").write_text(text)
    look(str(openclaw(tmp_path)), StateDir(tmp_path / NAME))
    assert sorted((tmp_path / "asked").read_text().splitlines()) == ["--version ", "config get", "plugins inspect"]


def test_the_plugin_and_the_configuration_are_asked_for_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=20)  # breaks where one is asked only after the other has answered
    monkeypatch.setattr(plugin, "inspect", lambda _: both.wait() and None)
    monkeypatch.setattr(plugin, "get", lambda *_: both.wait() and None)
    assert look(str(openclaw(tmp_path))).trouble == ""
