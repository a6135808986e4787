"""What a short message does: points back to what was said before ("and the second one?"), acts on it, or only thanks."""

from __future__ import annotations

import re
from functools import cache

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import content_terms
from openclaw_neuralstream.text.questions.leaning import LONGEST, goes_on, leans

_MOST_TERMS = 3

_IN_FEW = lazy(
    r"^\s*(?:so|then|also|(?:and|or|but) (?:then|also))\b|\b(?:the |that |this )?(?:first|second|third|fourth|fifth|last|latter"
    r"|former|other|next|previous|same|cheaper|bigger|smaller|older|newer)(?: (?:one|ones|two|option|item|part|point|step))?\s*[?.!]*$"
    r"|\b(?:first|second|third|last|other|next|previous|same) (?:one|ones|option|item|part|point|step|thing)\b"
    r"|\b(?:this|that|these|those|one)\b|^\s*(?:why|when|where|who|which one|how much|how many|how long|since when)\b"
    r"|\b(?:go on|continue|more|else|again|instead|where were we)\b"
    r"|^\s*(?:а|и|но|или|тогда|ещё|еще)(?=[\s,])|\b(?:перв|втор|трет|четв[её]рт|последн|предыдущ|друг|следующ|остальн|дешевл|подороже|подешевле)\w*"
    r"|^\s*(?:почему|когда|где|кто|сколько|зачем|продолж\w*)|^\s*(?:ещё|еще)\W*$|\b(?:продолж\w*|(?:по)?подробнее|дальше|ещё раз|еще раз|на чём мы|на чем мы)\b"
    r"|^\s*那|第[一二三四五六七八九十两\d]+[個种種条項项步点名家款]|另[一外]|其他|其它|剩下|刚才|剛才|上一[个條条]|上个|下一[个步]|前一个|后一个|最后一个|继续|繼續"
    r"|还有[吗呢别其]|哪一?个|为什么|便宜一?点的|接着说|再说说|多说[点说]|详细[点说]|说到哪",
    re.IGNORECASE,
)
"""What leans on something where little else is said, beside what always does: "why?", "more", "第六个"."""

_BESIDE = """
tell show give say explain mean come keep please let list talk leave left stop stopped detail details time
скажи расскажи покажи дай давай объясни говори рассказывай пожалуйста остановились остановиться
"""
"""Words that may stand beside what points back and name nothing."""

_THERE = lazy(r"\b(?:is|are|was|were) there\b", re.IGNORECASE)
"""Says that there is something; "there" is no place then."""

_THAT_WAS = lazy(r"^\W*那(?:就)?是")

_THANKS = lazy(
    r"^\W*(?:(?:ok(?:ay)?|thanks?(?: you)?(?: very much| a lot)?|thx|great|perfect|nice|cool|super|yes|no|yep|sure|hi|hello|hey|bye|good (?:morning|night)|fine|got it"
    r"|спасибо(?: большое)?|хорошо|ок(?:ей)?|отлично|супер|да|нет|ладно|понятно|ясно|привет|пока|доброе утро|круто"
    r"|谢谢(?:你|您)?|多谢|好的?|好吧|嗯+|是的?|不是?|行|可以|明白了?|知道了|你好|早上好|晚安|再见|太好了|完美)\W*)+$",
    re.IGNORECASE,
)
_NODS = lazy(
    r"^\W*(?:noted|understood|alright|all right|right|done|will do|you'?re welcome|no problem|glad to (?:hear|help)(?: (?:it|that))?|sounds good|of course|certainly|absolutely|congratulations|congrats"
    r"|(?:(?:that'?s |that is |what )?(?:an? |very )?(?:great|nice|lovely|good|cool|beautiful|wonderful|excellent|interesting|amazing|awesome|fantastic|pretty)(?: (?:name|idea|choice|plan|news|one|job|work|question|point|to (?:hear|know)))?)"
    r"|записал[аи]?|записано|принято|принял[аи]?|учту|учтено|запомнил[аи]?|поняла?|готово|пожалуйста|не за что|конечно|замечательно|прекрасно|поздравляю|здорово"
    r"|(?:отличн|хорош|прекрасн|красив|замечательн|чудесн|интересн)(?:ое|ая|ый|ий|ые|ие)(?: (?:имя|идея|выбор|план|новость|новости|вопрос|мысль))?"
    r"|(?:已)?记[下住](?:来)?了|(?:已)?收到|了解了?|没问题|不客气|不用谢|当然|恭喜(?:你|您)?|(?:真|很|好)?(?:好|棒|不错|有意思)(?:的)?(?:名字|主意|选择|计划|消息|问题)?(?:[了啊呀]|极了)?)\W*$",
    re.IGNORECASE,
)
"""What an answer says to show that it heard, whole."""

_WISHES = lazy(
    r"^\W*(?:(?:oh|wow|ah|well|then|ой|ого|о|ах|ну),? |[哦哇啊]，?)?(?:have (?:a |an |lots of )?(?:\w+ )?(?:fun|time|trip|day|evening|night|weekend|flight|journey|holiday)|enjoy(?: (?:it|yourselves|yourself|your \w+|the \w+))?"
    r"|(?:safe|happy) (?:travels?|trip|journey|birthday)|good luck|get well(?: soon)?|take care|fingers crossed|sleep well|see you(?: \w+)?|updated|corrected|saved|added|changed"
    r"|(?:oh|wow|ah|ой|ого|ах|哦|哇|啊)(?: (?:nice|great|good|cool|dear|wow|lovely))?"
    r"|(?:желаю )?удачи|(?:хорош|приятн|добр|счастлив|удачн)\w+ (?:дня|вечера|пути|поездки|выходных|отдыха|полёта|аппетита|ночи)|с днём рождения|выздоравливай(?:те)?|поправляй(?:ся|тесь)"
    r"|берегите? себя|бон вояж|до встречи|до завтра|исправ(?:ил|лен)\w*|обнов(?:ил|лен)\w*|сохран(?:ил|ен)\w*|добав(?:ил|лен)\w*"
    r"|(?:祝(?:你|您|你们|他|她)?[^，。！]{0,8}|玩得开心|一路(?:顺风|平安)|旅途愉快|加油|保重|早日康复|生日快乐|周末愉快|(?:已|我)?(?:经)?(?:更正|更新|修改|改正|保存|添加|纠正)(?:好)?了?))\W*$",
    re.IGNORECASE,
)
"""What wishes well, or says that something was written down, whole."""

_PARTS = lazy(r"[.!?,;。！？，；\n]+")

_ACTS = lazy(
    r"\b(?:done|did it|works?(?:ed)?(?: now)?\b|fixed|solved|merged|deployed|installed|booked|ordered|bought|sent|paid|applied|signed|let'?s (?:do|use|go|take|try|keep)"
    r"|i(?:'ll| will| have|'ve)? (?:take|use|go with|do|try|book|order|buy|chose|choose|pick|picked|decided)|we(?:'ll| will)? (?:go with|use|take|decided|agreed)|go ahead|do it|save (?:it|this|that)|remember (?:it|this|that)"
    r"|please (?:run|send|book|create|write|delete|add|change|install|deploy|remind))"
    r"|\b(?:сделал\w*|готово|получилось|работает|заработало|исправил\w*|решил\w*|купил\w*|заказал\w*|отправил\w*|оплатил\w*|давай(?:те)? (?:так|возьм|сдела|попробу|использ|остав)\w*"
    r"|беру|берём|возьму|выбираю|выбрал\w*|так и сдела\w*|сохрани|запомни|запусти|создай|удали|напомни|добавь)"
    r"|搞定|好使了|可以用了|成功了|解决了|修好了|弄好了|完成了|买了|订了|下单了|付了|发了|已经[用装改发订买]|就[用选要买订]|决定[用了]|那就[用选这]|按这个|我选|就这么|记住|记下|保存|帮我[发订建写删加改装运提]|运行",
    re.IGNORECASE,
)


def points_back(text: str) -> bool:
    """Whether a message leans on what was said before it and says little by itself. Thanks and greetings do not."""
    if not text.strip() or len(text) > LONGEST or thanks(text):
        return False
    if len(set(content_terms(text))) > _MOST_TERMS * (2 if _is_dense(text) else 1):
        return False
    return leans(text) or goes_on(text) or bool(_IN_FEW.search(text))


def only_points(text: str) -> bool:
    """Whether it points back and names nothing of its own: "why?", "how much was it?", but not "why is the sky blue?"."""
    if not points_back(text):
        return False
    plain = _THERE.sub(" ", text)
    return leans(plain) or bool(_THAT_WAS.search(plain)) or set(content_terms(_IN_FEW.sub(" ", plain))) <= _beside()


def thanks(text: str) -> bool:
    """Whether it only greets, thanks, agrees or refuses."""
    return bool(_THANKS.match(text))


def only_nods(text: str) -> bool:
    """Whether it tells nothing: no word that means something, or thanks, greetings, good wishes and "noted" alone."""
    said = content_terms(text)
    return not said or all(not part.strip() or _nods(part) for part in _PARTS.split(text))


def _nods(part: str) -> bool:
    return thanks(part) or bool(_NODS.match(part) or _WISHES.match(part))


def acts(text: str) -> bool:
    """Whether somebody says that they act on what was said, or has something done."""
    return bool(_ACTS.search(text))


def _is_dense(text: str) -> bool:
    """Chinese gives several terms for a word."""
    return any("\u3400" <= char <= "\u9fff" for char in text)


@cache
def _beside() -> frozenset[str]:
    return frozenset(content_terms(_BESIDE))
