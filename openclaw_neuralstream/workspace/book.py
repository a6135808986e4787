"""All workspaces of one memory: each agent sees its own and no other; who names a new one has it followed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream.errors import NotFound
from openclaw_neuralstream.model import OWNER, Scope, digest
from openclaw_neuralstream.ports import NoteSearch
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.workspace import retaining, where
from openclaw_neuralstream.workspace.retaining import Sentence
from openclaw_neuralstream.workspace.where import Tools
from openclaw_neuralstream.workspace.workspace import Workspace

log = structlog.get_logger(__name__)


class Workspaces:
    """Agent → workspace. Agents may share one; a folder inside another's workspace belongs to its own agent alone.

    on_change: told after a harvest how many files were indexed; must return at once.
    """

    def __init__(
        self, state: StateDir, knobs: Settings, tools: Tools, *, environ: Mapping[str, str] | None = None
    ) -> None:
        self._state = state
        self._knobs = knobs
        self._tools = tools
        self._lock = threading.RLock()
        self._told = where.remembered(state)
        config = where.host_file(state, environ)
        self._host = where.of_host(state, config)
        self._zone = knobs.timezone or where.zone_of(config)
        self._by_root: dict[Path, Workspace] = {}
        self._of: dict[str, Workspace] = {}
        self._running = False
        self.on_change: Callable[[int], None] = lambda _: None
        self._arrange()

    # --- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Follow all of them."""
        with self._lock:
            self._running = True
            for workspace in self._by_root.values():
                workspace.start()

    def close(self, deadline: float = 3.0) -> None:
        """Stop following, release the indexes."""
        with self._lock:
            self._running = False
            workspaces = list(self._by_root.values())
        for workspace in workspaces:
            workspace.close(deadline)

    @property
    def crashes(self) -> int:
        """How often a watcher ended in an error nobody expected."""
        return sum(workspace.crashes for workspace in self.all())

    # --- asking -----------------------------------------------------------------------------------------------------

    def for_agent(self, agent: str) -> Workspace | None:
        """The agent's own; None when nobody has named one."""
        with self._lock:
            return self._of.get(agent)

    def all(self) -> list[Workspace]:
        """Every workspace once, in the order of their folders."""
        with self._lock:
            return [self._by_root[root] for root in sorted(self._by_root)]

    def search(self, scope: Scope) -> NoteSearch | None:
        """What may be searched for a question of this scope: the agent's own notes, and for its owner only."""
        if scope.user != OWNER:
            return None
        workspace = self.for_agent(scope.agent)
        return workspace.index if workspace else None

    def today(self) -> date:
        """The day it is for the user: the setting `timezone`, else what OpenClaw knows of the user, else this machine's."""
        return retaining.today(self._tools.clock(), self._zone)

    def retain(
        self, agent: str, sentence: Sentence, *, day: date | None = None, dry_run: bool = False
    ) -> retaining.Retained:
        """Keep a sentence in today's log of this agent, findable at once. Raises NotFound where it has no workspace."""
        workspace = self.for_agent(agent)
        if workspace is None:
            fix = "neuralstream config set workspace /folder, or talk to the agent once: OpenClaw then names it"
            raise NotFound(f"no workspace of the agent {agent!r} is known", fix=fix)
        lock = self._state.path / f"retain-{digest(str(workspace.root), size=4)}.lock"
        done = retaining.retain(workspace.root, lock, sentence, day or self.today(), dry_run=dry_run)
        if done.added and not dry_run:
            workspace.harvest({done.path})
        return done

    def status(self) -> list[dict[str, Any]]:
        """What `status` and `doctor` tell."""
        return [workspace.status() for workspace in self.all()]

    # --- being told -------------------------------------------------------------------------------------------------

    def seen(self, agent: str, folder: str) -> None:
        """The host named this agent's workspace: remember it, and follow it from now on when it is another one."""
        if not where.lasting(folder) or self._told.get(agent) == folder:
            return
        with self._lock:
            self._told = {**self._told, agent: folder}
            try:
                where.remember(self._state, self._told)
            except OSError as error:
                log.warning("workspaces.not_remembered", error=error.strerror)
            gone = self._arrange()
        for workspace in gone:
            workspace.close()

    def _changed(self, files: int) -> None:
        self.on_change(files)

    def _arrange(self) -> list[Workspace]:
        """Bring the workspaces into line with what is known; returns those that nobody has any more."""
        found = where.folders(self._knobs, self._told, self._host)
        roots = {item.root for item in found.values()}
        gone = [self._by_root.pop(root) for root in list(self._by_root) if root not in roots]
        self._of = {}
        for workspace in self._by_root.values():
            workspace.agents.clear()
        for agent, item in found.items():
            workspace = self._by_root.get(item.root) or self._new(item)
            workspace.agents.add(agent)
            self._of[agent] = workspace
        for root, workspace in self._by_root.items():
            inside = (other.relative_to(root).as_posix() for other in roots if other != root and root in other.parents)
            workspace.set_apart(frozenset(inside))
        if self._running:
            for workspace in self._by_root.values():
                workspace.start()
        return gone

    def _new(self, item: where.Found) -> Workspace:
        workspace = Workspace(item.root, self._knobs, self._tools, why=item.why)
        workspace.on_change = self._changed
        self._by_root[item.root] = workspace
        return workspace
