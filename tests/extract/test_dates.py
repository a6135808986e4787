"""Days named relatively are written out, in three languages, reckoned from the day on which they were said."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.extract.learned import LearnedExtractor
from openclaw_neuralstream.extract.rules.dates import names_day, resolve
from openclaw_neuralstream.extract.rules.spans import written
from tests.extract.conversations import owner_says

SATURDAY = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see you tomorrow", "see you tomorrow (2026-11-22)"),
        ("the day after tomorrow", "the day after tomorrow (2026-11-23)"),
        ("in two weeks", "in two weeks (2026-12-05)"),
        ("3 days ago", "3 days ago (2026-11-18)"),
        ("next Friday", "next Friday (2026-11-27)"),
        ("on Monday", "on Monday (2026-11-23)"),
        ("last Monday", "last Monday (2026-11-16)"),
        ("next week", "next week (2026-11-23 – 2026-11-29)"),
        ("last month", "last month (2026-10)"),
        ("this weekend", "this weekend (2026-11-21 – 2026-11-22)"),
        ("on December 3rd", "on December 3rd (2026-12-03)"),
        ("the 15 January deadline", "the 15 January (2027-01-15) deadline"),
        ("on December 3, 2025", "on December 3, 2025"),
        ("завтра утром", "завтра (2026-11-22) утром"),
        ("послезавтра", "послезавтра (2026-11-23)"),
        ("через две недели", "через две недели (2026-12-05)"),
        ("неделю назад", "неделю назад (2026-11-14)"),
        ("в пятницу", "в пятницу (2026-11-27)"),
        ("в прошлую пятницу", "в прошлую пятницу (2026-11-20)"),
        ("на следующей неделе", "на следующей неделе (2026-11-23 – 2026-11-29)"),
        ("в прошлом году", "в прошлом году (2025)"),
        ("3 декабря", "3 декабря (2026-12-03)"),
        ("明天见", "明天 (2026-11-22)见"),
        ("后天", "后天 (2026-11-23)"),
        ("大后天", "大后天 (2026-11-24)"),
        ("三天前", "三天前 (2026-11-18)"),
        ("两周后", "两周后 (2026-12-05)"),
        ("下周三开会", "下周三 (2026-11-25)开会"),
        ("下个月", "下个月 (2026-12)"),
        ("去年夏天", "去年 (2025)夏天"),
        ("12月3日", "12月3日 (2026-12-03)"),
        ("tomorrow (2026-11-22) is fine", "tomorrow (2026-11-22) is fine"),
        ("我们每周一开会", "我们每周一开会"),
        ("Never deploy on Friday", "Never deploy on Friday"),
        ("Always call me on Monday", "Always call me on Monday"),
        ("Никогда не выкатывай в пятницу", "Никогда не выкатывай в пятницу"),
        ("周五永远不要上线", "周五永远不要上线"),
        ("My sister Anna's birthday is 5 May", "My sister Anna's birthday is 5 May"),
        ("Our wedding anniversary is on June 12th", "Our wedding anniversary is on June 12th"),
        ("Anna's birthday party is on December 3rd", "Anna's birthday party is on December 3rd (2026-12-03)"),
        ("День рождения Анны 5 мая", "День рождения Анны 5 мая"),
        ("我姐姐的生日是5月5日", "我姐姐的生日是5月5日"),
        ("nothing here in 5 minutes", "nothing here in 5 minutes"),
        ("全员大会改成周三了", "全员大会改成周三 (2026-11-25)了"),
        ("会议推迟到周五了", "会议推迟到周五 (2026-11-27)了"),
    ],
)
def test_the_day_is_written_beside_the_words(text, expected):
    assert resolve(text, SATURDAY).text == expected


def test_the_tense_decides_about_a_bare_weekday():
    assert resolve("on Monday", SATURDAY, past=True).text == "on Monday (2026-11-16)"
    assert resolve("в понедельник", SATURDAY, past=True).text == "в понедельник (2026-11-16)"


@pytest.mark.parametrize(
    ("text", "day"), [("我周五见了彼得。", "2026-11-20"), ("周五去看了牙医。", "2026-11-20"), ("周五要去看牙医。", "2026-11-27"), ("我周五得去看牙医。", "2026-11-27")]
)
def test_a_weekday_of_a_plan_is_the_coming_one_and_of_a_report_the_last_one(text, day):
    (draft,) = LearnedExtractor().extract(owner_says(text))
    assert f"周五 ({day})" in draft.content


@pytest.mark.parametrize("text", ["valid until Friday", "действует до пятницы", "有效期到周五"])
def test_until_ends_what_holds(text):
    until = resolve(text, SATURDAY).valid_to
    assert until is not None
    assert until.date() in (date(2026, 11, 27), date(2026, 11, 20))


@given(st.text(max_size=100), st.datetimes(datetime(1, 2, 1), datetime(9998, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_any_text_at_any_time_is_taken(text, at):
    assert resolve(text, at).text.startswith(text[:0])


WORDS = st.sampled_from(
    [
        "tomorrow",
        "in 9 years",
        "next Friday",
        "3 March",
        "завтра",
        "через 5 дней",
        "下周三",
        "2月30日",
        "31 February",
        "500 weeks ago",
        " ",
        "on Monday",
    ]
)


@given(st.lists(WORDS, max_size=6).map(" ".join), st.integers(0, 3_000))
def test_writing_days_adds_and_removes_nothing_else(text, days):
    told = resolve(text, SATURDAY + timedelta(days=days))
    bare = told.text
    for span in told.spans:
        bare = bare.replace(f" ({written(span)})", "", 1)
    assert bare == text
    assert names_day(text) or not told.spans
