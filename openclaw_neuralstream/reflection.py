"""Reflection, the story: gather facts and gems of a workspace, plan its pages, write or propose them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import structlog

from openclaw_neuralstream.errors import AnswerRefused, NeuralStreamError, StateError, VendorAway
from openclaw_neuralstream.extract.rules.cues import INJECTION
from openclaw_neuralstream.extract.rules.entities import entities_of
from openclaw_neuralstream.model import Known as KnownFile
from openclaw_neuralstream.model import Note, Scope, Wanted, digest, slug_of
from openclaw_neuralstream.notes.bullets import render_fact
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.ports import Completion, Extractor, NoteSearch
from openclaw_neuralstream.reflect import core, logs, prose
from openclaw_neuralstream.reflect.cache import Answers
from openclaw_neuralstream.reflect.evidence import Evidence, of_facts, of_gems
from openclaw_neuralstream.reflect.opinions import opinions
from openclaw_neuralstream.reflect.pages import (
    ENTITIES,
    About,
    Known,
    Page,
    Sentence,
    about,
    entity_page,
    opinions_page,
)
from openclaw_neuralstream.reflect.proposals import Book, Proposal, proposal
from openclaw_neuralstream.reflect.report import Change, Report
from openclaw_neuralstream.reflect.rewrite import Rewrite, Verdict, appended, outside, rewrite
from openclaw_neuralstream.reflect.writing import FileChanged, FileRefused, Place, read, sweep, write

log = structlog.get_logger(__name__)

WEEK = timedelta(days=7)
RETAIN = "retain"
WHOLE = "whole file"

_MOST_GEMS = 20_000
_MOST_PROJECTS = 500  # newest notes that are looked at for projects
_MOST_SUMMARIES = 50  # pages of one run that a model is asked about
_MOST_LOGS = 31
_MOST_VECTORS = 600  # texts of one run that are embedded to compare opinions


class Shelf(NoteSearch, Protocol):
    """The notes index, as reflection asks it."""

    def known(self) -> dict[str, KnownFile]:
        """Every indexed path."""


class Workspace(Protocol):
    """A folder of Markdown and its index."""

    @property
    def root(self) -> Path:
        """Where it is."""

    @property
    def index(self) -> Shelf | None:
        """None while it cannot be opened."""

    def harvest(self, paths: set[str] | None = None) -> object:
        """Index what changed."""


class Reflector:
    """Reflects over workspaces, one at a time. May be used from any thread."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()

    def reflect(
        self,
        workspace: Workspace,
        agent: str,
        *,
        since: timedelta | None = WEEK,
        dry_run: bool = False,
        progress: Callable[[str], None] = lambda _: None,
    ) -> Report:
        """Refresh the pages of whoever was written about since then (None = ever), the opinions and MEMORY.md.

        What a person has changed by hand, and every change to a daily log, becomes a proposal. With `dry_run` nothing is
        written or kept. A file that cannot be written is a line of the report; the others go on.
        Raises StateError when the notes index cannot be read.
        """
        with self._lock:
            run = _Run(self._parts, workspace, agent, since, dry_run=dry_run, progress=progress)
            report = run.report()
        log.info("reflected", files=len(report.written), opinions=report.opinions, facts=report.facts, gems=report.gems)
        return report

    def book(self, workspace: Workspace) -> Book:
        """The proposals of a workspace."""
        return Book(_folder(self._parts, workspace) / "proposals")

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
        with suppress(NeuralStreamError):
            workspace.harvest({one.path})
        return one

    def reject(self, workspace: Workspace, prefix: str) -> Proposal:
        """Put it away; it is not made again. Raises NotFound."""
        book = self.book(workspace)
        one = book.find(prefix)
        book.reject(one)
        return one

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


class _Run:
    """One reflection over one workspace."""

    def __init__(
        self,
        parts: Parts,
        workspace: Workspace,
        agent: str,
        since: timedelta | None,
        *,
        dry_run: bool,
        progress: Callable[[str], None],
    ) -> None:
        self._parts = parts
        self._workspace = workspace
        self._agent = agent
        self._dry_run = dry_run
        self._progress = progress
        self._now = parts.clock()
        self._today = self._now.astimezone().date()
        self._since = (self._now - since).astimezone().date() if since is not None else None
        self._book = Book(_folder(parts, workspace) / "proposals")
        self._answers = Answers(_folder(parts, workspace) / "answers")
        self._dropped = 0

    def report(self) -> Report:
        """Do it all."""
        index = self._index()
        known = self._known(index)
        extractor, completion, writer = _writer(self._parts)
        pages = about(known, since=self._since, today=self._today)
        changes = [*self._pages(known, pages, completion), self._memory(index, known)]
        changes += self._retains(index, extractor)
        written = {change.path for change in changes if change.outcome in ("created", "updated")}
        if written and not self._dry_run:
            with suppress(NeuralStreamError):
                self._workspace.harvest(written)
        gems = sum(1 for item in known.evidence if item.gem_kind)
        return Report(
            str(self._workspace.root),
            tuple(changes),
            len(known.evidence) - gems,
            gems,
            len(known.opinions),
            self._dropped,
            writer,
            self._dry_run,
        )

    # --- gathering --------------------------------------------------------------------------------------------------

    def _index(self) -> Shelf:
        with suppress(NeuralStreamError):
            self._workspace.harvest()
        index = self._workspace.index
        if index is None:
            raise StateError(
                "the notes index cannot be opened", where=str(self._workspace.root), fix="neuralstream doctor"
            )
        return index

    def _known(self, index: Shelf) -> Known:
        self._progress("reading facts and gems")
        facts = index.facts(Wanted(superseded=True))
        ids = {fact.fact_id: fact.citation for fact in facts}
        outdated = index.outdated(list(ids), Wanted())
        gems = self._parts.truth.gems(Scope(self._agent), limit=_MOST_GEMS)
        evidence = self._harmless([*of_facts(facts), *of_gems(gems)])
        return Known(
            tuple(evidence),
            tuple(opinions(evidence, similar=_Cosine(self._parts))),
            tuple(index.entities()),
            frozenset(ids[fact_id] for fact_id in outdated if fact_id in ids),
        )

    def _harmless(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        """Without what poses as an order to a model: a page may be read by one."""
        kept = [item for item in evidence if not INJECTION.search(item.text)]
        self._dropped = len(evidence) - len(kept)
        return kept

    # --- pages ------------------------------------------------------------------------------------------------------

    def _pages(self, known: Known, named: Sequence[About], completion: Completion | None) -> Iterator[Change]:
        if not self._dry_run:
            for folder in ("", "bank", ENTITIES, "memory"):
                sweep(self._workspace.root / folder)
            self._answers.prune()
        templates = self._parts.templates
        for number, one in enumerate(named):
            self._progress(one.name)
            summary = self._summary(one, completion if number < _MOST_SUMMARIES else None)
            yield self._written(entity_page(one, templates, summary))
        if known.opinions:
            yield self._written(opinions_page(known.opinions, templates))

    def _summary(self, one: About, completion: Completion | None) -> list[Sentence]:
        """A model's sentences, from the same evidence always the same; none without a model."""
        key = digest(
            one.name, *map(repr, one.sources), self._parts.templates.digest("reflect_system", "reflect_prompt")
        )
        kept = self._answers.get(key)
        if isinstance(kept, list):
            return prose.checked([(text, tuple(sources)) for text, sources in kept], one.name, one.sources)
        if completion is None:
            return []
        try:
            said = prose.ask(one, completion, self._parts.templates)
        except (VendorAway, AnswerRefused) as error:
            log.info("summary.none", reason=type(error).__name__)
            return []
        if not self._dry_run:
            self._answers.put(key, said)
        return prose.checked(said, one.name, one.sources)

    def _written(self, page: Page) -> Change:
        return self._attempt(
            page, lambda place: self._apply(page, rewrite(read(place), page.fence, page.body, head=page.head))
        )

    def _attempt(self, page: Page, do: Callable[[Place], Change]) -> Change:
        try:
            return do(Place(self._workspace.root, page.path))
        except FileChanged as error:
            return Change(page.path, page.fence, "waits", error.what)
        except FileRefused as error:
            return Change(page.path, page.fence, "failed", error.what)

    def _apply(self, page: Page, made: Rewrite) -> Change:
        if made.verdict is Verdict.BY_HAND:
            return self._proposed(page.path, page.fence, page.body, "the generated part was changed by hand", made)
        if made.verdict in (Verdict.OFF, Verdict.UNCLEAR):
            return Change(page.path, page.fence, "left alone", made.verdict.value)
        if made.verdict is Verdict.UNCHANGED:
            return Change(page.path, page.fence, "unchanged")
        if not self._dry_run:
            write(Place(self._workspace.root, page.path), made.after, read_as=made.before)
            self._book.drop(page.path, page.fence)
        return Change(
            page.path, page.fence, made.verdict.value, diff=self._proposal(page.path, page.fence, "", "", made).diff
        )

    def _proposed(self, path: str, part: str, text: str, why: str, made: Rewrite) -> Change:
        one = self._proposal(path, part, text, why, made)
        if self._dry_run or self._book.put(one):
            return Change(path, part, "proposed", why, one.diff, one.proposal_id)
        return Change(path, part, "unchanged", "proposed before")

    def _proposal(self, path: str, part: str, text: str, why: str, made: Rewrite) -> Proposal:
        return proposal(path, part, text, why, before=made.before, after=made.after, made=self._now)

    # --- MEMORY.md --------------------------------------------------------------------------------------------------

    def _memory(self, index: Shelf, known: Known) -> Change:
        knobs = self._parts.settings
        path = "memory.md" if _has_only_lower_case(self._workspace.root) else "MEMORY.md"
        empty = Page(path, core.FENCE, "")

        def do(place: Place) -> Change:
            before = read(place)
            own = outside(before or b"", core.FENCE)
            blank = own.strip() in (b"", b"# Memory")
            taken = 0 if knobs.memory_md == "replace" else len(own.decode("utf-8", "replace"))
            room = min(knobs.memory_md_budget, core.HOST_LIMIT - _MARGIN - taken)
            projects = core.projects_of(known.evidence, _projects(index))
            everybody = about(known, since=None, today=self._today)
            page = core.memory_page(known, projects, everybody, self._parts.templates, path=path, budget=max(0, room))
            made = rewrite(before, page.fence, page.body, head=page.head)
            if not page.body and made.verdict is not Verdict.UPDATED:
                return Change(path, page.fence, "unchanged", "nothing to say yet")
            return self._core(page, made, blank=blank)

        return self._attempt(empty, do)

    def _core(self, page: Page, made: Rewrite, *, blank: bool) -> Change:
        """off: propose; augment: write; replace: write where nothing of a person's stands, else propose to do without it."""
        mode = self._parts.settings.memory_md
        if made.verdict is Verdict.UNCHANGED and (mode != "replace" or blank):
            self._book.drop(page.path, page.fence)
            return Change(page.path, page.fence, "unchanged")
        if made.verdict in (Verdict.OFF, Verdict.UNCLEAR, Verdict.BY_HAND):
            return self._apply(page, made)
        if mode == "off":
            return self._proposed(page.path, page.fence, page.body, "the setting memory_md is off", made)
        if mode == "replace" and not blank:
            alone = replace(made, after=rewrite(None, page.fence, page.body, head=page.head).after)
            return self._proposed(
                page.path, WHOLE, page.body, "memory_md is replace, and text of yours stands here", alone
            )
        meta = f"memory_md {digest(str(self._workspace.root), size=6)}"
        last = self._parts.truth.meta(meta)
        if (
            last
            and made.before is not None
            and (self._now - datetime.fromisoformat(last)) < timedelta(seconds=self._parts.settings.memory_md_every)
        ):
            return Change(page.path, page.fence, "waits", "changed less than memory_md_every ago")
        change = self._apply(page, made)
        if not self._dry_run:
            self._parts.truth.set_meta(meta, self._now.isoformat())
        return change

    # --- daily logs -------------------------------------------------------------------------------------------------

    def _retains(self, index: Shelf, extractor: Extractor) -> Iterator[Change]:
        """Proposals for the logs of days that are over and have no Retain section, the newest first."""
        days = [(day, path) for path in index.known() if (day := logs.day_of(path)) and day < self._today]
        wanted = [(day, path) for day, path in sorted(days, reverse=True) if self._since is None or day >= self._since]
        for _, path in wanted[:_MOST_LOGS]:
            self._progress(path)
            if not self._book.refused(path, RETAIN):
                change = self._attempt(Page(path, RETAIN, ""), lambda place: self._retain(place, extractor))
                if change.outcome != "unchanged":
                    yield change

    def _retain(self, place: Place, extractor: Extractor) -> Change:
        before, day = read(place), logs.day_of(place.path)
        if before is None or day is None or not logs.lacks_retain(before):
            return Change(place.path, RETAIN, "unchanged")
        section = self._section(place.path, before, day, extractor)
        if not section:
            return Change(place.path, RETAIN, "unchanged", "nothing worth keeping was found")
        made = Rewrite(Verdict.UPDATED, before, appended(before, section))
        return self._proposed(place.path, RETAIN, section, "this day has no Retain section", made)

    def _section(self, path: str, data: bytes, day: date, extractor: Extractor) -> str:
        key = digest(RETAIN, path, data.decode("utf-8", "surrogateescape"), str(extractor.identity))
        kept = self._answers.get(key)
        if isinstance(kept, str):
            return kept
        try:
            drafts = extractor.extract(logs.reading(path, data, day, self._agent))
        except (VendorAway, AnswerRefused) as error:
            log.info("retain.none", reason=type(error).__name__)
            return ""
        few = logs.complemented(drafts, path, data, self._names)
        section = logs.retain_section([d for d in few if not INJECTION.search(d.content)], path, render_fact)
        if not self._dry_run:
            self._answers.put(key, section)
        return section

    def _names(self, sentence: str) -> tuple[str, ...]:
        """Whom and what a sentence names: who is known already, and what looks like a name."""
        index = self._workspace.index
        known = [entity.name for entity in index.named_in(sentence)] if index else []
        return tuple({slug_of(name): name for name in (*entities_of(sentence), *known)}.values())


_MARGIN = 200  # characters of MEMORY.md left for markers and heading


class _Cosine:
    """Similarity by vectors, for the first few hundred texts; 0 beyond, and while the embedder is away."""

    def __init__(self, parts: Parts) -> None:
        self._embedder = parts.embedder
        self._vectors: dict[str, Any] = {}
        self._away = False

    def __call__(self, one: str, other: str) -> float:
        try:
            first, second = self._vector(one), self._vector(other)
        except VendorAway:
            self._away = True
            return 0.0
        return float(first @ second) if first is not None and second is not None else 0.0

    def _vector(self, text: str) -> Any:
        if text not in self._vectors:
            if self._away or len(self._vectors) >= _MOST_VECTORS:
                return None
            self._vectors[text] = self._embedder.embed_documents([text])[0]
        return self._vectors[text]


def _writer(parts: Parts) -> tuple[Extractor, Completion | None, str]:
    """Who extracts and who writes now: the configured model while it answers, else rules."""
    try:
        extractor = parts.choose_extractor()
    except VendorAway:
        from openclaw_neuralstream.extract.rules import RulesExtractor

        return RulesExtractor(), None, "rules"
    completion: Completion | None = getattr(extractor, "completion", None)
    name = f"{extractor.identity.name} {extractor.identity.model}".strip()
    return extractor, completion, name


def _projects(index: NoteSearch) -> list[core.Project]:
    """Projects with a file of their own: its title, and its first words until something newer is known."""
    found: dict[str, core.Project] = {}
    notes = index.fetch(index.newest(Wanted(kinds=("note",)), limit=_MOST_PROJECTS))
    for note in sorted((n for n in notes.values() if isinstance(n, Note)), key=lambda note: (note.path, note.line)):
        if note.category == "project" and not note.generated and not INJECTION.search(note.text):
            name = note.trail[0] if note.trail else note.title
            lines = [
                line.strip("#*- ") for line in note.text.splitlines() if line.strip("#*- ") and not line.startswith("#")
            ]
            found.setdefault(note.path, core.Project(name, lines[0] if lines else "", note.citation, note.path))
    return list(found.values())


def _planned(part: str, text: str, now: bytes | None) -> bytes | None:
    """What the file becomes when the proposal is made on what stands there; None when there is nothing to do any more."""
    if part == RETAIN:
        return appended(now, text) if now is not None and logs.lacks_retain(now) else None
    if part == WHOLE:
        return rewrite(None, core.FENCE, text, head="# Memory").after
    made = rewrite(now, part, text, head="# Memory" if part == core.FENCE else "")
    return made.after if made.verdict in (Verdict.CREATED, Verdict.UPDATED, Verdict.BY_HAND) else None


def _has_only_lower_case(root: Path) -> bool:
    try:
        names = {file.name for file in root.iterdir() if file.name.lower() == "memory.md"}
    except OSError:
        return False
    return "memory.md" in names and "MEMORY.md" not in names


def _folder(parts: Parts, workspace: Workspace) -> Path:
    """Where the proposals and answers of a workspace are kept; the folder says by its name whose they are."""
    return parts.state.path / "reflect" / digest(str(workspace.root), size=8)
