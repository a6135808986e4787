"""Which script and which language a text is in, cheaply: by characters and function words."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f\u3005\u3007"
KANA = "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7af"
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
WORDLESS = f"{HAN}{KANA}{HANGUL}{UNSPACED}"
"""Characters of scripts in which a word is not what stands between spaces, or carries its particles (Korean)."""

SCRIPTS = {
    "latin": lazy("[A-Za-z\u00c0-\u024f]"),
    "cyrillic": lazy("[\u0400-\u04ff]"),
    "cjk": lazy(f"[{HAN}{KANA}{HANGUL}]"),
}
_ASCII_LETTER = lazy("[A-Za-z]")
_CJK_WEIGHT = 3
"""One CJK character says about as much as three letters."""

HAN_CHAR = lazy(f"[{HAN}]")
_KANA_CHAR = lazy(f"[{KANA}]")
_HANGUL_CHAR = lazy(f"[{HANGUL}]")
_UKRAINIAN = lazy("[іїєґІЇЄҐ]")
_OTHER_SCRIPTS = (
    ("ar", lazy("[\u0600-\u06ff]")),
    ("he", lazy("[\u0590-\u05ff]")),
    ("el", lazy("[\u0370-\u03ff]")),
    ("hi", lazy("[\u0900-\u097f]")),
    ("th", lazy("[\u0e00-\u0e7f]")),
    ("ka", lazy("[\u10a0-\u10ff]")),
    ("hy", lazy("[\u0530-\u058f]")),
)
_LATIN_HINTS = {
    "en": frozenset(
        "the is are was were of and to in that it you i my we for on with this have not what do can".split()
    ),
    "de": frozenset("der die das und ist nicht ich wir ein eine zu den mit auf für von sich auch wie was bin".split()),
    "fr": frozenset("le la les et est pas je nous un une des du pour avec que qui sur dans vous ce cette mon".split()),
    "es": frozenset("el los las y es no yo un una de para con que por en se mi su como pero esta muy".split()),
    "pt": frozenset("o os as e é não eu um uma de para com que por em se meu minha você isso muito".split()),
    "it": frozenset("il lo gli e è non io un una di per con che in si mio mia sono questo molto ma".split()),
}


def script_of(text: str) -> str:
    """The dominant script: "latin", "cyrillic", "cjk" or "other" (also for a text without letters)."""
    sample = text[:4_000]
    if sample.isascii():
        return "latin" if _ASCII_LETTER.search(sample) else "other"
    counts = {name: len(pattern.findall(sample)) for name, pattern in SCRIPTS.items()}
    counts["cjk"] *= _CJK_WEIGHT
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else "other"


def language_of(text: str) -> str:
    """The language as an ISO 639-1 code, judged by script and function words; "" when it cannot be told."""
    sample = text[:4_000]
    script = script_of(sample)
    if script == "cyrillic":
        return "uk" if _UKRAINIAN.search(sample) else "ru"
    if script == "cjk":
        if _KANA_CHAR.search(sample):
            return "ja"
        return "zh" if HAN_CHAR.search(sample) else "ko"
    if script == "latin":
        return _latin_language(sample)
    return next((code for code, pattern in _OTHER_SCRIPTS if pattern.search(sample)), "")


def _latin_language(sample: str) -> str:
    words = re.findall(r"[^\W\d_]+", sample.lower())
    counts = {code: sum(word in hints for word in words) for code, hints in _LATIN_HINTS.items()}
    best = max(counts, key=lambda code: counts[code])
    if counts[best]:
        return "en" if counts["en"] == counts[best] else best
    return "en" if sample.isascii() else ""
