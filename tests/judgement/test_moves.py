"""A thing that was given another time, day or value, and a part that was taken back; beside them, what stays."""

from __future__ import annotations

import pytest

from openclaw_neuralstream.judgement.reading import read
from openclaw_neuralstream.judgement.relation import REPLACES, Side, relation
from openclaw_neuralstream.model import Kind


def kind(older: str, newer: str) -> str:
    return relation(Side(read(older), Kind.FACT), Side(read(newer), Kind.FACT)).kind


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Daily standup is at 9:45 in the Kepler room", "We moved standup to 10:15, people were late"),
        ("Surgery days are tuesday and thursday, please plan around it", "From november surgery days are monday and wednesday"),
        ("We back up to the Synology every night", "We dont back up to the Synology anymore, its Backblaze now"),
        ("Планёрка каждый день в 9:45 в переговорке", "Планёрку перенесли на 10:15, все опаздывали"),
        ("Йога по понедельникам и средам", "С мая йога по вторникам и пятницам"),
        ("Живу в Пскове", "В июле переехали в Тверь"),
        ("每天早会9点45在三楼", "早会改到10点15了"),
        ("瑜伽课是周一和周三", "五月起瑜伽课是周二和周五"),
        ("我们的会计是王姐", "我们的会计现在是谭波，王姐退休了"),
        ("我家猫睡在车库", "我家猫不睡车库了，睡在阁楼"),
    ],
)  # fmt: skip
def test_what_was_given_another_value_is_replaced(older, newer):
    assert kind(older, newer) == REPLACES


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The gym opens at 7:00", "We moved standup to 10:15"),
        ("Standup of the night shift is at 21:00", "We moved the parents' evening to 19:30"),
        ("The choir meets on Tuesdays", "From november surgery days are monday and wednesday"),
        ("Standup is at 9:45", "Standup was fun at 10:15"),
        ("We back up photos to the Synology and send invoices through Stripe each quarter", "We don't print photos anymore"),
        ("Йога по понедельникам", "С мая плавание по вторникам"),
        ("Ретро в 16:00", "Планёрку перенесли на 10:15"),
        ("瑜伽课是周一", "五月起游泳课是周二"),
        ("我们的会计是王姐", "我们的律师现在是谭波"),
        ("周会10点开始", "早会改到10点15了"),
    ],
)  # fmt: skip
def test_another_thing_stays_as_it_was(older, newer):
    assert kind(older, newer) != REPLACES
