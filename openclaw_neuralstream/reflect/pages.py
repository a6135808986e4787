"""Entity pages and the page of opinions: evidence in, the text of each fenced part out; nothing is read or written here."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Protocol

from openclaw_neuralstream.fences import escaped
from openclaw_neuralstream.model import Entity, digest, slug_of
from openclaw_neuralstream.reflect.evidence import EXPERIENCE, OPINION, Evidence
from openclaw_neuralstream.reflect.opinions import Opinion

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
