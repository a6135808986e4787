"""MEMORY.md: proposed, kept up to date, or made whole, as the setting says; seldom, because each change costs a cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from openclaw_neuralstream.fences import named
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.reflect import core
from openclaw_neuralstream.reflect.pages import About, Known, Page
from openclaw_neuralstream.reflect.report import Change
from openclaw_neuralstream.reflect.rewrite import Rewrite, Verdict, outside, removed, rewrite
from openclaw_neuralstream.reflect.writing import Place, read
from openclaw_neuralstream.reflection.desk import Desk

WHOLE = "whole file"
"""The part of a proposal to do without what stands in the file."""

HEAD = "# Memory"
_MARGIN = 200  # characters left for markers and heading


def path_of(root: Path) -> str:
    """MEMORY.md, or memory.md where its owner calls it so."""
    try:
        names = {file.name for file in root.iterdir() if file.name.lower() == "memory.md"}
    except OSError:
        names = set()
    return "memory.md" if "memory.md" in names and "MEMORY.md" not in names else "MEMORY.md"


class MemoryFile:
    """The slim part of MEMORY.md in one run."""

    def __init__(self, parts: Parts, desk: Desk, now: datetime) -> None:
        self._parts = parts
        self._desk = desk
        self._now = now
        self.path = path_of(desk.root)

    def lay(
        self, known: Known, projects: Sequence[core.Project], pages: Sequence[About], *, at_once: bool = False
    ) -> Change:
        """Bring it up to date, or say why not; at_once: however lately it was changed."""

        def do(place: Place) -> Change:
            before = read(place)
            own = outside(before or b"", core.FENCE)
            page = self._page(known, projects, pages, own)
            if not page.body and not named(before or b"", page.fence):
                return Change(page.path, page.fence, "unchanged", "nothing to say yet")
            made = rewrite(before, page.fence, page.body, head=page.head) if page.body else removed(before, page.fence)
            return self._settle(page, made, blank=own.strip() in (b"", HEAD.encode()), at_once=at_once)

        return self._desk.attempt(Page(self.path, core.FENCE, ""), do)

    def _page(self, known: Known, projects: Sequence[core.Project], pages: Sequence[About], own: bytes) -> Page:
        """Within the budget, and with a person's own text below what the host shows."""
        knobs = self._parts.settings
        taken = 0 if knobs.memory_md == "replace" else len(own.decode("utf-8", "replace"))
        room = max(0, min(knobs.memory_md_budget, core.HOST_LIMIT - _MARGIN - taken))
        return core.memory_page(known, projects, pages, self._parts.templates, path=self.path, budget=room)

    def _settle(self, page: Page, made: Rewrite, *, blank: bool, at_once: bool) -> Change:
        """off: propose; augment: write; replace: write where nothing of a person's stands, else propose to do without it."""
        mode = self._parts.settings.memory_md
        if not self._desk.dry_run and (mode != "replace" or blank):
            self._desk.book.drop(page.path, WHOLE)  # made while the setting was another
        if made.verdict is Verdict.UNCHANGED and (mode != "replace" or blank):
            if not self._desk.dry_run:
                self._desk.book.drop(page.path, page.fence)
            return Change(page.path, page.fence, "unchanged")
        if made.verdict in (Verdict.OFF, Verdict.UNCLEAR, Verdict.BY_HAND):
            return self._desk.apply(page, made)
        if mode == "off":
            return self._desk.propose(page.path, page.fence, page.body, "the setting memory_md is off", made)
        if mode == "replace" and not blank and page.body:
            alone = replace(made, after=rewrite(None, page.fence, page.body, head=page.head).after)
            why = "memory_md is replace, and text of yours stands here"
            return self._desk.propose(page.path, WHOLE, page.body, why, alone)
        return self._seldom(page, made, at_once=at_once)

    def _seldom(self, page: Page, made: Rewrite, *, at_once: bool) -> Change:
        noted = f"memory_md {digest(str(self._desk.root), size=6)}"
        last = self._parts.truth.meta(noted)
        pause = timedelta(seconds=self._parts.settings.memory_md_every)
        if last and not at_once and made.before is not None and self._now - datetime.fromisoformat(last) < pause:
            return Change(page.path, page.fence, "waits", "changed less than memory_md_every ago")
        change = self._desk.apply(page, made)
        if not self._desk.dry_run:
            self._parts.truth.set_meta(noted, self._now.isoformat())
        return change
