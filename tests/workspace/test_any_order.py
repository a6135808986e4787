"""Whatever happens to the files, in whatever order: in the end the index is the one that a fresh build gives."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.model import Wanted
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace.index import NoteIndex
from openclaw_neuralstream.workspace.workspace import Workspace
from tests.waiting import until

NAMES = st.sampled_from(["a.md", "b.md", "日记.md", "c.txt", ".d.md", "e.md~"])
FOLDERS = st.sampled_from(["memory", "memory/x", "memory/x/y", "bank/entities", "memory/secret", "elsewhere"])
TEXTS = st.sampled_from(
    ["", "plain words\n", "# T\n\n## Retain\n- W @Peter: moved to Kyoto.\n", "---\ntags: [x]\n---\n# Q\n- O(c=0.7) @Anna: likes tea.\n", "broken \xff"]
)


def held(index: NoteIndex) -> object:
    """All that an index can answer of: files, facts, notes, tags, entities."""
    ids = index.newest(Wanted(superseded=True), limit=10_000)
    return (
        {path: known.digest for path, known in index.known().items()},
        sorted(map(repr, index.fetch(ids).values())),
        sorted(map(repr, index.facts(Wanted(superseded=True)))),
        index.tags(),
        sorted(map(repr, index.entities())),
        index.count(),
    )


def held_now(workspace: Workspace) -> object:
    """The same; None while the index is being made anew."""
    try:
        return workspace.index and held(workspace.index)
    except NeuralStreamError:
        return None


class AnyOrder(RuleBasedStateMachine):
    """Changes of real files under a real watcher; now and then it stops, and things happen while nothing runs."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="nsw-"))
        self.root = self.folder / "ws"
        self.root.mkdir()
        self.knobs = Settings(workspace=str(self.root), watch_sweep=10_000, watch_poll=5)
        self.workspaces = self.opened("state")
        self.workspaces.start()

    def opened(self, state: str):
        return wiring.workspaces_of(StateDir(self.folder / state).prepare(), self.knobs, environ={})

    @rule(folder=FOLDERS, name=NAMES, text=TEXTS)
    def save(self, folder: str, name: str, text: str) -> None:
        file = self.root / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_dir():
            file.write_bytes(text.encode("latin-1", "replace"))

    @rule(folder=FOLDERS, name=NAMES, text=TEXTS)
    def save_by_rename(self, folder: str, name: str, text: str) -> None:
        file = self.root / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(".saving")
        beside.write_bytes(text.encode("latin-1", "replace"))
        beside.replace(file)

    @rule(folder=FOLDERS, name=NAMES)
    def delete(self, folder: str, name: str) -> None:
        (self.root / folder / name).unlink(missing_ok=True)

    @rule(folder=FOLDERS)
    def delete_folder(self, folder: str) -> None:
        shutil.rmtree(self.root / folder, ignore_errors=True)

    @rule(source=FOLDERS, to=FOLDERS)
    def move_folder(self, source: str, to: str) -> None:
        before, after = self.root / source, self.root / to
        if before.is_dir() and not after.exists() and before not in after.parents:
            after.parent.mkdir(parents=True, exist_ok=True)
            before.rename(after)

    @rule(text=st.sampled_from(["", "secret/\n", "*.md\n!a.md\n"]), folder=st.sampled_from(["", "memory"]))
    def ignore(self, text: str, folder: str) -> None:
        (self.root / folder).mkdir(exist_ok=True)
        (self.root / folder / ".gitignore").write_text(text)

    @rule()
    def restart(self) -> None:
        self.workspaces.close()
        self.workspaces = self.opened("state")
        self.workspaces.start()

    @rule()
    def lose_the_index(self) -> None:
        """At any moment: also while the index that was lost before is being made anew."""
        for file in (self.root / ".memory").glob("index.sqlite*"):
            file.unlink(missing_ok=True)

    @rule()
    def look(self) -> None:
        """Between two changes, so that not all of them come in one burst."""
        self.follows()

    def follows(self) -> None:
        shutil.rmtree(self.folder / "fresh", ignore_errors=True)
        fresh = NoteIndex.open(self.folder / "fresh" / "index.sqlite")
        try:
            anew = Path(self.root)
            build(anew, self.knobs, fresh)
            wanted = held(fresh)
            workspace = self.workspaces.for_agent("main")
            until(lambda: held_now(workspace) == wanted, 60, lambda: (held_now(workspace), wanted))
        finally:
            fresh.close()

    @invariant()
    def nothing_crashed(self) -> None:
        if hasattr(self, "workspaces"):
            assert self.workspaces.crashes == 0

    def teardown(self) -> None:
        if hasattr(self, "workspaces"):
            try:
                self.follows()
            finally:
                self.workspaces.close()
                shutil.rmtree(self.folder, ignore_errors=True)


def build(root: Path, knobs: Settings, index: NoteIndex) -> None:
    """A fresh build of the same files."""
    from openclaw_neuralstream.workspace.harvest import Harvester, Rules
    from openclaw_neuralstream.workspace.parse import parse
    from openclaw_neuralstream.workspace.where import choice_of

    Harvester(root, Rules(root, choice_of(knobs)), index, parse).harvest()


TestAnyOrder = AnyOrder.TestCase
LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
TestAnyOrder.settings = settings(max_examples=400 if LONG else 12, stateful_step_count=30 if LONG else 12, deadline=None, suppress_health_check=list(HealthCheck))
