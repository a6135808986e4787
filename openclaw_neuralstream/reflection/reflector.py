"""One reflection over one workspace from end to end, and the decisions on what it proposes."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import structlog

from openclaw_neuralstream.errors import NeuralStreamError, StateError
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.reflect import core
from openclaw_neuralstream.reflect.cache import Answers
from openclaw_neuralstream.reflect.pages import (
    ENTITIES,
    ENTITY_FENCE,
    OPINIONS,
    OPINIONS_FENCE,
    About,
    Known,
    Page,
    about,
    entity_page,
    opinions_page,
)
from openclaw_neuralstream.reflect.proposals import Book, Proposal
from openclaw_neuralstream.reflect.report import Change, Report
from openclaw_neuralstream.reflect.rewrite import Verdict, appended, removed, rewrite
from openclaw_neuralstream.reflect.writing import FileChanged, Place, read, sweep, write
from openclaw_neuralstream.reflection.desk import Desk
from openclaw_neuralstream.reflection.folder import Workspace
from openclaw_neuralstream.reflection.gathering import gathered, projects_with_files
from openclaw_neuralstream.reflection.memory_file import HEAD, WHOLE, MemoryFile
from openclaw_neuralstream.reflection.retaining import RETAIN, Retaining, lacks_retain
from openclaw_neuralstream.reflection.speaking import Summaries, writer_of

log = structlog.get_logger(__name__)

WEEK = timedelta(days=7)


class Reflector:
    """Reflects over workspaces, one at a time. May be used from any thread."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()

    def reflect(
        self, workspace: Workspace, agent: str, *, since: timedelta | None = WEEK, dry_run: bool = False
    ) -> Report:
        """Begin pages of whoever was written about since then (None = ever), refresh those there are, and MEMORY.md.

        What a person has changed by hand, and every change to a daily log, becomes a proposal. With `dry_run` nothing is
        written or kept. A file that cannot be written is a line of the report; the others go on.
        Raises StateError when the notes index cannot be read.
        """
        with self._lock:
            report = self._reflected(workspace, agent, since, dry_run=dry_run)
        log.info("reflected", files=len(report.written), opinions=report.opinions, facts=report.facts, gems=report.gems)
        return report

    def refresh(self, workspace: Workspace, agent: str, *, dry_run: bool = False) -> Report:
        """Bring the generated parts there are up to date at once, MEMORY.md too; none is begun, no log is read.

        For after something was forgotten: what rested on it alone goes, pages of nobody any more are removed.
        Raises StateError when the notes index cannot be read.
        """
        with self._lock:
            report = self._reflected(workspace, agent, WEEK, dry_run=dry_run, stale_only=True)
        log.info("refreshed", files=len(report.written))
        return report

    def book(self, workspace: Workspace) -> Book:
        """The proposals of a workspace."""
        return Book(self._own(workspace) / "proposals")

    def accept(self, workspace: Workspace, prefix: str) -> Proposal:
        """Make the change. Raises NotFound, FileRefused, and FileChanged when the file is another one by now.

        The proposal is then planned anew on what stands there, to be looked at again.
        """
        with self._lock:
            book = self.book(workspace)
            one = book.find(prefix)
            place = Place(workspace.root, one.path)
            now = read(place)
            if now != one.before:
                self._renew(book, one, now)
            write(place, one.after, read_as=one.before)
            book.accept(one)
        _index(workspace, {one.path})
        return one

    def reject(self, workspace: Workspace, prefix: str) -> Proposal:
        """Put it away; it is not made again. Raises NotFound."""
        book = self.book(workspace)
        one = book.find(prefix)
        book.reject(one)
        return one

    def _reflected(
        self, workspace: Workspace, agent: str, since: timedelta | None, *, dry_run: bool, stale_only: bool = False
    ) -> Report:
        _index(workspace, None)
        shelf = workspace.index
        if shelf is None:
            raise StateError("the notes index cannot be opened", where=str(workspace.root), fix="neuralstream doctor")
        now = self._parts.clock()
        today = self._parts.workspaces.today()
        begin = today - since if since is not None else None
        desk = Desk(workspace.root, self.book(workspace), now, dry_run=dry_run)
        answers = Answers(self._own(workspace) / "answers")
        if not dry_run:
            answers.prune()
            for folder in ("", "bank", ENTITIES, "memory"):
                sweep(workspace.root / folder)
        writer = writer_of(self._parts)
        known, dropped = gathered(self._parts, shelf, agent)
        summaries = Summaries(self._parts.templates, answers, writer.completion, keep=not dry_run)
        everybody = about(known, since=None, today=today)
        recent = frozenset() if stale_only else {one.slug for one in about(known, since=begin, today=today)}
        changes = list(self._pages(desk, known, summaries, everybody, recent))
        projects = core.projects_of(known.evidence, projects_with_files(shelf))
        core_file = MemoryFile(self._parts, desk, now)
        if not stale_only or desk.holds(core_file.path, core.FENCE):
            changes.append(core_file.lay(known, projects, everybody, at_once=stale_only))
        if not stale_only:
            changes += Retaining(desk, shelf, writer.extractor, answers, agent).proposals(begin, today)
        gems = sum(bool(item.gem_kind) for item in known.evidence)
        facts = len(known.evidence) - gems
        root, opinions = str(workspace.root), len(known.opinions)
        report = Report(root, tuple(changes), facts, gems, opinions, dropped, writer.name, dry_run)
        if report.written and not dry_run:
            _index(workspace, set(report.written))
        return report

    def _pages(
        self, desk: Desk, known: Known, summaries: Summaries, everybody: Sequence[About], recent: Collection[str]
    ) -> Iterator[Change]:
        """Pages of whom `recent` names (slugs), and every page there is already: what it rests on may have gone or moved."""
        for one in everybody:
            if one.slug in recent or desk.holds(one.path, ENTITY_FENCE):
                yield desk.lay(entity_page(one, self._parts.templates, summaries.of(one)))
        kept = {one.path for one in everybody}
        for path in sorted(desk.pages(ENTITIES) | {entity.page for entity in known.entities if entity.page}):
            if path not in kept and desk.holds(path, ENTITY_FENCE):
                yield desk.clear(Page(path, ENTITY_FENCE, ""))
        if known.opinions and (recent or desk.holds(OPINIONS, OPINIONS_FENCE)):
            yield desk.lay(opinions_page(known.opinions, self._parts.templates))
        elif desk.holds(OPINIONS, OPINIONS_FENCE):
            yield desk.clear(Page(OPINIONS, OPINIONS_FENCE, ""))

    def _renew(self, book: Book, one: Proposal, now: bytes | None) -> None:
        after = _planned(one.part, one.text, now)
        if after is None or after == now:
            book.drop(one.path, one.part)
            raise FileChanged("the file has changed, and the proposal with it is needless", where=one.path)
        book.put(replace(one, before=now, after=after, made=self._parts.clock()))
        raise FileChanged(
            "the file has changed since; the proposal now builds on what stands there",
            where=one.path,
            fix=f"neuralstream proposals show {one.proposal_id}",
        )

    def _own(self, workspace: Workspace) -> Path:
        """Where the proposals and answers of a workspace are kept: they are no part of it."""
        return self._parts.state.path / "reflect" / digest(str(workspace.root), size=8)


def _index(workspace: Workspace, paths: set[str] | None) -> None:
    """Have the index follow at once; where it cannot, the watcher or the next harvest will."""
    with suppress(NeuralStreamError):
        workspace.harvest(paths)


def _planned(part: str, text: str, now: bytes | None) -> bytes | None:
    """What the file becomes when the proposal is made on what stands there; None when there is nothing to do any more."""
    if part == RETAIN:
        return appended(now, text) if now is not None and lacks_retain(now) else None
    if part == WHOLE:
        return rewrite(None, core.FENCE, text, head=HEAD).after
    if not text:
        return removed(now, part).after if now is not None else None
    made = rewrite(now, part, text, head=HEAD if part == core.FENCE else "")
    return made.after if made.verdict in (Verdict.CREATED, Verdict.UPDATED, Verdict.BY_HAND) else None
