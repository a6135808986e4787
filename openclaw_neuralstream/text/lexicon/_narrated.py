"""How it is said who speaks: the words by which a gem calls them, and those by which somebody gives another's; numbers written as words."""

from __future__ import annotations

import re

from openclaw_neuralstream.patterns import lazy

NARRATED = lazy(
    r"\b(?:the )?(?:owner|user|agent|assistant)(?:['’]s)?\b|\b(?:владел\w+|пользовател\w+|агент\w*|ассистент\w*)\b|用户|主人|助手|代理",
    re.IGNORECASE,
)
"""How a gem calls the owner and the agent."""

RELAYED = lazy(
    r"\b(?:page|article|site|website|document|file|e-?mail|message|post|readme|author|sender|report)s?\b.{0,30}\b(?:says?|said|states?|claims?|reads?|asks?|wants?|tells?|recommends?|requires?|instructs?)\b"
    r"|\baccording to\b"
    r"|(?:страниц|стать|сайт|документ|файл|письм|сообщени)\w*.{0,30}(?:говорит|сказано|написано|пишет|сообщает|утверждает|требует|просит|указано)|\bсогласно\b"
    r"|(?:网页|页面|文章|网站|文档|文件|邮件|消息).{0,12}(?:说|写|称|要求|指出|显示|提到)|根据|据",
    re.IGNORECASE,
)
"""What gives somebody else's words: "the page says …"."""

CLAUSE = lazy(
    r"[,;:，；：、]\s*|\s+[—–]\s+|\s+(?:and|but|while|because|и|а|но|потому что)\s+|(?=但是?|而且|并且)", re.IGNORECASE
)
"""What parts the clauses of a sentence."""

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
