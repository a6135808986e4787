"""Credentials said in passing: a word for one, and near it, in the same sentence and line, a token that is no plain word.

One detector for all languages: a language adds its nouns, and what stands between noun and token is not read.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets import spoken
from openclaw_neuralstream.secrets.rule import Span, is_placeholder, looks_random
from openclaw_neuralstream.secrets.strength import MIXED, NO_PASSWORD, is_name

_MOST = 8  # tokens that are looked at on each side
_REACH_BEHIND, _REACH_BEFORE = 100, 60  # characters between the noun and the token
_NEAR = 30  # characters between them, while a word with a number behind it counts as a password
_KINDS = {"password": ("password", "secret"), "key": ("token", "key"), "account": ("account",)}
_NOUN = lazy("|".join(f"(?P<{kind}>{spoken.nouns(*named)})" for kind, named in _KINDS.items()), re.IGNORECASE)
_CHARS = r"!#$%&*+\-./0-9:=?@A-Z\\^_a-z|~"  # printable ASCII but quotes, brackets, comma and semicolon
_TOKEN = lazy(
    rf"(?<![{_CHARS}])(?=[{_CHARS}]{{0,199}}[0-9!@#$%^&*])[{_CHARS}]{{1,200}}"
)  # no other can be a credential
_GAP = lazy(r"\s{0,4}[:：]?\s{1,4}")  # a heading and what stands under it
_END = lazy(r"[\n\r。]|\.(?=\s)|\[redacted:")
_BEGIN = lazy(r"[\n\r。]|\.\s|\[redacted:[^\]\n]{1,32}\]")
_PAIR = lazy(r"[A-Za-z][A-Za-z_.\-]{0,39}[/:|]([^/|].*)")  # "admin/…", "deploy:…"
_SEPARATED = lazy(r"[/:：,，、|\-—–]")
_LISTED = lazy(r"[:：—–]\s{0,3}[a-z][a-z_.@\-]{0,39}\s{1,3}/\s{1,3}\Z")  # ": admin / …"
_DIRECT = lazy(r"\s{0,3}[:：=/|—–\-]\s{0,3}\Z")
_NO_TOKEN = lazy(r".*\d\.\d.*|@[\w.\-]+(?::\d+)?(?:/.*)?|\w+=\d+")  # a version, the host of an address, a count
_WORD_AND_NUMBER = lazy(r"[A-Za-z]+[-_.]?\d+[A-Za-z]?")
_NAME = lazy(r"\d?[A-Za-z]+\d{0,2}(?:[-_.][A-Za-z]*\d{0,4})*")  # "ThinkPad-X1", "PostgreSQL16", "db-prod-01"
_HARD = frozenset("!@#$%^&*+=~")
"""Signs that stand inside passwords and hardly ever inside names of things."""


@dataclass(frozen=True, slots=True)
class Near:
    """The detector; to the caller it is a rule. anchors: some of its nouns stand in a lower-cased text, or none do."""

    anchors: tuple[str, ...] = spoken.anchors(*(one for named in _KINDS.values() for one in named))

    def find(self, text: str) -> Iterator[Span]:
        """The first token behind each noun that is one, else the last one before it."""
        tokens = list(_TOKEN.finditer(text))
        starts = [token.start() for token in tokens]
        for noun in _NOUN.finditer(text) if tokens else ():
            kind, middle = str(noun.lastgroup), bisect_left(starts, noun.end())
            found = _behind(text, noun.end(), kind, tokens[middle : middle + _MOST]) or (
                _before(text, noun.start(), kind, tokens[max(0, middle - _MOST) : middle])
                if kind != "account"
                else None
            )
            if found:
                yield Span(*found, "api-key" if kind == "key" else "password")


def _behind(text: str, start: int, kind: str, tokens: list[re.Match[str]]) -> tuple[int, int] | None:
    noun = start
    if (gap := _GAP.match(text, start)) is not None:
        start = gap.end()
    end = start + _REACH_BEHIND
    if tokens and tokens[0].start() < end and (stop := _END.search(text, start, end)):
        end = stop.start()
    for token in tokens:
        if token.start() >= end:
            return None
        place = _value(token)
        parted = kind != "account" or _SEPARATED.search(text, start, place[0]) is not None
        value, between = text[slice(*place)], text[noun : place[0]]
        if kind != "key" and _LISTED.search(between) and _listed(value):
            return place
        if not _DIRECT.fullmatch(between) and _is_thing(token[0]):
            continue
        if parted and _credible(value, kind, near=token.start() - start <= _NEAR):
            return place
    return None


def _before(text: str, end: int, kind: str, tokens: list[re.Match[str]]) -> tuple[int, int] | None:
    start = max(0, end - _REACH_BEFORE)
    if not tokens or tokens[-1].end() < start:
        return None
    for begin in _BEGIN.finditer(text, start, end):
        start = begin.end()
    places = (
        _value(token)
        for token in reversed(tokens)
        if start <= token.start() and token.end() <= end and not _is_thing(token[0])
    )
    return next((place for place in places if _credible(text[slice(*place)], kind, near=True)), None)


def _value(token: re.Match[str]) -> tuple[int, int]:
    """Where the password of a token stands: behind a name ("admin/…"), without the stops of a sentence."""
    pair = _PAIR.fullmatch(token[0])
    start = token.start() + (pair.start(1) if pair else 0)
    return start, token.end() - (len(token[0]) - len(token[0].rstrip(".:?/|\\")))


def _credible(value: str, kind: str, *, near: bool) -> bool:
    """Whether it is a credential and no word, name of a thing, number, address or digest."""
    digits, lower = sum(char.isdigit() for char in value), any(char.islower() for char in value)
    if kind == "key":
        return len(value) >= 16 and looks_random(value) and not NO_PASSWORD.fullmatch(value) and not is_name(value)
    if MIXED.fullmatch(value):
        return True
    if len(value) < 6 or not digits or not lower or is_placeholder(value):
        return False
    if NO_PASSWORD.fullmatch(value) or _NO_TOKEN.fullmatch(value):
        return False
    return bool(_HARD.intersection(value)) or _chosen(value, digits if near else 0, 4 - (kind == "password"))


def _is_thing(token: str) -> bool:
    """Whether the whole token names a thing; a word and one number can be a password as well."""
    token = token.rstrip(".:?/|\\")
    return is_name(token) and not _WORD_AND_NUMBER.fullmatch(token) and not _PAIR.fullmatch(token)


def _listed(value: str) -> bool:
    """Whether it can be the password behind a user name and a slash: letters and a digit, no address or version."""
    return (
        len(value) >= 7
        and any(map(str.isalpha, value))
        and any(map(str.isdigit, value))
        and not (is_placeholder(value) or NO_PASSWORD.fullmatch(value) or _NO_TOKEN.fullmatch(value))
    )


def _chosen(value: str, digits: int, least: int) -> bool:
    """Whether letters and digits alone make a password of it: a word with a long number, or what is no name of a thing.

    digits: how many of its digits count. least: how many make a word with a number one.
    """
    if len(value) < 8:
        return False
    if _WORD_AND_NUMBER.fullmatch(value):
        return digits >= least
    mixed = any(char.isupper() for char in value) or (
        sum(char.isdigit() for char in value) >= 4 and looks_random(value.ljust(12, value[0]))
    )
    return mixed and not _NAME.fullmatch(value)
