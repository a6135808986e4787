"""Opinions from evidence: statements that say the same become one, with what speaks for and against it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from openclaw_neuralstream.model import digest, slug_of
from openclaw_neuralstream.reflect.confidence import Vote, confidence
from openclaw_neuralstream.reflect.evidence import EXPERIENCE, OPINION, WORLD, Evidence
from openclaw_neuralstream.reflect.stance import Similarity, Stance, no_vectors, stance

UNSTATED = 0.7
"""How far a statement without a confidence of its own is believed at first, when its source is fully believed."""

INDIRECT = 0.6
"""What a plain fact weighs as evidence for an opinion, against another statement of it."""

_MOST_COMPARED = 200  # statements about one entity; more are compared with the newest only


@dataclass(frozen=True, slots=True)
class Opinion:
    """What somebody prefers or thinks, and why that is believed.

    opinion_id: of its first statement. updated: the newest day of its evidence; None when none has a day.
    supporting, contradicting: oldest first; the statement itself is the first that supports.
    """

    opinion_id: str
    statement: str
    entities: tuple[str, ...]
    confidence: float
    updated: date | None
    supporting: tuple[Evidence, ...]
    contradicting: tuple[Evidence, ...] = ()


@dataclass(slots=True)
class _Group:
    """Statements that speak of the same, by their first one."""

    first: Evidence
    supporting: list[Evidence]
    contradicting: list[Evidence]


def opinions(evidence: Iterable[Evidence], *, similar: Similarity = no_vectors) -> list[Opinion]:
    """The opinions that these facts and gems hold, by entity and statement; the same set gives the same opinions.

    Opinion statements are read oldest first (see `Evidence.order`) and make or join opinions; then plain facts are asked
    what they say about each opinion that shares an entity with them.
    """
    items = sorted(set(evidence), key=lambda item: item.order)
    groups: list[_Group] = []
    by_entity: dict[str, list[_Group]] = defaultdict(list)
    for item in items:
        if item.kind == OPINION and not _joined(item, by_entity, similar):
            group = _Group(item, [item], [])
            groups.append(group)
            for key in _keys(item):
                by_entity[key].append(group)
    for item in items:
        if item.kind in (WORLD, EXPERIENCE) and item.gem_kind in ("", "event", "fact"):
            _weigh(item, by_entity, similar)
    return sorted((_opinion(group) for group in groups), key=lambda one: (one.entities, one.statement))


def believed(item: Evidence) -> float:
    """How far the first statement of an opinion is believed: as its author said, or by its source."""
    if item.stated is not None:
        return item.stated
    return 0.5 + (UNSTATED - 0.5) * item.weight


def votes(opinion: Opinion) -> list[Vote]:
    """What moves the confidence: everything but the first statement, which anchors it."""
    supports = [_vote(item, supports=True) for item in opinion.supporting[1:]]
    return supports + [_vote(item, supports=False) for item in opinion.contradicting]


def _joined(item: Evidence, by_entity: dict[str, list[_Group]], similar: Similarity) -> bool:
    for group in _candidates(item, by_entity):
        said = stance(group.first.text, item.text, names=group.first.entities + item.entities, similar=similar)
        if said is Stance.UNRELATED:
            continue
        agrees = said is Stance.SUPPORTS
        if item.stated is not None and item.stated < 0.5:  # doubted by its own author
            agrees = not agrees
        (group.supporting if agrees else group.contradicting).append(item)
        return True
    return False


def _weigh(item: Evidence, by_entity: dict[str, list[_Group]], similar: Similarity) -> None:
    for group in _candidates(item, by_entity):
        names = group.first.entities + item.entities
        said = stance(group.first.text, item.text, names=names, plain_fact=True, similar=similar)
        if said is Stance.SUPPORTS:
            group.supporting.append(item)
        elif said is Stance.CONTRADICTS:
            group.contradicting.append(item)


def _candidates(item: Evidence, by_entity: dict[str, list[_Group]]) -> list[_Group]:
    """The opinions that share an entity, each once, in the order in which they were first stated."""
    found: dict[int, _Group] = {}
    for key in _keys(item):
        for group in by_entity.get(key, ())[-_MOST_COMPARED:]:
            found[id(group)] = group
    return sorted(found.values(), key=lambda group: group.first.order)


def _keys(item: Evidence) -> tuple[str, ...]:
    """What it is about; "" is the owner, whom nobody names."""
    return tuple(sorted({slug_of(name) for name in item.entities})) or ("",)


def _opinion(group: _Group) -> Opinion:
    supporting = sorted(group.supporting[1:], key=lambda item: item.order)
    contradicting = sorted(group.contradicting, key=lambda item: item.order)
    opinion = Opinion(
        digest(group.first.text, *_keys(group.first), size=6),
        group.first.text,
        group.first.entities,
        0.5,
        max((item.day for item in (group.first, *supporting, *contradicting) if item.day), default=None),
        (group.first, *supporting),
        tuple(contradicting),
    )
    sure = round(confidence(believed(group.first), votes(opinion)), 3)
    return _turned(opinion, sure)


def _turned(opinion: Opinion, sure: float) -> Opinion:
    """Where the opposite has become likelier and somebody said it, that is the opinion from now on."""
    opposite = [item for item in opinion.contradicting if item.kind == OPINION and not _doubted(item)]
    if sure >= 0.5 or not opposite:
        return replace(opinion, confidence=sure)
    said = opposite[-1]
    rest = tuple(item for item in opinion.contradicting if item is not said)
    return replace(
        opinion,
        statement=said.text,
        entities=said.entities,
        confidence=round(1 - sure, 3),
        supporting=(said, *rest),
        contradicting=opinion.supporting,
    )


def _doubted(item: Evidence) -> bool:
    return item.stated is not None and item.stated < 0.5


def _vote(item: Evidence, *, supports: bool) -> Vote:
    weight = item.weight
    if item.kind != OPINION:
        weight *= INDIRECT
    elif item.stated is not None:
        weight *= abs(2 * item.stated - 1)
    return Vote(item.source, supports, weight, item.day)
