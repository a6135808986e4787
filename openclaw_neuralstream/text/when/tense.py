"""Whether a sentence tells of the past or looks ahead: that decides about a bare weekday, and a day without its year."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import past_forms


class Tense(Enum):
    """What a sentence is about: what was, what will be, what was arranged for a day, or it does not say."""

    PAST = "past"
    AHEAD = "ahead"
    ARRANGED = "arranged"
    OPEN = ""


_AHEAD = lazy(
    r"\b(?:will|won't|shall|gonna|(?:am|is|are|be) (?:going to|planning|about to|due|to be)|'ll|(?:am|are|i'm|we're|you're|they're|he's|she's) (?:not )?\w+ing"
    r"|(?:is|are) (?:happening|coming|scheduled|planned)|happens|plan(?:s|ned|ning)?|have to|has to|needs?|must|should|upcoming|coming|scheduled"
    r"|deadline|expires?|runs out|do (?:i|we) (?:have|do)|(?:is|are) on (?:the )?(?=\d)|have (?:i|we) got|(?:booked|reserved|rescheduled|postponed|arranged|signed up|registered|enrolled|tickets?)\b.{0,40}\b(?:for|to)"
    r"(?= (?:the )?(?:\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|next|this|spring|summer|autumn|winter))|let's)\b"
    r"|(?<!\w)(?:буд(?:у|ешь|ет|ем|ете|ут)|предстоит|план(?:ы|ов|ирую|ируем|ирует\w*)|запланирован\w*|назначен\w*|намечен\w*|собира(?:юсь|емся|ется)|надо|нужно"
    r"|должн\w+|должен|хочу|хотим|(?:по|при|у)?(?:ед(?:у|ем|ет|ут)|йд(?:у|ем|ет|ут|[её]м|[её]т))|(?:по)?иду|ид[её][мт]|ле(?:чу|тим|тит)|жд(?:у|[её]м)|записан\w?|(?:записал\w*|забронировал\w*|заказал\w*|билет\w*|пригласил\w*|перен[её]с\w*).{0,40}(?<!\w)на"
    r"(?= (?:начало |конец )?(?:\d|янв|фев|мар|апр|ма[йя]|ию[нл]|авг|сен|окт|ноя|дек|пон|вто|сре|чет|пят|суб|вос|след|эт|лет|осе|зим|вес|завтра))"
    r"|что у (?:меня|нас)|встречаюсь|встречаемся|произойд[её]т|случится|ожидается|истека(?:ет|ют)|что (?:я )?делаю)(?!\w)"
    r"|(?<![只主重需摘概简纪首次])要(?!么|是|求|不是)|(?<![社机聚约晚学开大宴协委班议年舞])会(?!议|面|员|计|场|话|晤|合)|将(?!军)|打算|计划|安排|准备|(?<![觉记获值取懂显舍晓彼])得(?=去|在|交|到)|必须|需要|预约(?!了)|即将|日程|(?:订|预约|约|报名|改到|推迟到)[了好]?\s*(?=[\d一二三四五六七八九十]+月|[下周明]|星期|后天)"
    r"|(?:买|抢|换)(?:了|到了?|好了?)?\s*(?=(?:[\d一二三四五六七八九十]+月|[下周明]|星期|后天)[^，,。]{0,16}[票券])|邀请?了?[我他她你您咱大家们]{1,3}\s*(?=[\d一二三四五六七八九十]+月|[下周明]|星期|后天)",
    re.IGNORECASE,
)
_PAST = lazy(
    r"\b(?:was|were|wasn't|weren't|had|did|didn't|went|got|made|said|told|agreed|read|put|cut|ago|last|yesterday|just|(?<!\ba )(?<!\ban )\w{2,}(?<!e)ed)\b"
    r"|(?<!\w)(?:вчера|назад|прошл\w+|(?!(?:стол|отдел|вокзал|канал|журнал|сериал|файл|зал|угол|пол|\w*бол|недели|школ[аы]|дел[оа]|цели|сил[аы]|село|число|масло|если|или)(?!\w))\w+(?:л|ла|ло|ли|лся|лась|лись|лось))(?!\w)"
    r"|了|过(?!去|来|敏|生日|年|节|期|程)|昨|前天|刚|曾",
    re.IGNORECASE,
)
_DUE = lazy(
    r"\b(?:appointments?|(?:wants?|hopes?|would like|i'd like|we'd like) to|(?:starts?|begins?|ends?|opens?|closes?|leaves?|departs?|arrives?) (?:on|in|at|by))\b"
    r"|(?<!\w)(?:(?:начина|заканчива|конча)(?:ется|ются)|действу(?:ет|ют)|хо(?:чет|тят)|при[её]м (?:у|к)|запись (?:к|на))(?!\w)"
    r"|到期|过期|失效|截止|(?<![不没思梦])想(?=去|在|要|买|办|回|搬|学)|(?:做|干)(?:什么|啥)",
    re.IGNORECASE,
)
"""What has its day to come where nothing beside it says that it was."""

_MOVED = lazy(
    r"\b(?:moved|shifted|pushed|brought forward|changed|delayed|slipped|slid|set(?! up)|fixed|put (?:off|back)|scheduled|planned|due"
    r"|rescheduled|postponed|booked|reserved|tickets?|arranged|signed up|registered|enrolled|invited|agreed)\b.{0,40}\b(?:to|for) (?:the )?$"
    r"|(?<!\w)(?:сдвинул\w*|сдвинут\w*|передвинул\w*|отложил\w*|отложен\w*|перен[её]с\w*|назначил\w*|наметил\w*|(?:за)?планировал\w*|поставил\w*|пригласил\w*|билет\w*|(?:забронир|запис|догов[оа]р)\w+)"
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

_ARRANGED = lazy(
    r"\b(?:booked|reserved|rescheduled|scheduled|arranged|postponed|signed up|registered|enrolled|invited|agreed on|slipped|(?:asked|told|invited) (?:me|us|him|her|them) to [a-z]+"
    r"|(?:bought|got|ordered|have|found|paid for)\b.{0,30}\btickets?|(?:made|got|have|fixed)\b.{0,20}\b(?:appointment|reservation|booking))\b"
    r"|(?<!\w)(?:забронировал\w*|записал(?:ся|ась|ись)|(?:купил|взял|заказал)\w*.{0,30}билет\w*|билет\w*.{0,20}(?:купил|взял|заказал)\w*|пригласил\w*|позвал\w*"
    r"|договорил\w*|назначил\w*|перен[её]с\w*|(?:сказал|велел|попросил|просил)\w* (?:\w+ )?\w+(?:ть|ти)(?:ся)?)(?!\w)"
    r"|预约|预订|[订约]了|订好|约好|说好|报名|邀请|(?:买|抢|换)(?:了|到|好)[^，,。]{0,16}[票券]|挂了?[^，,。]{0,6}号",
    re.IGNORECASE,
)
"""What was done for a day to come, which is most often the day that stands beside it."""

_DUE_BY = lazy(r"\b(?:by|until|till|for) (?:the )?$|(?<!\w)(?:к|ко|на) $", re.IGNORECASE)

_MOVED_FROM = lazy(
    r"\b(?:moved|shifted|slipped|slid|pushed|postponed|rescheduled|delayed|brought forward|changed|put (?:off|back))\b.{0,40}\bfrom (?:the )?$"
    r"|(?<!\w)(?:сдвинул|сдвинут|передвинул|отложил|отложен|перен[её]с|съехал)\w*(?!\w).{0,40}(?<!\w)со? $",
    re.IGNORECASE,
)
"""What is moved away from the day that follows."""
_MOVED_ON = lazy(
    r"(?:\s*[（(][^()（）]{0,30}[)）])?\s*(?:(?:被|的[^，,。]{0,8})?(?:改|移|挪|推|延|提前|调|顺延)[^，,。]{0,3}[到至成]了?|to|till|until|на|до)\s*"
    r"(?:the )?(?=\d|[a-zа-я一二三四五六七八九十]|$)",
    re.IGNORECASE,
)
_MOVED_ON_ZH = lazy(
    r"(?:\s*[（(][^()（）]{0,30}[)）])?\s*(?:被|的[^，,。]{0,8})?(?:改|移|挪|推|延|提前|调|顺延)[^，,。]{0,3}[到至成]"
)
_TO_DAY = lazy(r"[^\W\d_]\s*(?:[-–—]|to|till|until|на|до|到|至)\s*\d|(?:to|until)\s", re.IGNORECASE)

_SENTENCE = 400
"""Characters of a sentence, on each side of a day, that tell its tense."""
_SENTENCE_END = lazy(r"[!?。！？;；\n]|\.(?=\s|$)")
_WHO = r"(?:i|he|she|it|we|they|you|there|my|our|his|her|their|the)\b"
_CLAUSE = lazy(
    rf"[,:](?!\d)\s*|[，：]\s*|\s[-–—]\s|\b(?:and|but|so|because|as|when|while)\s+(?={_WHO}|i'|he'|she'|it'|we'|they'|you')|\b(?:that|which|who)\s+"
    r"|\b(?:said|says|told (?:me|us|him|her|them)|tells me|heard|learned|learnt|confirmed|announced|wrote|found out|mentioned|reminded (?:me|us))\s+(?:that\s+)?"
    rf"(?={_WHO}|(?-i:[A-Z]\w))"
    r"|(?<!\w)(?:и|а|но|что)\s+(?=(?:я|он|она|оно|они|мы|ты|вы)(?!\w))"
    r"|(?:告诉|通知|提醒)了?[我他她你您咱大家们]{0,3}|听说了?",
    re.IGNORECASE,
)
_PERSON = lazy(
    r"\b(?:i|he|she|it|we|they|you)\b|\b(?:i|he|she|it|we|they|you)'|(?<!\w)(?:я|он|она|оно|они|мы|ты|вы)(?!\w)",
    re.IGNORECASE,
)
_CONTENT = lazy(
    r"(?<!\w)(?!(?:on|in|the|of|at|by|to|for|from|until|and|then|also|morning|afternoon|evening|night|early|late|around|about|am|pm"
    r"|в|во|на|с|со|до|к|и|а|утром|днём|днем|вечером|ночью|числа)(?!\w))[^\W\d_\u3400-\u9fff]{2,}",
    re.IGNORECASE,
)
_BESIDE_ZH = lazy("早上|上午|中午|下午|晚上|那天|的时候|[的在于里年月日号周]")
_HAN = lazy("[\u3400-\u9fff]")

_ASKS_PLANS = lazy(
    r"\bdid (?:\w+ ){1,3}?(?:plan|book|reserve|schedule|arrange|agree|set up|set|promise)\b(?! (?:in|during|last|yesterday)\b)(?:.{0,40}\b(?:for|on|to)\b)"
    r"|\b(?:have|has) (?:\w+ ){1,3}?(?:planned|booked|reserved|scheduled|arranged|agreed)\b"
    r"|(?<!\w)(?:(?:за)?планировал\w*|(?:за)?бронировал\w*|наметил\w*|назначил\w*|договорил\w*|записал(?:ся|ась|ись)).{0,30}(?<!\w)на(?!\w)"
    r"|(?:计划|安排|预约|预订|约好?|订)了",
    re.IGNORECASE,
)
"""A question of what was planned for days: they may lie before it as well as behind."""


def asks_ahead(question: str) -> bool:
    """Whether a question looks ahead: "what happens in December?". One that says both asks what was said of a plan."""
    return tense_of(question) is Tense.AHEAD and not tells_past(_AHEAD.sub(" ", question))


def asked(question: str) -> Tense:
    """Which of the days without a year a question means: the coming one, the nearest where plans are asked for, else the last."""
    if asks_ahead(question):
        return Tense.AHEAD
    return Tense.OPEN if _ASKS_PLANS.search(question) else Tense.PAST


def tense_at(text: str, start: int, end: int) -> Tense:
    """Whether the day at text[start:end] was or will be, by the clause that it stands in.

    A clause that is no more than the day has the tense of its sentence: "on 5 December, I went to Rome".
    """
    before, after = _sentence(text, start, end)
    named = text[start:end]
    if led_ahead(before):
        return Tense.AHEAD
    if moved_from(before, after):
        return Tense.AHEAD if _TO_DAY.search(named) else Tense.OPEN
    ahead = [*_CLAUSE.finditer(before)]
    behind = _CLAUSE.search(after)
    own, rest = before[ahead[-1].end() if ahead else 0 :], after[: behind.start() if behind else len(after)]
    clause = f"{own}{named}{rest}"
    if (ahead or behind) and not _stands(f"{own} {rest}", first=not ahead) and tense_of(clause) is Tense.OPEN:
        clause = f"{before}{named}{after}"
    tense = tense_of(clause)
    arranged = tense is Tense.PAST and (_ARRANGED.search(clause) or _DUE_BY.search(before))
    return Tense.ARRANGED if arranged else tense


def moved_from(before: str, after: str) -> bool:
    """Whether something is moved away from the day between these words: "slipped from … to", "从…推迟到"."""
    return _MOVED_FROM.search(before) is not None or _MOVED_ON_ZH.match(after) is not None


def moved_on(between: str) -> bool:
    """Whether the words between two days move something from one to the other."""
    return _MOVED_ON.fullmatch(between) is not None


def _stands(clause: str, *, first: bool) -> bool:
    """Whether a clause, told without its day, says something by itself; the first one of a sentence only with who does it."""
    if _PERSON.search(clause):
        return True
    if _HAN.search(clause):
        return len(_HAN.findall(_BESIDE_ZH.sub("", clause))) >= 2 + first
    return not first and len(_CONTENT.findall(clause)) > 1


def _sentence(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands before and behind a day in its sentence; of a long one only what is near, so that many days of a long text cost no more than each its own."""
    first, last = max(0, start - _SENTENCE), end + _SENTENCE
    ends = [match.end() for match in _SENTENCE_END.finditer(text, first, start)]
    after = _SENTENCE_END.search(text, end, last)
    return text[ends[-1] if ends else first : start], text[end : after.start() if after else last]


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
