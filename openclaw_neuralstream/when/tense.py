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
    r"|deadline|do (?:i|we) have|have (?:i|we) got|(?:booked|reserved|rescheduled|postponed|arranged|signed up|registered|enrolled|tickets?)\b.{0,40}\b(?:for|to|on)|let's)\b"
    r"|(?<!\w)(?:буд(?:у|ешь|ет|ем|ете|ут)|предстоит|план(?:ы|ов|ирую|ируем|ирует\w*)|запланирован\w*|назначен\w*|намечен\w*|собира(?:юсь|емся|ется)|надо|нужно"
    r"|должн\w+|должен|хочу|хотим|(?:по|при|у)?(?:ед(?:у|ем|ет|ут)|йд(?:у|ем|ет|ут|[её]м|[её]т))|(?:по)?иду|ид[её][мт]|ле(?:чу|тим|тит)|жд(?:у|[её]м)|записан\w?|(?:записал\w*|забронировал\w*|заказал\w*|билет\w*|перен[её]с\w*).{0,40}(?<!\w)на"
    r"|что у (?:меня|нас)|встречаюсь|встречаемся|произойд[её]т|случится|ожидается)(?!\w)"
    r"|(?<![只主重需摘概简纪首次])要(?!么|是|求|不是)|(?<![社机聚约晚学开大宴协委班议年舞])会(?!议|面|员|计|场|话|晤|合)|将(?!军)|打算|计划|安排|准备|(?<![觉记获值取懂显舍晓彼])得(?=去|在|交|到)|必须|需要|预约|即将|日程|(?:订|预约|约|报名|改到|推迟到)[了好]?\s*(?=[\d一二三四五六七八九十]+月|[下周明]|星期|后天)",
    re.IGNORECASE,
)
_PAST = lazy(
    r"\b(?:was|were|wasn't|weren't|had|did|didn't|went|got|made|said|told|read|put|cut|ago|last|yesterday|just|\w{2,}(?<!e)ed)\b"
    r"|(?<!\w)(?:вчера|назад|прошл\w+|(?!(?:стол|отдел|вокзал|канал|журнал|сериал|файл|зал|угол|пол|\w*бол|недели|школ[аы]|дел[оа]|цели|сил[аы]|село|число|масло|если|или)(?!\w))\w+(?:л|ла|ло|ли|лся|лась|лись|лось))(?!\w)"
    r"|了|过(?!去|来|敏|生日|年|节|期|程)|昨|前天|刚|曾",
    re.IGNORECASE,
)
_WORD = lazy(r"[a-z]+")


def asks_ahead(question: str) -> bool:
    """Whether a question looks ahead: "what happens in December?". One that says both asks what was said of a plan."""
    return tense_of(question) is Tense.AHEAD and not tells_past(_AHEAD.sub(" ", question))


@lru_cache(maxsize=1_024)
def tense_of(text: str) -> Tense:
    """What looks ahead wins: "I decided that I will go". A sentence that says neither is open."""
    if _AHEAD.search(text):
        return Tense.AHEAD
    return Tense.PAST if tells_past(text) else Tense.OPEN


def tells_past(text: str) -> bool:
    """Whether something in it was done, whatever it was done for: "booked a flight for 12 March"."""
    return _PAST.search(text) is not None or not past_forms().isdisjoint(_WORD.findall(text.lower()))
