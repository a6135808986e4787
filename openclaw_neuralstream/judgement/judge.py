"""The judge of one batch: reasons to drop a gem, the gem that it repeats, the gems that it makes untrue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from openclaw_neuralstream.judgement import words
from openclaw_neuralstream.judgement.reading import is_value, plain_of, read
from openclaw_neuralstream.judgement.relation import REPLACES, SAME, Relation, Side, likeness, relation
from openclaw_neuralstream.judgement.withheld import only_secret
from openclaw_neuralstream.model import OWNER, Gem, Kind, Origin, Turn
from openclaw_neuralstream.ports import Judgement, Neighbour

OWN_WORDS = 0.2
"""Share of a gem's terms that the owner must have said, where the agent said nearly all of them (`AGENTS_WORDS`)."""

AGENTS_WORDS = 0.7
RELATED = 0.5
"""Cosine from which a gem may replace one that a model names, where the two share no word."""

_TRUST = {Origin.OWNER: 2, Origin.AGENT: 1, Origin.SYSTEM: 1, Origin.UNTRUSTED: 0}
_DECIDED = frozenset({Kind.DECISION, Kind.TODO})
_DIALOGUE_TAGS = frozenset({"confirmed", "answer"})
"""Tags of gems that join the agent's question with the owner's answer: the agent's words in them are confirmed."""


@dataclass(frozen=True, slots=True)
class GemJudge:
    """Judges the gems of one batch.

    turns: the batch's turns by id, to see who said the words. named: for a gem, the gems that the model says it replaces.
    """

    turns: Mapping[str, Turn] = field(default_factory=dict)
    named: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __call__(self, gem: Gem, said_at: datetime, neighbours: Sequence[Neighbour]) -> Judgement:
        """What becomes of the gem. Pure: the order of the neighbours plays no part."""
        if why := self._noise(gem):
            return Judgement("dropped", why)
        found = _Found()
        named = set(self.named.get(gem.gem_id, ()))
        for near in sorted(neighbours, key=lambda n: n.gem.gem_id):
            if near.gem.scope == gem.scope and near.gem.gem_id != gem.gem_id:
                found.take(gem, near, later=said_at >= near.last, named=near.gem.gem_id in named)
                if near.first <= said_at < near.last:  # said between: it replaced what was said before it
                    found.between(gem, near)
        return found.judgement()

    def _noise(self, gem: Gem) -> str:
        """Why the gem is worth nothing; "" when it is worth something."""
        plain = plain_of(gem.content)
        if words.CHATTER.search(plain):
            return "small talk"
        if only_secret(gem.content):
            return "nothing but a secret, which is not kept"
        if words.TOOL_NOISE.search(gem.content):
            return "the output of a tool"
        if not read(gem.content).terms and len(plain) < 12:
            return "it says nothing"
        if gem.speaker == OWNER and not _DIALOGUE_TAGS & set(gem.tags) and self._is_guess(gem):
            return "the agent said it, the owner did not"
        return ""

    def _is_guess(self, gem: Gem) -> bool:
        """The owner never said the words, the agent did, and the owner did not say yes to it."""
        turns = [self.turns[turn_id] for turn_id in gem.evidence if turn_id in self.turns]
        own = "\n".join(turn.text_of(OWNER, "third-party") for turn in turns)
        agents = "\n".join(turn.text_of("agent") for turn in turns)
        terms = read(gem.content).all
        if not terms or not agents or not own:
            return False
        if any(words.AFFIRMED.search(plain_of(turn.text_of(OWNER))) for turn in turns):
            return False
        said, heard = set(read(own).terms), set(read(agents).terms)
        return len(terms & said) < OWN_WORDS * len(terms) and len(terms & heard) >= AGENTS_WORDS * len(terms)


@dataclass(slots=True)
class _Found:
    """What was found among the neighbours so far."""

    same: list[tuple[float, str, str]] = field(default_factory=list)
    replaces: list[tuple[str, str]] = field(default_factory=list)
    replaced_by: list[tuple[str, str]] = field(default_factory=list)
    plans: list[str] = field(default_factory=list)
    echo: str = ""

    def take(self, gem: Gem, near: Neighbour, *, later: bool, named: bool) -> None:
        """Hold the gem against one neighbour. later: it was said after it; named: a model says that it replaces it."""
        other = near.gem
        found = _relation(near, gem, later=later)
        if found.kind == SAME:
            self._say_the_same(gem, other, found)
        elif found.kind == REPLACES and later and _may_replace(gem, other):
            self.replaces.append((other.gem_id, found.why))
        elif found.kind == REPLACES and not later and _may_replace(other, gem):
            self.replaced_by.append((other.gem_id, found.why))
        elif named and later and _may_replace(gem, other) and _related(gem, near):
            self.replaces.append((other.gem_id, "the model says so"))
        elif later and _may_replace(gem, other) and _other_mind(gem, other):
            self.plans.append(other.gem_id)

    def between(self, gem: Gem, near: Neighbour) -> None:
        """The neighbour was said before the gem and again after it: which of the two holds is for the times to say."""
        found = _relation(near, gem, later=True)
        if found.kind == REPLACES and _may_replace(gem, near.gem):
            self.replaces.append((near.gem.gem_id, found.why))

    def _say_the_same(self, gem: Gem, other: Gem, found: Relation) -> None:
        if _one_voice(gem, other):
            self.same.append((found.likeness, other.gem_id, found.why))
        elif _trust(gem) < _trust(other):
            self.echo = self.echo or f"an echo of what the {_whose(other)} said"
        elif _trust(gem) > _trust(other):
            self.replaces.append((other.gem_id, "the owner's own word"))

    def judgement(self) -> Judgement:
        """What follows from all of it."""
        if self.echo:
            return Judgement("dropped", self.echo)
        if len(self.plans) == 1 and not self.replaces:  # of several plans nobody can tell which one is meant
            self.replaces.append((self.plans[0], "somebody decided otherwise"))
        if not self.same:
            why = f"new, in the place of another: {self.replaces[0][1]}" if self.replaces else "new"
            return Judgement("new", why, "", tuple(self.replaces), tuple(self.replaced_by))
        likest, gem_id, why = max(self.same, key=lambda item: (item[0], item[1]))
        told = "said before" if likest >= 1 else f"said before: {why}"
        others = tuple(item for item in self.replaces if item[0] != gem_id)
        return Judgement("same", told, gem_id, others, tuple(self.replaced_by))


def _relation(near: Neighbour, gem: Gem, *, later: bool) -> Relation:
    stored, new = _side(near.gem), _side(gem)
    return relation(stored, new, near.cosine) if later else relation(new, stored, near.cosine)


def _side(gem: Gem) -> Side:
    return Side(read(gem.content), gem.kind, "correction" in gem.tags)


def _one_voice(one: Gem, other: Gem) -> bool:
    return one.speaker == other.speaker and one.origin == other.origin


def _trust(gem: Gem) -> int:
    return _TRUST[gem.origin]


def _may_replace(newer: Gem, older: Gem) -> bool:
    """The owner may replace anybody's words, others only their own."""
    if _trust(newer) < _trust(older):
        return False
    return newer.origin is Origin.OWNER or _one_voice(newer, older)


def _related(gem: Gem, near: Neighbour) -> bool:
    """A model that names a gem must name one about the same matter."""
    shared = likeness(read(gem.content).all, read(near.gem.content).all)
    return shared > 0 or (near.cosine or 0.0) >= RELATED


def _other_mind(gem: Gem, other: Gem) -> bool:
    """Whether it says that somebody changed their mind, about what the other one decided."""
    if not words.MIND.search(plain_of(gem.content)) or other.kind not in _DECIDED or other.superseded_by:
        return False
    return any(not is_value(term) for term in read(gem.content).all & read(other.content).all)


def _whose(gem: Gem) -> str:
    return "owner" if gem.origin is Origin.OWNER else gem.speaker
