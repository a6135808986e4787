"""The slim MEMORY.md: what always holds, a line for each project, where to read on; within a budget, in a stable order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from openclaw_neuralstream.lines import shortened
from openclaw_neuralstream.model import slug_of
from openclaw_neuralstream.reflect.evidence import OPINION, WORLD, Evidence
from openclaw_neuralstream.reflect.pages import About, Known, Page, Renders, plain

FENCE = "memory"
SURE = 0.7
"""Confidence from which an opinion is worth a line that every session reads."""

HOST_LIMIT = 20_000
"""Characters of MEMORY.md that the host shows; it cuts the middle out of a longer file."""

_BELIEVED = 0.5  # weight of a source below which nothing enters the prompt of every session
_LONGEST = 240  # characters of one line
_MOST_PAGES = 30
_LONGEST_NAME = 3  # words of a name
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
    words = statement.split()[:_LONGEST_NAME]
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
