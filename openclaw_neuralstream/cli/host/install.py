"""Installation into OpenClaw, step by step, each undone when a later one fails."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from openclaw_neuralstream.cli.host import plugin
from openclaw_neuralstream.cli.host.plugin import Host, Slot
from openclaw_neuralstream.errors import HostError, NeuralStreamError, StateError
from openclaw_neuralstream.memory.reflector import HEAD
from openclaw_neuralstream.memory.sequencer import Desk
from openclaw_neuralstream.sequences import pairing
from openclaw_neuralstream.workspace.pages import ENTITY_FENCE, FENCE, OPINIONS_FENCE
from openclaw_neuralstream.workspace.workspace import own_files
from openclaw_neuralstream.workspace.writing import SUFFIX, Place, Rewrite, Verdict, read, remove, removed, write

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Step:
    """One step. state: running, done, skipped or failed; `fix` says how to mend a failed one; waits: what takes its time."""

    name: str
    title: str
    state: str
    detail: str = ""
    fix: str = ""
    seconds: float = 0.0
    waits: str = ""


Tell = Callable[[Step], None]


@dataclass(slots=True)
class Steps:
    """Runs steps, tells of each, and keeps how they ended."""

    tell: Tell = lambda _: None
    ended: list[Step] = field(default_factory=list)

    def run(
        self,
        name: str,
        title: str,
        work: Callable[[], Result],
        say: Callable[[Result], str] = lambda _: "",
        *,
        waits: str = "OpenClaw's command line",
    ) -> Result:
        """Do it; what it raises is told and raised again. say: what to add when it worked. waits: what it waits for."""
        self.tell(Step(name, title, "running", waits=waits))
        started = time.monotonic()
        try:
            result = work()
        except NeuralStreamError as error:
            words = " · ".join(part for part in (error.what, error.where) if part)
            self._end(Step(name, title, "failed", words, error.fix, _since(started)))
            raise
        self._end(Step(name, title, "done", say(result), "", _since(started)))
        return result

    def skip(self, name: str, title: str, why: str) -> None:
        """It is not done, and that is fine."""
        self._end(Step(name, title, "skipped", why))

    def _end(self, step: Step) -> None:
        self.ended.append(step)
        self.tell(step)


def _since(started: float) -> float:
    return round(time.monotonic() - started, 2)


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
    _kept: plugin.Kept | None = None
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
            *([plugin.COMMAND] if self.memory_slot else []),
            f"openclaw plugins inspect {plugin.plugin_id()} --runtime --json",
        ]

    def _read(self, scratch: Path) -> None:
        self._kept = self.steps.run(
            "config", "Remember OpenClaw's config", lambda: plugin.keep(self.host), lambda kept: str(kept.path)
        )
        self._plugins = plugin.get(self.host, "plugins") or {}
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
        return plugin.owner(self._plugins) == plugin.us()

    def _set(self) -> None:
        plugin.set_all(self.host, {plugin.entry(plugin.CONVERSATIONS): True, plugin.entry(plugin.PYTHON): self.python})

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
            plugin.unset(self.host, plugin.entry())
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
    if plugin.get(host, plugin.entry()) is None:
        return False
    plugin.unset(host, plugin.entry())
    return True


_MEMORY_FILES = ("MEMORY.md", "memory.md")
_FOLDERS = ("bank", "memory")  # where reflection writes pages
_OURS = b"<!-- neuralstream:begin "


@dataclass(frozen=True, slots=True)
class Leftover:
    """A file of ours, or a part of ours in a file of the owner. after: the owner's bytes; None where all of it is ours.

    kept: why it is not deleted, "" where it may be.
    """

    place: Place
    size: int
    what: str
    before: bytes | None = None
    after: bytes | None = None
    kept: str = ""


def clear_memory_file(root: Path) -> tuple[list[Path], list[Leftover]]:
    """Take our part out of MEMORY.md, the owner's bytes as they are. Returns the files changed, and parts that stay, and why."""
    changed: list[Path] = []
    left: list[Leftover] = []
    for name in _MEMORY_FILES:
        place = Place(root, name)
        try:
            found = _part_of(place)
            if found and not found.kept:
                _take_out(found)
                changed.append(place.file)
            elif found:
                left.append(found)
        except NeuralStreamError as error:
            size = place.file.stat().st_size if place.file.is_file() else 0
            left.append(Leftover(place, size, "may hold a generated part", kept=error.what))
    return changed, left


def leftovers(roots: Iterable[Path]) -> list[Leftover]:
    """Every file of ours in these workspaces except MEMORY.md. Links are not followed."""
    found = {item.place.file: item for root in roots for item in _found(root)}
    return [found[file] for file in sorted(found)]


def delete(found: Leftover) -> None:
    """Delete a file of ours, and folders of ours that are empty then; of an owner's file only our part.

    Raises FileChanged, FileRefused, or StateError when the file cannot be deleted.
    """
    if found.before is not None:
        _take_out(found)
    else:
        try:
            found.place.file.unlink(missing_ok=True)
        except OSError as error:
            fix = "make its folder writable for you, or delete it yourself"
            raise StateError(
                f"cannot be deleted: {error.strerror or error}", where=str(found.place.file), fix=fix
            ) from error
    with suppress(OSError):  # not empty: the rest is the owner's
        for folder in found.place.file.parents:
            if folder in (found.place.root, found.place.root / "memory"):
                break
            folder.rmdir()


def _found(root: Path) -> Iterator[Leftover]:
    whole = [(path, "index of the notes") for path in own_files(root)]
    whole += [(path, "questions and answers") for path in Desk.names(root)]
    topics = root / pairing.PATH
    if topics.is_file() and topics.read_bytes() == pairing.BLANK.encode():
        whole.append((topics, "topics, none written yet"))
    for folder, _, names in _folders(root):
        whole += [(folder / name, "unfinished file") for name in names if name[:1] == "." and name.endswith(SUFFIX)]
    for path, what in whole:
        if path.resolve() == path:  # no link on the way to it
            yield Leftover(Place(root, path.relative_to(root).as_posix()), path.stat().st_size, what)
    yield from _pages(root)


def _pages(root: Path) -> Iterator[Leftover]:
    for folder, _, names in _folders(root):
        for name in names:
            path = folder / name
            if path.suffix == ".md" and not path.is_symlink() and path.is_file():
                place = Place(root, path.relative_to(root).as_posix())
                with suppress(NeuralStreamError):  # unreadable: nothing we could have written
                    if found := _part_of(place):
                        yield found


def _folders(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Every folder that reflection and sequences write into, as `os.walk` tells it, without links."""
    for top in _FOLDERS:
        if not (root / top).is_symlink():
            for folder, inside, names in os.walk(root / top):
                yield Path(folder), inside, names


def _part_of(place: Place) -> Leftover | None:
    """What is ours in a Markdown file; None where nothing is."""
    before = read(place)
    if before is None or _OURS not in before:
        return None
    made = _without_parts(before)
    if made.verdict is Verdict.UNCHANGED:
        return None
    if made.verdict is not Verdict.REMOVED:
        return Leftover(place, len(before), "a generated part", before, before, kept=made.verdict.value)
    ours_alone = made.gone and (place.path not in _MEMORY_FILES or made.after.strip() in (b"", HEAD.encode()))
    if ours_alone:
        return Leftover(place, len(before), "generated page", before)
    return Leftover(place, len(before), "a generated part in a file of yours", before, made.after)


def _without_parts(before: bytes) -> Rewrite:
    """The file without any part of ours; as it is where one of them is not to be touched."""
    made = Rewrite(Verdict.UNCHANGED, before, before)
    for name in (FENCE, ENTITY_FENCE, OPINIONS_FENCE):
        part = removed(made.after, name)
        if part.verdict is Verdict.REMOVED:
            made = Rewrite(part.verdict, before, part.after, part.gone)
        elif part.verdict is not Verdict.UNCHANGED:
            return Rewrite(part.verdict, before, before)
    return made


def _take_out(found: Leftover) -> None:
    if found.before is None:
        return
    if found.after is None and not found.place.file.is_symlink():
        remove(found.place, read_as=found.before)
    else:
        write(found.place, found.after or b"", read_as=found.before)
