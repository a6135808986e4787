"""A sentence normalised, measured, and told apart by its script."""

from __future__ import annotations

from openclaw_neuralstream.patterns import lazy

_CJK = lazy(r"[\u3040-\u30ff\u3400-\u9fff]")
_CYRILLIC = lazy(r"[А-Яа-яЁё]")
_WORD = lazy(r"[^\W_]+(?:['’\-][^\W_]+)*")
_HEAD = 2_000
_CJK_WORD = 1.7  # characters of a Chinese word on average


def normal(sentence: str) -> str:
    """What cues are tried on: straight apostrophes, single spaces."""
    return " ".join(sentence.replace("’", "'").split())


def size(sentence: str) -> int:
    """Its length in words."""
    cjk = len(_CJK.findall(sentence))
    return len(_WORD.findall(_CJK.sub(" ", sentence))) + round(cjk / _CJK_WORD)


def is_chinese(text: str) -> bool:
    """Whether it has Chinese words at all; Chinese is written with English names in it, not the other way round."""
    return len(_CJK.findall(text[:_HEAD])) >= 2


def is_russian(text: str) -> bool:
    """Whether it has a Cyrillic word."""
    return len(_CYRILLIC.findall(text[:_HEAD])) >= 3
