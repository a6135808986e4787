"""What a corrected statement says besides is told apart, in three languages; what is not plain is left alone."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.judgement import still_true
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
