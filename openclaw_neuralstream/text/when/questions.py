"""What a question or an option means in days: the words around a mention say since, until, around, or between."""

from __future__ import annotations

import re
from datetime import date, timedelta

from openclaw_neuralstream.model import Period
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.when import calendar
from openclaw_neuralstream.text.when.mentions import Mention, mentions

LONGEST_QUESTION = 2_000
"""Characters of a question that are read, from its end."""

_SINCE = lazy(
    r"(?:\b(?:ever )?since|\bstarting(?: from)?|(?<!\w)(?:начиная )?со?|自从?|从|從)(?:\s+the)?\s*$", re.IGNORECASE
)
_SINCE_WITHIN = lazy(r"^(?:since|со?)\b", re.IGNORECASE)
_SINCE_AFTER = lazy(r"^\s*(?:以来|起|开始|onwards?\b|から)", re.IGNORECASE)
_UNTIL = lazy(r"(?:\buntil|\btill|\bup to|\bby|(?<!\w)по|(?<!\w)к|截至|直到|到)(?:\s+the)?\s*$", re.IGNORECASE)
_UNTIL_WITHIN = lazy(r"^(?:until|by)\b", re.IGNORECASE)
_UNTIL_AFTER = lazy(r"^\s*(?:为止|まで)")
_HOLDS_UNTIL = lazy(
    r"(?:\b(?:un)?till?|\bup to|(?<!\w)(?:вплоть )?(?:до|по)|直到|(?<!迟)到|至)(?:\s+the)?\s*$", re.IGNORECASE
)
_HOLDS_UNTIL_WITHIN = lazy(r"^(?:until|до|по)\b", re.IGNORECASE)
_BEFORE = lazy(r"(?:\bbefore|\bearlier than|(?<!\w)до|(?<!\w)раньше)(?:\s+the)?\s*$", re.IGNORECASE)
_BEFORE_WITHIN = lazy(r"^before\b", re.IGNORECASE)
_BEFORE_AFTER = lazy(r"^\s*(?:之前|以前)")
_LATER = lazy(r"(?:\bafter|\blater than|(?<!\w)после|(?<!\w)позже)(?:\s+the)?\s*$", re.IGNORECASE)
_LATER_WITHIN = lazy(r"^after\b", re.IGNORECASE)
_LATER_AFTER = lazy(r"^\s*(?:以後|以后|之后|之後)")
_AROUND = lazy(
    r"(?:\baround|\babout|\bcirca|\bnear|(?<!\w)около|(?<!\w)примерно(?:\s+в)?|(?<!\w)в районе|大约|大概)(?:\s+the)?\s*$",
    re.IGNORECASE,
)
_AROUND_AFTER = lazy(r"^\s*(?:左右|前后|前後|ごろ|頃|or so\b)", re.IGNORECASE)
_FROM = lazy(r"(?:\b(?:from|between)|(?<!\w)(?:с|со|между)|从|從)\s*$", re.IGNORECASE)
_TO = lazy(
    r"^\s*(?:[-–—~～至到]|to\b|till\b|until\b|through\b|and\b|по\b|до\b|и\b|和|から)\s*(?:the\s+)?$", re.IGNORECASE
)
_BEFORE_DAYS = lazy(
    r"(?:\b(?:on|in|during|over|within|of|for|from|at|the)|(?<!\w)(?:в|во|за|на|из)|在)\s*$", re.IGNORECASE
)
_AFTER_DAYS = lazy(r"^\s*(?:期间|的时候|的(?=[^\s]))")
_DURATION = lazy(
    r"\s*(\d{1,4})\s*(d|days?|w|weeks?|m|mo|months?|y|years?|д|дн\w*|н|нед\w*|мес\w*|г|год\w*|лет|天|日|周|个?月|年)\s*",
    re.IGNORECASE,
)
_MARGIN = {"day": 3, "range": 3, "week": 7, "month": 10, "season": 30, "year": 60}


def period(text: str, today: date) -> Period | None:
    """The days a question is about, and the question without the words that say so; None when it names none.

    A day without a year is the last one that came by. "since X" ends today, "around" adds a margin on both sides.
    """
    text = text[-LONGEST_QUESTION:]
    found = mentions(text, today)
    if not found:
        return None
    if len(found) > 1 and _TO.match(text[found[0].end : found[1].start]):
        start = _cut_before(text, found[0].start, (_FROM, _SINCE))
        first = _not_after(found[0].first, found[1].first)
        return Period(first, found[1].last, _rest(text, start, found[1].end))
    return _one(text, found[0], today)


def _not_after(first: date, last: date) -> date:
    """The first day of a range, moved back by whole years where its own year was not said."""
    years = last.year - first.year - ((first.month, first.day) > (last.month, last.day))
    return calendar.shifted(first, "year", min(years, 0)) or first


def _one(text: str, mention: Mention, today: date) -> Period:
    if mention.precision == "range" and not mention.relative:
        start = _cut_before(text, mention.start, (_FROM, _SINCE, _BEFORE_DAYS))
        return Period(mention.first, mention.last, _rest(text, start, mention.end))
    before, within, after = text[: mention.start], text[mention.start : mention.end], text[mention.end :]
    for pattern, inner, behind, meaning in (
        (_AROUND, None, _AROUND_AFTER, "around"),
        (_SINCE, _SINCE_WITHIN, _SINCE_AFTER, "since"),
        (_UNTIL, _UNTIL_WITHIN, _UNTIL_AFTER, "until"),
        (_BEFORE, _BEFORE_WITHIN, _BEFORE_AFTER, "before"),
        (_LATER, _LATER_WITHIN, _LATER_AFTER, "later"),
    ):
        ahead, trailing = pattern.search(before), behind.match(after)
        if ahead or trailing or (inner and inner.match(within)):
            start = ahead.start() if ahead else mention.start
            end = mention.end + (trailing.end() if trailing else 0)
            return Period(*_bounds(mention, meaning, today), _rest(text, start, end))
    start = _cut_before(text, mention.start, (_BEFORE_DAYS,))
    trailing = _AFTER_DAYS.match(after)
    return Period(mention.first, mention.last, _rest(text, start, mention.end + (trailing.end() if trailing else 0)))


def _bounds(mention: Mention, meaning: str, today: date) -> tuple[date | None, date | None]:
    if meaning == "since":
        return mention.first, max(today, mention.last)
    if meaning == "until":
        return None, mention.last
    if meaning == "before":
        return None, calendar.shifted(mention.first, "day", -1) or mention.first
    if meaning == "later":
        start = calendar.shifted(mention.last, "day", 1) or mention.last
        return start, max(today, start)
    margin = timedelta(days=_MARGIN.get(mention.precision, 3))
    try:
        return mention.first - margin, mention.last + margin
    except OverflowError:
        return mention.first, mention.last


def _cut_before(text: str, start: int, patterns: tuple[re.Pattern[str], ...]) -> int:
    ahead = next((match for pattern in patterns if (match := pattern.search(text[:start]))), None)
    return ahead.start() if ahead else start


def _rest(text: str, start: int, end: int) -> str:
    return re.sub(r"\s{2,}", " ", f"{text[:start]} {text[end:]}").strip()


def option(text: str, today: date) -> Period | None:
    """What is typed behind --since, --until or --as-of: "30d", "2w", "6m", "1y", "2025-11", or words; None = not a time.

    A duration runs back from today.
    """
    duration = _DURATION.fullmatch(text)
    if duration:
        start = calendar.shifted(today, _unit(duration[2].lower()), -int(duration[1]))
        return Period(start, today) if start else None
    plain = text.strip()
    if re.fullmatch(r"(?:19|20)\d\d", plain):
        whole = calendar.year(int(plain))
        return Period(*whole) if whole else None
    found = period(f"in {plain}", today) or period(plain, today)
    return Period(found.start, found.end) if found and not _words(found.rest) else None


def _words(rest: str) -> bool:
    return bool(re.search(r"\w", re.sub(r"^(?:in|on|the)\b", "", rest)))


def _unit(word: str) -> str:
    if word.startswith(("d", "д", "天", "日")):
        return "day"
    if word.startswith(("w", "н", "周")):
        return "week"
    return "month" if word.startswith(("m", "мес", "月", "个")) else "year"


def held_in(text: str, day: date | None) -> tuple[date | None, date | None] | None:
    """As `dates_in`, for what a text says of how long it holds: "since 2024" has no end, "until May" no beginning."""
    span = dates_in(text, day)
    if span is None:
        return None
    found = mentions(text, day or date(1, 6, 1), past=False)
    at = next((number for number, one in enumerate(found) if (one.first, one.last) == span), None)
    if at is None or found[at].precision == "range":
        return span
    one = found[at]
    if at + 1 < len(found) and _TO.match(text[one.end : found[at + 1].start]):
        return span
    before, within, after = text[: one.start], text[one.start : one.end], text[one.end :]
    if _SINCE.search(before) or _SINCE_WITHIN.match(within) or _SINCE_AFTER.match(after):
        return span[0], None
    if _HOLDS_UNTIL.search(before) or _HOLDS_UNTIL_WITHIN.match(within) or _UNTIL_AFTER.match(after):
        return None, span[1]
    return span


def dates_in(text: str, day: date | None) -> tuple[date, date] | None:
    """The first day or range that a text names by date, for a text written on `day`; None when there is none.

    Words like "yesterday" count only where the day is known. Without a day, a date needs its year.
    """
    base = day or date(1, 6, 1)
    found = mentions(text, base, past=False)
    for mention in found:
        if day is not None or (not mention.relative and mention.first.year > 1_900):
            return mention.first, mention.last
    return None
