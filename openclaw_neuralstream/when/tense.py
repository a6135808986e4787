"""Whether a sentence tells of the past or looks ahead: that decides about a bare weekday, and a day without its year."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from openclaw_neuralstream.lexicon import past_forms
from openclaw_neuralstream.patterns import lazy


class Tense(Enum):
    """What a sentence is about: what was, what will be, or it does not say."""

    PAST = "past"
    AHEAD = "ahead"
    OPEN = ""


_AHEAD = lazy(
    r"\b(?:will|won't|shall|gonna|(?:am|is|are|be) (?:going to|planning|about to|due|to be)|'ll|(?:am|are|i'm|we're|you're|they're|he's|she's) (?:not )?\w+ing"
    r"|(?:is|are) (?:happening|coming|scheduled|planned)|happens|plan(?:s|ned|ning)?|have to|has to|need to|needs to|must|should|upcoming|coming|scheduled"
    r"|deadline|expires?|runs out|do (?:i|we) (?:have|do)|(?:is|are) on (?:the )?(?=\d)|have (?:i|we) got|(?:booked|reserved|rescheduled|postponed|arranged|signed up|registered|enrolled|tickets?)\b.{0,40}\b(?:for|to|on)|let's)\b"
    r"|(?<!\w)(?:буд(?:у|ешь|ет|ем|ете|ут)|предстоит|план(?:ы|ов|ирую|ируем|ирует\w*)|запланирован\w*|назначен\w*|намечен\w*|собира(?:юсь|емся|ется)|надо|нужно"
    r"|должн\w+|должен|хочу|хотим|(?:по|при|у)?(?:ед(?:у|ем|ет|ут)|йд(?:у|ем|ет|ут|[её]м|[её]т))|(?:по)?иду|ид[её][мт]|ле(?:чу|тим|тит)|жд(?:у|[её]м)|записан\w?|(?:записал\w*|забронировал\w*|заказал\w*|билет\w*|перен[её]с\w*).{0,40}(?<!\w)на"
    r"|что у (?:меня|нас)|встречаюсь|встречаемся|произойд[её]т|случится|ожидается|истека(?:ет|ют)|что (?:я )?делаю)(?!\w)"
    r"|(?<![只主重需摘概简纪首次])要(?!么|是|求|不是)|(?<![社机聚约晚学开大宴协委班议年舞])会(?!议|面|员|计|场|话|晤|合)|将(?!军)|打算|计划|安排|准备|(?<![觉记获值取懂显舍晓彼])得(?=去|在|交|到)|必须|需要|预约|即将|日程|(?:订|预约|约|报名|改到|推迟到)[了好]?\s*(?=[\d一二三四五六七八九十]+月|[下周明]|星期|后天)",
    re.IGNORECASE,
)
_PAST = lazy(
    r"\b(?:was|were|wasn't|weren't|had|did|didn't|went|got|made|said|told|agreed|read|put|cut|ago|last|yesterday|just|\w{2,}(?<!e)ed)\b"
    r"|(?<!\w)(?:вчера|назад|прошл\w+|(?!(?:стол|отдел|вокзал|канал|журнал|сериал|файл|зал|угол|пол|\w*бол|недели|школ[аы]|дел[оа]|цели|сил[аы]|село|число|масло|если|или)(?!\w))\w+(?:л|ла|ло|ли|лся|лась|лись|лось))(?!\w)"
    r"|了|过(?!去|来|敏|生日|年|节|期|程)|昨|前天|刚|曾",
    re.IGNORECASE,
)
_DUE = lazy(
    r"\b(?:appointments?|(?:starts?|begins?|ends?|opens?|closes?|leaves?|departs?|arrives?) (?:on|in|at|by))\b"
    r"|(?<!\w)(?:(?:начина|заканчива|конча)(?:ется|ются)|действу(?:ет|ют)|при[её]м (?:у|к)|запись (?:к|на))(?!\w)"
    r"|到期|过期|失效|截止|(?:做|干)(?:什么|啥)",
    re.IGNORECASE,
)
"""What has its day to come where nothing beside it says that it was."""

_MOVED = lazy(
    r"\b(?:moved|shifted|pushed|brought forward|changed|delayed|set(?! up)|fixed|put (?:off|back)|scheduled|planned|due)\b.{0,40}\b(?:to|for) (?:the )?$"
    r"|(?<!\w)(?:сдвинул\w*|сдвинут\w*|передвинул\w*|отложил\w*|отложен\w*|перен[её]с\w*|назначил\w*|наметил\w*|(?:за)?планировал\w*|поставил\w*)"
    r"(?!\w).{0,40}(?<!\w)на (?:начало |конец )?$"
    r"|(?:(?:改|移|挪|推迟?|延期?|提前|调整?|安排|顺延)到|(?:定|改|安排|排|约|订)[在于成])了?\s*$",
    re.IGNORECASE,
)
"""What was moved to, or set for, the day that follows."""

_LEAD = 16
_LEADS = lazy(r"\b(?:to|for) (?:the )?$|(?<!\w)на (?:начало |конец )?$|[到在于成]了?\s*$", re.IGNORECASE)
"""How such words end: most days are told apart here."""

_MEANT = lazy(
    r"\b(?:decid(?:e|es|ed|ing)|agree[sd]?|promise[sd]?|wants?|hopes?|intend(?:s|ed)?|would like) (?:not )?to"
    r" (?!the\b|an?\b|this\b|that\b|it\b|my\b|our\b|your\b|his\b|her\b|their\b|all\b)[a-z]+"
    r"|(?<!\w)(?:реш(?:ил\w*|ено|аем)|договорил\w*|обеща(?:л\w*|ю|ем)|хо(?:чет|тят)|наде(?:юсь|емся)|согласил\w*) (?:\w+ ){0,2}?\w+(?:ть|ти|чь)(?:ся)?(?!\w)"
    r"|(?:决定|說好|说好|约好|约定|商定|希望|答应|同意)(?!了)[^，,。]{0,6}$",
    re.IGNORECASE,
)
"""What was decided, agreed or wished to be done; the day that follows is that of the deed."""

_WORD = lazy(r"[a-z]+")


def asks_ahead(question: str) -> bool:
    """Whether a question looks ahead: "what happens in December?". One that says both asks what was said of a plan."""
    return tense_of(question) is Tense.AHEAD and not tells_past(_AHEAD.sub(" ", question))


@lru_cache(maxsize=1_024)
def tense_of(text: str) -> Tense:
    """What looks ahead wins: "I decided that I will go". A sentence that says neither is open."""
    if _AHEAD.search(text):
        return Tense.AHEAD
    if tells_past(text):
        return Tense.PAST
    return Tense.AHEAD if _DUE.search(text) else Tense.OPEN


def led_ahead(before: str) -> bool:
    """Whether the words of a sentence before a day make it one to come: "was moved to …", "we decided to open the shop in …"."""
    if _LEADS.search(before[-_LEAD:]) and _MOVED.search(before):
        return True
    meant = _MEANT.search(before)
    return meant is not None and not tells_past(before[meant.end() :])


def tells_past(text: str) -> bool:
    """Whether something in it was done, whatever it was done for: "booked a flight for 12 March"."""
    return _PAST.search(text) is not None or not past_forms().isdisjoint(_WORD.findall(text.lower()))
