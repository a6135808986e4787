"""OpenClaw's memory slot: taken when the owner wants it, given back to whom it was taken from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openclaw_neuralstream.host import config
from openclaw_neuralstream.host.executable import Host
from openclaw_neuralstream.root import manifest
from openclaw_neuralstream.state import write_private

PATH = "plugins.slots.memory"
KIND = "memory"
DEFAULT = "memory-core"
"""Whose the slot is where the host's config names nobody."""

_CORE = f"plugins.entries.{DEFAULT}.enabled"
"""The host runs its own memory plugin beside whoever holds the slot, for dreaming, and its tools win over the holder's."""

COMMAND = f"openclaw config set {PATH} neuralstream; openclaw config set {_CORE} false --strict-json"
"""What taking it comes to, as a person would type it."""


def as_memory(host_manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The host's manifest of a plugin that holds the slot: its kind, and the tools that come with it."""
    slot = list(manifest()["slot"]["tools"].values())
    tools = [*host_manifest["contracts"]["tools"], *slot]
    return {**host_manifest, "kind": KIND, "contracts": {**host_manifest["contracts"], "tools": tools}}


def owner(plugins: Any) -> str:
    """The plugin to which the host's `plugins` config gives the slot; "" where it names none: the host's own."""
    return str(_at(plugins, "slots", "memory") or "")


@dataclass(frozen=True, slots=True)
class Slot:
    """The slot of one host, and the note of whom it was taken from. While we hold it, the host's own plugin rests."""

    host: Host
    note: Path

    def take(self, plugins: Any) -> str:
        """Have it, and note whose it was. plugins: the host's config before. Returns whose it was."""
        before = owner(plugins)
        if before != us() or not self.note.exists():
            core = _at(plugins, "entries", DEFAULT, "enabled")
            known = {"before": "" if before == us() else before, "core": core}
            write_private(self.note, json.dumps(known) + "\n")
        config.set_all(self.host, {PATH: us(), _CORE: False})
        return before or DEFAULT

    def give_back(self) -> str:
        """Give it to whom it was taken from, unless somebody else has it by now. Returns whose it is now."""
        known, plugins = self._known(), config.get(self.host, "plugins")
        now = owner(plugins)
        if known is not None and _at(plugins, "entries", DEFAULT, "enabled") is False:
            self._enable_core(known.get("core"), alone=_at(plugins, "entries", DEFAULT) == {"enabled": False})
        before = str((known or {}).get("before") or "")
        if now == us() or (not now and before not in ("", DEFAULT)):
            if before in ("", DEFAULT):
                config.unset(self.host, PATH)
            else:
                config.set_all(self.host, {PATH: before})
            now = before
        self.note.unlink(missing_ok=True)
        return now or DEFAULT

    def _enable_core(self, as_it_was: Any, *, alone: bool) -> None:
        if as_it_was is not None:
            config.set_all(self.host, {_CORE: as_it_was})
        else:
            config.unset(self.host, _CORE.removesuffix(".enabled") if alone else _CORE)

    def _known(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None


def us() -> str:
    """The id under which the host knows us."""
    return str(manifest()["plugin"]["id"])


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value
