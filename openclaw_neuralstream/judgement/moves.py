"""What a statement of change says about one thing, and whether an older statement gave that thing another value. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from openclaw_neuralstream.judgement import words
from openclaw_neuralstream.judgement.reading import Said, is_value, read
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import A_MONTH_EN, A_MONTH_RU

_CLOCK = lazy(r"(?<![\d.:])(?:[01]?\d|2[0-4])[:.][0-5]\d(?![\d.])")
_WEEKDAY = lazy(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:понедельник|вторник|сред[аеуы]|четверг|пятниц|суббот|воскресен)\w*|"
    r"\bсредам\b|(?:周|星期|礼拜)[一二三四五六日天]",
    re.IGNORECASE,
)
_DATE = lazy(
    rf"\b(?:{A_MONTH_EN})[a-z]*\.? \d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{A_MONTH_EN})|"
    rf"\b\d{{1,2}} (?:{A_MONTH_RU})|\d{{1,2}}月\d{{1,2}}[日号]",
    re.IGNORECASE,
)
_CLOCK_CHINESE = lazy(
    r"(?:\d{1,2}|十[一二]?|[一二三四五六七八九两])点(?:半|一刻|\d{1,2}分?|[一二三四五]?十[一二三四五六七八九]?分?)?"
)
_SINCE_CHINESE = lazy(
    r"^(?:从|自)?(?:\d{1,2}|[一二三四五六七八九十]+|下个?|这个?|本)?(?:月|周|年|号|日|今天|明天|现在)起[，,]?"
)
_NOW_CHINESE = lazy(r"^(?:现在|目前|如今|原来|其实|更新[:：]?)")
_MOVED_CHINESE = lazy(
    r"^(?:把)?(?P<what>[^，,。]{2,10}?)(?:的?时间)?(?:现在|已经|又|也)?(?:改|换|推迟|提前|调整?|挪|移|延后?)(?:到|成|为|在|至)(?P<value>[^，,。]+)"
)
_IS_CHINESE = lazy(
    r"^(?P<what>[^，,。是在]{2,10}?)(?:现在|目前|已经|如今)?(?:改|换|变|调)?(?:是|成|为)(?P<value>[^，,。]{1,20})"
)
_VERBS = frozenset(
    [
        "move",
        "chang",
        "switch",
        "push",
        "shift",
        "bump",
        "reschedul",
        "postpon",
        "start",
        "begin",
        "begun",
        "sinc",
        "starting",
        "beginning",
        "перенесл",
        "перенесен",
        "перенес",
        "сдвинул",
        "сдвин",
        "поменя",
        "перевел",
        "начина",
    ]
)
_SHORTEST = 2  # terms of a revoked part; one word says too little
_MOST_VALUES = 3


def another_value(old: Said, new: Said) -> str:
    """Whether it says, as "we moved standup to 10:15" does, of a thing that the older one gave another time, day or date."""
    if not new.changed:
        return ""
    for then, now in product(old.parts, new.parts):
        if _chinese(then) and _chinese(now):
            if _another_chinese(then, now):
                return "another value of the same"
        elif _another(then, now):
            return "another value of the same"
    return ""


def revoked_part(old: Said, new: Said) -> str:
    """Whether, as in "we don't … any more", a part of the newer statement takes back what the older one states."""
    if not new.revoked or old.negated:
        return ""
    for part in new.parts:
        said = read(words.SINCE.sub("", part))
        taken = frozenset(term for term in said.all if term[0] != "@")
        least = 2 * _SHORTEST if said.chinese else _SHORTEST
        if said.revoked and least <= len(taken) and taken <= old.all and 2 * len(taken) >= len(old.all):
            return "it takes it back"
    return ""


def _another(then: str, now: str) -> bool:
    if not any(_differ(pattern, then, now) for pattern in (_CLOCK, _WEEKDAY, _DATE)):
        return False
    about, known = frozenset(_things(words.REASONS.sub("", now))), frozenset(_things(then))
    return bool(about) and about <= known


def _things(text: str) -> Iterator[str]:
    """What it speaks of: its terms without values, changes and attributes."""
    return (term for term in read(text).kept if not is_value(term) and term[0] != "@" and term not in _VERBS)


def _differ(pattern: re.Pattern[str], then: str, now: str) -> bool:
    before, after = _found(pattern, then), _found(pattern, now)
    return bool(before) and bool(after) and not before & after and len(after) <= _MOST_VALUES


def _found(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(match[0].casefold() for match in pattern.finditer(text))


def _another_chinese(then: str, now: str) -> bool:
    plain = _NOW_CHINESE.sub("", _SINCE_CHINESE.sub("", now))
    moved = _MOVED_CHINESE.match(plain)
    if moved and moved["what"] in then:
        return any(_differ(pattern, then, moved["value"]) for pattern in (_CLOCK_CHINESE, _CLOCK, _WEEKDAY, _DATE))
    said, was = _IS_CHINESE.match(plain), _IS_CHINESE.match(then)
    if not said or not was or said["what"] != was["what"]:
        return False
    return said["value"] not in was["value"] and was["value"] not in said["value"]


def _chinese(text: str) -> bool:
    return bool(re.search("[\u3400-\u9fff]", text))
