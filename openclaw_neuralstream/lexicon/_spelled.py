"""Numbers written as words, and the words by which a gem calls those who speak."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

NARRATED = lazy(
    r"\b(?:the )?(?:owner|user|agent|assistant)(?:['’]s)?\b|\b(?:владел\w+|пользовател\w+|агент\w*|ассистент\w*)\b|用户|主人|助手|代理",
    re.IGNORECASE,
)
"""How a gem calls the owner and the agent."""

_SPELLED = {
    word: str(number)
    for number, forms in enumerate(
        (
            "two два две двух",
            "three три трёх трех",
            "four четыре четырёх четырех",
            "five пять пяти",
            "six шесть шести",
            "seven семь семи",
            "eight восемь восьми",
            "nine девять девяти",
            "ten десять десяти",
            "eleven одиннадцать одиннадцати",
            "twelve двенадцать двенадцати",
        ),
        2,
    )
    for word in forms.split()
}
_SPELLED_WORD = lazy(rf"\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)
_DIGITS_CHINESE = dict(zip("一二两三四五六七八九", "1223456789", strict=True))
_COUNTED_CHINESE = lazy(r"[一二两三四五六七八九](?=[点号月日岁个块元天年周层楼])(?![点]儿)")


def numbered(text: str) -> str:
    """Numbers up to twelve in digits: who said "six" said 6."""
    plain = _SPELLED_WORD.sub(lambda match: _SPELLED[match[0].casefold()], text)
    return _COUNTED_CHINESE.sub(lambda match: _DIGITS_CHINESE[match[0]], plain)
