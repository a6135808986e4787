"""Put the plugin into the host, prove that it works, and undo all of it when it does not; and take it out again."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import HostError, NeuralStreamError
from openclaw_neuralstream.host import config, plugin, slot
from openclaw_neuralstream.host.executable import Host
from openclaw_neuralstream.host.slot import Slot
from openclaw_neuralstream.host.steps import Steps

Prove = Callable[[], object]
"""A last proof that it works, e.g. the canary; raises when it does not."""


@dataclass(slots=True)
class Installation:
    """One installation and its way back. `python` is the interpreter that the bridge will start.

    slot: the host's memory slot. memory_slot: whether we are to hold it; where we hold it and are not to, it is given back.
    """

    host: Host
    python: str
    steps: Steps
    slot: Slot
    memory_slot: bool = False
    _kept: config.Kept | None = None
    _before: Path | None = None  # a copy of the plugin that was installed before
    _plugins: dict[str, Any] = field(default_factory=dict)  # what the host's config said of plugins before

    def run(self, prove: Prove | None) -> None:
        """Install, set, verify, prove. Whatever fails, the host is left as it was, and the failure is raised."""
        with tempfile.TemporaryDirectory(prefix="neuralstream-install-") as scratch:
            self._read(Path(scratch))
            try:
                self._install(Path(scratch) / "staged")
                if prove:
                    prove()
            except (NeuralStreamError, KeyboardInterrupt):
                self._roll_back()
                raise

    def plan(self) -> list[str]:
        """What `run` would do to the host, as the commands that a person would type."""
        return [
            "openclaw plugins install <staged copy of the bridge> --force --accept-capabilities",
            f"openclaw config set {plugin.entry(plugin.CONVERSATIONS)} true --strict-json",
            f'openclaw config set {plugin.entry(plugin.PYTHON)} "{self.python}"',
            *([slot.COMMAND] if self.memory_slot else []),
            f"openclaw plugins inspect {plugin.plugin_id()} --runtime --json",
        ]

    def _read(self, scratch: Path) -> None:
        self._kept = self.steps.run(
            "config", "Remember OpenClaw's config", lambda: config.keep(self.host), lambda kept: str(kept.path)
        )
        self._plugins = config.get(self.host, "plugins") or {}
        if (self._plugins.get("entries") or {}).get(plugin.plugin_id()):
            self._before = self.steps.run(
                "before", "Remember the present plugin", lambda: self._copy(scratch), lambda c: "" if c else "none"
            )

    def _copy(self, scratch: Path) -> Path | None:
        known = plugin.inspect(self.host)
        if known is None or not known.folder or not Path(known.folder).is_dir():
            return None
        return Path(shutil.copytree(known.folder, scratch / "before", symlinks=True))

    def _install(self, staged: Path) -> None:
        staged.mkdir()
        plugin.stage(staged, memory_slot=self.memory_slot)
        if self._held and not self.memory_slot:
            self.steps.run("slot", "Give OpenClaw's memory slot back", self.slot.give_back, lambda to: f"to {to}")
            self._note()
        self.steps.run("install", "Install the plugin", lambda: plugin.install(self.host, staged))
        self._note()
        if self.memory_slot:
            self.steps.run(
                "slot",
                "Take OpenClaw's memory slot",
                lambda: self.slot.take(self._plugins),
                lambda of: f"from {of}",
            )
            self._note()
        self.steps.run("allow", "Allow it to see conversations, tell it which Python to start", self._set)
        self._note()
        self.steps.run("verify", "Verify that all hooks are registered", self._verify, lambda n: f"{n} hooks")

    @property
    def _held(self) -> bool:
        """Whether the slot was ours before."""
        return slot.owner(self._plugins) == slot.us()

    def _set(self) -> None:
        config.set_all(self.host, {plugin.entry(plugin.CONVERSATIONS): True, plugin.entry(plugin.PYTHON): self.python})

    def _verify(self) -> int:
        found = plugin.inspect(self.host)
        if problems := plugin.problems(found):
            what = "; ".join(problem.what for problem in problems)
            raise HostError(what, where=f"openclaw plugins inspect {plugin.plugin_id()} --runtime", fix=problems[0].fix)
        return len(found.hooks) if found else 0

    def _note(self) -> None:
        if self._kept:
            self._kept.note()

    def _roll_back(self) -> None:
        """Leave the host as it was; each step is tried, whatever became of the one before."""
        with suppress(NeuralStreamError):
            self.steps.run("undo-plugin", "Undo: the plugin", self._undo_plugin, str)
        with suppress(NeuralStreamError):
            self.steps.run("undo-config", "Undo: OpenClaw's config", self._undo_config, str)

    def _undo_plugin(self) -> str:
        others = self._kept is not None and self._kept.touched_by_others
        if self._before:
            plugin.install(self.host, self._before)
        elif plugin.inspect(self.host) is not None:
            plugin.uninstall(self.host)
        if not others:
            self._note()
        return "the one from before is back" if self._before else "removed"

    def _undo_config(self) -> str:
        if self._kept and self._kept.restore():
            if not self._held:
                self.slot.note.unlink(missing_ok=True)
            return "as it was, byte for byte"
        if not self._before:
            config.unset(self.host, plugin.entry())
        if not self._held:
            self.slot.give_back()
        return "our entries removed; the rest has been changed by others meanwhile and is kept"


def uninstall(host: Host, steps: Steps, held: Slot) -> bool:
    """Take the plugin and its config entries out of the host, and give back its memory slot. False when there was nothing."""
    known = steps.run(
        "inspect", "Look for the plugin", lambda: plugin.inspect(host), lambda f: f.folder if f else "not installed"
    )
    if known is not None:
        steps.run("uninstall", "Remove the plugin", lambda: plugin.uninstall(host))
    if held.note.exists():
        steps.run("slot", "Give OpenClaw's memory slot back", held.give_back, lambda to: f"to {to}")
    left = steps.run(
        "entries", "Remove its config entries", lambda: _forget_entries(host), lambda had: "" if had else "none"
    )
    return known is not None or left


def _forget_entries(host: Host) -> bool:
    if config.get(host, plugin.entry()) is None:
        return False
    config.unset(host, plugin.entry())
    return True
