"""One thing is said once, whichever source it came from: a gem and its turn, a gem and a file's fact, a sequence and its turns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.model import Query, Recall
from openclaw_neuralstream.recall import Candidate, Found, recall
from openclaw_neuralstream.recall.fit import Window
from openclaw_neuralstream.recall.query import understand
from openclaw_neuralstream.recall.rank import diverse, same, saying
from openclaw_neuralstream.recall.source import COVERAGE, MEANING, WORDS
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.text.tokens import FormulaCounter
from tests.recall.worlds import Fixed, ShelfOf, record
from tests.values import MAIN, NOW


def shown(question: str, *items: Found, **query: object) -> Recall:
    """What recall returns when these are found, the first one best."""
    shelf = ShelfOf(*items)
    found = Fixed(
        *(
            Candidate(item.record.id, shelf, signal, 0.9 - 0.02 * place)
            for place, item in enumerate(items)
            for signal in (WORDS, MEANING, COVERAGE)
        )
    )
    query_ = Query(question, MAIN, NOW, **query)  # type: ignore[arg-type]
    return recall(query_, sources=[found], settings=Settings(), counter=FormulaCounter())


def gem(text: str, *turns: str, name: str = "gem") -> Found:
    return Found(record(name, text), frozenset(turns))


def turn(text: str, turn_id: str, *, who: str = "anna", name: str = "turn") -> Found:
    return Found(record(name, text, kind="turn"), frozenset({turn_id}), who=frozenset({who}), verbatim=True)


def fact(text: str) -> Found:
    return Found(record("fact", text, kind="world", citation="memory/2026-03-05.md#L3"))


@pytest.mark.parametrize(
    ("question", "distilled", "verbatim"),
    [
        (
            "When does the staging backup run?",
            "The staging backup runs at 02:00.",
            "By the way, the staging backup runs at 02:00. The NAS was too busy before midnight.",
        ),
        (
            "Когда запускается резервное копирование?",
            "Резервное копирование запускается в 02:00.",
            "Кстати, резервное копирование запускается в 02:00. Раньше было слишком медленно.",
        ),
        ("备份什么时候运行？", "备份在凌晨两点运行。", "对了，备份在凌晨两点运行。之前太慢了。"),
    ],
    ids=["English", "Russian", "Chinese"],
)
@pytest.mark.parametrize(("times", "kept"), [(1, "turn"), (60, "gem")], ids=["short", "long"])
def test_a_gem_and_the_turn_it_was_cut_out_of_are_one_a_short_turn_told_whole_and_a_long_one_by_its_gem(
    question: str, distilled: str, verbatim: str, times: int, kept: str
) -> None:
    found = shown(question, gem(distilled, "t1"), turn(" ".join([verbatim] * times), "t1"))
    assert [item.id for item in found.records] == [kept]
    dropped = ({"gem", "turn"} - {kept}).pop()
    assert [(item.record.id, item.why, item.of) for item in found.dropped] == [(dropped, "duplicate", kept)]


def test_the_turn_of_another_language_is_still_where_the_gem_came_from() -> None:
    found = shown(
        "When does the backup run?", gem("The backup runs at 02:00.", "t1"), turn("备份在凌晨两点运行。", "t1")
    )
    assert [item.id for item in found.records] == ["gem"]


def test_a_turn_that_holds_more_of_what_is_asked_stands_for_its_gem() -> None:
    found = shown(
        "Which port does the staging database use, and who runs it?",
        gem("The staging database was moved.", "t1"),
        turn("The staging database was moved, Anna runs it and the port is 5544.", "t1"),
    )
    assert [item.id for item in found.records] == ["turn"]
    assert [(item.record.id, item.of) for item in found.dropped] == [("gem", "turn")]


@pytest.mark.parametrize(
    ("question", "gems", "markdown"),
    [
        (
            "Who leads the Lighthouse project?",
            "Anna Weiss leads the Lighthouse project.",
            "@Anna Weiss leads the Lighthouse project",
        ),
        ("Кто руководит проектом Маяк?", "Анна руководит проектом Маяк.", "@Анна руководит проектом «Маяк»"),
        ("谁负责灯塔项目？", "安娜负责灯塔项目。", "@安娜 负责灯塔项目"),
    ],
    ids=["English", "Russian", "Chinese"],
)
def test_a_gem_and_the_fact_of_a_file_that_says_the_same_are_one(question: str, gems: str, markdown: str) -> None:
    found = shown(question, gem(gems), fact(markdown))
    assert [item.id for item in found.records] == ["gem"]
    assert [(item.why, item.of) for item in found.dropped] == [("duplicate", "gem")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The staging database of the Berlin office in the new rack listens on port 5433 and nothing else",
            "The staging database of the Berlin office in the new rack listens on port 5544 and nothing else",
        ),
        ("Anna likes strong coffee in the morning", "Anna does not like strong coffee in the morning"),
        ("Анна любит крепкий кофе по утрам", "Анна не любит крепкий кофе по утрам"),
        ("安娜早上喜欢喝浓咖啡", "安娜早上不喜欢喝浓咖啡"),
    ],
    ids=["another number", "its opposite", "its opposite in Russian", "its opposite in Chinese"],
)
def test_what_contradicts_is_no_duplicate(one: str, other: str) -> None:
    found = shown("coffee database 咖啡 кофе", gem(one, name="one"), gem(other, name="other"))
    assert {item.id for item in found.records} == {"one", "other"}


def test_the_same_words_of_two_people_are_two_things() -> None:
    found = shown(
        "Who went hiking in the Alps?",
        turn("I went hiking in the Alps last week", "t1", who="anna", name="a"),
        turn("I went hiking in the Alps last week", "t2", who="ben", name="b"),
    )
    assert {item.id for item in found.records} == {"a", "b"}


def test_a_sequence_takes_the_place_of_its_turns() -> None:
    sequence = Found(
        record("seq", "owner: Which backup? agent: The one on the NAS. owner: Move it to 02:00.", kind="sequence"),
        frozenset({"t1", "t2"}),
        verbatim=True,
    )
    found = shown(
        "What about the backup on the NAS?",
        turn("Which backup on the NAS?", "t1", name="first"),
        gem("The cat is called Miso and sleeps on the backup.", name="cat"),
        sequence,
    )
    assert [item.id for item in found.records] == ["seq", "cat"]
    assert [(item.record.id, item.of) for item in found.dropped] == [("first", "seq")]


def test_what_the_window_shows_is_not_told_again_in_other_words() -> None:
    found = shown(
        "Who leads the Lighthouse project?",
        gem("Anna Weiss leads the Lighthouse project."),
        fact("@Anna Weiss leads the Lighthouse project"),
        exclude=frozenset({"gem"}),
    )
    assert not found.records
    assert [(item.why, item.of) for item in found.dropped] == [("in-window", ""), ("in-window", "gem")]


def test_the_new_comes_before_the_fifth_that_says_nearly_one_thing() -> None:
    names = ("Anna", "Ben", "Carla", "Dora")
    near = [gem(f"{name} said the budget was cut by the board in spring again", name=name) for name in names]
    new = gem("The budget pays for two servers in Frankfurt", name="new")
    found = shown("What about the budget?", *near, new)
    assert [item.id for item in found.records][1] == "new"
    assert all(item.factors["alike"] < 1 for item in found.records[2:])


@given(
    st.lists(st.sampled_from(["red fox runs", "red fox sleeps", "blue whale sings", "budget cut", "预算"]), max_size=8)
)
def test_diversity_loses_and_makes_up_nothing(texts: list[str]) -> None:
    items = {str(n): Found(record(str(n), text, score=1 / (n + 1))) for n, text in enumerate(texts)}
    before = [item.record for item in items.values()]
    after = diverse(before, items, understand(Query("fox?", MAIN, NOW), dialogue_turns=0))
    assert sorted(item.id for item in after) == sorted(item.id for item in before)
    assert [item.score for item in after] == sorted((item.score for item in after), reverse=True)


@given(st.text(max_size=60))
def test_a_text_says_the_same_as_itself(text: str) -> None:
    said = saying(record("x", text), gem(text))
    assert same(said, said, frozenset())


def test_a_sequence_whose_parts_the_window_shows_line_by_line_is_not_told_again() -> None:
    told = (
        "Q1: My sister Anna moved to Kazan in March 2026. → A1: Noted.\nQ2: Thanks, that is all for now. → A2: Noted."
    )
    more = told.replace("A1: Noted.", "A1: The direct train from Moscow takes eleven hours.")
    block = "- [2026-11-21 · event] My sister Anna moved to Kazan in March 2026. (s#1)"
    window = Window(Query("Where does Anna live?", MAIN, NOW, window_text=block))
    assert window.shows(record("qa", told, kind="sequence"), frozenset())
    assert not window.shows(record("qa", more, kind="sequence"), frozenset())


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Куда переехала моя сестра Анна?", "Моя сестра Анна переехала в Казань в марте 2026 года."),
        ("Where did my sister Anna move?", "My sister Anna moved to Kazan in March 2026."),
        ("我妹妹安娜搬到哪里了？", "我妹妹安娜在2026年三月搬到了喀山。"),
    ],
)
def test_small_talk_makes_a_sequence_and_a_gem_no_two_things(question: str, said: str) -> None:
    qa = record("qa", f"Q1: {said} → A1: Noted.\nQ2: Thanks, that is all for now. → A2: Noted.", kind="sequence")
    found = shown(question, gem(said, "t1"), Found(qa, frozenset({"t1", "t2"}), verbatim=True))
    assert len(found.records) == 1
    assert said in found.records[0].text
    assert [one.why for one in found.dropped] == ["duplicate"]


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("When is the call with Irina?", ["gem"]),
        ("What did we say before the call with Irina, and after it?", ["gem"]),
        ("And what about the second one?", ["qa"]),
        ("Which tool did you recommend for the call with Irina?", ["qa"]),
    ],
)
def test_what_stands_around_an_answer_is_told_where_the_gem_does_not_say_all_that_the_turn_says(
    question: str, kept: list[str]
) -> None:
    hit = "Q2: The call with Irina is on Tuesdays at 10:00. → A2: Noted. The tool that I recommend for it is Jitsi."
    around = f"Q1: I am allergic to peanuts. → A1: No peanuts.\n{hit}\nQ3: The database moved to Oslo."
    qa = Found(record("qa", around, kind="sequence"), frozenset({"t1", "t2", "t3"}), verbatim=True, hit=("t2", hit))
    found = shown(question, qa, gem("The call with Irina is on Tuesdays at 10:00.", "t2"))
    assert [one.id for one in found.records] == kept
    assert [(one.why, one.of) for one in found.dropped] == [("duplicate", kept[0])]


@pytest.mark.parametrize(
    ("stands", "newer"),
    [
        (
            "The guest wifi of the Lindenstrasse office is called Oleander.",
            "The guest wifi of the Lindenstrasse office is called Juniper.",
        ),
        ("客厅无线网的名字叫做橄榄树二号，密码写在冰箱门上。", "客厅无线网的名字叫做橄榄树三号，密码写在冰箱门上。"),
        (
            "Гостевая сеть в нашем офисе на улице Лесной теперь называется у нас Олеандр.",
            "Гостевая сеть в нашем офисе на улице Лесной теперь называется у нас Можжевельник.",
        ),
    ],
)
def test_one_other_name_is_news_beside_a_window_that_shows_the_rest(stands: str, newer: str) -> None:
    window = Window(Query("What is it called?", MAIN, NOW, window_text=f"- 20 Nov 2026: {stands} (#4f2a)"))
    assert window.shows(record("old", stands), frozenset())
    assert not window.shows(record("new", newer), frozenset())


def test_a_denial_is_news_and_a_day_in_brackets_is_none() -> None:
    window = Window(Query("Which?", MAIN, NOW, window_text="- The wifi of the guest office in Graz is called Oleander and open to all"))
    assert not window.shows(record("a", "The wifi of the guest office in Graz is not called Oleander and open to all"), frozenset())
    assert window.shows(record("b", "The wifi of the guest office in Graz is called Oleander (2026-11-20) and open to all"), frozenset())


@pytest.mark.parametrize(
    "said",
    [
        "dont save this: im thinking about quitting lumepay before xmas",
        "это не записывай, но мы с мужем чуть не развелись летом",
        "别记这个：我的工资是三千二百欧",
    ],
)
def test_what_was_not_to_be_kept_is_not_told(said: str) -> None:
    found = shown("what about lumepay, муж, 工资?", turn(said, "t1"))
    assert not found.records
    assert [one.why for one in found.dropped] == ["off-record"]
