"""What the owner asked for once and for all stands: in its newest version, never another's words, never expired."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.memory.reminding import Standing, _Held, _newest, touching
from openclaw_neuralstream.model import Gem, Kind, Origin, Scope
from openclaw_neuralstream.store.truth import Truth
from tests.erasing import forget
from tests.recall.worlds import EMBEDDER
from tests.values import MAIN, NOW, gem


@pytest.fixture
def truth(tmp_path: Path) -> Iterator[Truth]:
    made = Truth.open(tmp_path / "memory.sqlite")
    yield made
    made.close()


def wish(name: str, content: str, kind: Kind = Kind.INSTRUCTION, **more: Any) -> Gem:
    return gem(name, content, kind=kind, tags=(kind.value,), **more)


def keep(truth: Truth, *gems: Gem) -> None:
    truth.import_gems([(item, None) for item in gems], EMBEDDER.identity, NOW)


@pytest.mark.parametrize(
    ("content", "asked", "touched"),
    [
        ("I am allergic to peanuts", "Which port does staging use?", False),
        ("I am allergic to peanuts", "What shall I bake for the team?", True),
        ("У меня аллергия на арахис", "Какой порт у базы?", False),
        ("У меня аллергия на арахис", "Что приготовить на ужин?", True),
        ("我对花生过敏", "数据库用哪个端口？", False),
        ("我对花生过敏", "今晚吃什么？", True),
        ("I am allergic to penicillin", "My throat hurts, what can I take?", True),
        ("I am allergic to penicillin", "Which antibiotic should I ask for?", True),
        ("У меня аллергия на пенициллин", "Болит горло, что принять?", True),
        ("我对青霉素过敏", "我发烧了，怎么办？", True),
        ("I am allergic to shrimp", "Suggest a recipe for paella", True),
        ("I am allergic to shrimp", "推荐一家海鲜餐厅", True),
        ("I am allergic to nuts", "Suggest a snack for the hike", True),
        ("I am allergic to latex", "Which latex gloves are good?", True),
        ("My doctor forbade me alcohol", "Which wine goes with dinner?", True),
        ("My doctor forbade me alcohol", "Which port does staging use?", False),
        ("Врач запретил мне соль", "Посоветуй рецепт супа", True),
        ("Врач запретил мне соль", "Супер, какой порт у базы?", False),
        ("医生不让我喝酒", "晚饭配什么酒？", True),
        ("医生不让我喝酒", "数据库用哪个端口？", False),
    ],
)
@pytest.mark.parametrize("kind", [Kind.PREFERENCE, Kind.INSTRUCTION])
def test_what_can_harm_is_touched_where_the_body_or_its_matter_is_concerned(
    content: str, asked: str, kind: Kind, *, touched: bool
) -> None:
    assert bool(touching([wish("a", content, kind)], asked)) is touched


@pytest.mark.parametrize(
    ("held", "asked", "harm"),
    [
        (
            ("Never suggest deployments on Friday.", "Always list the calories of a dinner."),
            "What should I cook for dinner tonight?",
            "I am allergic to peanuts.",
        ),
        (
            ("Никогда не предлагай релизы в пятницу.", "Всегда указывай калории ужина."),
            "Что приготовить на ужин?",
            "Врач запретил мне есть арахис.",
        ),
        (("周五不要安排发布。", "晚饭都要写明热量。"), "晚饭吃什么？", "我不能吃花生。"),
    ],
)
def test_what_can_harm_comes_first_then_the_instruction_of_the_topic_and_no_preference(
    held: tuple[str, ...], asked: str, harm: str
) -> None:
    other, topical = (wish(f"w{n}", content) for n, content in enumerate(held))
    liked = wish("liked", topical.content, Kind.PREFERENCE)
    harms = wish("harm", harm, Kind.PREFERENCE)
    assert touching([other, liked, topical, harms], asked) == [harms, topical]


def test_how_one_asks_is_no_topic() -> None:
    friday = wish("friday", "Never suggest deployments on Friday.")
    assert touching([friday], "Suggest a name for the boat") == []
    assert touching([friday], "When are the next deployments?") == [friday]


@pytest.mark.parametrize(
    "content",
    [
        "My grandma Zoe's favourite film is Casablanca.",
        "My sister loves sushi.",
        "Anna likes jazz.",
        "I took Lily to the aquarium today, she loved the jellyfish most.",
        "Biscuit is diabetic.",
        "Biscuit, my dog, is diabetic.",
        "My dog Rex is allergic to chicken.",
        "Любимый фильм бабушки Зои — «Служебный роман».",
        "Мой брат любит джаз.",
        "Моей жене нравится Моцарт.",
        "Сегодня водил Соню в океанариум, она больше всего любит медуз.",
        "Пёс Бублик — диабетик.",
        "今天我带小雨去了海洋馆，她最喜欢水母",
        "我妹妹喜欢爵士乐。",
        "外婆最喜欢的电影是《红高粱》。",
        "小雨最喜欢水母。",
    ],
)
def test_what_another_likes_or_suffers_from_is_no_wish_of_the_owner(truth: Truth, content: str) -> None:
    keep(truth, wish("theirs", content, Kind.PREFERENCE))
    assert ids(Standing(truth)) == []


@pytest.mark.parametrize(
    "content",
    [
        "I love jazz.",
        "My wife and I love sushi.",
        "My favourite film is Alien.",
        "Our team prefers Slack.",
        "The owner prefers green tea.",
        "I prefer short answers, my wife prefers long ones.",
        "Short answers preferred.",
        "My daughter Mia is allergic to nuts.",
        "I am allergic to cats and my brother has one.",
        "I am diabetic.",
        "Мы с женой любим суши.",
        "Мой любимый фильм — «Брат».",
        "Мне нравится джаз.",
        "Любимый цвет — синий.",
        "У моей дочери аллергия на орехи.",
        "Я диабетик.",
        "我和妻子都喜欢寿司。",
        "我最喜欢的电影是《英雄》。",
        "我女儿对花生过敏。",
        "我有糖尿病。",
    ],
)
def test_a_taste_of_the_owner_stands_and_an_allergy_of_somebody_near(truth: Truth, content: str) -> None:
    keep(truth, wish("own", content, Kind.PREFERENCE))
    assert ids(Standing(truth)) == ["own"]


def test_of_two_that_nearly_say_the_same_no_allergen_is_lost(truth: Truth) -> None:
    known = "I am severely allergic to peanuts, walnuts, sesame, shrimp, crab, mustard and lupin"
    keep(
        truth,
        wish("one", known + ", kiwi.", Kind.PREFERENCE),
        wish("two", known + ", celery.", Kind.PREFERENCE, created_at=NOW + timedelta(minutes=1)),
    )
    assert sorted(ids(Standing(truth))) == ["one", "two"]


def ids(standing: Standing, scope: Scope = MAIN) -> list[str]:
    return [item.gem_id for item in standing.of(scope, NOW)]


def test_instructions_stand_before_preferences_and_nothing_else_stands(truth: Truth) -> None:
    keep(
        truth,
        gem("fact", "The cat is called Miso."),
        wish("tea", "Я предпочитаю зелёный чай.", Kind.PREFERENCE, importance=0.9),
        wish("short", "回答要简短，不要用表情符号。"),
        wish("loud", "Always shout.", origin=Origin.UNTRUSTED, speaker="third-party"),
        wish("agents", "Always apologise.", origin=Origin.AGENT, speaker="agent"),
        wish("over", "Call me captain until Friday.", valid_to=NOW - timedelta(days=1)),
        wish("other", "Answer in Latin.", scope=Scope("other")),
    )
    assert ids(Standing(truth)) == ["short", "tea"]


def test_of_a_changed_instruction_only_the_newest_stands(truth: Truth) -> None:
    standing = Standing(truth)
    keep(truth, wish("old", "Always answer in English.", superseded_by="new"), wish("new", "Always answer in Russian."))
    assert ids(standing) == ["new"]
    again = wish("again", "Answer always in Russian!", created_at=NOW + timedelta(minutes=1))
    keep(truth, again)
    assert ids(standing) == ["again"]


def test_what_is_forgotten_stands_no_more(truth: Truth) -> None:
    standing = Standing(truth)
    keep(truth, wish("short", "Answer in short sentences."))
    assert ids(standing) == ["short"]
    forget(truth, ["short"])
    assert ids(standing) == []


def test_what_stands_is_what_kind_a_gem_is_whatever_tags_a_person_gave_it(truth: Truth) -> None:
    keep(truth, gem("tea", "I prefer green tea.", kind=Kind.PREFERENCE, tags=("drinks",)))
    assert ids(Standing(truth)) == ["tea"]


def test_an_answer_that_is_kept_ends_when_one_of_them_expires(truth: Truth) -> None:
    keep(
        truth, wish("captain", "Call me captain for now.", valid_to=NOW + timedelta(days=1)), wish("short", "Be brief.")
    )
    standing = Standing(truth)
    asked = [{item.gem_id for item in standing.of(MAIN, NOW + timedelta(days=days))} for days in (0, 2, 0)]
    assert asked == [{"captain", "short"}, {"short"}, {"captain", "short"}]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True), max_size=30))
def test_only_the_newest_of_those_that_say_the_same_is_left_as_if_every_two_were_compared(
    said: list[list[str]],
) -> None:
    held = [_Held(gem(f"g{n}", " ".join(words)), frozenset(words)) for n, words in enumerate(said)]
    kept: list[_Held] = []
    for item in held:
        if not any(len(item.terms & other.terms) >= 0.8 * len(item.terms | other.terms) for other in kept):
            kept.append(item)
    assert _newest(held) == [item.gem for item in kept]


def test_it_may_be_asked_while_gems_come_and_go(truth: Truth) -> None:
    standing = Standing(truth)
    standing.warm()
    kept = threading.Event()

    def ask() -> list[int]:
        seen = [0]
        while not kept.is_set():
            seen.append(len(standing.of(MAIN, NOW)))
        return [*seen, len(standing.of(MAIN, NOW))]

    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(ask) for _ in range(3)]
        try:
            for n in range(40):
                keep(truth, wish(f"w{n}", f"Rule {n}: say word{n} twice."))
        finally:
            kept.set()
        seen = [one.result(timeout=30) for one in asked]
    assert all(one == sorted(one) for one in seen)
    assert [one[-1] for one in seen] == [40, 40, 40]
