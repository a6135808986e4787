"""What the owner asked for once and for all: instructions and preferences that hold, in their newest version."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.lexicon import (
    concerns_body,
    content_terms,
    harms_the_house,
    names_harm,
    tells_of_another,
)
from openclaw_neuralstream.model import OWNER, Gem, Kind, Origin, Scope
from openclaw_neuralstream.store.truth import Truth

KINDS = (Kind.INSTRUCTION, Kind.PREFERENCE)
_EVENTS = 500
_MOST = 2_000  # of each kind that are looked at when the process starts
_SAME = 0.8  # share of common terms at which two say the same: the newer one does
_ANSWERS = 100  # scopes whose answer is kept
_PATIENCE = 0.1  # seconds that a question waits while another thread reads the gems
_ASKING = (
    "suggest recommend propose answer reply respond write tell show give use using make plan ask explain "
    "предложи советуй посоветуй порекомендуй ответь отвечай пиши напиши скажи покажи используй сделай "
    "推荐 建议 回答 回复 告诉 使用 请用"
)
"""Words of how one asks: they are no topic that an instruction and a question share."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A gem that stands, and its content terms."""

    gem: Gem
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Content:
    """What is read in a gem's content: its terms, and whether it tells what can harm."""

    terms: frozenset[str]
    harm: bool


@lru_cache(maxsize=2 * len(KINDS) * _MOST)
def _read(content: str) -> _Content:
    """Read once, when a gem comes: a question before which thousands stand does not wait for it."""
    return _Content(frozenset(content_terms(content)), names_harm(content))


@dataclass(frozen=True, slots=True)
class _Answer:
    """What stands for a scope, at any moment after `after` and until `until`: then one expires. None = for ever."""

    gems: list[Gem]
    after: datetime | None
    until: datetime | None

    def holds(self, now: datetime) -> bool:
        at = instant(now)
        return (self.after is None or instant(self.after) < at) and (self.until is None or at <= instant(self.until))


class Standing:
    """Follows the gems by the numbers of their events, so that asking before each turn costs next to nothing.

    May be asked from any thread. What a scope was answered is kept until a gem that stands changes, or expires.
    """

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._held: dict[str, _Held] = {}
        self._answers: dict[Scope, _Answer] = {}
        self._seen: int | None = None
        self._following = threading.Lock()

    def warm(self) -> None:
        """Read the gems that stand now: the first question need not."""
        with self._following:
            self._follow()

    def of(self, scope: Scope, now: datetime) -> list[Gem]:
        """What stands for this scope, instructions first, the weightier and then the newer ones first.

        A reply may wait for it: while another thread reads the gems for the first time nothing stands yet, and while it
        reads what is new what stood before it does.
        """
        if not self._following.acquire(timeout=_PATIENCE):
            return [] if self._seen is None else list(_answer(self._held.values(), scope, now).gems)
        try:
            self._follow()
            answer = self._answers.get(scope)
            if answer is None or not answer.holds(now):
                answer = _answer(self._held.values(), scope, now)
                if len(self._answers) >= _ANSWERS:
                    self._answers.clear()
                self._answers[scope] = answer
            return list(answer.gems)
        finally:
            self._following.release()

    def _follow(self) -> None:
        if self._seen is None:
            seen = self._truth.last_event()
            for kind in KINDS:
                self._take(self._truth.gems(None, kind=kind, limit=_MOST))
            self._seen = seen
        while events := self._truth.events(self._seen, _EVENTS):
            ids = list(dict.fromkeys(event.gem_id for event in events))
            self._take(self._truth.gems(None, gem_ids=ids, limit=len(ids)), instead_of=ids)
            self._seen = events[-1].seq

    def _take(self, gems: Sequence[Gem], instead_of: Collection[str] = ()) -> None:
        """See these gems, and no more those that they are read anew for; in one step for who asks meanwhile."""
        fresh = {gem.gem_id: _Held(gem, _read(gem.content).terms) for gem in gems if _stands(gem)}
        if fresh or any(gem_id in self._held for gem_id in instead_of):
            gone = frozenset(instead_of)
            self._held = {gem_id: held for gem_id, held in self._held.items() if gem_id not in gone} | fresh
            self._answers.clear()


def touching(held: Sequence[Gem], asked: str) -> list[Gem]:
    """What of all that stands touches the matter of a question: what can harm first, then instructions; each in its order."""
    body, topic = concerns_body(asked), frozenset(content_terms(asked)) - _asking()
    harms: list[Gem] = []
    rules: list[Gem] = []
    for gem in held:
        read = _read(gem.content)
        shares = not topic.isdisjoint(read.terms)
        if read.harm and (body or shares):
            harms.append(gem)
        elif gem.kind is Kind.INSTRUCTION and shares:
            rules.append(gem)
    return [*harms, *rules]


def harms(gem: Gem) -> bool:
    """Whether a gem tells of what can harm its owner."""
    return _read(gem.content).harm


@lru_cache(maxsize=1)
def _asking() -> frozenset[str]:
    return frozenset(content_terms(_ASKING))


def _stands(gem: Gem) -> bool:
    """Only what the owner said of himself: what others or the agent said never holds by itself, nor do others' tastes."""
    said = gem.kind in KINDS and gem.origin is Origin.OWNER and gem.speaker == OWNER and not gem.superseded_by
    return said and not (gem.kind is Kind.PREFERENCE and of_another(gem.content))


def of_another(content: str) -> bool:
    """Whether it is another's taste or illness; an allergy of somebody near could harm them at the owner's table."""
    if names_harm(content):
        return not harms_the_house(content)
    return tells_of_another(content)


def _answer(gems: Iterable[_Held], scope: Scope, now: datetime) -> _Answer:
    seen = [item for item in gems if _sees(scope, item.gem.scope)]
    over = [item.gem.valid_to for item in seen if item.gem.valid_to and _over(item.gem, now)]
    held = [item for item in seen if not _over(item.gem, now)]
    ends = [item.gem.valid_to for item in held if item.gem.valid_to]
    held.sort(key=lambda item: (instant(item.gem.created_at), item.gem.gem_id), reverse=True)
    best = sorted(_newest(held), key=lambda gem: (KINDS.index(gem.kind), -gem.importance))
    return _Answer(best, max(over, key=instant, default=None), min(ends, key=instant, default=None))


def _over(gem: Gem, now: datetime) -> bool:
    return gem.valid_to is not None and instant(gem.valid_to) < instant(now)


def _sees(scope: Scope, of: Scope) -> bool:
    same = (scope.agent, scope.user) == (of.agent, of.user)
    return same and (not scope.project or of.project in ("", scope.project))


def _newest(held: Sequence[_Held]) -> list[Gem]:
    """Without those that a newer one says again. held: the newest first.

    Two that say the same share one of the few rarest terms of each, so only such pairs are compared (prefix filtering,
    Chaudhuri, Ganti and Kaushik 2006): a thousand preferences cost milliseconds, not seconds.
    """
    frequency = Counter(term for item in held for term in item.terms)
    kept: list[_Held] = []
    by_term: dict[str, list[_Held]] = {}
    for item in held:
        common = math.ceil(_SAME * len(item.terms) - 1e-9)
        rarest = sorted(item.terms, key=lambda term: (frequency[term], term))[: len(item.terms) - common + 1]
        if any(_says_again(other, item) for term in rarest for other in by_term.get(term, ())):
            continue
        kept.append(item)
        for term in rarest:
            by_term.setdefault(term, []).append(item)
    return [item.gem for item in kept]


def _says_again(newer: _Held, older: _Held) -> bool:
    """Whether the newer one does for both: of what can harm not a word may be lost."""
    if newer.terms >= older.terms and len(older.terms) >= _SAME * len(newer.terms):
        return True
    same = len(newer.terms & older.terms) >= _SAME * len(newer.terms | older.terms)
    return same and not _read(older.gem.content).harm
