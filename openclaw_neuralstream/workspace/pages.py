"""Pages of entities and the core of MEMORY.md, from facts with their evidence."""

from __future__ import annotations

import json
import os
import re
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openclaw_neuralstream.errors import AnswerRefused
from openclaw_neuralstream.model import Entity, digest, slug_of
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.ports import Completion
from openclaw_neuralstream.state import write_private
from openclaw_neuralstream.text.fences import escaped
from openclaw_neuralstream.text.lexicon import content_terms
from openclaw_neuralstream.text.lines import shortened
from openclaw_neuralstream.workspace.opinions import EXPERIENCE, OPINION, WORLD, Evidence, Opinion

ENTITY_FENCE, OPINIONS_FENCE = "entity", "opinions"
ENTITIES, OPINIONS = "bank/entities", "bank/opinions.md"

_MOST_NOW, _MOST_LOG, _MOST_EARLIER, _MOST_SOURCES = 40, 25, 15, 8
_LEAST_GEMS = 2  # gems that name somebody before a page is begun; a fact's @Name is enough by itself
_LONGEST_NAME = 120  # bytes of a file name before its ending


class Renders(Protocol):
    """Templates by name."""

    def render(self, name: str, **variables: Any) -> str:
        """The rendered text."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a model's summary and the citations it rests on."""

    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class About:
    """What is known of one entity. now, log, earlier: newest first; what was left out for room is counted."""

    slug: str
    name: str
    path: str
    now: tuple[Evidence, ...] = ()
    log: tuple[Evidence, ...] = ()
    earlier: tuple[Evidence, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    left_out: int = 0

    @property
    def sources(self) -> tuple[Evidence, ...]:
        """Everything that a summary may rest on, in the order of the page."""
        stated = tuple(opinion.supporting[0] for opinion in self.opinions)
        return (*self.now, *stated, *self.log, *self.earlier)


@dataclass(frozen=True, slots=True)
class Page:
    """A fenced part to be written. head: how a new file begins."""

    path: str
    fence: str
    body: str
    head: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """All that reflection has read. outdated: citations of facts that a later one replaced."""

    evidence: tuple[Evidence, ...]
    opinions: tuple[Opinion, ...]
    entities: tuple[Entity, ...] = ()
    outdated: frozenset[str] = field(default=frozenset())


def page_name(name: str) -> str:
    """A file name for an entity, in its own script: "Peter Müller" → "Peter-Müller"; "" for a name of signs only."""
    clean = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", name)).strip("-")
    if len(clean.encode()) <= _LONGEST_NAME:
        return clean
    cut = clean.encode()[: _LONGEST_NAME - 9].decode(errors="ignore").strip("-")
    return f"{cut}-{digest(clean, size=4)}"


def about(known: Known, *, since: date | None, today: date) -> list[About]:
    """Who gets a page now: whom something since `since` names; by slug. None = whoever is named at all."""
    owners = _owners(known.entities)
    named: dict[str, list[Evidence]] = defaultdict(list)
    spelt: dict[str, Counter[str]] = defaultdict(Counter)
    for item in known.evidence:
        for name in item.entities:
            slug = owners.get(slug_of(name), slug_of(name))
            if slug:
                named[slug].append(item)
                spelt[slug][name.lstrip("@")] += 1
    pages = {entity.slug: entity for entity in known.entities}
    found = [
        _about(
            slug,
            _spelling(spelt[slug], pages.get(slug)),
            items,
            known=known,
            entity=pages.get(slug),
            owners=owners,
            today=today,
        )
        for slug, items in sorted(named.items())
        if _deserves(items, since, page=pages.get(slug))
    ]
    return _without_collisions(found)


def entity_page(one: About, templates: Renders, summary: Sequence[Sentence] = ()) -> Page:
    """The page of one entity."""
    body = templates.render(
        "entity_page",
        entity=one.name,
        summary=summary,
        now=one.now,
        opinions=one.opinions,
        log=one.log,
        earlier=one.earlier,
        left_out=one.left_out,
        sources=sources_of,
        held=held,
        plain=plain,
    )
    return Page(one.path, ENTITY_FENCE, body, head=f"# {plain(one.name)}")


def opinions_page(opinions: Sequence[Opinion], templates: Renders) -> Page:
    """The page of all opinions, by entity and statement."""
    by_entity: dict[str, list[Opinion]] = defaultdict(list)
    for opinion in opinions:
        by_entity[", ".join(opinion.entities)].append(opinion)
    groups = sorted(by_entity.items())
    body = templates.render("opinions_page", groups=groups, sources=sources_of, plain=plain)
    return Page(OPINIONS, OPINIONS_FENCE, body, head="# Opinions")


def sources_of(items: Iterable[Evidence]) -> str:
    """The citations, newest first, the first few of them: "memory/2026-11-20.md#L3, gem 1f3a9c20"."""
    ordered = sorted(items, key=lambda item: item.order, reverse=True)
    named = list(dict.fromkeys(item.source for item in ordered))
    more = f" and {len(named) - _MOST_SOURCES} more" if len(named) > _MOST_SOURCES else ""
    return ", ".join(named[:_MOST_SOURCES]) + more


def held(item: Evidence) -> str:
    """When it held: "2026-11-20", "2025-11-27 – 2025-12-01", "until 2025-12-01"; "" when nobody knows."""
    if item.since and item.until and item.since != item.until:
        return f"{item.since} – {item.until}"
    if item.until and not item.since:
        return f"until {item.until}"
    day = item.since or item.day
    return str(day) if day else ""


def plain(text: str) -> str:
    """One line that is neither HTML nor a picture, link, marker or code fence in a Markdown file."""
    visible = "".join(char if char.isprintable() or char in "\u200c\u200d" else " " for char in text)
    flat = " ".join(visible.split())
    return escaped(flat)


def _owners(entities: Iterable[Entity]) -> dict[str, str]:
    """Each name and alias → the entity it belongs to; a name belongs to its bearer before anybody's alias."""
    found: dict[str, str] = {}
    for entity in sorted(entities, key=lambda one: one.slug):
        for alias in sorted(entity.aliases):
            found.setdefault(slug_of(alias), entity.slug)
        found.setdefault(slug_of(entity.name), entity.slug)
    return {**found, **{entity.slug: entity.slug for entity in entities}}


def _spelling(spelt: Mapping[str, int], entity: Entity | None) -> str:
    if entity and entity.page and entity.name:
        return entity.name
    return min(spelt, key=lambda name: (-spelt[name], name))


def _deserves(items: Sequence[Evidence], since: date | None, *, page: Entity | None) -> bool:
    recent = [item for item in items if since is None or (item.day and item.day >= since)]
    if not recent:
        return False
    of_files = [item for item in items if not item.gem_kind]
    return bool(of_files) or bool(page and page.page) or len(items) >= _LEAST_GEMS


def _about(
    slug: str,
    name: str,
    items: Sequence[Evidence],
    *,
    known: Known,
    entity: Entity | None,
    owners: Mapping[str, str],
    today: date,
) -> About:
    def ended(item: Evidence) -> bool:
        return item.source in known.outdated or bool(item.until and item.until < today)

    newest = sorted(_unlike(items), key=lambda item: item.order, reverse=True)
    theirs = [one for one in known.opinions if slug in {owners.get(slug_of(n), slug_of(n)) for n in one.entities}]
    told = [item for item in newest if item.kind == EXPERIENCE]
    facts = [item for item in newest if item.kind not in (EXPERIENCE, OPINION)]
    now = [item for item in facts if not ended(item)]
    earlier = [item for item in facts if ended(item)]
    left_out = sum(
        max(0, len(kept) - most) for kept, most in ((now, _MOST_NOW), (told, _MOST_LOG), (earlier, _MOST_EARLIER))
    )
    return About(
        slug,
        name,
        entity.page if entity and entity.page else f"{ENTITIES}/{page_name(name)}.md",
        tuple(now[:_MOST_NOW]),
        tuple(told[:_MOST_LOG]),
        tuple(earlier[:_MOST_EARLIER]),
        tuple(sorted(theirs, key=lambda one: (-one.confidence, one.statement))),
        left_out,
    )


def _unlike(items: Iterable[Evidence]) -> list[Evidence]:
    """What was written down twice in the same words stands once, with its newest source."""
    found = {" ".join(item.text.casefold().split()): item for item in sorted(items, key=lambda item: item.order)}
    return list(found.values())


def _without_collisions(found: Sequence[About]) -> list[About]:
    """Two entities never share a file, also where upper and lower case are one."""
    taken: set[str] = set()
    kept = []
    for one in found:
        path = one.path
        if unicodedata.normalize("NFC", path).casefold() in taken:
            path = f"{path.removesuffix('.md')}-{digest(one.slug, size=3)}.md"
        taken.add(unicodedata.normalize("NFC", path).casefold())
        kept.append(About(one.slug, one.name, path, one.now, one.log, one.earlier, one.opinions, one.left_out))
    return kept


FENCE = "memory"
SURE = 0.7
"""Confidence from which an opinion is worth a line that every session reads."""

HOST_LIMIT = 20_000
"""Characters of MEMORY.md that the host shows; it cuts the middle out of a longer file."""

_BELIEVED = 0.5  # weight of a source below which nothing enters the prompt of every session
_LONGEST = 240  # characters of one line
_MOST_PAGES = 30
_CORE_LONGEST_NAME = 3  # words of a name
_ALWAYS_SHARE, _PROJECT_SHARE = 0.5, 0.35
_FRAME = 8  # characters of a line around its text
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Standing:
    """What always holds: an instruction or a preference."""

    text: str
    source: str
    first: date
    weight: float


@dataclass(frozen=True, slots=True)
class Project:
    """A project and where it stands, in one line. path: its own file, "" where it has none."""

    name: str
    status: str
    source: str = ""
    path: str = ""


def memory_page(
    known: Known, projects: Sequence[Project], pages: Sequence[About], templates: Renders, *, path: str, budget: int
) -> Page:
    """The generated part of MEMORY.md, at most `budget` characters; its body is "" when there is nothing to say."""
    always, status, links = (
        standing(known),
        sorted(projects, key=lambda one: slug_of(one.name)),
        list(pages)[:_MOST_PAGES],
    )
    room = budget
    while room > 0:
        shown = (
            _within(always, room * _ALWAYS_SHARE, lambda one: len(one.text)),
            _within(status, room * _PROJECT_SHARE, lambda one: len(one.name + one.status + one.path)),
        )
        linked = _within(links, room * (1 - _ALWAYS_SHARE - _PROJECT_SHARE), lambda one: len(one.name + one.path))
        if not any((*shown, linked)):
            return Page(path, FENCE, "")
        body = templates.render(
            "memory_md",
            always=sorted(shown[0], key=lambda one: (one.first, one.text)),
            projects=shown[1],
            pages=sorted(linked, key=lambda one: one.slug),
            opinions=bool(known.opinions),
            plain=plain,
            short=short,
        )
        if len(body) <= budget:
            return Page(path, FENCE, body, head="# Memory")
        room -= max(40, len(body) - budget)
    return Page(path, FENCE, "")


def standing(known: Known) -> list[Standing]:
    """Instructions of the owner first, how the owner is made, then what the owner surely prefers; what matters most first."""
    others = frozenset(slug_of(name) for one in known.entities for name in (one.name, *one.aliases)) - {""}
    told = [
        Standing(item.text, item.source, item.day or date.min, 1 + item.weight)
        for item in known.evidence
        if item.gem_kind == "instruction" and item.weight >= _BELIEVED
    ]
    told += [
        Standing(item.text, item.source, item.day or date.min, item.weight)
        for item in known.evidence
        if (item.gem_kind, item.kind) == ("preference", WORLD)
        and item.weight >= _BELIEVED
        and not item.entities
        and not _of_another(item.text, others)
    ]
    sure = [
        Standing(
            opinion.statement, opinion.supporting[0].source, opinion.supporting[0].day or date.min, opinion.confidence
        )
        for opinion in known.opinions
        if not opinion.entities
        and not _of_another(opinion.statement, others)
        and opinion.confidence >= SURE
        and opinion.supporting[0].weight >= _BELIEVED
    ]
    unlike = {" ".join(one.text.casefold().split()): one for one in reversed([*told, *sure])}
    return sorted(unlike.values(), key=lambda one: (-one.weight, one.first, one.text))


def projects_of(evidence: Iterable[Evidence], named: Sequence[Project]) -> list[Project]:
    """Projects with a file of their own (`named`) and those that gems belong to, each with its newest word."""
    items = sorted(evidence, key=lambda item: item.order)
    found = {slug_of(one.name): one for one in named}
    for item in items:
        if item.project and item.weight >= _BELIEVED:
            found.setdefault(slug_of(item.project), Project(item.project, item.text, item.source))
    for slug, one in found.items():
        newest = [item for item in items if _speaks_of(item, slug) and item.weight >= _BELIEVED]
        if newest:
            found[slug] = Project(one.name, newest[-1].text, newest[-1].source, one.path)
    return sorted(found.values(), key=lambda one: slug_of(one.name))


def short(text: str) -> str:
    """A line that is not too long for a file that each turn reads."""
    return shortened(plain(text), _LONGEST)


def _speaks_of(item: Evidence, slug: str) -> bool:
    names = {slug_of(name) for name in item.entities} | {slug_of(item.project)}
    return slug in names and item.kind != OPINION


def _of_another(statement: str, others: Collection[str]) -> bool:
    """Whether a statement without an @Name begins with the name of somebody who is known."""
    words = statement.split()[:_CORE_LONGEST_NAME]
    return any(slug_of(" ".join(words[:n])) in others for n in range(1, len(words) + 1)) or any(
        other in others for other in (statement[:n] for n in (2, 3, 4)) if not other.isascii()
    )


def _within(items: Sequence[T], room: float, size: object) -> list[T]:
    kept = []
    for item in items:
        room -= min(size(item), _LONGEST) + _FRAME  # type: ignore[operator]
        if room < 0:
            break
        kept.append(item)
    return kept


SUPPORT = 0.4
"""Share of a sentence's content terms that its sources (or the name) must hold."""

_MOST_SHOWN, _MOST_SENTENCES, _PROSE_LONGEST = 60, 6, 400
_THOUGHTS = lazy(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_NUMBER = lazy(r"\d+(?:[.,:]\d+)*")


class _Said(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str = Field(min_length=3, max_length=2_000)
    sources: list[int] = Field(min_length=1, max_length=20)


class _Answer(BaseModel):
    sentences: list[_Said] = Field(max_length=40)


def schema() -> dict[str, object]:
    """The JSON schema sent to the model."""
    sentence = {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "sources": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
        },
        "required": ["text", "sources"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"sentences": {"type": "array", "items": sentence, "maxItems": _MOST_SENTENCES}},
        "required": ["sentences"],
        "additionalProperties": False,
    }


def ask(one: About, completion: Completion, templates: Renders) -> list[tuple[str, tuple[int, ...]]]:
    """What a model says of an entity, not yet believed: sentences and the numbers of their sources.

    Raises VendorAway, or AnswerRefused when the answer is none.
    """
    prompt = templates.render("reflect_prompt", entity=one.name, items=one.sources[:_MOST_SHOWN], plain=plain)
    return parse(completion.complete(templates.render("reflect_system"), prompt, schema=schema()))


def parse(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    """Sentences and the numbers of their sources. Raises AnswerRefused."""
    text = _THOUGHTS.sub("", answer)
    start = text.find("{")
    try:
        raw = json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else None
        return [(said.text, tuple(said.sources)) for said in _Answer.model_validate(raw).sentences]
    except (ValueError, RecursionError, ValidationError) as error:
        raise AnswerRefused(f"the summary is not of the form asked for ({type(error).__name__})") from None


def checked(said: Sequence[tuple[str, tuple[int, ...]]], name: str, shown: Sequence[Evidence]) -> list[Sentence]:
    """The sentences that their sources bear out; sources are numbered from 1 in the prompt."""
    kept, shown = [], shown[:_MOST_SHOWN]
    for text, numbers in said[:_MOST_SENTENCES]:
        line = plain(text)
        sources = [shown[number - 1] for number in dict.fromkeys(numbers) if 0 < number <= len(shown)]
        if sources and len(line) <= _PROSE_LONGEST and _borne_out(line, name, sources):
            kept.append(Sentence(line, tuple(dict.fromkeys(item.source for item in sources))))
    return kept


def _borne_out(line: str, name: str, sources: Sequence[Evidence]) -> bool:
    told = "\n".join(f"{item.text} {item.day or ''} {item.since or ''} {item.until or ''}" for item in sources)
    words, known = set(content_terms(line)) - set(content_terms(name)), set(content_terms(told))
    if not words or len(words & known) / len(words) < SUPPORT:
        return False
    return set(_NUMBER.findall(line)) <= set(_NUMBER.findall(told)) | set(_NUMBER.findall(name))


@dataclass(frozen=True, slots=True)
class Change:
    """One part of one file. outcome: created, updated, removed, unchanged, proposed, waits, left alone, failed; why: in words.

    diff: what changes, as a unified diff; "" where nothing does.
    """

    path: str
    part: str
    outcome: str
    why: str = ""
    diff: str = ""
    proposal: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """One run over one workspace. writer: who wrote the summaries ("rules" or a model). dropped: texts that pose as orders."""

    root: str
    changes: tuple[Change, ...]
    facts: int
    gems: int
    opinions: int
    dropped: int
    writer: str
    dry_run: bool = False

    @property
    def written(self) -> tuple[str, ...]:
        """The files that were changed."""
        return tuple(change.path for change in self.changes if change.outcome in ("created", "updated", "removed"))

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)


_KEPT = 90 * 86_400.0  # seconds since an answer was last used


class Answers:
    """A folder of small owner-only files. What does not read back was never there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Any:
        """What was kept, None when nothing was."""
        file = self._folder / f"{key}.json"
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            os.utime(file)
        except (OSError, ValueError):
            return None
        return found

    def put(self, key: str, value: Any) -> None:
        """Keep it. Raises OSError."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(self._folder / f"{key}.json", json.dumps(value, ensure_ascii=False) + "\n")

    def prune(self) -> None:
        """Drop what has not been used for a season."""
        oldest = time.time() - _KEPT
        for file in self._folder.glob("*.json") if self._folder.is_dir() else ():
            if file.stat().st_mtime < oldest:
                file.unlink(missing_ok=True)
