"""Reflection: gather facts and gems, refresh opinions, pages, MEMORY.md and logs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream.errors import AnswerRefused, NeuralStreamError, StateError, VendorAway
from openclaw_neuralstream.extract.learned import LearnedExtractor
from openclaw_neuralstream.extract.names import entities_of
from openclaw_neuralstream.memory.folder import Shelf, Workspace
from openclaw_neuralstream.memory.parts import Parts
from openclaw_neuralstream.model import Note, Scope, Wanted, digest, slug_of
from openclaw_neuralstream.plugins.templates import Templates
from openclaw_neuralstream.ports import Completion, Embedder, Extractor, NoteSearch
from openclaw_neuralstream.text.fences import named
from openclaw_neuralstream.text.lexicon import INJECTION
from openclaw_neuralstream.text.lines import clean_gem
from openclaw_neuralstream.workspace import markdown, writing
from openclaw_neuralstream.workspace import pages as core
from openclaw_neuralstream.workspace import pages as prose
from openclaw_neuralstream.workspace.daily import guessed
from openclaw_neuralstream.workspace.markdown import decoded, head_of
from openclaw_neuralstream.workspace.opinions import Evidence, of_facts, of_gems, opinions
from openclaw_neuralstream.workspace.pages import (
    ENTITIES,
    ENTITY_FENCE,
    OPINIONS,
    OPINIONS_FENCE,
    About,
    Answers,
    Change,
    Known,
    Page,
    Project,
    Report,
    Sentence,
    about,
    entity_page,
    opinions_page,
)
from openclaw_neuralstream.workspace.parse import BREAK, RETAIN_HEADINGS, Shape, blocks, render_fact
from openclaw_neuralstream.workspace.writing import (
    Book,
    FileChanged,
    FileRefused,
    Place,
    Proposal,
    Rewrite,
    Verdict,
    appended,
    outside,
    proposal,
    read,
    remove,
    removed,
    rewrite,
    sweep,
    write,
)

_MOST_GEMS = 20_000
_MOST_PROJECTS = 500  # newest notes that are looked at for projects
_MOST_VECTORS = 600  # texts of one run that are embedded to compare opinions


def gathered(parts: Parts, index: NoteSearch, agent: str) -> tuple[Known, int]:
    """All that is known, and how many texts were left out because they pose as orders to a model."""
    facts = index.facts(Wanted(superseded=True))
    cited = {fact.fact_id: fact.citation for fact in facts}
    outdated = index.outdated(list(cited), Wanted())
    gems = [clean_gem(gem) for gem in parts.truth.gems(Scope(agent), limit=_MOST_GEMS)]
    read = [*of_facts(facts), *of_gems(gems)]
    evidence = harmless(read)
    known = Known(
        tuple(evidence),
        tuple(opinions(evidence, similar=Cosine(parts.embedder))),
        tuple(index.entities()),
        frozenset(cited[fact_id] for fact_id in outdated if fact_id in cited),
    )
    return known, len(read) - len(evidence)


def harmless(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Without what poses as an order: a page may be read by a model."""
    return [item for item in evidence if not INJECTION.search(item.text)]


def projects_with_files(index: NoteSearch) -> list[Project]:
    """Projects with a file of their own: its title, and its first words until something newer is known."""
    found: dict[str, Project] = {}
    notes = index.fetch(index.newest(Wanted(kinds=("note",)), limit=_MOST_PROJECTS)).values()
    for note in sorted((n for n in notes if isinstance(n, Note)), key=lambda note: (note.path, note.line)):
        if note.category == "project" and not note.generated and not INJECTION.search(note.text):
            name = note.trail[0] if note.trail else note.title
            said = (line.strip("#*- ") for line in note.text.splitlines() if not line.startswith("#"))
            first = next((line for line in said if line), "")
            found.setdefault(note.path, Project(name, first, note.citation, note.path))
    return list(found.values())


class Cosine:
    """Similarity by vectors, for the first few hundred texts; 0 beyond, and while the embedder is away."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Any] = {}
        self._away = False

    def __call__(self, one: str, other: str) -> float:
        """The cosine of two texts."""
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


class Desk:
    """The files of one workspace during one run."""

    def __init__(self, root: Path, book: Book, now: datetime, *, dry_run: bool) -> None:
        self.root = root
        self.book = book
        self.dry_run = dry_run
        self._now = now

    def lay(self, page: Page) -> Change:
        """Bring the page into its file."""
        return self.attempt(
            page, lambda place: self.apply(page, rewrite(read(place), page.fence, page.body, head=page.head))
        )

    def holds(self, path: str, fence: str) -> bool:
        """Whether this file has this part of ours."""
        try:
            return bool(named(read(Place(self.root, path)) or b"", fence))
        except FileRefused:
            return False

    def pages(self, folder: str) -> set[str]:
        """The Markdown files of a folder, relative to the workspace."""
        try:
            return {f"{folder}/{file.name}" for file in (self.root / folder).iterdir() if file.suffix == ".md"}
        except OSError:
            return set()

    def clear(self, page: Page) -> Change:
        """Take our part out of the file, for nothing is known any more that it could say."""
        return self.attempt(page, lambda place: self.apply(page, removed(read(place), page.fence)))

    def attempt(self, page: Page, do: Callable[[Place], Change]) -> Change:
        """What `do` says, or why the file could not be written; the other files go on."""
        try:
            return do(Place(self.root, page.path))
        except FileChanged as error:
            return Change(page.path, page.fence, "waits", error.what)
        except FileRefused as error:
            return Change(page.path, page.fence, "failed", error.what)

    def apply(self, page: Page, made: Rewrite) -> Change:
        """Write what was planned; propose it where a hand has changed our part."""
        if made.verdict is Verdict.BY_HAND:
            return self.propose(page.path, page.fence, page.body, "the generated part was changed by hand", made)
        if made.verdict in (Verdict.OFF, Verdict.UNCLEAR):
            return Change(page.path, page.fence, "left alone", made.verdict.value)
        if made.verdict is Verdict.UNCHANGED:
            return Change(page.path, page.fence, "unchanged")
        if not self.dry_run:
            self._put(Place(self.root, page.path), made)
            self.book.drop(page.path, page.fence)
        shown = self._proposal(page.path, page.fence, "", "", made).diff
        return Change(page.path, page.fence, made.verdict.value, diff=shown)

    def _put(self, place: Place, made: Rewrite) -> None:
        if made.gone and made.before is not None:
            remove(place, read_as=made.before)
        else:
            write(place, made.after, read_as=made.before)

    def propose(self, path: str, part: str, text: str, why: str, made: Rewrite) -> Change:
        """Let the change wait for a yes, unless it was refused once."""
        one = self._proposal(path, part, text, why, made)
        if self.dry_run or self.book.put(one):
            return Change(path, part, "proposed", why, one.diff, one.proposal_id)
        return Change(path, part, "unchanged", "proposed before")

    def _proposal(self, path: str, part: str, text: str, why: str, made: Rewrite) -> Proposal:
        return proposal(path, part, text, why, before=made.before, after=made.after, made=self._now)


RETAIN = "retain"
"""The part of a proposal for a daily log."""

_MOST_LOGS = 31


def lacks_retain(data: bytes) -> bool:
    """Whether nobody has written a Retain section into it; headings as the parser of notes reads them."""
    lines = BREAK.split(decoded(data)[0] or "")
    headings = (block for block in blocks(lines, head_of(lines).lines) if block.shape is Shape.HEADING)
    return not any(markdown.plain(heading.title).casefold().strip(" :：") in RETAIN_HEADINGS for heading in headings)


class Retaining:
    """Reads logs with an extractor, once each."""

    def __init__(self, desk: Desk, index: Shelf, extractor: Extractor, answers: Answers, agent: str) -> None:
        self._desk = desk
        self._index = index
        self._extractor = extractor
        self._answers = answers
        self._agent = agent

    def proposals(self, since: date | None, today: date) -> Iterator[Change]:
        """One for each such log that says enough, the newest first; what was refused once is not proposed again."""
        days = [(day, path) for path in self._index.known() if (day := writing.day_of(path)) and day < today]
        wanted = [(day, path) for day, path in sorted(days, reverse=True) if since is None or day >= since]
        for _, path in wanted[:_MOST_LOGS]:
            if not self._desk.book.refused(path, RETAIN):
                change = self._desk.attempt(Page(path, RETAIN, ""), self._proposal)
                if change.outcome != "unchanged":
                    yield change

    def _proposal(self, place: Place) -> Change:
        before, day = read(place), writing.day_of(place.path)
        if before is None or day is None or not lacks_retain(before):
            return Change(place.path, RETAIN, "unchanged")
        section = self._section(place.path, before, day)
        if not section:
            return Change(place.path, RETAIN, "unchanged", "nothing worth keeping was found")
        made = Rewrite(Verdict.UPDATED, before, appended(before, section))
        return self._desk.propose(place.path, RETAIN, section, "this day has no Retain section", made)

    def _section(self, path: str, data: bytes, day: date) -> str:
        words = data.decode("utf-8", "surrogateescape")
        key = digest(RETAIN, path, words, repr(self._extractor.identity))
        kept = self._answers.get(key)
        if isinstance(kept, str):
            return kept
        try:
            drafts = self._extractor.extract(writing.reading(path, data, day, self._agent))
        except (VendorAway, AnswerRefused) as error:
            log.info("retain.none", reason=type(error).__name__)
            return ""
        found = writing.complemented(drafts, path, data, self._names)
        harmless = [one for one in found if not INJECTION.search(one.content)]
        section = writing.retain_section(harmless, path, render_fact, guessed)
        if not self._desk.dry_run:
            self._answers.put(key, section)
        return section

    def _names(self, sentence: str) -> tuple[str, ...]:
        """Whom and what a sentence names: who is known already, and what looks like a name."""
        known = (entity.name for entity in self._index.named_in(sentence))
        return tuple({slug_of(name): name for name in (*entities_of(sentence), *known)}.values())


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


_MOST_SUMMARIES = 50  # pages of one run that a model is asked about


@dataclass(frozen=True, slots=True)
class Writer:
    """extractor: reads daily logs. completion: writes summaries, None = nobody does. name: what the report says."""

    extractor: Extractor
    completion: Completion | None
    name: str


def writer_of(parts: Parts) -> Writer:
    """The configured model while it answers, else rules."""
    try:
        extractor = parts.choose_extractor()
    except VendorAway:
        return Writer(LearnedExtractor(), None, "rules")
    completion: Completion | None = getattr(extractor, "completion", None)
    return Writer(extractor, completion, f"{extractor.identity.name} {extractor.identity.model}".strip())


class Summaries:
    """A model's sentences on entities; from the same evidence always the same ones."""

    def __init__(self, templates: Templates, answers: Answers, completion: Completion | None, *, keep: bool) -> None:
        self._templates = templates
        self._answers = answers
        self._completion = completion
        self._keep = keep
        self._asked = 0

    def of(self, one: About) -> list[Sentence]:
        """The sentences that their sources bear out; none without a model, and when its answer is none."""
        prompt = self._templates.digest("reflect_system", "reflect_prompt")
        known = (repr(replace(item, source="")) for item in one.sources)  # a line that has moved is no other evidence
        key = digest(one.name, *known, prompt)
        kept = self._answers.get(key)
        if isinstance(kept, list):
            return _believed([(text, tuple(sources)) for text, sources in kept], one)
        if self._completion is None or self._asked >= _MOST_SUMMARIES:
            return []
        self._asked += 1
        try:
            said = prose.ask(one, self._completion, self._templates)
        except (VendorAway, AnswerRefused) as error:
            log.info("summary.none", reason=type(error).__name__)
            self._completion = None if isinstance(error, VendorAway) else self._completion
            return []
        if self._keep:
            self._answers.put(key, said)
        return _believed(said, one)


def _believed(said: Sequence[tuple[str, tuple[int, ...]]], one: About) -> list[Sentence]:
    return [line for line in prose.checked(said, one.name, one.sources) if not INJECTION.search(line.text)]


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
