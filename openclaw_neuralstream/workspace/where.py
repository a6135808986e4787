"""Where the workspaces lie, and what of them is told."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from openclaw_neuralstream.clock import Clock
from openclaw_neuralstream.model import Problem
from openclaw_neuralstream.ports import NoteSearch, NoteVectors
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import NAME, StateDir, write_private
from openclaw_neuralstream.workspace.harvest import Choice, Parse, Shelf
from openclaw_neuralstream.workspace.index import Counts
from openclaw_neuralstream.workspace.watch import Listen, listen

MAIN = "main"
_SANDBOXES = "sandboxes"


@dataclass(frozen=True, slots=True)
class Found:
    """A workspace's folder and who named it."""

    root: Path
    why: str


def folders(knobs: Settings, told: Mapping[str, str], host: Mapping[str, str]) -> dict[str, Found]:
    """Agent → its workspace. told: what the host's events named. host: what its configuration file names."""
    found: dict[str, Found] = {}
    layers = (
        (host, "OpenClaw's configuration"),
        (told, "OpenClaw named it"),
        (configured(knobs), "the settings name it"),
    )
    for layer, why in layers:
        for agent, folder in layer.items():
            root = as_root(folder)
            if root is not None:
                found[agent] = Found(root, why)
    return found


def configured(knobs: Settings) -> dict[str, str]:
    """What `workspace` and `workspaces` say."""
    pairs = (pair.partition("=") for pair in knobs.workspaces.split(";") if pair.strip())
    named = {agent.strip(): folder.strip() for agent, _, folder in pairs}
    return {MAIN: knobs.workspace, **named} if knobs.workspace else named


def as_root(folder: str) -> Path | None:
    """The folder as one path, whatever links lead to it; None for what is no absolute path."""
    if not folder or "\0" in folder:
        return None
    path = Path(folder).expanduser()
    if not path.is_absolute():
        return None
    return Path(os.path.realpath(path))


def lasting(folder: str) -> bool:
    """Whether a folder named by an event is the agent's own, not a sandbox made for one of its sessions.

    It is named in full, and the system can look for it: a name that is too long would fail wherever it is used later.
    """
    if not Path(folder).is_absolute() or _SANDBOXES in Path(folder).parts:
        return False
    try:
        Path(folder).stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return True  # it may come
    except (OSError, ValueError):
        return False
    return True


def host_file(state: StateDir, environ: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """OpenClaw's configuration file; {} where there is none or it does not read. Never raises."""
    environ = os.environ if environ is None else environ
    own = str(state.path.parent / "openclaw.json") if state.path.name == NAME else ""
    file = environ.get("OPENCLAW_CONFIG_PATH") or own
    found = _json(Path(file)) if file else {}
    return found if isinstance(found, dict) else {}


def of_host(state: StateDir, config: Mapping[str, Any]) -> dict[str, str]:
    """What this configuration names; OpenClaw's usual folder where it names none and that exists."""
    named = in_config(config)
    usual = state.path.parent / "workspace"
    if MAIN not in named and state.path.name == NAME and usual.is_dir():
        named[MAIN] = str(usual)
    return named


def zone_of(config: Mapping[str, Any]) -> str:
    """The user's time zone as OpenClaw knows it; "" where it does not, or names none that exists."""
    agents = config.get("agents")
    defaults = agents.get("defaults") if isinstance(agents, Mapping) else None
    zone = defaults.get("userTimezone") if isinstance(defaults, Mapping) else None
    try:
        return str(ZoneInfo(zone)) if isinstance(zone, str) and zone else ""
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ""


def in_config(config: Any) -> dict[str, str]:
    """The workspaces that OpenClaw's configuration names, agent by agent."""
    agents = config.get("agents") if isinstance(config, Mapping) else None
    if not isinstance(agents, Mapping):
        return {}
    found: dict[str, str] = {}
    defaults = agents.get("defaults")
    if isinstance(defaults, Mapping) and isinstance(defaults.get("workspace"), str):
        found[MAIN] = defaults["workspace"]
    entries = agents.get("entries")
    for agent, entry in entries.items() if isinstance(entries, Mapping) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("workspace"), str):
            found[str(agent)] = entry["workspace"]
    return found


def remembered(state: StateDir) -> dict[str, str]:
    """What the host's events named in earlier lives; {} when nothing reads."""
    found = _json(state.path / "workspaces.json")
    return {str(agent): str(folder) for agent, folder in found.items()} if isinstance(found, dict) else {}


def remember(state: StateDir, told: Mapping[str, str]) -> None:
    """Keep it for the next life. Raises OSError."""
    write_private(state.path / "workspaces.json", json.dumps(dict(told), indent=1, ensure_ascii=False) + "\n")


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


class Index(Shelf, NoteSearch, NoteVectors, Protocol):
    """What a workspace needs of its index: to be written by harvests, to be asked by recall."""

    @property
    def epoch(self) -> str:
        """Another text whenever it began empty again."""

    def count(self) -> Counts:
        """How much it holds."""

    def problems(self) -> list[Problem]:
        """What could not be read as it was meant."""

    def wipe(self) -> None:
        """Overwrite what removed text left behind."""

    def close(self) -> None:
        """Release the file."""


OpenIndex = Callable[[Path], Index]
"""Opens or makes the index file. Raises StateError and its kin."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What every workspace is given: how files are parsed, indexes opened, news heard, and what time it is."""

    parse: Parse
    open_index: OpenIndex
    clock: Clock
    listen: Listen = listen
    spare: Path = field(default_factory=Path)
    """Folder for the indexes of workspaces that cannot be written."""


def choice_of(knobs: Settings, apart: frozenset[str] = frozenset()) -> Choice:
    """What the settings want of a workspace to be notes."""
    return Choice(
        include=tuple(knobs.workspace_include.split(",")),
        exclude=tuple(knobs.workspace_exclude.split(",")),
        gitignore=knobs.workspace_gitignore,
        apart=apart,
    )
