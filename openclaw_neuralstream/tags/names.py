"""What the spellings of a name share: letter case, hyphens, blanks, plural and inflection do not make another tag."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from openclaw_neuralstream.lexicon import is_stop, stem
from openclaw_neuralstream.model import Kind
from openclaw_neuralstream.patterns import lazy

MARKS = frozenset({*(kind.value for kind in Kind), "by-hand", "asked", "correction", "answer", "confirmed", "imported"})
"""What a gem is or how it came to be. It stands among its tags, and is no subject that a question could be about."""

LONGEST = 64
"""Characters that a tag named by a person may have."""

_CJK = "\u0e00-\u0eff\u1100-\u11ff\u2e80-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_SIGNS = "\u0300-\u036f\u0900-\u0dff\u0591-\u05c7\u064b-\u065f"  # combining marks inside a word
_TOKEN = lazy(rf"(?P<gram>[{_CJK}]+)|(?P<word>(?:(?![{_CJK}])[^\W_]|[{_SIGNS}])+[+#]*)")
_ENGLISH = lazy(r"[a-z]{3,}")
_GAP = lazy(r"[\s\-_/.·'’&]{0,3}")
_LONGEST_RUN, _LONGEST_GRAM = 4, 8
_MOST_CHARS = 6_000
_ENDINGS = ("", "e", "s", "es", "ed", "ing", "ings")


def is_mark(name: str) -> bool:
    """Whether a tag says what kind of record it is, not what it is about."""
    return name.strip().lower() in MARKS


def tidy(name: str) -> str:
    """How a tag is written that nobody has named otherwise: small letters, "-" between words, "/" between levels."""
    plain = unicodedata.normalize("NFKC", _folded_case(name)).strip().lstrip("#").strip()
    levels = (re.sub(r"[\s_-]+", "-", level).lstrip("#-").rstrip("-") for level in plain.split("/"))
    return "/".join(level for level in levels if level)


def key_of(name: str) -> str:
    """What all spellings of a tag or an entity share; "" for nothing. "Trading Options", "trading_option" → "tradeoption"."""
    levels = ("".join(_keys(level)) for level in tidy(name).split("/"))
    return "/".join(level for level in levels if level)


def mentions(text: str) -> Mapping[str, str]:
    """The keys of all names that could be meant in a text, each with the words that say it.

    Up to four words in a row, or two to eight Chinese, Japanese, Korean or Thai characters; no single stop word.
    """
    return _mentions(text[:_MOST_CHARS])


@lru_cache(maxsize=256)
def _mentions(text: str) -> Mapping[str, str]:
    """A question is read for tags and entities, of gems and of notes."""
    found: dict[str, str] = {}
    text = unicodedata.normalize("NFKC", text)
    tokens = list(_TOKEN.finditer(text))
    for start, first in enumerate(tokens):
        if gram := first["gram"]:
            for piece in _pieces(gram):
                found.setdefault(piece, piece)
        keys: list[str] = []
        for place in range(start, min(start + _LONGEST_RUN, len(tokens))):
            if place > start and not _GAP.fullmatch(text, tokens[place - 1].end(), tokens[place].start()):
                break
            keys.append(_token_key(tokens[place]))
            said = text[first.start() : tokens[place].end()]
            if place == start and not _tells(first):
                continue
            found.setdefault("".join(keys), said)
            if len(keys) > 1:
                found.setdefault("/".join(keys), said)
    return found


def _keys(level: str) -> list[str]:
    return [_token_key(match) for match in _TOKEN.finditer(level)] or [re.sub(r"\s+", "", level)]


def _token_key(match: re.Match[str]) -> str:
    return match["gram"].casefold() if match["gram"] else _word_key(match["word"])


def _tells(match: re.Match[str]) -> bool:
    """Whether a single token may stand for a tag."""
    word = match["gram"] or match["word"]
    return len(word) > 1 and not is_stop(stem(word))


def _pieces(run: str) -> list[str]:
    folded = run.casefold()
    return [
        folded[start : start + size]
        for size in range(2, _LONGEST_GRAM + 1)
        for start in range(len(folded) - size + 1)
        if not is_stop(folded[start : start + size])
    ]


@lru_cache(maxsize=65_536)
def _word_key(word: str) -> str:
    """The stem, where the word is an inflection of it: "traded" and "trades" are "trade", "organization" is no "organ"."""
    plain = _folded(word)
    if not _ENGLISH.fullmatch(plain):
        return stem(plain)
    root = stem(plain)
    if plain in _forms(root):
        return root
    single = _singular(plain)
    return _word_key(single) if single != plain else plain


def _forms(root: str) -> set[str]:
    forms = {root + ending for ending in _ENDINGS}
    forms |= {root + root[-1] + ending for ending in ("ing", "ings", "ed")}
    if root.endswith("e"):
        forms |= {root[:-1] + ending for ending in ("ing", "ings", "ed")}
    if root.endswith("i"):
        forms |= {root[:-1] + ending for ending in ("y", "ies", "ied", "ying")}
    return forms


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _folded(word: str) -> str:
    folded = unicodedata.normalize("NFKC", _folded_case(word))
    if folded.isascii() or re.search("[\u0400-\u04ff]", folded):
        return folded.replace("ё", "е")
    bare = "".join(char for char in unicodedata.normalize("NFD", folded) if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", bare) or folded


def _folded_case(text: str) -> str:
    """Case folded until it stays as it is (Unicode 5.18.4: twice is enough)."""
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", once.casefold())
