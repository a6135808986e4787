"""Terms of a text in any language: stems, bigrams, identifiers."""

from __future__ import annotations

import threading
import unicodedata
from functools import cache, lru_cache
from typing import Any

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon._irregular import bases
from openclaw_neuralstream.text.lexicon._scripts import HAN_CHAR, SCRIPTS, WORDLESS
from openclaw_neuralstream.text.lexicon._stopwords import (
    CJK_PARTICLES,
    CJK_STOP,
    FIRST_PERSON,
    SECOND_PERSON,
    STOP_WORDS,
    stop_terms,
)

_REMEMBERED, _SHORT = 8_192, 4_000
"""How many texts' terms are remembered, and how many characters such a text has at most: one question reads a record
several times, and the next question much of the same."""

LONGEST_TERM = 64
"""Characters of a term that are kept; longer runs (base64, minified code) are cut, alike in index and query."""

_MARKS = "\u0300-\u036f\u0900-\u0dff\u0591-\u05c7\u064b-\u065f"  # combining marks inside a word
_LETTER = rf"(?:(?![{WORDLESS}])[^\W_]|[{_MARKS}])"
_TOKEN = lazy(rf"(?P<gram>[{WORDLESS}]+)|(?P<word>(?<!_)_*{_LETTER}+(?:(?:['’_./:@+\-]|::|,(?=\d)){_LETTER}+)*[+#]*)")
_PLAIN_TOKEN = lazy(r"(?<!_)_*[A-Za-z0-9]+(?:(?:['_./:@+\-]|::|,(?=[0-9]))[A-Za-z0-9]+)*[+#]*")
"""What `_TOKEN` finds in a text of ASCII alone, in less than half of the time."""

_PART = lazy(rf"{_LETTER}+")
_CAMEL = lazy(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_THOUSANDS = lazy(r"(?<=\d),(?=\d{3})")
_POSSESSIVE = lazy(r"['’]s$|['’]$")


def terms(text: str) -> list[str]:
    """Index and query terms in the order of the text, repeats kept; [] for a text without letters and digits.

    Words are lower-cased and stemmed (Snowball, English and Russian), irregular forms as the word they are of ("met" is "meet"); a run of Chinese, Japanese, Korean or Thai gives
    its bigrams and its single content characters; an identifier, number or date gives itself and its parts.
    No stop word is removed. Total: any string is taken, lone surrogates included.
    """
    return list(_remembered(text)) if len(text) <= _SHORT else _read(text)


def content_terms(text: str) -> list[str]:
    """`terms` without stop and question words of English, Chinese and Russian; [] when nothing else was said."""
    return [term for term in (_remembered(text) if len(text) <= _SHORT else _read(text)) if not is_stop(term)]


@lru_cache(maxsize=_REMEMBERED)
def _remembered(text: str) -> tuple[str, ...]:
    return tuple(_read(text))


def _read(text: str) -> list[str]:
    """No term reaches over a space, and most of what stands between two was read before."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return [
        term
        for piece in plain.split()
        for term in (_piece_terms(piece) if len(piece) <= LONGEST_TERM else _terms_between_spaces(piece))
    ]


@lru_cache(maxsize=65_536)
def _piece_terms(piece: str) -> tuple[str, ...]:
    return tuple(_terms_between_spaces(piece))


def _terms_between_spaces(piece: str) -> list[str]:
    if piece.isascii():
        return [term for word in _PLAIN_TOKEN.findall(piece) for term in _word_terms(word)]
    found: list[str] = []
    for match in _TOKEN.finditer(piece):
        if match["gram"]:
            found.extend(_grams(match["gram"]))
        else:
            found.extend(_word_terms(match["word"]))
    return found


@lru_cache(maxsize=65_536)
def is_stop(term: str) -> bool:
    """Whether a term (as `terms` gives it) is a stop or question word, or a piece of one."""
    if term in stop_terms() or term in CJK_STOP:
        return True
    return len(term) == 2 and (term[0] in CJK_PARTICLES or term[1] in CJK_PARTICLES)


def speaks_of(text: str) -> tuple[bool, bool]:
    """Whether a message speaks of the one who says it (I, we), and of the one it is said to (you)."""
    plain = text.replace("’", "'")
    return bool(FIRST_PERSON.search(plain)), bool(SECOND_PERSON.search(plain))


def _grams(run: str) -> list[str]:
    singles = [char for char in run if HAN_CHAR.match(char) and char not in CJK_PARTICLES]
    if len(run) == 1:
        return singles or [run]
    return [run[i : i + 2] for i in range(len(run) - 1)] + singles


@lru_cache(maxsize=65_536)
def _word_terms(word: str) -> tuple[str, ...]:
    plain = _POSSESSIVE.sub("", _THOUSANDS.sub("", word.strip("_")))
    if plain.lower().replace("’", "'") in STOP_WORDS:
        return (stem(plain),)
    parts = [piece for part in _PART.findall(plain) for piece in _CAMEL.split(part) if piece]
    if len(parts) <= 1:
        return (_based(stem(plain)),)
    whole = plain.lower()[:LONGEST_TERM]
    return (whole, *dict.fromkeys(_based(stem(part)) for part in parts[:16] if len(part) > 1 or part.isdigit()))


def _based(found: str) -> str:
    """The stem of the word that a stem is an irregular form of; itself where it is none."""
    return bases().get(found, found)


@cache
def _stemmers() -> tuple[Any, Any]:
    """English, Russian. Imported late: with these come those of thirty other languages."""
    from snowballstemmer.english_stemmer import EnglishStemmer
    from snowballstemmer.russian_stemmer import RussianStemmer

    return EnglishStemmer(), RussianStemmer()


_stemming = threading.Lock()  # a Snowball stemmer keeps its word in itself
_ENGLISH = lazy(r"[a-z']+")
_RUSSIAN = lazy("[а-яіїєґ]+")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """One word lower-cased, its accents (Latin) and ё folded, stemmed where it is English or Russian."""
    folded = _fold(word.lower().replace("’", "'"))[:LONGEST_TERM]
    if _ENGLISH.fullmatch(folded):
        with _stemming:
            return str(_stemmers()[0].stemWord(folded))
    if _RUSSIAN.fullmatch(folded):
        with _stemming:
            return str(_stemmers()[1].stemWord(folded))
    return folded


def _fold(word: str) -> str:
    if word.isascii():
        return word
    if SCRIPTS["cyrillic"].search(word):
        return word.replace("ё", "е")
    bare = "".join(char for char in unicodedata.normalize("NFD", word) if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", bare) or word
