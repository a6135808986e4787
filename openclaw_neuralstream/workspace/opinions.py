"""Opinions with their confidence, from what supports and what contradicts them."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import cache, lru_cache

from openclaw_neuralstream.model import OWNER, Fact, Gem, Kind, Origin, digest, slug_of
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import content_terms, names_harm, terms

ALIKE = 0.5
"""Share of the shorter statement's words that the other must hold to be about the same thing."""

NEAR = 0.8
"""Cosine from which two statements are about the same thing, whatever their words."""

_READ = 2_000  # characters of a statement that are looked at
_TURNS = lazy(
    r"\b(?:not|never|no longer|cannot|without|avoids?|avoided|hates?|hated|dislikes?|disliked|refuses?|refused|rejects?"
    r"|against|stopped|stops|quit|gave up|fed up|distrusts?)\b|n['’]t\b"
    r"|\b(?:не|нет|никогда|без|ненави\w+|избега\w+|против|перестал\w*|бросил\w*|отказ\w+)\b"
    r"|不再|从不|从来不|讨厌|避免|拒绝|反对|停止|不(?!错|仅|但|过|同|断|久|管|论|只)|没(?!错|问题)|别(?!人|的)",
    re.IGNORECASE,
)
_NO_TURN = lazy(r"\bnot only\b|\bне только\b|差不多|而不是|要不要", re.IGNORECASE)
_LIKING = lazy(
    r"\b(?:prefer\w*|lik(?:e|es|ed)|lov(?:e|es|ed)|enjoy\w*|want(?:s|ed)?|favou?r\w*|hat(?:e|es|ed)|dislik\w*|trust\w*"
    r"|believ\w*|think(?:s)?|thought|avoid\w*|предпоч\w+|люб\w+|нрав\w+|хоч\w+|хотел\w*|ненави\w+|дума\w+|считает|избега\w+)\b"
    r"|喜欢|偏爱|爱|想要|讨厌|希望|认为|觉得|避免",
    re.IGNORECASE,
)
_OVER = (  # what is preferred, then what it is preferred to
    lazy(
        r"\b(?:prefer\w*|likes?|loves?|chooses?)\s+(?P<more>\S.*?)(?<!\s)\s+(?:over|to|rather than|instead of|more than|than)\s+(?P<less>.+)",
        re.IGNORECASE,
    ),
    lazy(
        r"\b(?:предпоч\w+|больше люб\w+|выбира\w+)\s+(?P<more>\S.*?)(?:(?:,|(?<!\s))\s+(?:чем|а не)|(?<!\s)\s+вместо)\s+(?P<less>.+)",
        re.IGNORECASE,
    ),
    lazy(r"(?:更喜欢|偏爱|宁愿|喜欢)(?P<more>.+?)(?:而不是|胜过|多于|超过)(?P<less>.+)"),
    lazy(r"(?:比起|与)(?P<less>.+?)[，,]?(?:相比)?[，,]?(?:\S{0,4})(?:更喜欢|更爱|宁愿)(?P<more>.+)"),
)
_OPPOSITES = (
    ("short concise brief terse compact", "long detailed verbose lengthy"),
    ("dark", "light bright"),
    ("morning mornings early", "evening evenings night late"),
    ("hot warm", "cold iced"),
    ("fast quick", "slow"),
    ("cheap", "expensive costly"),
    ("formal", "informal casual"),
    ("remote remotely home", "office onsite"),
    ("tabs tab", "spaces space"),
    ("love like enjoy prefer trust", "hate dislike distrust"),
    (
        "короткий короткие коротких кратко краткие кратких лаконичные",
        "длинный длинные длинных подробный подробные подробно",
    ),
    ("тёмная темная тёмную тёмный тёмной", "светлая светлую светлый светлой"),
    ("утро утром утренний рано", "вечер вечером вечерний поздно ночью"),
    ("горячий горячие", "холодный холодные"),
    ("быстро быстрый", "медленно медленный"),
    ("дешёвый дешевый дешёвые", "дорогой дорогие"),
    ("любит нравится предпочитает", "ненавидит"),
)
_OPPOSITES_ZH = (("简短|简洁|精简|短", "详细|冗长|长"), ("深色|暗色", "浅色|亮色"), ("早上|早晨|上午", "晚上|夜里|深夜"),
                 ("热", "冰|冷"), ("快", "慢"), ("便宜", "贵"), ("远程|在家", "办公室"))  # fmt: skip


class Stance(StrEnum):
    """What one statement says about another."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    UNRELATED = "unrelated"


Similarity = Callable[[str, str], float]
"""Cosine of two texts; 0 where there are no vectors."""


def no_vectors(one: str, other: str) -> float:  # noqa: ARG001  the similarity of those who have none
    """Words decide alone."""
    return 0.0


@dataclass(frozen=True, slots=True)
class _Read:
    """A statement as it is compared: what it is about, whether it is turned around, what is put over what."""

    about: frozenset[str]
    turned: bool
    likes: bool
    sides: frozenset[tuple[int, int]]
    more: frozenset[str]
    less: frozenset[str]


def stance(
    statement: str,
    evidence: str,
    *,
    names: tuple[str, ...] = (),
    plain_fact: bool = False,
    similar: Similarity = no_vectors,
) -> Stance:
    """What `evidence` says about `statement`; both are known to speak of the same entities, whose `names` are left out.

    A plain fact (not itself an opinion) must share two words, or one and a word of liking.
    """
    left_out = frozenset(term for name in names for term in terms(name))
    one, other = _read(statement[:_READ], left_out), _read(evidence[:_READ], left_out)
    shared = one.about & other.about
    least = min(len(one.about), len(other.about))
    scales = _scales(one, other)
    bare = (
        bool(scales) and one.about <= _opposite_terms() and other.about <= _opposite_terms()
    )  # tabs or spaces, no more
    close = (bool(least) and len(shared) / least >= ALIKE) or bare
    common = len(shared) + len(scales - shared)
    if plain_fact and common < 2 and not (common and other.likes):
        close = False
    if not close and (plain_fact or similar(statement, evidence) < NEAR):
        return Stance.UNRELATED
    return Stance.CONTRADICTS if _opposed(one, other) else Stance.SUPPORTS


def _scales(one: _Read, other: _Read) -> frozenset[str]:
    """The pairs of opposites that both speak of, those of liking left out; by the words of their sides."""
    both = {pair for pair, _ in one.sides} & {pair for pair, _ in other.sides}
    return frozenset(f"scale {pair}" for pair in both - _OF_LIKING)


def likes(text: str) -> bool:
    """Whether a text speaks of liking, wanting or thinking something."""
    return bool(_LIKING.search(text))


def _opposed(one: _Read, other: _Read) -> bool:
    if one.more and other.more and one.less and other.less:
        aligned = len(one.more & other.more) + len(one.less & other.less)
        swapped = len(one.more & other.less) + len(one.less & other.more)
        return (swapped > aligned) != (one.turned != other.turned)
    ours, theirs = dict(one.sides), dict(other.sides)
    flips = sum(ours[pair] != theirs[pair] for pair in ours.keys() & theirs.keys())
    return (flips + one.turned + other.turned) % 2 == 1


@lru_cache(maxsize=4_096)
def _read(text: str, left_out: frozenset[str]) -> _Read:
    quiet = _NO_TURN.sub(" ", text)
    turning = _TURNS.findall(quiet)
    over = next((match for pattern in _OVER if (match := pattern.search(text))), None)
    held = _sides(text)
    cues = frozenset(term for cue in [*turning, *_LIKING.findall(text)] for term in terms(cue))
    said = frozenset(content_terms(text)) - left_out - cues
    about = said if over else said - _opposite_terms() or said
    # "does not hate": the verb of dislike is a side of its own where it stands in a pair, and would count twice
    paired = sum(1 for cue in turning if set(terms(cue)) & _opposite_terms())
    return _Read(
        about,
        (len(turning) - paired) % 2 == 1,
        bool(_LIKING.search(text)),
        frozenset(held.items()),
        frozenset(content_terms(over["more"])) if over else frozenset(),
        frozenset(content_terms(over["less"])) if over else frozenset(),
    )


def _sides(text: str) -> dict[int, int]:
    """Of each pair of opposites the side that the text is on; a text with both is on neither."""
    words = set(terms(text))
    found: dict[int, int] = {}
    for number, sides in enumerate(_stemmed()):
        on = [side for side, stems in enumerate(sides) if words & stems]
        if len(on) == 1:
            found[number] = on[0]
    for number, patterns in enumerate(_OPPOSITES_ZH, len(_stemmed())):
        on = [side for side, pattern in enumerate(patterns) if re.search(pattern, text)]
        if len(on) == 1:
            found[number] = on[0]
    return found


_OF_LIKING = frozenset(number for number, (side, _) in enumerate(_OPPOSITES) if {"like", "любит"} & set(side.split()))


@cache
def _stemmed() -> tuple[tuple[frozenset[str], ...], ...]:
    """The sides of each pair of opposites, by their terms."""
    return tuple(tuple(frozenset(terms(side)) for side in pair) for pair in _OPPOSITES)


@cache
def _opposite_terms() -> frozenset[str]:
    """All of them, the Chinese ones, too."""
    return frozenset().union(*(side for pair in _stemmed() for side in pair)) | frozenset(
        term for pair in _OPPOSITES_ZH for side in pair for word in side.split("|") for term in terms(word)
    )


GAIN = 0.5
"""Log-odds that one piece of evidence of weight 1 moves."""

STEP = 0.4
"""Log-odds that one day moves at most; the logistic curve is never steeper than 1/4, so that is 0.1 of confidence."""

JUMP = 1.2
"""Log-odds that a day of strong contradiction moves at most, once there are `REPEATED` such days."""

STRONG = 0.8
"""Net weight of contradiction from which a day counts as strongly contradicting."""

REPEATED = 2
LIMIT = 4.0
"""Log-odds beyond which nothing moves: 0.018 to 0.982; an opinion that can no longer change is a prejudice."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One piece of evidence as the formula sees it. source: its citation; weight: in [0, 1]; day: None = undated."""

    source: str
    supports: bool
    weight: float
    day: date | None = None


def confidence(anchor: float, votes: Iterable[Vote]) -> float:
    """The confidence of an opinion whose first statement was believed with `anchor`, in (0, 1).

    With the weight of evidence of I. J. Good (1950) and the clamping of occupancy grids (OctoMap, 2013):

        n(d) = sum over the day's votes of +weight or -weight
        S    = sum over days with n(d) > 0 of min(STEP, GAIN n(d))
        C    = sum over days with n(d) < 0 of min(STEP, GAIN |n(d)|)
        L    = max(-LIMIT, min(LIMIT, logit(anchor) + S) - C),   confidence = 1 / (1 + exp(-L))

    Where |n(d)| >= STRONG on at least REPEATED days, these days count min(JUMP, 3 GAIN |n(d)|) in C instead: a big
    jump needs strong and repeated contradiction. A vote counts once, whatever the order and however often it is told;
    support never lowers the confidence, contradiction never raises it.
    """
    days: dict[date | None, float] = defaultdict(float)
    for vote in sorted(set(votes), key=lambda vote: (vote.source, vote.supports, vote.weight, vote.day or date.min)):
        days[vote.day] += vote.weight if vote.supports else -vote.weight
    net = list(days.values())
    strong = [number for number in net if -number >= STRONG]
    jumps = strong if len(strong) >= REPEATED else []
    steps = [number for number in net if number not in jumps]
    support = math.fsum(min(STEP, GAIN * number) for number in steps if number > 0)
    against = math.fsum(min(STEP, -GAIN * number) for number in steps if number < 0)
    against += math.fsum(min(JUMP, -3 * GAIN * number) for number in jumps)
    return _logistic(max(-LIMIT, min(LIMIT, _logit(anchor) + support) - against))


def _logit(probability: float) -> float:
    bounded = min(max(probability, _logistic(-LIMIT)), _logistic(LIMIT))
    return math.log(bounded / (1 - bounded))


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


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
