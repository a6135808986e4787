"""A question that names days and asks for nothing else brings what is of them, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.model import Gem, Kind, Origin, Period, Query, Scope, Session, Turn, Utterance, Wanted
from openclaw_neuralstream.recall.days import asks_decisions, coming, only_days
from openclaw_neuralstream.recall.query import understand
from tests.recall.worlds import World, texts, whys, world
from tests.values import MAIN, NOW, gem

OTHER = Scope("other")


def on(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T12:00:00+00:00")


def of(day: str, name: str, text: str, importance: float = 0.5, **fields: object) -> Gem:
    return gem(name, text, valid_from=on(day), importance=importance, **fields)


MARCH = (
    of("2026-03-02", "roof", "The roof was repaired by the carpenters.", 0.6),
    of("2026-03-09", "vlad", "Владимир получил диплом.", 0.7),
    of("2026-03-17", "tea", "奶奶收到了新的茶壶。", 0.4),
    of("2026-03-28", "boat", "The boat was sold to a neighbour.", 0.9),
)
MAY = (
    of("2026-05-04", "piano", "A piano teacher was found.", 0.5),
    of("2026-05-20", "fence", "Забор покрасили в зелёный цвет.", 0.6),
)
LAST_WEEK = (
    of("2026-11-10", "cellar", "We decided to rent out the cellar.", 0.5, kind=Kind.DECISION),
    of("2026-11-12", "snow", "The first snow fell and the car would not start.", 0.9),
)
YESTERDAY = (of("2026-11-20", "dentist", "The dentist pulled a tooth.", 0.6),)
APRIL_TOLD_OF_MARCH = of("2026-04-10", "oslo", "On 14 March 2026 the parcel from Oslo was lost.", 0.5)
STANDING = of("2025-01-01", "port", "The database listens on port 5433.", 0.9)
FORGED = replace(of("2026-03-05", "theirs", "A secret of March.", 1.0), scope=OTHER)
GONE = (
    of("2026-11-17", "old-price", "The rent of the cellar is 200.", 0.9, superseded_by="new-price"),
    of("2026-11-18", "new-price", "The rent of the cellar is 250.", 0.3),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(Path(tmp_path_factory.mktemp("days"))) as made:
        made.learn(*MARCH, *MAY, *LAST_WEEK, *YESTERDAY, APRIL_TOLD_OF_MARCH, STANDING, FORGED)
        yield made


def ids(memory: World, text: str, **more: object) -> list[str]:
    return [record.id for record in memory.ask(text, **more).records]


@pytest.mark.parametrize(
    "question",
    [
        "What happened in March?",
        "what did we talk about in March",
        "Tell me what happened in March 2026",
        "Summarise what happened in March",
        "Что было в марте?",
        "О чём мы говорили в марте?",
        "Что случилось в марте 2026 года?",
        "三月发生了什么？",
        "我们三月聊了些什么？",
        "三月份都做了哪些事情？",
    ],
)
def test_what_is_of_the_days_comes_as_it_happened_whatever_its_language(memory: World, question: str) -> None:
    assert ids(memory, question) == ["roof", "vlad", "oslo", "tea", "boat"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did we do yesterday?", ["dentist"]),
        ("Что мы обсуждали вчера?", ["dentist"]),
        ("昨天我们聊了什么？", ["dentist"]),
        ("What happened last week?", ["cellar", "snow"]),
        ("Что произошло на прошлой неделе?", ["cellar", "snow"]),
        ("上周发生了什么?", ["cellar", "snow"]),
        ("What happened in May?", ["piano", "fence"]),
        ("Что было в мае?", ["piano", "fence"]),
        ("五月发生了什么？", ["piano", "fence"]),
        ("What's new this week?", ["dentist"]),
        ("Что было на этой неделе?", ["dentist"]),
        ("На этой неделе что было?", ["dentist"]),
        ("这个星期发生了什么事？", ["dentist"]),
        ("What's new today?", []),
        ("Что нового сегодня?", []),
        ("今天有什么新鲜事？", []),
        ("What happened in July?", []),
        ("Что было в июле?", []),
        ("七月发生了什么？", []),
    ],
)
def test_only_what_is_of_the_days_is_an_answer(memory: World, question: str, expected: list[str]) -> None:
    assert ids(memory, question) == expected


@pytest.mark.parametrize(
    "question", ["What did we decide last week?", "Что мы решили на прошлой неделе?", "上周我们决定了什么？"]
)
def test_decisions_come_first_where_they_are_asked_for(memory: World, question: str) -> None:
    assert ids(memory, question, limit=1) == ["cellar"]
    assert ids(memory, "What happened last week?", limit=1) == ["snow"]


def test_what_stays_out_stays_out(memory: World) -> None:
    assert ids(memory, "What happened in March?", scope=OTHER) == ["theirs"]
    window = memory.ask("What happened in March?", window_text="user: The boat was sold to a neighbour.")
    assert "boat" not in [record.id for record in window.records]
    assert whys(window)["boat"] == "in-window"


def test_what_was_replaced_is_told_of_past_days_alone_and_says_so(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        made.learn(*GONE)
        assert ids(made, "What happened this week?") == ["new-price"]
        then = made.ask("What happened on 17 November?").records
        assert [(record.id, record.outdated) for record in then] == [("old-price", "superseded")]


@pytest.mark.parametrize("question", ["What happened in March?", "Что было в марте?", "三月发生了什么？"])
def test_what_was_replaced_in_those_very_days_is_told_where_it_is_asked_for_alone(
    tmp_path: Path, question: str
) -> None:
    with world(tmp_path) as made:
        made.learn(
            of("2026-03-04", "old-desk", "The desk stands in the hall.", superseded_by="desk"),
            of("2026-03-06", "desk", "The desk stands in the study."),
        )
        assert ids(made, question) == ["desk"]
        assert set(ids(made, question, wanted=Wanted(superseded=True))) == {"desk", "old-desk"}


def test_what_has_expired_or_is_forgotten_is_not_told(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        made.learn(
            of("2026-11-20", "offer", "An offer for two hours only.", valid_to=NOW - timedelta(hours=20)), *YESTERDAY
        )
        assert ids(made, "What happened this week?") == ["dentist"]
        made.truth.erasing.erase(["dentist"], [], {}, NOW)
        assert ids(made, "What happened this week?") == []


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("I went to Lisbon in March.", "What happened in March?"),
        ("Я ездил в Лиссабон в марте.", "Что было в марте?"),
        ("三月我去了里斯本。", "三月发生了什么？"),
        ("We move to Bern in December.", "What happens in December?"),
        ("В декабре мы переезжаем в Берн.", "Что будет в декабре?"),
        ("十二月我们要搬到伯尔尼。", "十二月有什么安排？"),
        ("On Friday I am seeing the dentist.", "What do I have on Friday?"),
        ("В пятницу иду к стоматологу.", "Что у меня в пятницу?"),
        ("周五要去看牙医。", "周五我有什么安排？"),
    ],
)
def test_what_tells_of_the_days_is_of_them_whenever_it_was_said(tmp_path: Path, said: str, question: str) -> None:
    with world(tmp_path) as made:
        made.learn(of("2026-11-21", "told", said), of("2026-11-18", "other", "The bakery has a new owner."))
        assert ids(made, question) == ["told"]


@pytest.mark.parametrize(
    ("question", "met"),
    [
        ("Who did I meet this week?", "peter"), ("Who did I meet on Thursday?", "peter"), ("Кого я встретил на этой неделе?", "pavel"),
        ("Кого я встретил в четверг?", "pavel"), ("我这周见了谁？", "peng"), ("我周四见了谁？", "peng"),
    ],
)  # fmt: skip
def test_whom_one_met_in_those_days_comes_before_whom_one_met_at_another_time(
    tmp_path: Path, question: str, met: str
) -> None:
    with world(tmp_path) as made:
        made.learn(
            of("2026-11-19", "peter", "I met Peter at the fair."), of("2026-10-02", "anna", "I met Anna in the library."),
            of("2026-11-19", "pavel", "Я встретил Павла на ярмарке."), of("2026-10-03", "oksana", "Я встретил Оксану в библиотеке."),
            of("2026-11-19", "peng", "我见了彭老师。"), of("2026-10-04", "wang", "我见了王医生。"),
            of("2026-11-17", "boat", "The boat was repaired."), of("2026-11-17", "tea", "奶奶收到了新的茶壶。"),
        )  # fmt: skip
        assert ids(made, question)[:1] == [met]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What happened today?", "What did we talk about today?"),
        ("Что было сегодня?", "О чём мы говорили сегодня?"),
        ("今天发生了什么？", "今天我们聊了什么？"),
    ],
)
def test_what_was_only_said_today_of_another_day_did_not_happen_today(tmp_path: Path, question: str, said: str) -> None:
    with world(tmp_path) as made:
        made.learn(
            of("2026-11-21", "flight", "Flight to Porto on 12 March."),
            of("2026-11-21", "booked", "Booked a hotel for 14 May."),
            of("2026-11-21", "lease", "The lease was signed at the notary."),
            of("2026-11-21", "past", "Anna went to Rome in June."),
        )
        assert set(ids(made, question)) == {"lease", "booked"}
        assert set(ids(made, said)) == {"lease", "booked", "flight", "past"}


def test_explain_tells_the_signal_and_who_found_it(memory: World) -> None:
    found = memory.ask("What happened in March?")
    assert (found.understood["only_days"], found.understood["days"]) == (True, "2026-03-01/2026-03-31")
    assert found.shape == "timeline"
    factors = {record.id: record.factors for record in found.records}
    assert factors["boat"]["day"] > factors["tea"]["day"]
    assert {one["time"] for one in factors.values()} == {1.0}
    assert found.ranks["boat"] == {"days": 1}


def test_a_busy_day_leaves_room_for_the_others(tmp_path: Path) -> None:
    topics = [
        "tax",
        "wine",
        "garden",
        "dog",
        "choir",
        "bridge",
        "oven",
        "violin",
        "tent",
        "ladder",
        "rope",
        "candle",
        "pump",
        "anchor",
        "brush",
        "kettle",
    ]
    with world(tmp_path) as made:
        busy = [
            of("2026-03-03", f"b{n}", f"News of the {word}: it is {word} number {n}.", 0.7)
            for n, word in enumerate(topics)
        ]
        quiet = [
            of(f"2026-03-{day}", f"q{day}", f"Day {day}: a letter from number {day}.", 0.5) for day in (12, 19, 26)
        ]
        made.learn(*busy, *quiet)
        assert {"q12", "q19", "q26"} <= set(ids(made, "What happened in March?", limit=8))


def test_days_that_a_person_gives_beside_the_question_count_alike(memory: World) -> None:
    wanted = Wanted(period=Period(date(2026, 3, 1), date(2026, 3, 31)))
    assert set(ids(memory, "What happened?", wanted=wanted, everything=True)) == {"roof", "vlad", "tea", "boat"}


# --- verbatim turns -------------------------------------------------------------------------------------------------------


def said(number: int, at: datetime, text: str, *, agent: str = "main") -> Turn:
    session = Session(agent, f"agent:{agent}:main", "host-1")
    return Turn(
        f"t{number}", Scope(agent), session, at, (Utterance("owner", Origin.OWNER, text, at),), run_id=f"r{number}"
    )


@pytest.mark.parametrize(
    ("told", "other", "question"),
    [
        ("Today I met Li Lei.", "I met doctor Wang.", "Who did I meet on Thursday?"),
        ("Сегодня я встретил Ли Лэя.", "Я встретил доктора Вана.", "Кого я встретил в четверг?"),
        ("今天我见了李雷。", "我见了王医生。", "我周四见了谁？"),
    ],
)  # fmt: skip
def test_a_turn_of_the_day_that_is_asked_for_need_not_name_it_as_the_question_does(
    tmp_path: Path, told: str, other: str, question: str
) -> None:
    """The day is two thirds of the question's words, and "today" is none of them."""
    with world(tmp_path) as made:
        made.hear(said(1, NOW - timedelta(days=2), told), said(2, NOW - timedelta(days=40), other))
        assert texts(made.ask(question, turns=True))[:1] == [told]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who did I meet on Thursday?", "Yesterday I met Li Lei."),
        ("Who did I meet on Thursday?", "I want to meet Li Lei tomorrow."),
        ("Who did I meet on Thursday?", "Remind me to meet the plumber on Saturday."),
        ("Who did I meet on Thursday?", "My sister met Boris at the station last week."),
        ("Кого я встретил в четверг?", "Вчера я встретил Ли Лэя."),
        ("Кого я встретил в четверг?", "Завтра я встречу Ли Лэя."),
        ("我周四见了谁？", "昨天我见了李雷。"),
        ("我周四见了谁？", "我明天要见李雷。"),
        ("我周四买了什么？", "我下个月想买沙发。"),
    ],
)
def test_what_was_only_said_on_that_day_of_another_one_is_less_relevant_than_what_was_said_of_it(
    tmp_path: Path, question: str, told: str
) -> None:
    with world(tmp_path) as made:
        made.hear(
            said(1, NOW - timedelta(days=2), told),
            said(2, NOW - timedelta(days=2), "Today I met doctor Wang. Сегодня я встретил доктора. 今天我见了王医生。"),
            said(3, NOW - timedelta(days=2), "今天我买了茶。"),
        )
        found = {one.text: one.factors["relevance"] for one in made.ask(question, turns=True).records}
        assert found.pop(told, 0) < max(found.values())


@pytest.mark.parametrize(
    "question", ["What did we talk about yesterday?", "О чём мы говорили вчера?", "昨天我们聊了什么？"]
)
def test_turns_of_the_days_come_as_they_were_said(tmp_path: Path, question: str) -> None:
    morning, evening = NOW - timedelta(days=1), NOW - timedelta(hours=12)
    with world(tmp_path) as made:
        made.hear(
            said(1, evening, "The concert in the old church was wonderful."),
            said(2, morning, "My bicycle has a flat tyre again."),
            said(3, NOW - timedelta(days=9), "The lawn was mown for the last time."),
            said(4, morning, "Nobody else may read this.", agent="other"),
        )
        assert texts(made.ask(question, turns=True)) == [
            "My bicycle has a flat tyre again.",
            "The concert in the old church was wonderful.",
        ]


@pytest.mark.parametrize("question", ["What happened yesterday?", "Что было вчера?", "昨天发生了什么？"])
def test_a_bare_acknowledgement_is_no_event(tmp_path: Path, question: str) -> None:
    bare = (
        "Noted.",
        "Great name.",
        "OK.",
        "Понятно.",
        "Записал!",
        "Отличное имя.",
        "好的",
        "记住了。",
        "好名字！",
        "Thanks, noted.",
        "And you?",
    )
    bare += (
        "Have fun.",
        "Safe travels.",
        "Oh, nice.",
        "Updated.",
        "Удачи.",
        "Приятной поездки!",
        "Исправил.",
        "已更正。",
        "祝你玩得开心！",
    )
    told = ("Snow fell.", "Кот чихнул.", "下雪了。")
    with world(tmp_path) as made:
        made.hear(
            *(said(n, NOW - timedelta(hours=30) + timedelta(minutes=n), text) for n, text in enumerate((*bare, *told)))
        )
        assert sorted(texts(made.ask(question, turns=True, limit=20))) == sorted(told)


def test_turns_of_a_long_time_come_from_all_of_it(tmp_path: Path) -> None:
    with world(tmp_path) as made:
        first = datetime(2026, 3, 1, 8, tzinfo=UTC)
        made.hear(
            *(
                said(n, first + timedelta(hours=8 * n), f"Entry {n} of the log book is about stop {n}.")
                for n in range(90)
            )
        )
        days = {record.at.date() for record in made.ask("What happened in March?", turns=True, limit=12).records}
        assert len(days) >= 10
        assert max(days) - min(days) >= timedelta(days=20)


# --- the words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rest",
    [
        "What happened?", "what did we talk about", "Anything new?", "what did I work on", "What else did we discuss?", "what's new?", "What is planned?",
        "Что было?", "О чём мы говорили?", "Что нового?", "Чем мы занимались?", "Какие были события?", "Что будет?", "Какие у меня планы?",
        "发生了什么？", "我们聊了什么？", "做了什么事情？", "有什么新鲜事？", "讨论过哪些话题？", "会发生什么？", "我有什么安排？",
    ],
)  # fmt: skip
def test_words_that_ask_what_there_was_ask_for_nothing_else(rest: str) -> None:
    assert only_days(rest)


@pytest.mark.parametrize(
    "rest",
    [
        "What did Mia eat?", "Where did we go?", "Who came?", "What day is it?", "What happened to the car?", "How was it?", "What is the weather",
        "Что ел Миша?", "Куда мы ездили?", "Кто приходил?", "Какой день?", "Что случилось с машиной?", "Какая погода?",
        "米娅吃了什么？", "我们去了哪里？", "谁来了？", "星期几？", "车怎么了？", "天气怎么样？", "", "…", "12",
    ],
)  # fmt: skip
def test_any_other_word_is_asked_for(rest: str) -> None:
    assert not only_days(rest)


@given(st.text(max_size=60))
def test_any_text_is_one_or_the_other(rest: str) -> None:
    assert only_days(f"{rest} Mia") is False
    assert isinstance(only_days(rest), bool)
    assert isinstance(asks_decisions(rest), bool)


@pytest.mark.parametrize("heading", ["upcoming events", "предстоящие события", "接下来的日程"])
def test_a_heading_of_what_is_to_come_asks_for_it(heading: str) -> None:
    assert (only := understand(Query(heading, MAIN, NOW), dialogue_turns=0).only) is not None
    assert only.start == NOW.date() + timedelta(1)


@pytest.mark.parametrize(
    "text",
    [
        "and last week?", "What did she say yesterday?", "It happened yesterday.", "I worked yesterday", "The events are coming up.",
        "Upcoming events bore me.", "События предстоят.", "我很期待接下来的日程",
    ],
)  # fmt: skip
def test_what_leans_or_states_asks_for_no_days(text: str) -> None:
    assert understand(Query(text, MAIN, NOW), dialogue_turns=0).only is None


@pytest.mark.parametrize(
    "question",
    [
        "List the upcoming events by date",
        "What is coming up?",
        "What lies ahead of us?",
        "Расположи предстоящие события по порядку дат.",
        "Что мне предстоит?",
        "接下来的日程里，哪件事在先，哪件在后？",
        "接下来有什么安排？",
        "what are my plans?",
        "Do I have any plans?",
        "какие у меня планы?",
        "что у меня запланировано?",
        "我有什么计划？",
    ],
)
def test_what_is_to_come_is_a_question_of_the_days_after_today(question: str) -> None:
    asked = coming(question, date(2026, 4, 20))
    assert asked is not None
    assert (asked.start, asked.end) == (date(2026, 4, 21), None)
    assert only_days(asked.rest)


@pytest.mark.parametrize(
    "question",
    [
        "what's next week?", "anything next week?", "что на следующей неделе?", "下周有什么？", "what are my plans?", "какие у меня планы?",
        "что у меня запланировано?", "我有什么计划？", "what do I do on 26 November?", "что я делаю 26 ноября?", "11月26日我做什么？",
    ],
)  # fmt: skip
def test_plans_are_found_by_the_plainest_question(tmp_path: Path, question: str) -> None:
    with world(tmp_path) as made:
        made.learn(
            of("2026-11-18", "other", "The bakery has a new owner."),
            of("2026-11-18", "trip", "The trip to the lake was moved to 26 November."),
        )
        assert ids(made, question) == ["trip"]


def test_what_else_is_asked_of_what_is_to_come_stays_asked() -> None:
    asked = coming("Put our coming shows into the order of their dates.", date(2026, 4, 20))
    assert asked is not None
    assert "shows" in asked.rest
    assert not only_days(asked.rest)


@pytest.mark.parametrize(
    "question",
    ["Which plans do I have for March?", "Where does the noise come from?", "他接下来说了什么？", "接下来做什么？", "Что было раньше?",
     "what are my plans for the garden?", "какие у меня планы на сад?", "我的花园计划是什么？", "what were my plans?", "What did we plan?",
     "what's the plan?", "Do you remember our plans?", "我计划了什么？"],
)  # fmt: skip
def test_other_questions_are_not_of_what_is_to_come(question: str) -> None:
    assert coming(question, date(2026, 4, 20)) is None
