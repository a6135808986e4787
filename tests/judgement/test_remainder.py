"""What a corrected statement says besides is told apart, in three languages; what is not plain is left alone."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.judgement import left_out, still_true
from openclaw_neuralstream.judgement.reading import read
from openclaw_neuralstream.judgement.relation import APART, REPLACES, Side, relation
from tests.values import gem


def left(older: str, newer: str) -> str:
    return still_true(gem("older", older), gem("newer", newer))


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        (
            "The staging database is PostgreSQL 16 on port 5544.",
            "The staging database is now on port 6000, not 5544",
            "The staging database is PostgreSQL 16 on port 6000.",
        ),
        (
            "Standup is on weekdays at 9:30 in room 4.",
            "We moved standup to 10:15",
            "Standup is on weekdays at 10:15 in room 4.",
        ),
        (
            "The call with Irina is on March 3 at 10:00.",
            "The call is on April 5, not March 3",
            "The call with Irina is on April 5 at 10:00.",
        ),
        (
            "База staging — PostgreSQL 16 на порту 5544.",
            "База staging теперь на порту 6000, а не 5544",
            "База staging — PostgreSQL 16 на порту 6000.",
        ),
        (
            "Мой день рождения 3 мая, мне 40 лет.",
            "Поправка: мой день рождения 5 мая, а не 3 мая.",
            "Мой день рождения 5 мая, мне 40 лет.",
        ),
        (
            "测试数据库是PostgreSQL 16，端口是5544。",
            "测试数据库的端口现在是6000，不是5544",
            "测试数据库是PostgreSQL 16，端口是6000。",
        ),
    ],
)
def test_a_number_or_a_day_takes_the_place_of_the_one_it_corrects(older: str, newer: str, expected: str) -> None:
    assert left(older, newer) == expected


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        (
            "Anna works at Siemens. She has two cats.",
            "Anna now works at Bosch",
            "Anna now works at Bosch. She has two cats.",
        ),
        (
            "我住在北京，妻子叫王芳。",
            "我现在搬到上海了，不住在北京了。",
            "我现在搬到上海了，不住在北京了。妻子叫王芳。",
        ),
        (
            "Релиз выйдет в пятницу, отвечает Ольга.",
            "Релиз теперь в понедельник, а не в пятницу",
            "Релиз теперь в понедельник, а не в пятницу. отвечает Ольга.",
        ),
    ],
)
def test_what_stands_for_itself_is_kept_behind_the_correction(older: str, newer: str, expected: str) -> None:
    assert left(older, newer) == expected


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The staging database listens on port 5433.", "The staging database listens on port 5544 now, not 5433."),
        ("Anna leads the Lighthouse project from Berlin.", "Boris now leads the Lighthouse project, not Anna"),
        ("We use Redis 7 for the queue on host q1.", "We now use RabbitMQ for the queue instead of Redis."),
        ("We indent with tabs in Go, because the guide says so.", "We indent with spaces in Go now, not tabs."),
        ("I like tea with milk.", "I don't like tea any more"),
        ("Anna has a cat.", "The kettle is blue."),
        ("", "x"),
    ],
)
def test_nothing_is_made_up_where_nothing_more_was_said_or_it_may_have_changed_too(older: str, newer: str) -> None:
    assert left(older, newer) == ""


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        ("Dana's number is 5550199 and she lives in Graz.", "Dana lives in Linz now.", "Dana's number is 5550199."),
        ("Nina loves jazz and plays the violin.", "Nina doesn't love jazz any more.", "Nina plays the violin."),
        ("Bob likes tea and hates coffee.", "Bob likes juice now, not tea.", "Bob hates coffee."),
        ("Elena likes basil and hates coriander.", "Elena doesn't like basil any more.", "Elena hates coriander."),
        ("Наташа любит чай и не ест рыбу.", "Наташа теперь любит кофе, а не чай.", "Наташа не ест рыбу."),
        ("王芳喜欢喝茶，而且会拉小提琴。", "王芳现在不喜欢喝茶了。", "王芳会拉小提琴。"),
        ("I live in Berlin and work at Siemens.", "I live in Munich now.", "I work at Siemens."),
        (
            "My office is in room 12 and the printer is on floor 3.",
            "My office is in room 14 now.",
            "the printer is on floor 3.",
        ),
    ],
)
def test_a_clause_or_a_predicate_behind_an_and_is_kept_with_its_own_subject(
    older: str, newer: str, expected: str
) -> None:
    assert left(older, newer) == f"{newer} {expected}".replace("。 ", "。")


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        (
            "My boss is called Dana, her birthday is 9 July.",
            "My boss is called Erik now.",
            "Dana's birthday is 9 July.",
        ),
        (
            "My boss is called Dana. Her birthday is 9 July.",
            "My boss is called Erik now.",
            "Dana's birthday is 9 July.",
        ),
        (
            "Моего начальника зовут Иван, его день рождения 9 июля.",
            "Моего начальника теперь зовут Пётр.",
            "Иван: день рождения 9 июля.",
        ),
        ("我的老板叫王芳，她的生日是7月9日。", "我的老板现在叫李雷。", "王芳的生日是7月9日。"),
    ],
)
def test_a_pronoun_gives_way_to_the_name_that_it_stood_for(older: str, newer: str, expected: str) -> None:
    assert left(older, newer) == f"{newer} {expected}".replace("。 ", "。")


@pytest.mark.parametrize(
    ("older", "newer", "lost"),
    [
        ("Собаку зовут Бублик, телефон +7 900 123-45-67.", "Собаку теперь зовут Рекс.", ("телефон +7 900 123-45-67",)),
        ("My vet is called Kim, phone 5551234.", "My vet is called Lee now.", ("phone 5551234",)),
        ("Dana works with Eva and she lives in Graz.", "Dana works with Tom now, not Eva.", ("she lives in Graz",)),
        ("Tom's sister lives in Graz and she has two cats.", "Tom's sister lives in Linz now.", ("she has two cats",)),
        ("王芳的丈夫住在北京，他有两只猫。", "王芳的丈夫现在住在上海，不住在北京了。", ("他有两只猫",)),
        ("我住在北京，她的生日是7月9日。", "我现在住在上海，不住在北京了。", ("她的生日是7月9日",)),
        ("Staging is now on port 7000, not 5544.", "Staging is on port 8000 now, not 7000.", ()),
        ("Bob likes cats and dogs.", "Bob likes birds now, not cats.", ("dogs",)),
        ("Наташа любит чай и омлет с сыром.", "Наташа теперь любит кофе, а не чай.", ("омлет с сыром",)),
        ("Nina is my dentist and volunteers at the shelter.", "My dentist is Olga, not Nina.", ("volunteers at the shelter",)),
        ("Nina is my dentist, volunteers at the Ark on Sundays.", "My dentist is Olga, not Nina.", ("volunteers at the Ark on Sundays",)),
        ("Anna is the release manager and mentors two juniors.", "Boris is the release manager now, not Anna.", ("mentors two juniors",)),
        ("We use Redis for the queue and mirror it nightly.", "We now use RabbitMQ for the queue instead of Redis.", ("mirror it nightly",)),
        ("Нина мой стоматолог и помогает в приюте по субботам.", "Мой стоматолог Ольга, а не Нина.", ("помогает в приюте по субботам",)),
        ("Мы используем Redis для очереди и копируем его каждую ночь.", "Теперь мы используем RabbitMQ для очереди, а не Redis.", ("копируем его каждую ночь",)),
        ("王芳是我的牙医，周末在动物收容所做义工。", "我的牙医是李娜，不是王芳。", ("周末在动物收容所做义工",)),
        ("王芳是我的牙医并且经常帮邻居修水管。", "我的牙医是李娜，不是王芳。", ("并且经常帮邻居修水管",)),
    ],
)
def test_what_is_not_plain_is_left_out_and_said_to_be(older: str, newer: str, lost: tuple[str, ...]) -> None:
    assert left(older, newer) == ""
    assert left_out(gem("older", older), gem("newer", newer), "") == lost


@pytest.mark.parametrize(
    ("older", "kind"),
    [("Oscar weighs 5 kg.", APART), ("My cat Oscar weighs 5 kg.", APART), ("My cat is Oscar.", REPLACES)],
)
def test_a_corrected_name_replaces_the_name_and_nothing_else(older: str, kind: str) -> None:
    newer = gem("newer", "my cat's name is Oskar, not Oscar")
    assert relation(Side(read(older), gem("older", older).kind), Side(read(newer.content), newer.kind)).kind == kind
