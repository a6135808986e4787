"""How much a string looks like a password or a key that somebody generated, judged by its characters alone."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets.rule import is_placeholder

_WORD_AND_NUMBER = lazy(r"[A-Za-z]+[-_.]?\d{0,4}(?:\.\d+)?")
NO_PASSWORD = lazy(
    r"https?:.*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:\.{0,2}|~)/.*|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,4}|"  # addresses, paths, files
    r"[0-9a-f]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|"  # hashes, UUIDs
    r"\d{4}-\d\d-\d\dT.*|v?\d+(?:\.\d+)+\S*|[+\d().\-/:,\s]+|\w+\(.*",  # times, versions, numbers, calls
    re.IGNORECASE,
)
MIXED = lazy(r"(?=.*[a-z])(?=.+[A-Z])\w+[!@#$%^&*]\w+", re.ASCII)
_NAME_SEPARATOR = lazy(r"[-_.:/]+")
_LETTERS = r"(?:[A-Z]{1,6}|[a-z]?(?:[A-Z]?[a-z]{2,12}|[A-Z][a-z]){1,3}[A-Z]{0,3}|[a-z])"
_NAME_PART = lazy(rf"\d{{1,8}}|{_LETTERS}?(?:\d{{1,4}}(?:[A-Za-z]\d?|{_LETTERS})?)?")
_WORD = lazy(r"[A-Za-z]?[a-z]{2}")
_SYMBOLS = frozenset("!@#$%^&*+=?~_-")


def is_name(value: str) -> bool:
    """Whether it is the name of a model, device, release, ticket or host: words, versions, dates and small numbers.

    Nothing random is in any of its parts, and one of them holds a word.
    """
    parts = _NAME_SEPARATOR.split(value) if len(value) <= 100 else []
    return all(map(_NAME_PART.fullmatch, parts)) and any(map(_WORD.search, parts))


def classes(value: str) -> int:
    """How many of lower case, upper case, digits and symbols of passwords it holds."""
    kinds = (str.islower, str.isupper, str.isdigit, lambda c: c in _SYMBOLS)
    return sum(any(kind(char) for char in value) for kind in kinds)


def strong(value: str) -> bool:
    """Whether it can be taken for a password with no more than a word like "password" near by."""
    if not 8 <= len(value) <= 128 or is_placeholder(value):
        return False
    if _WORD_AND_NUMBER.fullmatch(value) or NO_PASSWORD.fullmatch(value) or not value.isascii():
        return False
    if MIXED.fullmatch(value):
        return True
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value) and classes(value) >= 3


def generated(value: str) -> bool:
    """Whether it can be taken for a key with no more than a word like "key" near by."""
    return len(value) >= 20 and strong(value) and not is_name(value) and len(set(value)) >= 12
