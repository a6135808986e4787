"""Secrets that stand beside what gives them away: changed from one to another, in a list, a table or a heading, in words."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets.rule import Rule, detector, is_placeholder
from openclaw_neuralstream.secrets.strength import is_name, strong

_Q = r"[\"'`«“”‘’「『]?"
_V = r"([^\s\"'`«»“”‘’「」『』<>\[\]{}()，。；！？、,;|]{4,128})"
_WORD = (
    r"(?:(?<![A-Za-z])pass(?:word|code|phrase|wd)s?\b(?!\s(?:manager|polic|generator|hash|vault))|"
    r"(?<![а-яё])(?<!менеджер )(?<!менеджера )парол[а-яё]{0,3}(?![а-яё])|(?:密码|密碼|口令)(?!管理))"
)
_FROM = (
    rf"{_WORD}(?:\s+[\w'’.]{{1,20}}){{0,5}}?\s{{0,3}}(?:\bfrom|(?<![а-яё])с|从|從|由)\s{{0,3}}{_Q}{_V}{_Q}"
    r"\s{0,3}(?=to\b|на\b|->|→|=>|改|换|換|变|變|到)"
)
_TO = (
    rf"\[redacted:password\]{_Q}\s{{0,3}}(?:\b(?:in)?to\b|\bor\b|\bна\b|\bили\b|->|→|=>|[改换換变變][成为為到]?了?|到|或者?|/)"
    rf"\s{{0,3}}{_Q}{_V}"
)
_NEXT = rf"\[redacted:password\]{_Q}\s{{0,3}}(?:[,;、，]|\band\b|\bи\b|和)\s{{0,3}}{_Q}{_V}"
_ARROW = (
    rf"{_WORD}(?:\s+[\w'’.]{{1,20}}){{0,4}}?\s{{0,3}}[:：]?\s{{0,3}}{_Q}{_V}{_Q}\s{{0,3}}(?:->|→|=>)\s{{0,3}}(?=\S)"
)
_INTO_RU = rf"(?<![а-яё])парол[а-яё]{{0,3}}(?:\s+[а-яё]{{1,20}}){{1,4}}?\s+(?:на|теперь)\s+{_Q}{_V}"
_INTO_ZH = rf"(?:密码|密碼|口令)[^\s，。；！？A-Za-z0-9]{{0,8}}?[改换換变變][成为為]了?\s{{0,3}}{_Q}{_V}"
_MARKED = (
    rf"{_WORD}\s{{0,2}}(?:[(（][^()（）\n]{{1,40}}[)）]\s{{0,2}})?(?:[*_]{{1,2}}\s{{0,2}}[:：=]|[:：=]\s{{0,2}}[*_]{{1,2}}|[:：=])"
    rf"\s{{0,3}}[*_]{{0,2}}{_Q}{_V}"
)
_CELL = (
    rf"\|\s{{0,20}}[*_`]{{0,2}}{_WORD}[*_`]{{0,2}}(?:\s[^|\n]{{1,30}})?\s{{0,20}}\|\s{{0,20}}{_Q}{_V}{_Q}\s{{0,20}}\|"
)
_IN_WORDS = (
    r"(?:\bpass\s?phrase|(?<![а-яё])(?:парольн|кодов)[а-яё]{2,3}\s+фраз[а-яё]{1,2}|密码短语|口令短语|密语)"
    r"\s{0,2}(?:\b(?:is|was)\b|это|是|为|[:：=—–])\s{0,3}[\"'`«“]?"
    r"((?:[a-z]{3,12}(?:[ \-][a-z]{3,12}){3,9})|(?:[а-яё]{3,14}(?:[ \-][а-яё]{3,14}){3,9})|(?:[一-鿿]{1,4}(?:[ \-][一-鿿]{1,4}){3,9}))"
    r"(?=[\"'`»”.,;!。，！]|\s*(?:\n|\Z))"
)
_LOCK = (
    r"\b(?:code|combination|combo)\s+(?:for|of|to)\s+(?:[\w'’]{1,20}\s+){0,4}?"
    r"(?:door|gate|garage|alarm|safe|entry|entrance|lock|locker|building|elevator|bike|suitcase|flat|apartment|house|office|vault)\b"
    r"\s{0,2}(?:is(?:\s+now)?\b|was\b|[:=])?\s{0,3}(\d{3,8}[#*]?)(?![\w%.\-]*\w)"
)
_LOCK_ZH = r"(?:门|大门|房门|保险箱|保险柜|车库|电梯|储物柜|行李箱|小区|单元门)的?(?:代码|密码|编码|码)\s{0,2}[是为：:=]\s{0,3}(\d{3,8}[#*]?)(?![\w%年月日])"
_ESCAPED = (
    r"(?:password|passwd|passphrase|pwd|secret|пароль|密码)[\"'`\]]{0,2}\s{0,3}(?:=>|:=|[:=：])\s{0,3}"
    r"\"([^\"\\\n]{0,200}\\.(?:\\.|[^\"\\\n]){0,200})\""
)
_COMMON_WORDS = """
the and for was are not you your our his her its that this with from has have had must should will can too very long
short safe hard easy kept only still now than then what which who when where why how все это как что для или его она они
был была есть нет уже ещё очень надо нужно можно слишком которая который
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_WORD_AND_YEAR = lazy(r"[A-Za-z]+[-_.]?\d{3,}[A-Za-z]?")
_NO_VALUE = lazy(r"\w+\(\d*\)?|\d+[-–]?[а-яё]+|\d{1,4}[-./]\d{1,2}(?:[-./]\d{1,4})?|https?:.*|/.*|\d{1,3}")


def _told(value: str) -> bool:
    """For a place that says plainly that a password stands here: letters beside digits or symbols, no name of a type."""
    if is_placeholder(value) or _NO_VALUE.fullmatch(value.lower()):
        return False
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    return letters and digits and len(value) >= 6


def _told_bare(value: str) -> bool:
    """For Russian, where the word for "to" is the one for "on" as well: a name is a password as a word with a year only."""
    return _told(value) and (_WORD_AND_YEAR.fullmatch(value) is not None or not is_name(value))


def _words(value: str) -> bool:
    return not _COMMON & set(re.split(r"[ \-]", value.lower()))


def _c(pattern: str) -> re.Pattern[str]:
    return detector(pattern, re.IGNORECASE)


_PASS = ("pass", "парол", "密码", "密碼", "口令")
_MARKER = ("[redacted:password]",)

RULES: tuple[Rule, ...] = (
    Rule("password", _c(_FROM), _PASS, group=1, accept=_told),
    Rule("password", _c(_TO), _MARKER, group=1, accept=_told, prose=True, behind_marker=True),
    Rule("password", _c(_NEXT), _MARKER, group=1, accept=strong, prose=True, behind_marker=True),
    Rule("password", _c(_ARROW), ("->", "→", "=>"), group=1, accept=_told),
    Rule("password", _c(_INTO_RU), ("парол",), group=1, accept=_told_bare, prose=True),
    Rule("password", _c(_INTO_ZH), ("码", "碼", "口令"), group=1, accept=_told, prose=True),
    Rule("password", _c(_MARKED), _PASS, group=1, accept=_told, prose=True),
    Rule("password", _c(_CELL), ("|",), group=1, accept=_told),
    Rule("recovery-phrase", _c(_IN_WORDS), ("phrase", "фраз", "短语", "密语"), group=1, accept=_words),
    Rule("access-code", _c(_LOCK), ("code", "comb"), group=1),
    Rule("access-code", _c(_LOCK_ZH), ("码",), group=1),
    Rule("password", _c(_ESCAPED), ("pass", "pwd", "secret", "парол", "密码"), group=1),
)
