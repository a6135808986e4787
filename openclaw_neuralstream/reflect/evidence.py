"""One form for what reflection reads: facts of the user's files and gems, each with where it stands and what it weighs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from openclaw_neuralstream.lexicon import names_harm
from openclaw_neuralstream.model import OWNER, Fact, Gem, Kind, Origin
from openclaw_neuralstream.reflect.stance import likes

WORLD, EXPERIENCE, OPINION, OBSERVATION = "world", "experience", "opinion", "observation"

_BY_ORIGIN = {Origin.OWNER: 0.9, Origin.AGENT: 0.4, Origin.UNTRUSTED: 0.2, Origin.SYSTEM: 0.0}
_KINDS = {Kind.PREFERENCE: OPINION, Kind.EVENT: EXPERIENCE}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing somebody wrote down.

    source: its citation, "memory/2025-11-27.md#L12" or "gem 1f3a9c20". kind: as in the Retain form.
    weight: how far the source is believed, in [0, 1]. stated: the confidence its author gave, None where none was given.
    day: when it was written; since, until: when it held. gem_kind, project: of a gem; "" for a fact.
    """

    source: str
    kind: str
    text: str
    entities: tuple[str, ...] = ()
    weight: float = 1.0
    stated: float | None = None
    day: date | None = None
    since: date | None = None
    until: date | None = None
    gem_kind: str = ""
    tags: tuple[str, ...] = ()
    project: str = ""

    @property
    def order(self) -> tuple[date, str, str, str]:
        """Oldest first, then by text: a total order that no file system has a say in."""
        return (self.day or date.min, self.text, self.source, repr(self))


def of_fact(fact: Fact) -> Evidence | None:
    """The fact as evidence; None for what we generated ourselves: an echo proves nothing."""
    if fact.generated:
        return None
    return Evidence(
        source=fact.citation,
        kind=fact.kind.value,
        text=fact.text,
        entities=fact.entities,
        stated=fact.confidence,
        day=fact.day or fact.valid_from,
        since=fact.valid_from,
        until=fact.valid_to,
        tags=fact.tags,
    )


def of_facts(facts: Iterable[Fact]) -> list[Evidence]:
    """The facts that are evidence, in the order of `Evidence.order`."""
    return sorted((item for fact in facts if (item := of_fact(fact))), key=lambda item: item.order)


def of_gem(gem: Gem) -> Evidence | None:
    """The gem as evidence; None when it was replaced, or when nobody whom we would believe said it."""
    weight = _BY_ORIGIN[gem.origin] * gem.confidence
    if gem.superseded_by or weight <= 0 or gem.scope.user != OWNER:
        return None
    return Evidence(
        source=f"gem {gem.gem_id[:8]}",
        kind=_kind(gem),
        text=gem.content,
        entities=gem.entities,
        weight=weight,
        day=gem.created_at.date(),
        since=gem.valid_from.date() if gem.valid_from else None,
        until=gem.valid_to.date() if gem.valid_to else None,
        gem_kind=gem.kind.value,
        tags=gem.tags,
        project=gem.scope.project,
    )


def _kind(gem: Gem) -> str:
    """An allergy is kept as a preference, because it stands; nobody chose it, and no evidence makes it less sure."""
    made_so = gem.kind is Kind.PREFERENCE and names_harm(gem.content) and not likes(gem.content)
    return WORLD if made_so else _KINDS.get(gem.kind, WORLD)


def of_gems(gems: Iterable[Gem]) -> list[Evidence]:
    """The gems that are evidence, in the order of `Evidence.order`."""
    found = (of_gem(gem) for gem in gems)
    return sorted((item for item in found if item), key=lambda item: item.order)
