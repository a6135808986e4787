"""What a gem is beside the other gems: a repetition, or overtaken by a later one. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from openclaw_neuralstream.extract.rules.dates import recurs
from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.judgement.reading import read
from openclaw_neuralstream.judgement.relation import REPLACES, Side, relation
from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import Gem, Kind
from openclaw_neuralstream.patterns import lazy

ALIKE = 0.8
"""Share of terms that two gems have in common when one repeats the other."""

SUBJECT = 0.6
"""Share of terms, the changed values aside, that two gems have in common when they tell of the same."""

_DAY = lazy(r"\s*\(\d{4}(?:-\d\d){0,2}[^)]*\)")
_VALUE = lazy(
    r"\d+(?:[.,:]\d+)*|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|"
    r"(?:周|星期|礼拜)[一二三四五六日天]|[一二两三四五六七八九十]+(?=[点个月天位人])|\b(?:понедельник|вторник|сред|четверг|пятниц|суббот|воскресень|январ|феврал|март|апрел|июн|июл|август|сентябр|октябр|ноябр|декабр)\w*",
    re.IGNORECASE,
)
_SHORT = 3  # terms of a subject that is told apart
_LASTING = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.INSTRUCTION, Kind.DECISION, Kind.EVENT, Kind.TODO})


@dataclass(frozen=True, slots=True)
class _Sketch:
    gem: Gem
    terms: frozenset[str]
    values: frozenset[str]
    same: str
    order: tuple[str, str]
    side: Side


class Others:
    """All live gems of one person's memory, found again by their rarest terms."""

    def __init__(self, gems: Iterable[Gem]) -> None:
        self._sketches = {gem.gem_id: _sketch(gem) for gem in gems}
        self._by_term: dict[str, list[str]] = defaultdict(list)
        for gem_id, sketch in self._sketches.items():
            for term in (sketch.terms or {sketch.same}) | sketch.side.said.attributes:
                self._by_term[term].append(gem_id)

    def repeats(self, gem: Gem) -> tuple[str, str]:
        """The older gem that says the same and why it is one; ("", "") when there is none."""
        mine = self._sketches[gem.gem_id]
        for other in self._near(mine):
            if other.order < mine.order and other.gem.speaker == gem.speaker:
                if other.same == mine.same:
                    return other.gem.gem_id, "word by word"
                if mine.values == other.values and _one_sign(mine, other) and _share(mine.terms, other.terms) >= ALIKE:
                    return other.gem.gem_id, "nearly word by word"
        return "", ""

    def overtaken(self, gem: Gem) -> tuple[str, str]:
        """The later gem that gives the same thing another value, and why; ("", "") when there is none."""
        mine = self._sketches[gem.gem_id]
        if gem.kind not in _LASTING:
            return "", ""
        for other in self._near(mine):
            if other.order < mine.order or other.gem.speaker != gem.speaker:
                continue
            if _contradicts(mine, other):
                return other.gem.gem_id, f"later: {', '.join(sorted(other.values - mine.values)) or 'corrected'}"
            found = relation(mine.side, other.side)  # no number and no day: as it would be judged today
            if found.kind == REPLACES:
                return other.gem.gem_id, f"later: {found.why}"
        return "", ""

    def _near(self, mine: _Sketch) -> Iterator[_Sketch]:
        """Gems that share one of its five rarest terms or an attribute, in a fixed order; what is everywhere helps nobody."""
        rarest = sorted(mine.terms or {mine.same}, key=lambda term: (len(self._by_term[term]), term))[:5]
        found = {gem_id for term in (*rarest, *mine.side.said.attributes) for gem_id in self._by_term[term][:500]} - {
            mine.gem.gem_id
        }
        yield from sorted((self._sketches[gem_id] for gem_id in found), key=lambda sketch: sketch.order)


def _sketch(gem: Gem) -> _Sketch:
    text = _DAY.sub("", gem.content)
    values = frozenset(match.casefold() for match in _VALUE.findall(text))
    bare = _VALUE.sub(" ", text)
    side = Side(read(gem.content), gem.kind, "correction" in gem.tags)
    same = re.sub(r"[\W_]+", " ", gem.content.casefold()).strip()
    return _Sketch(gem, frozenset(content_terms(bare)), values, same, (instant(gem.created_at), gem.gem_id), side)


def _contradicts(mine: _Sketch, later: _Sketch) -> bool:
    """The same subject with other values of the same sort, or the later one says that it corrects."""
    if len(mine.terms & later.terms) < _SHORT - 1 or _share(mine.terms, later.terms) < SUBJECT:
        return False
    changed = bool(mine.values) and bool(later.values) and not mine.values <= later.values
    corrects = "correction" in later.gem.tags and mine.gem.entities and set(mine.gem.entities) & set(later.gem.entities)
    several = recurs(mine.gem.content)
    return bool(changed and len(mine.values) == len(later.values) and not several) or bool(corrects)


def _one_sign(one: _Sketch, other: _Sketch) -> bool:
    """Whether both state it, or both deny it: "I don't like it any more" repeats nothing."""
    return (one.side.said.negated, one.side.said.liking) == (other.side.said.negated, other.side.said.liking)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0
