"""Days that a sentence names relative to when it was said, written out beside the words, in three languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from openclaw_neuralstream.extract.rules import spans
from openclaw_neuralstream.extract.rules.spans import Span, Told
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import MONTHS_EN, MONTHS_RU
from openclaw_neuralstream.text.when import Tense, tense_at

Resolver = Callable[[re.Match[str], Told], Span | None]


@dataclass(frozen=True, slots=True)
class Dated:
    """The sentence with its days written out, the spans of days named, and until when it says that it holds."""

    text: str
    spans: tuple[Span, ...] = ()
    valid_to: datetime | None = None


def resolve(text: str, at: datetime, *, past: bool | None = None) -> Dated:
    """Add each day that was named relatively in brackets: "tomorrow" → "tomorrow (2026-11-22)".

    past: whether the text tells of the past, None = each clause by its tense; decides about a bare weekday or a day without a year.
    A day that cannot be told is left as it is.
    """
    said = None if past is None else Tense.PAST if past else Tense.OPEN
    found = _without_overlaps(_find(text, at.astimezone(UTC).date(), said))
    parts, position, valid_to = [], 0, None
    for start, end, span in found:
        parts += [text[position:end], _written(text, end, span)]
        position = end
        if _UNTIL.search(text[:start]) or _UNTIL_WORD.match(text[start:end]):
            valid_to = datetime.combine(span[1], time(23, 59, 59), UTC)
    return Dated("".join([*parts, text[position:]]), tuple(span for *_, span in found), valid_to)


def recurs(text: str) -> bool:
    """Whether it tells of something that happens again and again: "every Friday", "по средам", "每周三"."""
    return bool(_RECURS.search(text))


def names_day(text: str) -> bool:
    """Whether a day is named relatively at all."""
    return any(pattern.search(text) for pattern, _ in _PATTERNS)


def names_single_day(text: str) -> bool:
    """Whether one day is named relatively, that comes once: no birthday, no "every Friday"."""
    return next(_single(text), None) is not None


def _find(text: str, today: date, said: Tense | None) -> Iterator[tuple[int, int, Span]]:
    for match, resolver in _single(text):
        try:
            span = resolver(match, Told(today, said or _tense(match, resolver)))
        except (ValueError, OverflowError):
            span = None
        if span:
            yield match.start(), match.end(), span


def _tense(match: re.Match[str], resolver: Resolver) -> Tense:
    """By its clause, where the day leaves it open; what leads to the day ("moved to Friday") may be part of the match."""
    if resolver not in _TENSED:
        return Tense.OPEN
    begin = match.start()
    if resolver is not _weekday_zh:  # whose day is the last sign of its name
        begin = min(match.start(name) for name in ("d", "day", "m", "month") if match.groupdict().get(name))
    return tense_at(match.string, begin, match.end())


def _single(text: str) -> Iterator[tuple[re.Match[str], Resolver]]:
    """The relative days that come once: "every Friday" and a birthday are no single day."""
    for pattern, resolver in _PATTERNS:
        for match in pattern.finditer(text):
            bare = resolver is _of_month or (resolver in _WEEKDAYS and not match["which"])
            yearly = resolver in _YEARLY and _ANNIVERSARY.search(_around(text, *match.span()))
            if not (yearly or (bare and recurs(_around(text, *match.span())))):
                yield match, resolver


def _around(text: str, start: int, end: int) -> str:
    """The clause that a day stands in, and the one before it."""
    breaks = [0, 0, *(match.end() for match in _CLAUSE.finditer(text, 0, start))]
    after = _CLAUSE.search(text, end)
    return text[breaks[-2] : after.start() if after else len(text)]


def _without_overlaps(found: Iterator[tuple[int, int, Span]]) -> list[tuple[int, int, Span]]:
    """The longest reading of each place, in order."""
    kept: list[tuple[int, int, Span]] = []
    for item in sorted(found, key=lambda f: (f[0] - f[1], f[0])):
        if all(item[1] <= other[0] or other[1] <= item[0] for other in kept):
            kept.append(item)
    return sorted(kept)


def _written(text: str, end: int, span: Span) -> str:
    if re.match(r"\s*[(（]?\s*\d{4}[-年.]", text[end:]):
        return ""
    return f" ({spans.written(span)})"


def _fixed(days: int) -> Resolver:
    return lambda _match, told: spans.day(told.today + timedelta(days=days))


# --- words -------------------------------------------------------------------------------------------------------------

_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a few": 3, "": 1,
    "один": 1, "одну": 1, "два": 2, "две": 2, "пару": 2, "три": 3, "четыре": 4, "пять": 5, "шесть": 6, "семь": 7,
    "восемь": 8, "девять": 9, "десять": 10,
    "一": 1, "二": 2, "两": 2, "三": 3, "几": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
    "十一": 11, "十二": 12,
}  # fmt: skip
_DAYS_EN = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_RU = ("понедельник", "вторник", "сред", "четверг", "пятниц", "суббот", "воскресень")
_DAYS_ZH = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6, "末": 5}
_UNITS = (
    ("day", ("day", "дн", "ден", "天", "日")),
    ("week", ("week", "недел", "周", "星期", "礼拜")),
    ("month", ("month", "месяц", "月")),
    ("year", ("year", "год", "лет", "年")),
)
_UNTIL_WORD = lazy(r"(?:until|till|до)\b", re.IGNORECASE)
_UNTIL = lazy(r"(?:\buntil|\btill|\bthrough|\bдо|直到|到|截至)\s*$", re.IGNORECASE)


_CLAUSE = lazy(r"[,;，；。.!?！？]\s*")
_RECURS = lazy(
    r"\b(?:every|each|weekly|biweekly|fortnightly|monthly|yearly|annually|daily|nightly|always on|of (?:the|a) (?:week|month|quarter|year)|once a|twice a|times a)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\b\w+day and \w+day\b|"
    r"\bкажд\w+|\bеже(?:недельн|месячн|годн|дневн|квартальн)\w+|\bпо (?:понедельникам|вторникам|средам|четвергам|пятницам|субботам|воскресеньям|будням|выходным|утрам|вечерам)\b|"
    r"\bраза? в (?:день|неделю|месяц|квартал|год|два|три|две)|"
    r"\b(?:never|always)(?! (?:was|were|did|had|went|\w+ed)\b)|\b(?:никогда|всегда)\b|(?:从来?不|总是|永远|一律)|"
    r"每(?:[周月年天日晚早逢隔次]|个?(?:星期|礼拜|月|工作日|季度))|隔[周天]|[周月年天](?:[一二两三四五六]|\d)次|一个?(?:周|星期|礼拜|月|季度|年)[^,，。]{0,2}[一二两三四五六\d]次|都是(?:周|星期|礼拜)|"
    r"只有(?:周|星期|礼拜).才|(?:周|星期|礼拜)[一二三四五六日天][和、跟与及](?:周|星期|礼拜)?[一二三四五六日天](?!.{0,6}(?:之前|前|截止))|工作日|每逢|从[^，,。]{1,6}起|(?:周|星期|礼拜)[一二三四五六日天].{0,4}(?:休息|不营业|关门|值班)",
    re.IGNORECASE,
)

_ANNIVERSARY = lazy(
    r"\b(?:birthday|anniversary|name day)\b(?!\s+(?:party|dinner|lunch|trip|do|bash|celebration|present|gift))|"
    r"(?:день|дня|дню) рождения|\b(?:годовщин|именин)\w*|生日(?!会|派对|聚|晚|宴|蛋糕|礼)|纪念日",
    re.IGNORECASE,
)


def _count(word: str) -> int:
    word = word.strip().lower()
    return int(word) if word.isdigit() else _NUMBERS[word]


def _unit_of(word: str) -> str:
    return next(unit for unit, stems in _UNITS if any(stem in word.lower() for stem in stems))


def _index(word: str, names: tuple[str, ...]) -> int:
    return next(i for i, name in enumerate(names) if word.lower().startswith(name))


def _shift_en(word: str | None) -> int | None:
    return {"next": 1, "last": -1, "past": -1, "this": 0, "coming": None}.get((word or "").strip().lower())


def _weekday_en(match: re.Match[str], told: Told) -> Span:
    word = (match["which"] or "").strip().lower()
    index = _index(match["day"], _DAYS_EN)
    if word == "last":
        return spans.weekday(index, None, replace(told, tense=Tense.PAST))
    return spans.weekday(index, _shift_en(word), told)


def _ago_en(match: re.Match[str], told: Told) -> Span | None:
    return spans.unit(_unit_of(match["unit"]), -_count(match["n"]), told.today)


def _ahead_en(match: re.Match[str], told: Told) -> Span | None:
    return spans.unit(_unit_of(match["unit"]), _count(match["n"]), told.today)


def _which(match: re.Match[str], told: Told) -> Span | None:
    word = match["which"].lower()
    ahead = word.startswith(("next", "coming", "след", "下", "明"))
    back = word.startswith(("last", "past", "прош", "上", "去"))
    count = (1 if ahead else -1 if back else 0) * (2 if word.startswith(("下下", "上上")) else 1)
    return spans.period(_unit_of(match["unit"]), count, told.today)


def _month_day_en(match: re.Match[str], told: Told) -> Span | None:
    return spans.in_year(_index(match["month"], MONTHS_EN) + 1, int(match["d"]), told)


def _month_day_ru(match: re.Match[str], told: Told) -> Span | None:
    return spans.in_year(_index(match["month"], MONTHS_RU) + 1, int(match["d"]), told)


def _of_month(match: re.Match[str], told: Told) -> Span | None:
    """The 19th: of this month, or of the next one, or the last one where the past is told."""
    number, today = int(match["d"]), told.today
    step = (-1 if number > today.day else 0) if told.past else (1 if number < today.day else 0)
    first, last = spans.month(today.year, today.month + step)
    return spans.day(first.replace(day=number)) if 1 <= number <= last.day else None


def _month_day_zh(match: re.Match[str], told: Told) -> Span | None:
    return spans.in_year(_count(match["m"]), int(match["d"]), told)


def _weekday_ru(match: re.Match[str], told: Told) -> Span:
    word = (match["which"] or "").strip().lower()
    index = _index(match["day"], _DAYS_RU)
    if word.startswith("прош"):
        return spans.weekday(index, None, replace(told, tense=Tense.PAST))
    return spans.weekday(index, 1 if word.startswith("следующ") else None, told)


def _weekday_zh(match: re.Match[str], told: Told) -> Span:
    word, index = match["which"] or "", _DAYS_ZH[match["day"]]
    shift = {"下": 1, "下个": 1, "上": -1, "上个": -1, "这": 0, "这个": 0, "本": 0, "下下": 2}.get(word)
    if match["day"] == "末":
        return spans.weekend(shift or 0, told)
    return spans.weekday(index, shift, told)


def _weekend(match: re.Match[str], told: Told) -> Span:
    word = (match["which"] or "").lower()
    shift = 1 if word.startswith(("next", "след")) else -1 if word.startswith(("last", "прош")) else 0
    return spans.weekend(shift, told)


_YEARLY = (_month_day_en, _month_day_ru, _month_day_zh)  # a day without its year
_WEEKDAYS = (_weekday_en, _weekday_ru, _weekday_zh)
_TENSED = (*_YEARLY, *_WEEKDAYS, _of_month)

_N_EN = r"(?P<n>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple of|a few)"
_N_RU = r"(?P<n>\d{1,3}|один|одну|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|пару)"
_N_ZH = r"(?P<n>\d{1,3}|十[一二]|[一二两三四五六七八九十几])"
_NO_YEAR = r"(?!\s*(?:,\s*)?\d{4})"


def _p(pattern: str) -> re.Pattern[str]:
    return lazy(pattern, re.IGNORECASE)


_PATTERNS: tuple[tuple[re.Pattern[str], Resolver], ...] = (
    (_p(r"\bthe day before yesterday\b|(?<!\w)позавчера\b|前天"), _fixed(-2)),
    (_p(r"\b(?:yesterday|last night)\b|(?<!\w)вчера\b|昨[天晚]"), _fixed(-1)),
    (_p(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b|(?<!\w)сегодня\b|今[天晚早]"), _fixed(0)),
    (_p(r"(?<!after )\btomorrow\b|(?<!после)\bзавтра\b|明[天晚早]"), _fixed(1)),
    (_p(r"\bthe day after tomorrow\b|\bпослезавтра\b|(?<!大)后天"), _fixed(2)),
    (_p(r"大后天"), _fixed(3)),
    (_p(rf"\b{_N_EN} (?P<unit>days?|weeks?|months?|years?) ago\b"), _ago_en),
    (_p(rf"\b(?:in {_N_EN} (?P<unit>days?|weeks?|months?|years?))\b(?! (?:a|of|or|he|she|they|we|i)\b)"), _ahead_en),
    (_p(rf"\b{_N_EN} (?P<unit>days?|weeks?|months?) from (?:now|today)\b"), _ahead_en),
    (_p(r"\b(?P<which>next|last|this|coming|past) (?P<unit>week|month|year)\b(?!end)"), _which),
    (_p(r"\b(?:(?P<which>this|next|last|the) weekend)\b"), _weekend),
    (
        _p(
            r"\b(?:(?P<which>next|last|this|coming) |(?:on|by|to|until|till|before|for|since|due|this coming) )"
            r"(?P<day>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
        ),
        _weekday_en,
    ),
    (
        _p(
            r"\b(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|"
            r"nov(?:ember)?|dec(?:ember)?)\.? (?P<d>[0-3]?\d)(?:st|nd|rd|th)?\b(?!:)" + _NO_YEAR
        ),
        _month_day_en,
    ),
    (
        _p(
            r"\b(?P<d>[0-3]?\d)(?:st|nd|rd|th)? (?:of )?(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|"
            r"aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b" + _NO_YEAR
        ),
        _month_day_en,
    ),
    (
        _p(
            r"\b(?:on|by|until|till|before|since) the (?P<d>[0-3]?\d)(?:st|nd|rd|th)\b(?!\s*(?:of\b|floor|street|st\b|century|birthday|time|place|day|week|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|[a-z]+ (?:of|floor)))"
        ),
        _of_month,
    ),
    (
        _p(
            r"(?<![\d.:-])(?P<d>[0-3]?\d)-?го(?: числа)?\b(?! (?:янв|фев|мар|апр|ма[яй]|июн|июл|авг|сен|окт|ноя|дек|этаж|дом|год|класс|раз|века?\b))"
        ),
        _of_month,
    ),
    (_p(r"(?<![\d月年.第A-Za-z\-])(?P<d>[12]?\d|3[01])号(?![楼院线店机桌房门柜库住的位员码车])"), _of_month),
    (_p(rf"\b{_N_RU} (?P<unit>дн\w+|день|недел\w+|месяц\w*|год\w?|лет) назад\b"), _ago_en),
    (_p(r"\b(?P<n>)(?P<unit>неделю|месяц|год) назад\b"), _ago_en),
    (_p(rf"\bчерез {_N_RU} (?P<unit>дн\w+|день|недел\w+|месяц\w*|год\w?|лет)\b"), _ahead_en),
    (_p(r"\bчерез (?P<n>)(?P<unit>неделю|месяц|год)\b"), _ahead_en),
    (_p(r"\b(?:на|в) (?P<which>следующ\w+|прошл\w+|эт\w+) (?P<unit>недел\w+|месяц\w*|год\w*)\b"), _which),
    (_p(r"\b(?:на|в) (?P<which>следующие|прошлые|эти|этих)?\s?выходны(?:е|х)\b"), _weekend),
    (
        _p(
            r"\b(?:в|во|на|до|к|ко|со?)\s+(?P<which>следующ\w+ |прошл\w+ |эт\w+ )?"
            r"(?P<day>понедельник\w?|вторник\w?|сред[уыеа]|четверг\w?|пятниц[уыеа]|суббот[уыеа]|воскресень[еяю])\b"
        ),
        _weekday_ru,
    ),
    (
        _p(
            r"\b(?P<d>[0-3]?\d) (?P<month>января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)\b"
            r"(?!\s*\d{4})"
        ),
        _month_day_ru,
    ),
    (_p(rf"{_N_ZH}\s*个?(?P<unit>天|周|星期|礼拜|月|年)(?:之?前|以前)"), _ago_en),
    (_p(rf"{_N_ZH}\s*个?(?P<unit>天|周|星期|礼拜|月|年)(?:之?后|以后)"), _ahead_en),
    (_p(r"(?P<which>下下|上上|下|上|这|本)个?(?P<unit>周|星期|礼拜)(?![一二三四五六日天末])"), _which),
    (_p(r"(?P<which>下|上|这|本)个?(?P<unit>月)(?!\d)"), _which),
    (_p(r"(?P<which>明|去|今)(?P<unit>年)"), _which),
    (
        _p(r"(?<![每隔])(?<!每个)(?P<which>下下|下个?|上个?|这个?|本)?(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])"),
        _weekday_zh,
    ),
    (_p(r"(?<![\d年])(?P<m>1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月(?P<d>[0-3]?\d)[日号]"), _month_day_zh),
)
