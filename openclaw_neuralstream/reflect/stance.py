"""Whether one statement supports or contradicts another: shared words, and what turns a sentence around; en, zh, ru."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from openclaw_neuralstream.lexicon import content_terms, terms
from openclaw_neuralstream.patterns import lazy

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
