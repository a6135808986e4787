"""Secrets as people say them in passing: one grammar for all languages, whose words are data (`spoken.toml`).

noun, a few words, a link, value: "the nas password, moss-Anvil-77", "家里的wifi是haibian92x"; an account has a name before
the value: "login: admin / …". How much like a password a value must look depends on how plainly it is told.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets.rule import Rule, Span, detector, is_placeholder
from openclaw_neuralstream.secrets.strength import NO_PASSWORD, is_name

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_NOUNS: dict[str, list[str]] = _DATA["nouns"]

_QUOTE = r"[\"'`«“”‘’「『]?"
_VALUE = rf"(?![=:]){_QUOTE}([^\s\"'`«»“”‘’「」『』<>\[\]{{}}()，。；！？、,;：一-鿿]{{6,128}})"
_DIGITS = r"(\d{4,8}[#*]?)(?![\w%:.\-/]*\w|\s?[%€$£₽°])"
_FEW = r"(?:[^\S\n]{1,3}[^\s\d:：=,，。.;；!！?？/|\[\]]{1,20}){0,4}?"
_FEW_ZH = r"[^\s\d，。；！？:：=A-Za-z\[\]]{0,6}?"
_SIGN = r"(?:[?？]\s{0,3})?(?:[:：=—–,，]|(?<=\s)-|->|=>)"
_NAME = r"[\"“「]?(?-i:[a-z])[\w.@+\-]{1,59}[\"”」]?"  # of a user: in lower case, other than the name of a product
_PARTED = r"(?:\s{0,3}[/|,，、:：]\s{0,3}|\s{1,3}(?:with|and|и|с|和)\s{1,3})"

_TYPE = lazy(r"\d+[-–]?[^\W\d_]{1,6}|[^\W\d]+(?:\.[^\W\d]+)+|\w+\(.*|@.*|.*\d\.\d.*|--?\w.*|\w+=.*")
_SIGNS = frozenset("!@#$%^&*+=~")


def _word(word: str) -> str:
    """The pattern of a noun or link: whole words where the script parts them, "*" for any ending or one or two words."""
    escaped = (
        re.escape(word)
        .replace(r"\ \*\ ", r"(?:\s{1,3}\w{1,20}){0,2}\s{1,3}")
        .replace(r"\*", r"\w{0,4}")
        .replace(r"\ ", r"\s{1,3}")
    )
    return escaped if not word[0].isascii() and word[0] > "\u2e80" else rf"(?<![^\W_一-鿿]){escaped}(?![^\W_一-鿿])"


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(_word(word) for word in sorted(words, key=len, reverse=True))})"


def _told(value: str) -> bool:
    """Whether a value that is plainly told can be a password: letters with digits or signs in it, no type, path or date."""
    if is_placeholder(value) or NO_PASSWORD.fullmatch(value) or _TYPE.fullmatch(value):
        return False
    has_letters, has_digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    return has_letters and (has_digits or not _SIGNS.isdisjoint(value[1:-1]))


def _told_unnamed(value: str) -> bool:
    """For a network, of which the name is told in the same words as the password."""
    return _told(value) and not is_name(value)


def nouns(*kinds: str) -> str:
    """The pattern of all nouns of these kinds."""
    return _any(word for kind in kinds for word in _NOUNS[kind])


def anchors(*kinds: str) -> tuple[str, ...]:
    """The beginnings of these nouns in lower case: a text without one of them holds none."""
    return tuple(dict.fromkeys(word.split("*")[0].split(" ")[0].lower() for kind in kinds for word in _NOUNS[kind]))


def _rule(name: str, kind: str, rest: str, *, value: str = _VALUE) -> Rule:
    pattern = detector(rf"{nouns(kind)}{rest}{value}", re.IGNORECASE)
    accept = None if value != _VALUE else _told_unnamed if kind == "network" else _told
    return Rule(name, pattern, anchors(kind), group=1, accept=accept, prose=True)


_LINK = rf"(?:\s{{0,3}}(?:{_SIGN}|{_any(_DATA['links']['words'])})){{1,3}}\s{{0,3}}"
_GAP = rf"(?:{_FEW}|{_FEW_ZH})"
_OPENING = rf"{_GAP}\s{{0,3}}{nouns('opening')}\s{{0,3}}"
_ANSWER = rf"{_QUOTE}([^\W\d_]{{2,30}}(?:\s[^\W\d_]{{2,30}}){{0,2}})(?=\s*[.!。！]?\s*(?:\n|\Z))"

_RULES: tuple[Rule, ...] = (
    _rule("password", "password", rf"{_GAP}{_LINK}"),
    _rule("password", "password", r"\s{0,3}"),
    _rule("password", "network", rf"{_GAP}{_LINK}"),
    _rule("password", "account", rf"{_GAP}{_LINK}{_NAME}{_PARTED}"),
    _rule("api-key", "token", rf"{_GAP}{_LINK}"),
    _rule("access-code", "code", rf"{_GAP}(?:{_LINK}|\s{{0,3}})", value=_DIGITS),
    _rule("access-code", "place", _OPENING, value=_DIGITS),
    Rule("password", detector(rf":\s{{1,3}}[\w.+\-]{{1,64}}@[\w\-]+(?:\.[\w\-]+)+\s{{0,3}}[/|,:]?\s{{0,3}}{_VALUE}"), ("@",), group=1, accept=_told, prose=True),
)  # fmt: skip
_CAN_BE_ONE = lazy(r"[0-9!@#$%^&*+=~]")


@dataclass(frozen=True, slots=True)
class Spoken:
    """All forms with a digit or a sign in the value, as one detector: a text without either costs one look."""

    anchors: tuple[str, ...] = tuple(dict.fromkeys(anchor for rule in _RULES for anchor in rule.anchors))

    def find(self, text: str) -> Iterator[Span]:
        """Every secret that is said in one of the forms."""
        if not _CAN_BE_ONE.search(text):
            return
        lowered = text.lower()
        for rule in _RULES:
            if rule.applies(lowered):
                yield from rule.find(text)


RULES: tuple[Rule | Spoken, ...] = (Spoken(), _rule("security-answer", "answer", _LINK, value=_ANSWER))
