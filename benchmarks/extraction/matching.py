"""When a text holds what a label says. Deterministic and documented: no model judges another. Pure.

A label's word is in a text when it stands there after both were made plain (NFKC, letter case folded, ё as е, single
spaces): from the beginning of a word on, so that a stem is enough ("нотариус" holds "нотари") and "30" is not in "130".
A number also ends where it ends ("30" is not in "300"). Chinese words may stand anywhere.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import lru_cache

from benchmarks.extraction.labels import Words
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import MONTHS_RU

ISO_DAY = lazy(r"\d{4}-\d{2}-\d{2}")
_MONTHS_EN = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
              "november", "december")  # fmt: skip


def plain(text: str) -> str:
    """What is compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("ё", "е").replace("’", "'").split())


def holds(text: str, words: Words) -> bool:
    """Whether the text holds all of the words, each in one of its forms."""
    known = plain(text)
    return all(any(_pattern(form).search(known) for form in forms) for forms in words)


@lru_cache(maxsize=4_096)
def _pattern(form: str) -> re.Pattern[str]:
    word = plain(form)
    before = r"(?<![^\W_\u3400-\u9fff])" if word[:1].isalnum() and not _is_cjk(word[0]) else ""
    after = r"(?!\d)(?![.,:]\d)" if word[-1:].isdigit() else ""
    return re.compile(before + re.escape(word) + after)


def _is_cjk(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff"


def names_date(text: str, day: str) -> bool:
    """Whether the text names this day (ISO): as such, or as people write it in the three languages."""
    one = date.fromisoformat(day)
    known = plain(text)
    english, russian = _MONTHS_EN[one.month - 1], MONTHS_RU[one.month - 1]
    forms = (
        rf"{day}",
        rf"\b0?{one.day}(?:st|nd|rd|th)?(?: of)? {english[:3]}",
        rf"\b{english[:3]}\w*\.? 0?{one.day}(?!\d)",
        rf"\b0?{one.day} {russian}",
        rf"(?<!\d)0?{one.month} ?月 ?0?{one.day} ?[日号]",
        rf"(?<!\d)0?{one.day}\.0?{one.month}\.(?:{one.year})?",
    )
    return any(re.search(form, known) for form in forms)


def names_a_day(text: str) -> bool:
    """Whether any single day is written out."""
    return bool(ISO_DAY.search(text))


def script_language(text: str) -> str:
    """en, zh or ru by the script of most of its words; "" without words. Words in capitals may be names, and count less."""
    known = unicodedata.normalize("NFKC", text)
    votes = {"zh": sum(map(_is_cjk, known)) / 1.7, "ru": 0.0, "en": 0.0}
    for word in re.findall(r"[^\W\d_\u3400-\u9fff]+", known):
        votes["ru" if "\u0400" <= word[0] <= "\u04ff" else "en"] += 1 if word[0].islower() else 0.2
    best = max(votes, key=lambda name: votes[name])
    return best if votes[best] else ""
