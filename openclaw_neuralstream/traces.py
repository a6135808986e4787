"""Where a text says what is to be forgotten: its sentences found, and cut out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from openclaw_neuralstream.lexicon import bases, content_terms, sentences, stem, terms

GAP = "[…]"
"""What stands where words were cut out."""

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


def naming(text: str, words: str) -> list[str]:
    """The sentences of a text that hold these words, whatever their case and ending."""
    return [sentence for sentence in sentences(text) if names(sentence, words)]


def names(text: str, words: str) -> bool:
    """Whether a text holds these words side by side: as they are written, or with other endings."""
    plain, wanted = _plain(text), _plain(words)
    if not wanted:
        return False
    if wanted in plain and (not wanted.isascii() or re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", plain)):
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


def holds(text: str, pieces: Iterable[str]) -> bool:
    """Whether one of the pieces stands in the text."""
    return any(piece.strip() and _pattern(piece).search(text) for piece in pieces)


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


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!?。！？ ")


@lru_cache(maxsize=4_096)
def _terms(text: str) -> frozenset[str]:
    return frozenset(content_terms(text))


@lru_cache(maxsize=1_024)
def _pattern(piece: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(re.escape(word) for word in piece.split()), re.IGNORECASE)
