"""A hash that near-identical questions share, or nearly: SimHash over stems, CJK words and the letters inside them.

Source: Charikar, "Similarity estimation techniques from rounding algorithms" (STOC 2002); found by equal pieces of the
hash as in Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling" (WWW 2007). Nothing is learnt or
downloaded: the same text has the same hash on every machine.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from openclaw_neuralstream.text.lexicon import content_terms, terms
from openclaw_neuralstream.text.questions.words import HAN_RUN as _HAN
from openclaw_neuralstream.text.questions.words import chinese_words

BITS = 64
BANDS = 8
"""Pieces that a hash is looked up by: two that differ in fewer bits than this share one for certain."""

NEAR = 12
"""Bits in which two questions may differ and still be nearly the same; unrelated ones differ in 32 of 64, ± 4."""

_WORD, _NUMBER, _LETTERS = 60, 120, 60
"""What a word, a number and all runs of three letters of a word weigh: a typo or an ending changes less than a word."""

_LEAST_LETTERS = 4
_MOST_TERMS = 128
_BAND_BITS = BITS // BANDS


@lru_cache(maxsize=256)
def question_hash(text: str) -> str:
    """16 hex digits; "" for a text that has neither letters nor digits. Stop words, case, order and endings count nothing.

    A message of stop words alone ("why?") is hashed by them.
    """
    found = list(dict.fromkeys(_terms(text) or terms(text)))[:_MOST_TERMS]
    if not found:
        return ""
    sums = map(sum, zip(*map(_votes, found), strict=True))
    return f"{sum(1 << bit for bit, votes in enumerate(sums) if votes > 0):016x}"


def _terms(text: str) -> list[str]:
    """Stems of content words; of Chinese the words between its grammar, and their characters."""
    rest = _HAN.sub(" ", text)
    words = [word for run in _HAN.findall(text) for word in chinese_words(run)]
    return [*content_terms(rest), *words, *(char for word in words if len(word) > 1 for char in word)]


def distance(left: str, right: str) -> int:
    """In how many of 64 bits two hashes differ."""
    return (int(left, 16) ^ int(right, 16)).bit_count()


def likeness(left: str, right: str) -> float:
    """1 for equal hashes, 0 for those of unrelated questions (32 bits apart, or more) and for an empty one."""
    return max(0.0, 1 - distance(left, right) / (BITS / 2)) if left and right else 0.0


def bands(hash_: str) -> tuple[int, ...]:
    """The pieces of a hash, each with its place: equal pieces at equal places are equal numbers, from 0 to 2047."""
    value = int(hash_, 16)
    return tuple(band << _BAND_BITS | value >> band * _BAND_BITS & (1 << _BAND_BITS) - 1 for band in range(BANDS))


@lru_cache(maxsize=4_096)
def _votes(term: str) -> tuple[int, ...]:
    """What a term says for (above 0) or against each bit."""
    features = _features(term)
    return tuple(sum(weight if feature >> bit & 1 else -weight for feature, weight in features) for bit in range(BITS))


def _features(term: str) -> tuple[tuple[int, int], ...]:
    found = [(_hashed(term), _NUMBER if any(char.isdigit() for char in term) else _WORD)]
    if len(term) >= _LEAST_LETTERS and term.isalpha():
        padded = f"^{term}$"
        found += [(_hashed(padded[at : at + 3]), _LETTERS // len(term)) for at in range(len(term))]
    return tuple(found)


def _hashed(feature: str) -> int:
    data = feature.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=BITS // 8).digest(), "big")
