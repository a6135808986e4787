"""A day or month without a year: what is said of it tells whether it was or is to come, and every room reads it alike."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from openclaw_neuralstream.extract.rules.dates import resolve
from openclaw_neuralstream.text.when import dates_in, period

SAID = date(2026, 11, 22)  # a Sunday
AT = datetime(2026, 11, 22, 12, tzinfo=UTC)

DAYS = [
    # English, to come
    ("I called the plumber, he comes on 30 November.", "2026-11-30"),
    ("I talked to Anna, she is coming on 3 December.", "2026-12-03"),
    ("I talked to Anna and she comes on 3 December.", "2026-12-03"),
    ("I had a check-up and my next appointment is on 8 December.", "2026-12-08"),
    ("The launch slipped from 2 December to 11 December.", "2026-12-11"),
    ("heron 2.4 moved from 3 December to 10 December", "2026-12-10"),
    ("The release of heron 2.4 moved from 3 December to 10 December because of the certification.", "2026-12-10"),
    ("We signed the contract that starts on 1 January.", "2027-01-01"),
    ("He told me the exam is on 15 December.", "2026-12-15"),
    ("I booked the dentist on 5 December.", "2026-12-05"),
    ("I bought tickets to Rome for 9 March.", "2027-03-09"),
    ("Anna invited us for 24 December.", "2026-12-24"),
    ("I went to the vet with Pixel, she has a chipped tooth and needs surgery on 1 December.", "2026-12-01"),
    ("She comes on 24 December.", "2026-12-24"),
    ("Dinner with Anna, 5 December", "2026-12-05"),
    ("He asked me to come on 12 December.", "2026-12-12"),
    # Russian, to come
    ("Врач сказал прийти 8 декабря.", "2026-12-08"),
    ("Я звонил маме, она приедет 7 декабря.", "2026-12-07"),
    ("Я купил билеты на 9 декабря.", "2026-12-09"),
    ("Я забронировал столик на 12 декабря.", "2026-12-12"),
    ("Я записался к врачу 5 декабря.", "2026-12-05"),
    ("Релиз перенесли с 3 декабря на 10 декабря.", "2026-12-10"),
    ("Анна пригласила нас на 24 декабря.", "2026-12-24"),
    ("Я говорил с сантехником, он придёт 30 ноября.", "2026-11-30"),
    # Chinese, to come
    ("我预约了12月5日的牙医。", "2026-12-05"),
    ("我12月5日预约了牙医。", "2026-12-05"),
    ("我买了12月20日去上海的机票。", "2026-12-20"),
    ("我买了去上海的机票,12月20日出发。", "2026-12-20"),
    ("我和妈妈说好了，她12月24日来。", "2026-12-24"),
    ("她12月24日来", "2026-12-24"),
    ("发布会从12月3日推迟到12月10日了。", "2026-12-10"),
    ("安娜邀请了我们12月24日去她家。", "2026-12-24"),
    # what was, stays behind
    ("I went to Rome on 5 December.", "2025-12-05"),
    ("On 5 December, I went to Rome.", "2025-12-05"),
    ("On 5 December we signed the contract.", "2025-12-05"),
    ("I called Anna, she was in Rome on 5 December.", "2025-12-05"),
    ("I sold the boat on 15 October and I will buy a car.", "2026-10-15"),
    ("I booked the hotel on 5 October.", "2026-10-05"),
    ("We moved to Berlin on 5 December.", "2025-12-05"),
    ("The man that I met on 5 December was kind.", "2025-12-05"),
    ("He asked me to come on 12 October.", "2026-10-12"),
    ("Врач сказал прийти 8 октября.", "2026-10-08"),
    ("Я ездил в Рим 5 декабря.", "2025-12-05"),
    ("5 декабря мы подписали договор.", "2025-12-05"),
    ("Я записался к врачу 5 октября.", "2026-10-05"),
    ("我12月5日去了罗马。", "2025-12-05"),
    ("12月5日，我去了罗马。", "2025-12-05"),
    ("我10月5日预约了牙医。", "2026-10-05"),
]


@pytest.mark.parametrize(("text", "day"), DAYS)
def test_a_day_without_a_year_is_read_alike_where_it_is_written_out_and_where_it_is_filed(text: str, day: str) -> None:
    assert dates_in(text, SAID) == (date.fromisoformat(day),) * 2
    told = resolve(text, AT)
    assert f"({day})" in told.text
    assert dates_in(told.text, SAID) == (date.fromisoformat(day),) * 2


@pytest.mark.parametrize(
    "text",
    [
        "The launch slipped from 2 December to 11 December.",
        "Релиз перенесли со 2 декабря на 11 декабря",
        "会议从12月2日改到12月11日",
    ],
)
def test_what_a_day_is_moved_from_is_of_the_same_time(text: str) -> None:
    assert "(2026-12-02)" in resolve(text, AT).text
    assert "(2026-12-11)" in resolve(text, AT).text


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I called the plumber, he comes on Friday.", "2026-11-27"),
        ("Я звонил сантехнику, он придёт в пятницу.", "2026-11-27"),
        ("我给水管工打了电话，他周五来。", "2026-11-27"),
        ("The meeting was moved to Friday.", "2026-11-27"),
        ("I saw the plumber on Friday, he will call.", "2026-11-20"),
        ("Я видел сантехника в пятницу, он позвонит.", "2026-11-20"),
        ("我周五见了水管工，他会打电话。", "2026-11-20"),
    ],
)
def test_a_weekday_has_the_tense_of_its_clause(text: str, day: str) -> None:
    assert f"({day})" in resolve(text, AT).text
    assert dates_in(resolve(text, AT).text, SAID) == (date.fromisoformat(day),) * 2


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Летом мы хотим поехать на Сааремаа.", "2027-06-01"),
        ("In the summer we want to go to Saaremaa, we are planning it.", "2027-06-01"),
        ("We are going to Saaremaa next summer.", "2027-06-01"),
        ("夏天我们打算去三亚。", "2027-06-01"),
        ("夏天我们想去三亚。", "2027-06-01"),
        ("In winter we are going to Lapland.", "2026-12-01"),
        ("Зимой поедем в Лапландию.", "2026-12-01"),
        ("Летом мы ездили на Сааремаа.", "2026-06-01"),
        ("In the summer we went to Saaremaa.", "2026-06-01"),
        ("Зимой мы ездили в Лапландию.", "2025-12-01"),
        ("I talked to Anna, she comes in December.", "2026-12-01"),
        ("Я говорил с Анной, она приедет в декабре.", "2026-12-01"),
        ("我和安娜说好了，她十二月来。", "2026-12-01"),
        ("Anna came in December.", "2025-12-01"),
        ("Анна приезжала в декабре.", "2025-12-01"),
        ("安娜十二月来过。", "2025-12-01"),
    ],
)
def test_a_month_or_season_has_the_tense_of_its_clause(text: str, first: str) -> None:
    found = dates_in(text, SAID)
    assert found
    assert found[0] == date.fromisoformat(first)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What did we plan for December?", "2026-12-01"),
        ("What have we booked for December?", "2026-12-01"),
        ("What happens in December?", "2026-12-01"),
        ("Что мы планировали на декабрь?", "2026-12-01"),
        ("我们十二月计划了什么？", "2026-12-01"),
        ("What did we plan for October?", "2026-10-01"),
        ("What did we do in December?", "2025-12-01"),
        ("What did we plan in December?", "2025-12-01"),
        ("Что мы делали в декабре?", "2025-12-01"),
        ("我们十二月做了什么？", "2025-12-01"),
    ],
)
def test_a_question_of_plans_is_of_the_nearest_such_days(question: str, first: str) -> None:
    asked = period(question, SAID)
    assert asked
    assert asked.start == date.fromisoformat(first)


@pytest.mark.parametrize(
    ("said", "text", "day"),
    [
        (date(2026, 11, 29), "We met on 30 November", "2025-11-30"),
        (date(2026, 11, 30), "We will meet on 29 November", "2027-11-29"),
        (date(2026, 11, 30), "We will meet on 30 November", "2026-11-30"),
        (date(2027, 1, 3), "We met on 30 December", "2026-12-30"),
    ],
)
def test_the_last_days_of_a_month_are_told_apart(said: date, text: str, day: str) -> None:
    assert dates_in(text, said) == (date.fromisoformat(day),) * 2
