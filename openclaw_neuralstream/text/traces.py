"""Where a text says what is to be forgotten: its sentences found, and cut out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import WORDLESS, bases, content_terms, sentences, stem, terms

GAP = "[…]"
"""What stands where words were cut out."""

_WORD = lazy(r"\w+")
_WORDLESS = lazy(f"[{WORDLESS}]")
_SHARED = 2  # content terms that two sentences share at least to say the same
_OF_GEM = 0.6  # of a gem's terms that a sentence must hold
_OF_SENTENCE = 0.7  # or of the sentence's own terms that the gem must hold


def said_in(text: str, contents: Sequence[str]) -> list[str]:
    """The sentences of a text that say one of the contents: in the same words, or in most of the words that count."""
    wanted = [(_plain(part), _terms(part)) for content in contents for part in {content, *sentences(content)}]
    found = []
    for sentence in sentences(text):
        plain, own = _plain(sentence), _terms(sentence)
        if own and any(_says(plain, own, other, theirs) for other, theirs in wanted if theirs):
            found.append(sentence)
    return found


def names(text: str, words: str) -> bool:
    """Whether a text holds these words side by side as they are written: whole words, in whatever case.

    Chinese and other scripts without spaces have no whole words to look for: there the exact string counts.
    """
    wanted, plain = _plain(words), _plain(text)
    return bool(wanted) and wanted in plain and _whole(wanted).search(plain) is not None


def other_forms(text: str, words: str) -> set[str]:
    """The words of a text, lower-cased, that `names` does not find and that differ from these by their endings alone."""
    asked = [stem(word) for word in _WORD.findall(words)]
    own = _WORD.findall(text.casefold())
    windows = (own[at : at + len(asked)] for at in range(len(own) - len(asked) + 1)) if asked else ()
    alike = (" ".join(window) for window in windows if [stem(word) for word in window] == asked)
    return {form for form in alike if not names(form, words)}


def mentions(text: str, words: str) -> bool:
    """Whether a text holds these words side by side: as they are written, or with other endings, as names have them."""
    if names(text, words):
        return True
    asked, own = terms(words), terms(text)
    if not asked or not any(own[at : at + len(asked)] == asked for at in range(len(own) - len(asked) + 1)):
        return False
    return _irregular(words) <= _stems(text)


def _irregular(words: str) -> frozenset[str]:
    """Stems that a search reads as another word, or another one as them; here they are not: whoever is called Drew is no "draw"."""
    return _stems(words) & {*bases(), *bases().values()}


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in re.findall(r"\w+", text))


def without(text: str, pieces: Iterable[str]) -> str:
    """The text with these pieces cut out, also where a line was wrapped inside of one."""
    for piece in sorted(set(pieces), key=len, reverse=True):
        if piece.strip():
            text = _pattern(piece).sub(GAP, text)
    return text


def missing(text: str, left: str) -> list[str]:
    """The pieces of a text that were cut out where this is left of it; none where it is not left of this text."""
    first, *kept, last = left.split(GAP)
    end = len(text) - len(last)
    if not (text.startswith(first) and text.endswith(last)):
        return []
    pieces, at = [], len(first)
    for part in kept:
        found = text.find(part, at, end)
        if found < 0:
            return []
        pieces.append(text[at:found])
        at = found + len(part)
    return [piece.strip() for piece in (*pieces, text[at:end]) if piece.strip()] if at <= end else []


def holds(text: str, pieces: Iterable[str]) -> bool:
    """Whether one of the pieces stands in the text."""
    return bool(held(text, pieces))


def held(text: str, pieces: Iterable[str]) -> list[str]:
    """Those of the pieces that stand in the text."""
    plain = _spaced(text)
    return [piece for piece in pieces if piece.strip() and _spaced(piece) in plain and _pattern(piece).search(text)]


def is_empty(text: str) -> bool:
    """Whether nothing is left of a text that was cut."""
    return not re.search(r"\w", text.replace(GAP, ""))


def worth(pieces: Iterable[str]) -> list[str]:
    """Those that say something by themselves: "Yes." may be looked for in the text that said it, never elsewhere."""
    return [piece for piece in dict.fromkeys(pieces) if len(_terms(piece)) >= _SHARED]


def _says(plain: str, own: frozenset[str], other: str, theirs: frozenset[str]) -> bool:
    if other in plain or plain in other:
        return True
    shared = len(own & theirs)
    return shared >= _SHARED and (shared >= _OF_GEM * len(theirs) or shared >= _OF_SENTENCE * len(own))


@lru_cache(maxsize=16_384)
def _spaced(text: str) -> str:
    return " ".join(text.casefold().split())


@lru_cache(maxsize=1_024)
def _whole(wanted: str) -> re.Pattern[str]:
    left, right = ("" if _WORDLESS.match(wanted[end]) else rf"[^\W{WORDLESS}]" for end in (0, -1))
    return re.compile((left and f"(?<!{left})") + re.escape(wanted) + (right and f"(?!{right})"))


def _plain(text: str) -> str:
    return _spaced(text).rstrip(".!?。！？ ")


@lru_cache(maxsize=4_096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(content_terms(text))


@lru_cache(maxsize=1_024)
def _pattern(piece: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(re.escape(word) for word in piece.split()), re.IGNORECASE)
