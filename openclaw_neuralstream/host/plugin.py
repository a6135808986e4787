"""Our plugin inside the host: staged, installed, inspected, removed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import HostError, StateError
from openclaw_neuralstream.host import slot
from openclaw_neuralstream.host.executable import Host
from openclaw_neuralstream.root import manifest, project_root

MANIFEST = "openclaw.plugin.json"
STAGED = ("package.json", MANIFEST, "bridge")
"""What the host needs of us; it copies the whole folder at each load, so nothing else goes there."""

CONVERSATIONS = "hooks.allowConversationAccess"
INJECTION = "hooks.allowPromptInjection"
PYTHON = "config.python"
INSTALL = "neuralstream install"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What the host says of our plugin once it has loaded it."""

    enabled: bool
    status: str
    version: str
    folder: str
    hooks: frozenset[str]
    diagnostics: tuple[str, ...]
    policy: Mapping[str, Any] = field(default_factory=dict)


def plugin_id() -> str:
    """The id under which the host knows us."""
    return str(manifest()["plugin"]["id"])


def entry(name: str = "") -> str:
    """The path of our entry in the host's config, or of something in it."""
    return ".".join(part for part in ("plugins.entries", plugin_id(), name) if part)


def expected_hooks() -> frozenset[str]:
    """The host's events that plugin.toml names; each must be registered."""
    hooks = manifest()["hooks"]
    return frozenset(hooks["events"]) | frozenset(hooks["support"])


def stage(folder: Path, *, memory_slot: bool = False) -> Path:
    """Copy what the host needs into this folder. memory_slot: as the plugin that holds the host's memory slot.

    Raises StateError when the installation is incomplete.
    """
    root = project_root()
    for name in STAGED:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy2(source, folder / name)
        else:
            raise StateError(f"{name} is missing", where=str(root), fix="reinstall openclaw-neuralstream")
    if memory_slot:
        told = folder / MANIFEST
        told.write_text(
            json.dumps(slot.as_memory(json.loads(told.read_text(encoding="utf-8"))), indent=2), encoding="utf-8"
        )
    return folder


def install(host: Host, folder: Path) -> None:
    """Have the host copy and enable it. Raises HostError."""
    host.run("plugins", "install", str(folder), "--force", "--accept-capabilities")


def uninstall(host: Host) -> None:
    """Have the host remove its copy. Raises HostError."""
    host.run("plugins", "uninstall", plugin_id(), "--force")


def inspect(host: Host) -> Inspection | None:
    """What the host sees when it loads us; None when it does not know us. Raises HostError."""
    try:
        found = host.ask("plugins", "inspect", plugin_id(), "--runtime", "--json")
    except HostError as error:
        if "not found" in error.what.lower():
            return None
        raise
    return read(found)


def read(found: Mapping[str, Any]) -> Inspection:
    """An inspection from the host's JSON; what it does not say is empty."""
    known = found.get("plugin") or {}
    install_record = found.get("install") or {}
    return Inspection(
        enabled=bool(known.get("enabled")),
        status=str(known.get("status", "")),
        version=str(known.get("version", "")),
        folder=str(install_record.get("installPath") or known.get("rootDir") or ""),
        hooks=frozenset(str(hook.get("name")) for hook in found.get("typedHooks") or ()),
        diagnostics=tuple(_words(item) for item in found.get("diagnostics") or ()),
        policy=found.get("policy") or {},
    )


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the plugin does not work in the host: what, what that means, what to type."""

    what: str
    why: str
    fix: str


def problems(found: Inspection | None) -> list[Problem]:
    """What keeps it from working, worst first; [] when all of our hooks are registered and allowed."""
    if found is None:
        return [Problem("the plugin is not installed in OpenClaw", "nothing is captured or recalled", INSTALL)]
    if not found.enabled:
        fix = f"openclaw plugins enable {plugin_id()}"
        return [Problem("the plugin is disabled in OpenClaw", "nothing is captured or recalled", fix)]
    why = "the host complains about the plugin"
    said = [Problem(f"OpenClaw says: {words}", why, INSTALL) for words in found.diagnostics]
    return [*_refused(found.policy), *_unregistered(found), *said]


def _refused(policy: Mapping[str, Any]) -> list[Problem]:
    found = []
    if policy.get("allowConversationAccess") is not True:
        what = "OpenClaw does not let the plugin see conversations (allowConversationAccess)"
        fix = f"openclaw config set {entry(CONVERSATIONS)} true --strict-json"
        found.append(Problem(what, "nothing is captured or recalled, and the host only warns in its log", fix))
    if policy.get("allowPromptInjection") is False:
        what = "OpenClaw does not let the plugin add to the prompt (allowPromptInjection is false)"
        fix = f"openclaw config set {entry(INJECTION)} true --strict-json"
        found.append(Problem(what, "turns are remembered, but nothing is recalled", fix))
    return found


def _unregistered(found: Inspection) -> list[Problem]:
    missing = sorted(expected_hooks() - found.hooks)
    if not missing:
        return []
    what = f"hooks are not registered: {', '.join(missing)} (plugin status: {found.status or 'unknown'})"
    return [Problem(what, "what these hooks do does not happen", INSTALL)]


def _words(diagnostic: Any) -> str:
    if isinstance(diagnostic, Mapping):
        return str(diagnostic.get("message") or diagnostic)
    return str(diagnostic)
