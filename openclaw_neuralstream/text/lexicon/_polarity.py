"""Whether a text denies, likes or hates: the signs by which the same words say the opposite. Three languages."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

_PLAIN: dict[int, re.Pattern[str]] = {}
"""Of each of our patterns (by its id) the English part: a text of ASCII alone can hold no other, and is read in a third of the time."""


def _any(english: str, *others: str) -> re.Pattern[str]:
    whole = lazy("|".join(f"(?:{a})" for a in (english, *others)), re.IGNORECASE)
    _PLAIN[id(whole)] = lazy(english, re.IGNORECASE)
    return whole


REVOKED = _any(
    r"\b(?:no longer|not any ?more|any ?more|any longer|cancell?ed|called off|revoked|dropped|abandoned|scrapped|gave up|stopped|quit|after all)\b",
    r"\b(?:больше не|уже не|отмен\w+|отказал\w+ от|передумал\w*|бросил\w*|перестал\w*)\b",
    r"不[^，,。；;]{1,8}了(?=[，,。；;！!]|$)|不再|取消|放弃|戒(?:了|掉|烟|酒|糖)|撤销|作废|不打算",
)
NEGATED = _any(
    r"\b(?:not|no|never|none|cannot|without|no longer)\b|n't\b|\b(?:do|does|did|is|are|was|were|ca|wo|has|have)nt\b",
    r"(?<![\w])(?:не|нет|никогда|нельзя|без)(?![\w])",
    r"不(?!过(?!敏)|错|久|仅|但|同|断|管|得不)|没(?!错|关系|事)|无法|未|别(?!的|人|墅|名)|禁止|勿",
)
LIKED = _any(
    r"\b(?:like|likes|love|loves|enjoy|enjoys|prefer|prefers|fond of|fan of)\b",
    r"\b(?:люблю|любит|нрав[ия]тся|обожа\w*|предпочита\w*)\b",
    r"喜欢|喜爱|偏好|爱吃|爱喝",
)
HATED = _any(
    r"\b(?:hate|hates|dislike|dislikes|can't stand|cannot stand|can't bear)\b",
    r"\b(?:ненавижу|ненавидит|терпеть не мо(?:гу|жет)|не выно(?:шу|сит))\b",
    r"讨厌|反感|受不了",
)
FORBIDDEN = _any(
    r"\b(?:avoid\w*|forbid\w*|forbade|forbidden|prohibit\w*|banned|refus\w+|unable|lacks?|excludes?)\b",
    r"\b(?:избега\w+|запрещ\w+|запрет\w*|отказыва\w+|лиш[её]н\w*)\b",
    r"避免|禁止|拒绝|忌",
)
"""Says no without a word of denial."""

FAVOURED = _any(
    r"\b(?:favou?rite|fan|into|adores?|great|best|better|rather)\b",
    r"\b(?:любим\w+|лучш\w+|обожа\w+)\b",
    r"最爱|最喜欢|最好|更好",
)


def signs(text: str) -> tuple[bool, int]:
    """(denied, liking) of one clause; liking: 1 likes, −1 hates or does not like, 0 says neither."""
    plain = " ".join(text.replace("’", "'").split())
    denied = any(_says(pattern, plain) for pattern in (NEGATED, REVOKED, FORBIDDEN))
    if _says(HATED, plain):
        return denied, -1
    likes = _says(LIKED, plain) or _says(FAVOURED, plain)
    return denied, 0 if not likes else -1 if denied else 1


def _says(pattern: re.Pattern[str], text: str) -> bool:
    return bool((_PLAIN[id(pattern)] if text.isascii() else pattern).search(text))
