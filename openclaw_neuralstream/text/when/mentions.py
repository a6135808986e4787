"""Where a text names days: tables of patterns for English, Russian, Chinese and Japanese, and what each means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import zip_longest

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.when import calendar
from openclaw_neuralstream.text.when.calendar import Span
from openclaw_neuralstream.text.when.tense import Tense, asked, moved_from, moved_on, tense_at


@dataclass(frozen=True, slots=True)
class Mention:
    """Days named at text[start:end]. precision: "day", "week", "month" … relative: told from the day of the speaker."""

    start: int
    end: int
    first: date
    last: date
    precision: str
    relative: bool = False


@dataclass(frozen=True, slots=True)
class _Told:
    """From which day a text is told; tense: of all of it, None = each sentence has its own."""

    today: date
    said: Tense | None

    def tense(self, match: re.Match[str]) -> Tense:
        """Whether what is told there was or will be."""
        return self.said or tense_at(match.string, match.start(), match.end())


_Meaning = Callable[[re.Match[str], _Told], Span | None]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan январь января январе янв", "february feb февраль февраля феврале фев",
            "march mar март марта марте мар", "april apr апрель апреля апреле апр", "may май мая мае",
            "june jun июнь июня июне июн", "july jul июль июля июле июл", "august aug август августа августе авг",
            "september sept sep сентябрь сентября сентябре сент сен", "october oct октябрь октября октябре окт",
            "november nov ноябрь ноября ноябре нояб ноя", "december dec декабрь декабря декабре дек",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")(?!\w)\.?"
_WEEKDAYS = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
    "понедельник": 0, "вторник": 1, "сред": 2, "четверг": 3, "пятниц": 4, "суббот": 5, "воскресень": 6,
    "一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6,
}  # fmt: skip
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 5,
    "один": 1, "одну": 1, "два": 2, "две": 2, "пару": 2, "три": 3, "четыре": 4, "пять": 5, "шесть": 6, "семь": 7,
    "восемь": 8, "девять": 9, "десять": 10, "несколько": 4, "двух": 2, "трёх": 3, "трех": 3,
    "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "几": 4, "半": 1,
}  # fmt: skip
_N = r"(?P<n>\d{1,3}|" + "|".join(sorted((n for n in _NUMBERS if n.isascii()), key=len, reverse=True)) + ")"
_N_RU = r"(?P<n>\d{1,3}|" + "|".join(sorted((n for n in _NUMBERS if "а" <= n[0] <= "я"), key=len, reverse=True)) + ")"
_N_ZH = r"(?P<n>\d{1,3}|[一二两三四五六七八九十几])"
_UNIT = r"(?P<unit>days?|weeks?|months?|years?)"
_UNIT_RU = r"(?P<unit>день|дня|дней|дни|недел[юиья]|недель|месяц(?:а|ев|ы)?|год(?:а|ы)?|лет)"
_UNIT_ZH = r"个?(?P<unit>天|日|周|星期|礼拜|月|年)"
_YEAR = r"(?P<y>(?:19|20)\d\d)"
_RU_YEAR = r"(?:\s*г(?:ода|оду|\.)?(?!\w))?"
_MONTHS_ZH = "一二三四五六七八九十"
_MONTHS_ZH_LATE = {"十一": 11, "十二": 12}
_ORDINAL = r"(?:st|nd|rd|th|-?го|-?е)?"
_LAST_DAY = 31
_MOVE = 80
"""Characters beside a day that tell whether something is moved away from it."""
_WRITTEN_OUT = lazy(r"\s*[(（]\s*")
_SINCE = lazy(r"since|со?\s", re.IGNORECASE)
_B, _E = r"(?<![^\W_])", r"(?![^\W_])"
"""Word borders that also hold beside Cyrillic; Chinese patterns have none."""


def mentions(text: str, today: date, *, past: bool = True) -> list[Mention]:
    """Every place where the text names days, in order, without overlaps (the longest reading wins). Total.

    past: it is a question: a day without a year or week is the last one that came by, or the next where it looks ahead.
    Else each clause tells it by its tense; where that is open, such a day is the one nearest to today, a weekday the next.
    """
    if not worth_reading(text):
        return []
    told = _Told(today, asked(text) if past else None)
    found = sorted(_found(text, told), key=lambda item: (item.start - item.end, item.start))
    kept: list[Mention] = []
    for item in found:
        if all(item.end <= other.start or other.end <= item.start for other in kept):
            kept.append(item)
    return _where_to(text, _as_written(text, sorted(kept, key=lambda item: item.start)))


def _as_written(text: str, found: list[Mention]) -> list[Mention]:
    """A day whose date is written out behind it is that date, words and all: "on Friday (2026-11-27)", "5 May (2027-05-05)"."""
    told: list[Mention] = []
    for one in found:
        if told and _same_day(told[-1], one) and _WRITTEN_OUT.fullmatch(text[told[-1].end : one.start]):
            end = one.end + (text[one.end : one.end + 1] in {")", "）"})
            told[-1] = replace(one, start=told[-1].start, end=end)
        else:
            told.append(one)
    return told


def _same_day(one: Mention, written: Mention) -> bool:
    if not one.precision == written.precision == "day" or written.relative:
        return False
    return one.relative or (one.first.month, one.first.day) == (written.first.month, written.first.day)


def _where_to(text: str, found: list[Mention]) -> list[Mention]:
    """Without the day that something is moved away from: "slipped from 2 December to 11 December"."""
    told: list[Mention] = []
    for one, after in zip_longest(found, found[1:]):
        before = text[max(0, one.start - _MOVE) : one.start]
        if one.precision == "range" and not one.relative and moved_from(before, ""):
            told.append(replace(one, first=one.last, precision="day"))
            continue
        between = text[one.end : after.start] if after else ""
        if not (between and len(between) < _MOVE and moved_on(between) and moved_from(before, between)):
            told.append(one)
    return told


def worth_reading(text: str) -> bool:
    """Whether a text may name days at all; False is certain."""
    return _WORTH.search(text) is not None


def _found(text: str, told: _Told) -> Iterator[Mention]:
    for pattern, meaning, precision, relative in _PATTERNS:
        for match in pattern.finditer(text):
            try:
                span = meaning(match, told)
            except (OverflowError, ValueError):
                continue
            if span and span[0] <= span[1]:
                yield Mention(match.start(), match.end(), *span, precision, relative)


def _month(name: str) -> int:
    return _MONTHS[name.rstrip(".").lower()]


def _unit(word: str) -> str:
    word = word.lower()
    if word.startswith(("day", "д", "天", "日")):
        return "day"
    if word.startswith(("week", "недел", "周", "週", "星期", "礼拜")):
        return "week"
    return "month" if word.startswith(("month", "месяц", "月")) else "year"


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]


def _year_of(match: re.Match[str], group: str, number: int, day: int, told: _Told) -> int:
    said = match.groupdict().get(group)
    return int(said) if said else calendar.nearest_year(number, day, told.today, told.tense(match))


def _iso_day(match: re.Match[str], _told: _Told) -> Span | None:
    return calendar.day(int(match["y"]), int(match["m"]), int(match["d"]))


def _iso_month(match: re.Match[str], _told: _Told) -> Span | None:
    return calendar.month(int(match["y"]), int(match["m"]))


def _year(match: re.Match[str], _told: _Told) -> Span | None:
    return calendar.year(int(match["y"]))


def _day_month(match: re.Match[str], told: _Told) -> Span | None:
    number, day = _month(match["m"]), int(match["d"])
    return calendar.day(_year_of(match, "y", number, day, told), number, day)


def _numeric(match: re.Match[str], told: _Told) -> Span | None:
    number, day = int(match["m"]), int(match["d"])
    if not 1 <= number <= 12:
        return None
    return calendar.day(_year_of(match, "y", number, day, told), number, day)


def _month_only(match: re.Match[str], told: _Told) -> Span | None:
    number = int(match["m"]) if match["m"].isdigit() else _month(match["m"])
    return calendar.month(_month_year(match, number, told), number) if 1 <= number <= 12 else None


def _month_year(match: re.Match[str], number: int, told: _Told) -> int:
    """The year of a whole month: this month is no past one where it looks ahead."""
    return _year_of(match, "y", number, _LAST_DAY if told.tense(match) is Tense.AHEAD else 1, told)


def _month_of(match: re.Match[str], told: _Told) -> Span | None:
    """A month of a year that is told beside it ("October last year", "去年十月"), or without one."""
    name, which = match["m"], match["which"] or ""
    number = _MONTHS_ZH.find(name) + 1 or (_MONTHS_ZH_LATE.get(name) or (int(name) if name.isdigit() else _month(name)))
    if which:
        return calendar.month(told.today.year + (-2 if which == "前" else _which(which)), number)
    return calendar.month(_month_year(match, number, told), number)


def _shared_month(match: re.Match[str], told: _Told) -> Span | None:
    number = _month(match["m"])
    year = _year_of(match, "y", number, int(match["d"]), told)
    return _joined(calendar.day(year, number, int(match["d"])), calendar.day(year, number, int(match["d2"])))


def _two_days(match: re.Match[str], told: _Told) -> Span | None:
    """Two days with months, the year said once or not at all: the first lies before the second."""
    numbers = [int(m) if m.isdigit() else _month(m) for m in (match["m"], match["m2"] or match["m"])]
    if not all(1 <= number <= 12 for number in numbers):
        return None
    last_year = _year_of(match, "y2", numbers[1], int(match["d2"]), told)
    said = match.groupdict().get("y")
    wraps = (numbers[0], int(match["d"])) > (numbers[1], int(match["d2"]))
    first_year = int(said) if said else last_year - wraps
    if said and not match.groupdict().get("y2"):
        last_year = first_year + wraps
    first = calendar.day(first_year, numbers[0], int(match["d"]))
    return _joined(first, calendar.day(last_year, numbers[1], int(match["d2"])))


def _joined(first: Span | None, last: Span | None) -> Span | None:
    return (first[0], last[1]) if first and last and first[0] <= last[1] else None


def _days_off(count: int) -> _Meaning:
    def meaning(_match: re.Match[str], told: _Told) -> Span:
        found = told.today + timedelta(days=count)
        return found, found

    return meaning


def _ago(match: re.Match[str], told: _Told) -> Span | None:
    unit = _unit(match["unit"])
    moved = calendar.shifted(told.today, unit, -_number(match["n"] or "1"))
    if moved is None:
        return None
    return calendar.around(moved, "day" if unit == "day" else unit, 0)


def _last_n(match: re.Match[str], told: _Told) -> Span | None:
    moved = calendar.shifted(told.today, _unit(match["unit"]), -_number(match["n"] or "1"))
    return (moved, told.today) if moved else None


def _which(word: str) -> int:
    word = word.strip().lower()
    if word.startswith(("last", "previous", "past", "прошл", "прошед", "предыдущ", "上", "去", "先", "昨")):
        return -2 if word.startswith("上上") else -1
    return 1 if word.startswith(("next", "следующ", "下", "明", "来")) else 0


def _unit_of_calendar(match: re.Match[str], told: _Told) -> Span | None:
    unit = "weekend" if match["unit"].lower() in {"weekend", "выходные", "выходных", "周末"} else _unit(match["unit"])
    return calendar.around(told.today, unit, _which(match["which"] or ""))


_SEASONS = (
    ("winter", "зим", "冬"),
    ("spring", "весн", "春"),
    ("summer", "лет", "夏"),
    ("autumn", "fall", "осен", "秋"),
)


def _season(match: re.Match[str], told: _Told) -> Span | None:
    number = next(i for i, names in enumerate(_SEASONS) if match["s"].lower().startswith(names))
    said = match.groupdict().get("y")
    if said:
        first = calendar.month(int(said) - (number == 0), 3 * number or 12)
        last = calendar.month(int(said), 3 * number + 2)
        return _joined(first, last)
    word = match["which"] or ""
    if word.endswith("年"):
        of_year = told.today.year + _which(word)
        return _joined(
            calendar.month(of_year - (number == 0), 3 * number or 12), calendar.month(of_year, 3 * number + 2)
        )
    return calendar.season(number, told.today, _which(word), told.tense(match))


def _season_to_come(match: re.Match[str], told: _Told) -> Span | None:
    """A season in Chinese that stands alone: "夏天" names days where something is planned for it."""
    return _season(match, told) if told.tense(match) is Tense.AHEAD else None


def _weekday(match: re.Match[str], told: _Told) -> Span | None:
    number = next(n for name, n in _WEEKDAYS.items() if match["day"].lower().startswith(name))
    word = (match["which"] or "").strip().lower()
    if word.startswith(("上", "下", "这", "本")):
        week = calendar.around(told.today, "week", _which(word))
        return (week[0] + timedelta(days=number),) * 2 if week else None
    ahead = not word and not _SINCE.match(match[0]) and told.tense(match) is not Tense.PAST
    if _which(word) > 0 or ahead:
        found = told.today + timedelta(days=(number - told.today.weekday() - 1) % 7 + 1)
    else:
        found = told.today - timedelta(days=(told.today.weekday() - number - 1) % 7 + 1)
        if not word and number == told.today.weekday():
            found = told.today
    return found, found


def _p(pattern: str) -> re.Pattern[str]:
    return lazy(pattern, re.IGNORECASE)


_DASH = r"\s*(?:[-–—−~〜～至到]|to|till|until|through|and|по|до|и|から)\s*"
_SEP = rf"(?:{_DASH}|\s+(?:to|till|until|through|and|по|до|и)\s+)"
_D, _D2 = r"(?P<d>[0-3]?\d)", r"(?P<d2>[0-3]?\d)"
_M = rf"(?P<m>{_MONTH})"
_M2 = rf"(?P<m2>{_MONTH})"
_OF = r"\s*(?:of\s+)?"
_Y2 = r"(?P<y2>(?:19|20)\d\d)"
_PATTERNS: tuple[tuple[re.Pattern[str], _Meaning, str, bool], ...] = (
    # as numbers
    (_p(rf"(?<![\d\-/.]){_YEAR}[-/.](?P<m>[01]?\d)[-/.](?P<d>[0-3]?\d)(?![\d])(?![-/]\d)"), _iso_day, "day", False),
    (_p(rf"(?<![\d\-/.]){_YEAR}[-/](?P<m>[01]\d)(?![\d\-/.]\d|\d)"), _iso_month, "month", False),
    (_p(rf"(?<![\d.])(?P<d>[0-3]?\d)\.(?P<m>[01]?\d)\.{_YEAR}(?!\d)"), _numeric, "day", False),
    # with names of months
    (_p(rf"{_B}{_D}{_ORDINAL}{_OF}{_M}(?:,?\s*{_YEAR}{_E})?{_RU_YEAR}"), _day_month, "day", False),
    (_p(rf"{_B}{_M}\s*{_D}(?:st|nd|rd|th)?{_E}(?!:\d)(?:,?\s*{_YEAR}{_E})?"), _day_month, "day", False),
    (_p(rf"{_B}{_M},?\s*(?:of\s+)?{_YEAR}{_E}{_RU_YEAR}"), _month_only, "month", False),
    (_p(rf"{_B}(?:(?<=\bin )|(?<=\bsince )|(?<=\bof )|(?<=\bfor )|(?<=\blast )|(?<=\bthis )|(?<=\bduring )|(?<=\bfrom )"
        rf"|(?<=\bbefore )|(?<=\bafter )|(?<=\buntil )|(?<=\bby )|(?<=\baround )|(?<=\bbetween )|(?<=\band )|(?<=\bearly )|(?<=\blate ))"
        rf"{_M}(?!\s*\d)"), _month_only, "month", False),
    (_p(rf"{_B}(?P<m>january|february|april|june|july|august|september|october|november|december){_E}(?!\s*\d)"),
     _month_only, "month", False),
    (_p(rf"{_B}(?:(?<=в )|(?<=за )|(?<=с )|(?<=до )|(?<=на )|(?<=по )){_M}(?!\s*\d)"), _month_only, "month", False),
    (_p(rf"{_B}(?P<m>январ[ьяе]|феврал[ьяе]|апрел[ьяе]|июн[ьяе]|июл[ьяе]|август[ае]?|сентябр[ьяе]|октябр[ьяе]|ноябр[ьяе]"
        rf"|декабр[ьяе]){_E}(?!\s*\d)"), _month_only, "month", False),
    # Chinese and Japanese
    (_p(rf"(?:{_YEAR}\s*年\s*)?(?<!\d)(?P<m>1[0-2]|0?[1-9])\s*月\s*(?P<d>[0-3]?\d)\s*[日号號]?"), _numeric, "day", False),
    (_p(rf"(?:{_YEAR}\s*年\s*)?(?<!\d)(?P<m>1[0-2]|0?[1-9])\s*月份?(?!\s*\d)"), _month_only, "month", False),
    (_p(rf"(?:(?P<which>[去今明前])年的?|{_YEAR}\s*年)?(?<![一二三四五六七八九十几两第\d])(?P<m>十[一二]|[一二三四五六七八九十])月份?"
        rf"(?![一二三四五六七八九十廿初天\d])"), _month_of, "month", False),
    (_p(r"(?P<which>[去今明前])年的?(?P<m>1[0-2]|0?[1-9])月份?(?!\s*\d)"), _month_of, "month", False),
    (_p(rf"{_YEAR}\s*年(?!\s*\d)"), _year, "year", False),
    # months of a year that is told
    (_p(rf"{_B}{_M},?\s+(?:of\s+)?(?P<which>last|this|next)\s+year{_E}"), _month_of, "month", False),
    (_p(rf"{_B}{_M}\s+(?P<which>прошлого|этого|следующего)\s+года{_E}"), _month_of, "month", False),
    # ranges
    (_p(rf"{_B}{_D}{_ORDINAL}{_SEP}{_D2}{_ORDINAL}{_OF}{_M}(?:,?\s*{_YEAR}{_E})?{_RU_YEAR}"), _shared_month, "range", False),
    (_p(rf"{_B}{_M}\s*{_D}(?:st|nd|rd|th)?{_SEP}{_D2}(?:st|nd|rd|th)?{_E}(?!:\d)(?:,?\s*{_YEAR}{_E})?"), _shared_month, "range",
     False),
    (_p(rf"{_B}{_D}{_ORDINAL}{_OF}{_M}(?:,?\s*{_YEAR}{_RU_YEAR})?{_SEP}{_D2}{_ORDINAL}{_OF}{_M2}(?:,?\s*{_Y2}{_E})?{_RU_YEAR}"),
     _two_days, "range", False),
    (_p(rf"{_B}{_M}\s*{_D}(?:st|nd|rd|th)?(?:,?\s*{_YEAR})?{_SEP}{_M2}\s*{_D2}(?:st|nd|rd|th)?{_E}(?:,?\s*{_Y2}{_E})?"),
     _two_days, "range", False),
    (_p(rf"(?:{_YEAR}\s*年\s*)?(?<!\d)(?P<m>1[0-2]|0?[1-9])\s*月\s*(?P<d>[0-3]?\d)(?:\s*[日号號])?{_DASH}"
        rf"(?:{_Y2}\s*年\s*)?(?:(?P<m2>1[0-2]|0?[1-9])\s*月\s*)?(?P<d2>[0-3]?\d)\s*[日号號]"), _two_days, "range", False),
    # years
    (_p(rf"{_B}(?:in|during|since|of|throughout|before|after|until|by|from) {_YEAR}{_E}(?![-/.]\d)"), _year, "year", False),
    (_p(rf"{_B}{_YEAR}\s*(?:год[ауе]?|г\.)(?!\w)"), _year, "year", False),
    # relative
    (_p(rf"{_B}the day before yesterday{_E}|{_B}позавчера{_E}|前天|一昨日|おととい"), _days_off(-2), "day", True),
    (_p(rf"(?<!before ){_B}(?:yesterday|last night){_E}|{_B}вчера(?:шн\w+)?{_E}|昨[天晚日]|きのう"), _days_off(-1), "day", True),
    (_p(rf"{_B}(?:today|tonight|this (?:morning|afternoon|evening)){_E}|{_B}сегодня(?:шн\w+)?{_E}|今[天晚早日]"),
     _days_off(0), "day", True),
    (_p(rf"(?<!after ){_B}tomorrow{_E}|{_B}завтра{_E}|明[天晚早日]"), _days_off(1), "day", True),
    (_p(rf"{_B}{_N}\s+{_UNIT}\s+(?:ago|back|earlier){_E}"), _ago, "day", True),
    (_p(rf"{_B}(?:{_N_RU}\s+)?{_UNIT_RU}\s+(?:тому\s+)?назад{_E}"), _ago, "day", True),
    (_p(rf"{_N_ZH}{_UNIT_ZH}(?:之?前|以前|前)"), _ago, "day", True),
    (_p(rf"{_B}(?:the\s+)?(?:last|past|previous)\s+{_N}\s+{_UNIT}{_E}"), _last_n, "range", True),
    (_p(rf"{_B}(?:последн(?:ие|юю|ий|их))\s+(?:{_N_RU}\s+)?{_UNIT_RU}{_E}"), _last_n, "range", True),
    (_p(rf"(?:最近|过去|過去|近)的?(?:这)?{_N_ZH}{_UNIT_ZH}"), _last_n, "range", True),
    (_p(rf"{_B}(?:the\s+)?(?P<which>last|past|previous|this|next|current)\s+(?P<unit>week|month|year|weekend){_E}"),
     _unit_of_calendar, "week", True),
    (_p(rf"{_B}(?P<which>прошл\w{{2,3}}|прошедш\w{{2,3}}|предыдущ\w{{2,3}}|эт(?:а|у|ой|ом|от|ого|и|их)|следующ\w{{2,3}}|текущ\w{{2,3}})\s+"
        rf"(?P<unit>недел[яеиюь]\w?|месяц[ае]?|год[ау]?|выходны[ех]){_E}"), _unit_of_calendar, "week", True),
    (_p(r"(?P<which>上上|上|这|這|本|下)个?(?P<unit>周末|周(?![边围年到岁知])|週|星期|礼拜|月(?![亮球饼光色]))(?![一二三四五六日天末])"), _unit_of_calendar, "week", True),
    (_p(r"(?P<which>去|今|明|昨)(?P<unit>年)(?![春夏秋冬])"), _unit_of_calendar, "year", True),
    (_p(r"(?P<which>先|今|来)(?P<unit>週|月)(?!曜)"), _unit_of_calendar, "week", True),
    (_p(rf"{_B}(?:(?P<which>last|this|past|next)\s+)(?P<s>winter|spring|summer|autumn|fall){_E}"), _season, "season", True),
    (_p(rf"{_B}(?:in|during)\s+(?P<which>)(?:the\s+)?(?P<s>winter|spring|summer|autumn|fall)(?:\s+(?:of\s+)?{_YEAR})?{_E}"),
     _season, "season", True),
    (_p(rf"{_B}(?P<which>прошл\w{{2,3}}|эт(?:о|у|им|ой)|следующ\w{{2,3}})\s+(?P<s>зим\w{{1,2}}|весн\w{{1,2}}|лет(?:о|а|ом)|осень\w?){_E}"), _season, "season",
     True),
    (_p(rf"{_B}(?P<which>)(?P<s>зимой|весной|летом|осенью)(?:\s+{_YEAR})?{_E}{_RU_YEAR}"), _season, "season", True),
    (_p(r"(?:(?P<which>去年|今年|上个?|这个?|明年)|" + _YEAR + r"\s*年)(?:的)?(?P<s>[春夏秋冬])[天季]?"), _season, "season", True),
    (_p(r"(?<!每年)(?P<which>)(?P<s>[春夏秋冬])[天季](?!的)"), _season_to_come, "season", True),
    (_p(rf"{_B}(?:(?P<which>last|this|past|next)\s+|on\s+|since\s+)(?P<day>monday|tuesday|wednesday|thursday|friday|saturday|sunday){_E}"),
     _weekday, "day", True),
    (_p(rf"{_B}(?:в|во|с|со)\s+(?P<which>прошл\w{{2,3}}\s+|эт\w{{1,2}}\s+|следующ\w{{2,3}}\s+)?"
        rf"(?P<day>понедельник[а]?|вторник[а]?|сред[уы]|четверг[а]?|пятниц[уы]|суббот[уы]|воскресень[ея]){_E}"), _weekday, "day", True),
    (_p(r"(?P<which>上上|上|这|這|本|下)?个?(?:周|週|星期|礼拜)(?P<day>[一二三四五六日天])"), _weekday, "day", True),
)  # fmt: skip

_RELATIVE_RU = (
    "вчера|позавчера|сегодня|завтра|назад|последн|прошл|прошедш|предыдущ|эт[аоуи]|следующ|текущ|зимой|весной|летом|осенью"
    "|понедельник|вторник|сред[уы]|четверг|пятниц|суббот|воскресень"
)
_WORTH = _p(
    r"(?:19|20)\d\d|\d[./-]\d|\d\s?个?[年月日号天周週星礼]|\d(?:st|nd|rd|th|-?го|-?е)?\s*(?:of\s+)?"
    + _MONTH
    + "|"
    + _MONTH
    + r"\s*\d"
    r"|(?<![^\W_])(?:january|february|april|june|july|august|september|october|november|december"
    r"|(?:in|since|of|for|last|this|during|from|before|after|until|by|around|between|and|early|late|в|за|с|до|на|по) (?:jan|feb|mar|apr|may|jun|jul|aug"
    r"|sep|oct|nov|dec|янв|фев|мар|апр|ма[йяе]|июн|июл|авг|сен|окт|ноя|дек)|январ[ьяе]|феврал[ьяе]|марте|апрел[ьяе]|мае|июн[ьяе]|июл[ьяе]|август|сентябр[ьяе]|октябр[ьяе]|ноябр[ьяе]"
    r"|декабр[ьяе]"
    r"|yesterday|today|tonight|tomorrow|ago|back|earlier|last|past|previous|this|next|current|in|during|(?:on|since) (?:mon|tue|wed|thu|fri|sat|sun)"
    rf"|{_RELATIVE_RU})(?:(?<=in)\s+(?:the\s+)?(?:w|sp|su|au|fa)|(?<=during)\s+(?:the\s+)?(?:w|sp|su|au|fa)|(?<!\bin)(?<!\bduring))"
    r"|[昨今明前去上下这這本先来近过過][天晚早日年个個周週星礼月末去的]|[春夏秋冬]|[一二两三四五六七八九十几半]个?[天日周週星礼月年]"
    r"|[周週][一二三四五六日天末]|星期|礼拜|きのう|おととい|一昨日"
)
"""Without one of these nothing can be named: most texts are told apart here, at a fraction of the cost."""
