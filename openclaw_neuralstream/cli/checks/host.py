"""OpenClaw: is it there, is the plugin in it, may it do its work, does it start the right Python."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openclaw_neuralstream.cli.checks.finding import Finding, broken, note, ok, warning
from openclaw_neuralstream.cli.host import plugin
from openclaw_neuralstream.cli.host.plugin import Host, Inspection
from openclaw_neuralstream.errors import HostError
from openclaw_neuralstream.root import manifest
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace.where import host_file

_OWN_SLOT = ("", "memory-core")


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What was seen of the host. `trouble` says why there is nothing else; python_says is what that Python answers."""

    trouble: str = ""
    version: str = ""
    node: str = ""
    inspection: Inspection | None = None
    python: str = ""
    python_says: str = ""
    memory_slot: str = ""


def look(named: str = "", state: StateDir | None = None) -> HostFacts:
    """Ask the host, all at once; takes some ten seconds. Never raises: what cannot be seen is told in the facts.

    state: beside it lies the host's configuration file, which is read in place of starting the host once more.
    """
    try:
        host = plugin.find(named)
        version = host.version()
        with ThreadPoolExecutor(3, thread_name_prefix="neuralstream-doctor-host") as beside:
            inspected = beside.submit(plugin.inspect, host)
            configured = beside.submit(_configured, host, state)
            node = beside.submit(plugin.node_version, host)
            python, python_says, slot = configured.result()
            known = inspected.result()
    except HostError as error:
        return HostFacts(trouble=f"{error.what} · {error.where}" if error.where else error.what)
    return HostFacts("", version, node.result(), known, python, python_says, slot)


def _configured(host: Host, state: StateDir | None) -> tuple[str, str, str]:
    """Which Python the plugin starts, what that says of its version, and who holds the memory slot."""
    plugins = _plugins(host, state)
    python = str(_at(plugins, "entries", plugin.plugin_id(), "config", "python") or "")
    slot = str(_at(plugins, "slots", "memory") or "")
    return python, _version_said_by(python, host) if python else "", slot


def _plugins(host: Host, state: StateDir | None) -> Any:
    """What the host's configuration says of plugins; from its file where that is plain JSON without includes and variables."""
    file = host_file(state, host.environ) if state else {}
    plugins = file.get("plugins")
    if plugins and "$include" not in file and "$" not in json.dumps(plugins):
        return plugins
    return plugin.get(host, "plugins") or {}


def host(facts: HostFacts, *, version: str, wanted_slot: bool = False) -> Iterator[Finding]:
    """All checks of these facts. version: that of this program. wanted_slot: the setting memory_slot."""
    if facts.trouble:
        fix = "neuralstream doctor --openclaw /path/to/openclaw, or set OPENCLAW_BIN"
        yield broken("openclaw", f"cannot be asked: {facts.trouble}", "the plugin cannot be checked", fix)
        return
    yield from _versions(facts)
    yield from _plugin(facts, version)
    yield from _python(facts, version)
    yield from _slot(facts, wanted=wanted_slot)


def _versions(facts: HostFacts) -> Iterator[Finding]:
    wanted = manifest()["plugin"]
    for name, found, need, fix in (
        ("openclaw", facts.version, wanted["host"], "npm install -g openclaw@latest"),
        ("node", facts.node, wanted["node"], plugin.NODE_FIX),
    ):
        if plugin.numbers(found) and plugin.numbers(found) < plugin.numbers(need):
            yield broken(name, f"{found}, {need} is needed", "the plugin may not load", fix)
        elif found:
            yield ok(name, found)
        else:
            yield note(name, "its version is not known")


def _plugin(facts: HostFacts, version: str) -> Iterator[Finding]:
    problems = plugin.problems(facts.inspection)
    for problem in problems:
        yield broken("plugin", problem.what, problem.why, problem.fix)
    if facts.inspection is None:
        return
    if facts.inspection.version != version:
        what = f"the plugin is version {facts.inspection.version}, this program {version}"
        yield warning("plugin", what, "they are made for each other", plugin.INSTALL)
    if not problems:
        yield ok("plugin", f"{len(facts.inspection.hooks)} hooks registered, conversations allowed")


def _python(facts: HostFacts, version: str) -> Iterator[Finding]:
    if facts.inspection is None:
        return
    why = "OpenClaw cannot start the memory process: turns are spooled, nothing is recalled"
    if not facts.python:
        yield note("python", "the plugin looks for Python by itself", "naming it is safer", plugin.INSTALL)
    elif not Path(facts.python).exists():
        yield broken("python", f"{facts.python} does not exist any more", why, plugin.INSTALL)
    elif not facts.python_says:
        yield broken("python", f"{facts.python} has no openclaw-neuralstream", why, plugin.INSTALL)
    elif facts.python_says != version:
        what = f"{facts.python} has version {facts.python_says}, this program is {version}"
        yield warning("python", what, "two installations; the newer process wins", plugin.INSTALL)
    else:
        yield ok("python", facts.python)


def _slot(facts: HostFacts, *, wanted: bool) -> Iterator[Finding]:
    ours = facts.memory_slot == plugin.plugin_id()
    if ours and wanted:
        yield ok("memory slot", "held: memory_search and memory_get are NeuralStream's")
    elif ours:
        fix = "neuralstream install gives it back; neuralstream config set memory_slot true keeps it"
        yield warning(
            "memory slot", "it is held, and the setting memory_slot is false", "OpenClaw's own memory is off", fix
        )
    elif wanted:
        holder = facts.memory_slot or "OpenClaw's own"
        what = f"the setting memory_slot is true, and the slot is {holder}"
        yield warning("memory slot", what, "memory_search is not NeuralStream's", f"{plugin.INSTALL} --memory-slot")
    elif facts.memory_slot not in _OWN_SLOT:
        why = "two memories put text into the prompt; NeuralStream works beside OpenClaw's own"
        yield note("memory slot", f"OpenClaw's memory slot is {facts.memory_slot}", why)


def _version_said_by(python: str, by: Host) -> str:
    try:
        done = subprocess.run(
            [python, "-m", "openclaw_neuralstream", "--version"],
            env=dict(by.environ), capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.split()[-1] if done.returncode == 0 and done.stdout.split() else ""


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
