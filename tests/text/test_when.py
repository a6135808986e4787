"""Days that a text names, in three languages: since, until, around, between; any text is taken."""

from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openclaw_neuralstream.model import Period
from openclaw_neuralstream.text.when import dates_in, held_in, option, period
from openclaw_neuralstream.text.when.mentions import mentions, worth_reading

TODAY = date(2026, 11, 21)  # a Saturday

QUESTIONS = [
    ("what happened around 27 November?", (2025, 11, 24), (2025, 11, 30)),
    ("что изменилось с прошлой недели", (2026, 11, 9), (2026, 11, 21)),
    ("since last week", (2026, 11, 9), (2026, 11, 21)),
    ("上周以来有什么变化", (2026, 11, 9), (2026, 11, 21)),
    ("what did we do yesterday?", (2026, 11, 20), (2026, 11, 20)),
    ("что было вчера", (2026, 11, 20), (2026, 11, 20)),
    ("昨天做了什么", (2026, 11, 20), (2026, 11, 20)),
    ("三月发生了什么？", (2026, 3, 1), (2026, 3, 31)),
    ("去年十月我们去了哪里", (2025, 10, 1), (2025, 10, 31)),
    ("去年10月", (2025, 10, 1), (2025, 10, 31)),
    ("2025年十二月做了什么", (2025, 12, 1), (2025, 12, 31)),
    ("where did we go in October last year?", (2025, 10, 1), (2025, 10, 31)),
    ("куда мы ездили в октябре прошлого года?", (2025, 10, 1), (2025, 10, 31)),
    ("what did I say in March", (2026, 3, 1), (2026, 3, 31)),
    ("в мае 2025", (2025, 5, 1), (2025, 5, 31)),
    ("2025年11月的会议", (2025, 11, 1), (2025, 11, 30)),
    ("last summer", (2026, 6, 1), (2026, 8, 31)),
    ("прошлым летом", (2026, 6, 1), (2026, 8, 31)),
    ("去年夏天", (2025, 6, 1), (2025, 8, 31)),
    ("between March and May 2025", (2025, 3, 1), (2025, 5, 31)),
    ("from 3 March to 5 April", (2026, 3, 3), (2026, 4, 5)),
    ("с 3 по 5 мая", (2026, 5, 3), (2026, 5, 5)),
    ("从3月到5月", (2026, 3, 1), (2026, 5, 31)),
    ("за последние 3 дня", (2026, 11, 18), (2026, 11, 21)),
    ("最近三天", (2026, 11, 18), (2026, 11, 21)),
    ("two weeks ago", (2026, 11, 2), (2026, 11, 8)),
    ("три дня назад", (2026, 11, 18), (2026, 11, 18)),
    ("两周前", (2026, 11, 2), (2026, 11, 8)),
    ("since Monday", (2026, 11, 16), (2026, 11, 21)),
    ("上周五", (2026, 11, 13), (2026, 11, 13)),
    ("11月27日前后", (2025, 11, 24), (2025, 11, 30)),
    ("after 5 May 2025", (2025, 5, 6), (2026, 11, 21)),
    ("в прошлом году", (2025, 1, 1), (2025, 12, 31)),
    ("what happens in December?", (2026, 12, 1), (2026, 12, 31)),
    ("what is planned for March?", (2027, 3, 1), (2027, 3, 31)),
    ("что будет в декабре?", (2026, 12, 1), (2026, 12, 31)),
    ("十二月有什么安排？", (2026, 12, 1), (2026, 12, 31)),
    ("what will happen in November?", (2026, 11, 1), (2026, 11, 30)),
    ("what happened in December?", (2025, 12, 1), (2025, 12, 31)),
    ("что было в декабре?", (2025, 12, 1), (2025, 12, 31)),
    ("十二月发生了什么？", (2025, 12, 1), (2025, 12, 31)),
    ("what did I say of the plans for May?", (2026, 5, 1), (2026, 5, 31)),
    ("what do I have on Friday?", (2026, 11, 27), (2026, 11, 27)),
    ("что у меня в пятницу?", (2026, 11, 27), (2026, 11, 27)),
    ("周五我有什么安排？", (2026, 11, 27), (2026, 11, 27)),
    ("who did I meet on Friday?", (2026, 11, 20), (2026, 11, 20)),
    ("кого я встретил в пятницу?", (2026, 11, 20), (2026, 11, 20)),
    ("我周五见了谁？", (2026, 11, 20), (2026, 11, 20)),
    ("先週", (2026, 11, 9), (2026, 11, 15)),
]


@pytest.mark.parametrize(("question", "first", "last"), QUESTIONS)
def test_a_question_says_its_days(question: str, first: tuple[int, int, int], last: tuple[int, int, int]) -> None:
    found = period(question, TODAY)
    assert found is not None
    assert (found.start, found.end) == (date(*first), date(*last))


@pytest.mark.parametrize(
    "text",
    ["what does Peter prefer?", "I may go", "march on", "port 8080", "Маша и Сентябрина", "这个周边很好", "明白了"],
)
def test_a_question_without_days_names_none(text: str) -> None:
    assert period(text, TODAY) is None


def test_before_leaves_the_start_open() -> None:
    assert period("before June", TODAY) == Period(None, date(2026, 5, 31), "")
    assert period("до 5 мая", TODAY) == Period(None, date(2026, 5, 4), "")


def test_what_is_left_of_the_question_is_its_subject() -> None:
    found = period("what did Anna cook around 27 November?", TODAY)
    assert found is not None
    assert found.rest == "what did Anna cook ?"


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [
        ("30d", (2026, 10, 22), (2026, 11, 21)),
        ("2w", (2026, 11, 7), (2026, 11, 21)),
        ("6m", (2026, 5, 21), (2026, 11, 21)),
        ("1y", (2025, 11, 21), (2026, 11, 21)),
        ("30 дней", (2026, 10, 22), (2026, 11, 21)),
        ("30天", (2026, 10, 22), (2026, 11, 21)),
        ("2025-11", (2025, 11, 1), (2025, 11, 30)),
        ("2025", (2025, 1, 1), (2025, 12, 31)),
        ("2025-11-27", (2025, 11, 27), (2025, 11, 27)),
        ("last week", (2026, 11, 9), (2026, 11, 15)),
    ],
)
def test_an_option_takes_durations_dates_and_words(
    typed: str, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    assert option(typed, TODAY) == Period(date(*first), date(*last))


@pytest.mark.parametrize("typed", ["", "soon", "99999y", "in the garden", "27th of nothing"])
def test_what_is_no_time_is_refused(typed: str) -> None:
    assert option(typed, TODAY) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("Currently in Marrakech (27 Nov – 1 Dec 2025)", (2025, 11, 27), (2025, 12, 1)),
        ("Nov 27 - Dec 1, 2025", (2025, 11, 27), (2025, 12, 1)),
        ("27 ноября – 1 декабря 2025 г.", (2025, 11, 27), (2025, 12, 1)),
        ("27-29 ноября 2025", (2025, 11, 27), (2025, 11, 29)),
        ("11月27日至12月1日", (2025, 11, 27), (2025, 12, 1)),
        ("2025年11月27日至29日", (2025, 11, 27), (2025, 11, 29)),
        ("28 Dec - 3 Jan", (2025, 12, 28), (2026, 1, 3)),
        ("3.5.2024", (2024, 5, 3), (2024, 5, 3)),
    ],
)
def test_a_range_in_a_text_is_read(text: str, first: tuple[int, int, int], last: tuple[int, int, int]) -> None:
    assert dates_in(text, date(2025, 11, 28)) == (date(*first), date(*last))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("I went to Lisbon in March.", (2026, 3, 1), (2026, 3, 31)),
        ("Я ездил в Лиссабон в марте.", (2026, 3, 1), (2026, 3, 31)),
        ("三月我去了里斯本。", (2026, 3, 1), (2026, 3, 31)),
        ("I am going to Lisbon in March.", (2027, 3, 1), (2027, 3, 31)),
        ("В июне буду в Лиссабоне.", (2027, 6, 1), (2027, 6, 30)),
        ("六月我要去里斯本。", (2027, 6, 1), (2027, 6, 30)),
        ("On Friday I am seeing the dentist.", (2026, 11, 27), (2026, 11, 27)),
        ("В пятницу иду к стоматологу.", (2026, 11, 27), (2026, 11, 27)),
        ("周五要去看牙医。", (2026, 11, 27), (2026, 11, 27)),
        ("I saw the dentist on Friday.", (2026, 11, 20), (2026, 11, 20)),
        ("В пятницу ходил к стоматологу.", (2026, 11, 20), (2026, 11, 20)),
        ("周五去看了牙医。", (2026, 11, 20), (2026, 11, 20)),
        ("I booked a hotel for 14 May.", (2027, 5, 14), (2027, 5, 14)),
        ("Купила билет на 14 мая.", (2027, 5, 14), (2027, 5, 14)),
        ("订了5月14日的酒店。", (2027, 5, 14), (2027, 5, 14)),
        ("In March we booked a hotel.", (2026, 3, 1), (2026, 3, 31)),
        ("三月我订了酒店。", (2026, 3, 1), (2026, 3, 31)),
        ("I sold the boat. The flat is to be painted in March.", (2027, 3, 1), (2027, 3, 31)),
        ("Dentist on Friday (2026-12-04)", (2026, 12, 4), (2026, 12, 4)),
        ("Lives in Malmö since Monday", (2026, 11, 16), (2026, 11, 16)),
        ("The same and " * 50 + "in the end we met on Friday", (2026, 11, 20), (2026, 11, 20)),
        ("We will go, " + "the same and " * 50 + "we met on Friday", (2026, 11, 20), (2026, 11, 20)),
    ],
)
def test_the_tense_of_a_sentence_tells_which_day_is_meant(
    text: str, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    assert dates_in(text, TODAY) == (date(*first), date(*last))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("The dentist appointment was moved to 4 December.", (2026, 12, 4)), ("The exam has been moved to 4 October.", (2027, 10, 4)),
        ("They moved the launch to 4 October.", (2027, 10, 4)), ("It was shifted to 4 October.", (2027, 10, 4)),
        ("The launch was set for 4 October.", (2027, 10, 4)), ("My appointment is on 2 October", (2027, 10, 2)),
        ("Собрание назначили на 4 октября", (2027, 10, 4)), ("Экзамен перенесли на 4 октября", (2027, 10, 4)),
        ("Приём у врача 2 октября", (2027, 10, 2)), ("会议被推迟到10月4日了", (2027, 10, 4)), ("会议定在了10月4日", (2027, 10, 4)),
        ("My passport expires on 3 June", (2027, 6, 3)), ("Паспорт истекает 3 июня", (2027, 6, 3)), ("护照6月3日到期", (2027, 6, 3)),
        ("We decided to open the shop in May", (2027, 5, 1)), ("Мы решили открыть магазин в мае", (2027, 5, 1)),
        ("我们决定七月开店", (2027, 7, 1)), ("We agreed to meet on 3 June", (2027, 6, 3)),
        ("Мы договорились встретиться 3 июня", (2027, 6, 3)), ("Мы планировали отпуск на май", (2027, 5, 1)),
        ("The visa expired on 3 June", (2026, 6, 3)), ("护照6月3日过期了", (2026, 6, 3)), ("We moved to Berlin on 4 June", (2026, 6, 4)),
        ("We moved to Berlin in May", (2026, 5, 1)), ("The contract was set up on 3 June", (2026, 6, 3)),
        ("I decided on 3 June to stop", (2026, 6, 3)), ("In May we decided to open the shop", (2026, 5, 1)),
        ("We agreed to the price in May", (2026, 5, 1)), ("We decided to keep the cat we found in May", (2026, 5, 1)),
        ("В мае мы решили не ехать", (2026, 5, 1)), ("Паспорт истёк 3 июня, его заменили", (2026, 6, 3)),
    ],
)  # fmt: skip
def test_what_is_moved_or_set_or_meant_for_a_day_looks_ahead_of_it(text: str, first: tuple[int, int, int]) -> None:
    found = dates_in(text, TODAY)
    assert found
    assert found[0] == date(*first)


@pytest.mark.parametrize("question", ["what do I do on 5 October?", "what is on 5 October?", "что я делаю 5 октября?", "10月5日我做什么？"])
def test_a_question_of_what_one_does_on_a_day_looks_ahead(question: str) -> None:
    asked = period(question, TODAY)
    assert asked
    assert asked.start == date(2027, 10, 5)


@given(st.dates(date(1950, 1, 1), date(2090, 12, 31)), st.integers(0, 6), st.integers(0, 11))
def test_what_was_lies_behind_and_what_will_be_ahead(today: date, weekday: int, month: int) -> None:
    day = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[weekday]
    name = date(2000, month + 1, 1).strftime("%B")
    for when, was, will in ((f"on {day}", "I met Ann", "I will meet Ann"), (f"in {name}", "We met Ann", "We are going to meet Ann")):
        behind, ahead = dates_in(f"{was} {when}", today), dates_in(f"{will} {when}", today)
        assert behind
        assert behind[0] <= today
        assert ahead
        assert ahead[1] >= today


def test_a_day_without_a_year_needs_a_day_to_stand_on() -> None:
    assert dates_in("27 ноября", None) is None
    assert dates_in("yesterday", None) is None
    assert dates_in("yesterday", date(2025, 11, 28)) == (date(2025, 11, 27), date(2025, 11, 27))


WORDS = st.sampled_from(
    [
        "since",
        "until",
        "around",
        "27",
        "5",
        "Nov",
        "November",
        "2025",
        "last",
        "next",
        "week",
        "month",
        "year",
        "yesterday",
        "с",
        "до",
        "около",
        "прошлой",
        "недели",
        "вчера",
        "мая",
        "года",
        "上周",
        "以来",
        "昨天",
        "11月",
        "27日",
        "年",
        "前",
        "最近",
        "三",
        "天",
        "to",
        "and",
        "–",
        "9999",
        "31",
        "02",
        "00",
        "the",
        "summer",
        "летом",
        "夏天",
        "Monday",
        "пятницу",
    ]
)


@given(st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=60), st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_any_text_on_any_day_is_taken(text: str, today: date) -> None:
    found = period(text, today)
    if found and found.start and found.end:
        assert found.start <= found.end
    option(text, today)
    dates_in(text, today)
    dates_in(text, None)


@given(st.dates(date(1950, 1, 1), date(2090, 12, 31)))
def test_a_date_written_in_full_is_read_back(day: date) -> None:
    months = [
        "января",
        "февраля",
        "марта",
        "апреля",
        "мая",
        "июня",
        "июля",
        "августа",
        "сентября",
        "октября",
        "ноября",
        "декабря",
    ]
    for written in (
        f"{day:%Y-%m-%d}",
        f"{day.day} {day:%B} {day.year}",
        f"{day:%b} {day.day}, {day.year}",
        f"{day.day} {months[day.month - 1]} {day.year} года",
        f"{day.year}年{day.month}月{day.day}日",
        f"{day.day:02}.{day.month:02}.{day.year}",
    ):
        assert dates_in(f"({written})", None) == (day, day), written


@given(st.lists(WORDS, max_size=6).map(" ".join))
@example("since мая")
@example("на May")
def test_the_quick_look_never_hides_a_day(text: str) -> None:
    from unittest.mock import patch

    with patch("openclaw_neuralstream.text.when.mentions.worth_reading", return_value=True):
        thorough = mentions(text, TODAY)
    assert not thorough or worth_reading(text)


@pytest.mark.parametrize(
    "text", ["Lives in Malmö since 2024.", "Живёт в Мальмё с 2024 года", "2024年以来住在马尔默", "从2024年起住在马尔默"]
)
def test_what_holds_since_a_day_has_no_end(text: str) -> None:
    assert held_in(text, date(2026, 11, 18)) == (date(2024, 1, 1), None)


@pytest.mark.parametrize("text", ["In Malmö in 2024.", "В Мальмё в 2024 году", "2024年住在马尔默"])
def test_what_held_in_a_year_has_an_end(text: str) -> None:
    assert held_in(text, date(2026, 11, 18)) == (date(2024, 1, 1), date(2024, 12, 31))


@pytest.mark.parametrize("text", ["五月天的歌", "第三月", "八月十五", "一月一次"])
def test_not_every_number_before_a_moon_is_a_month(text: str) -> None:
    assert period(text, date(2026, 11, 21)) is None
