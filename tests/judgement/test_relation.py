"""How two statements stand to each other, in three languages: what merges, what replaces, what stays beside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.judgement.reading import read
from openclaw_neuralstream.judgement.relation import APART, REPLACES, SAME, Relation, Side, relation
from openclaw_neuralstream.model import Kind

REPLACING = [
    (
        "We decided to move the staging database to Postgres 16. It listens on port 5433 of db-stage.",
        "Correction: the staging database listens on port 5544 now, not 5433.",
    ),
    ("The staging database listens on port 5433.", "The staging database listens on port 5544."),
    ("I live in Berlin.", "I moved to Munich last week."),
    ("I live in Berlin.", "We moved from Berlin to Munich."),
    ("My sister's birthday is on 3 May.", "My sister's birthday is on 5 May, not 3 May."),
    ("I like coffee.", "I don't like coffee anymore."),
    ("We decided to use Redis for the queue.", "We decided to use RabbitMQ for the queue instead."),
    ("We decided to use Redis for the queue.", "We switched from Redis to RabbitMQ for the queue."),
    ("The meeting with Anna is on Tuesday at 10:00.", "The meeting with Anna was moved to Thursday at 11:00."),
    ("My favourite colour is blue.", "My favourite colour is green."),
    ("Always answer in Russian.", "From now on always answer in English."),
    ("I work at Siemens.", "I work at Bosch now."),
    ("We deploy on Fridays.", "We never deploy on Fridays."),
    ("Я живу в Берлине.", "Я переехал в Мюнхен."),
    ("База стейджинга слушает порт 5433.", "База стейджинга теперь слушает порт 5544."),
    ("Созвон с Ириной каждый вторник в 10:00.", "Созвон с Ириной перенесли на четверг в 11:00."),
    ("Созвон с Ириной во вторник.", "Созвон с Ириной не во вторник, а в четверг."),
    ("Я люблю кофе.", "Я больше не люблю кофе."),
    ("Мы решили использовать Redis для очереди.", "Для очереди мы решили использовать RabbitMQ вместо Redis."),
    ("День рождения Анны 3 мая.", "День рождения Анны 5 мая."),
    ("Меня зовут Саша.", "Меня зовут Паша."),
    ("我住在北京。", "我搬到上海了。"),
    ("测试数据库的端口是5433。", "更正：测试数据库的端口是5544，不是5433。"),
    ("测试数据库的端口是5433。", "测试数据库的端口改成5544了。"),
    ("我喜欢喝咖啡。", "我不再喜欢喝咖啡了。"),
    ("周报每周五下午发给陈伟。", "周报改成每周四下午发给陈伟。"),
    ("我们决定用Redis做队列。", "我们决定改用RabbitMQ做队列。"),
    ("会议在周二上午十点。", "会议不是周二，而是周四上午十点。"),
    ("我的生日是5月3日。", "我的生日是5月5日。"),
]

REPLACING += [
    ("我开了家宠物诊所 手术日是周二和周四 安排事情避开", "更新：11月起手术日改成周一和周三 周四带新护士"),
    (
        "I run a small practice, surgery days are tuesday and thursday, plan around it.",
        "From november surgery days are now monday and wednesday, thursdays we train.",
    ),
    ("Я веду клинику, дни операций вторник и четверг.", "Теперь дни операций понедельник и среда, по пятницам учим."),
]
REPLACING += [  # numbers in words
    ("I take my coffee with two sugars", "I quit sugar, so I take my coffee without any from now on"),
    ("The orchard has twelve apple trees.", "The orchard has fourteen apple trees now."),
    ("The orchard has twelve apple trees.", "The orchard has 14 apple trees now."),
    ("В саду двенадцать яблонь.", "Теперь в саду четырнадцать яблонь."),
    ("果园里有十二棵苹果树。", "果园里现在有十四棵苹果树。"),
]
REPLACING += [
    ("My dog's name is Rex.", "My dog's name is Bo."),
    ("The rent is 900 euros.", "The rent is 950 euros."),
    ("The big hall of our school holds 300 people.", "The big hall of our school holds 450 people."),
    ("My invoice from Acme is 300 euro.", "Correction: my invoice from Acme is 450 euro."),
    ("The staging database is on version 14.", "The staging database is on version 15."),
    ("My staging database is on db7.internal port 5433.", "Actually, the staging database moved to db9.internal."),
    ("Мою собаку зовут Рекс.", "Мою собаку зовут Бо."),
    ("Счёт от Acme на 300 евро.", "Поправка: счёт от Acme на 450 евро."),
    ("Моя тестовая база на db7.internal, порт 5433.", "Тестовая база переехала на db9.internal."),
    ("我的狗名叫雷克斯。", "我的狗名叫小白。"),
    ("Acme 的发票是 300 欧元。", "更正：Acme 的发票是 450 欧元。"),
    ("我的测试数据库在 db7.internal 端口 5433。", "测试数据库搬到 db9.internal 了。"),
]
BESIDE = [
    ("I have a dog named Rex.", "I have a dog named Bo."),
    ("I have a friend called Anna in Graz.", "I have a friend called Maria in Graz."),
    ("My invoice from Acme is 300 euro.", "My invoice from Acme is 450 euro."),
    ("Version 2 of the app uses Qt 5.", "Version 3 of the app uses Qt 6."),
    ("У меня есть собака, её зовут Рекс.", "У меня есть собака, её зовут Бо."),
    ("У меня есть собака по имени Рекс.", "У меня есть собака по имени Бо."),
    ("Счёт от Acme на 300 евро.", "Счёт от Acme на 450 евро."),
    ("Версия 2 приложения использует Qt 5.", "Версия 3 приложения использует Qt 6."),
    ("我有一只狗名叫雷克斯。", "我有一只狗名叫小白。"),
    ("Acme 的发票是 300 欧元。", "Acme 的发票是 450 欧元。"),
    ("应用的版本 2 使用 Qt 5。", "应用的版本 3 使用 Qt 6。"),
    ("The staging database listens on port 5433.", "The production database listens on port 5544."),
    ("My sister lives in Berlin.", "My brother lives in Munich."),
    ("My sister lives in Berlin.", "I live in Munich."),
    ("I like tea.", "I like coffee."),
    ("I prefer tea in the morning.", "I prefer coffee in the evening."),
    ("Use spaces in Python code.", "Use tabs, not spaces, in Go code."),
    ("The meeting with Anna is on Tuesday.", "The meeting with Boris is on Thursday."),
    ("I ran 5 km on Monday.", "I ran 7 km on Wednesday."),
    ("I used to live in Berlin.", "I live in Munich."),
    ("I live in Munich.", "I used to live in Berlin."),
    ("The port of staging is 5433.", "Bob says the port of staging is 5555."),
    ("The budget for 2025 is 10000.", "The budget for 2026 is 12000."),
    ("Anna has two dogs.", "Anna has two cats."),
    ("I like Anna.", "I don't like Boris."),
    ("Я живу в Берлине.", "Моя сестра живёт в Мюнхене."),
    ("Порт стейджинга 5433.", "Порт продакшена 5544."),
    ("Я люблю чай.", "Я люблю кофе."),
    ("Порт стейджинга 5433.", "Говорят, порт стейджинга 5555."),
    ("我住在北京。", "我妹妹住在上海。"),
    ("我喜欢喝茶。", "我喜欢喝咖啡。"),
    ("测试数据库的端口是5433。", "生产数据库的端口是5544。"),
    ("我对花生过敏。", "我对海鲜过敏。"),
    ("I am allergic to peanuts.", "I am allergic to shellfish."),
    ("My daughter Mia turns seven on 3 December.", "My son Max turns nine on 5 June."),
    ("The car has 5 seats.", "The office moved to Hamburg."),
    ("I bought a Canon camera.", "I bought a Nikon camera."),
    ("Redis listens on port 6379.", "We dropped Redis for the queue."),
    ("У Анны две собаки.", "У Анны две кошки."),
    ("The orchard has twelve apple trees.", "The orchard has fourteen pear trees."),
    ("В саду двенадцать яблонь.", "В саду четырнадцать груш."),
    ("果园里有十二棵苹果树。", "果园里有十四棵梨树。"),
    ("Никогда не деплой в пятницу.", "Никогда не деплой в субботу."),
]

BESIDE += [
    ("The office party is on Friday, bring cake.", "The parents evening is now on Monday, bring cake."),
    ("周五聚餐，记得带蛋糕。", "家长会改成周一了，记得带孩子。"),
]
ALIKE = [
    ("The staging database listens on port 5544.", "The staging DB uses port 5544."),
    ("I prefer short answers.", "I like brief replies."),
    ("I live in Berlin.", "I live in Berlin!"),
    ("Я предпочитаю короткие ответы.", "Мне нравятся короткие ответы."),
    ("我喜欢简短的回答。", "我偏好简洁的回复。"),
    ("We decided to use Redis for the queue.", "We chose Redis for the queue."),
    ("测试数据库的端口是5544。", "测试数据库监听端口5544。"),
    ("База стейджинга слушает порт 5544.", "База стейджинга использует порт 5544."),
]


REPLACING += [
    ("I catch the 7:40 train to the office.", "I'm on the 8:10 train these days, they cancelled the 7:40."),
    ("I drive a 2014 Honda Civic.", "Sold the Civic on Sunday, I drive a Mazda 3 now."),
    ("My manager is Priya Nair.", "Priya left, Tom Becker is my manager now."),
    ("Our API rate limit is 100 requests per minute.", "They raised our API rate limit to 250 requests per minute."),
    ("The wedding is on 12 September in Siena.", "We had to move the wedding to 3 October because of the venue."),
    ("Grandma's birthday is on May 5.", "I got grandma's birthday wrong, it's on May 15."),
    ("My daughter goes to Elmwood primary school.", "My daughter changed schools, she's at Riverside now."),
    ("For the landing page we picked Vue.", "For the landing page it is not Vue but Svelte."),
    ("Аренда квартиры стоит 45000 в месяц.", "Аренду подняли до 52000 в месяц."),
    ("Тестовый сервер стоит в Франкфурте.", "Тестовый сервер переехал в Хельсинки."),
    ("Бэкенд пишем на Go.", "Решили, что бэкенд будем писать на Rust вместо Go."),
    ("Я не ем мясо.", "Я снова ем мясо, врач посоветовал."),
    ("По вторникам я хожу в бассейн.", "С понедельника уже не хожу в бассейн по вторникам, перешла на субботу."),
    ("我的直属领导是周敏。", "周敏调走了，现在我的直属领导是郑凯。"),
    ("我的房租是每月4200元。", "房东把房租涨到了4800元。"),
    ("新服务用Go写。", "新服务最后决定用Rust写，而不是Go。"),
    ("我每天六点起床。", "我现在七点半才起床，不再六点了。"),
    ("周报每周五下班前交。", "从这个月 (2026-05)起周报改成周一 (2026-05-25)上午交。"),
]
BESIDE += [
    ("The contract with Lindqvist runs until June.", "The contract with Okafor now runs until December."),
    ("I go swimming on Mondays.", "I also go running on Thursdays now."),
    ("I use Redis for the queue.", "I also use RabbitMQ for the queue now."),
    ("My daughter likes her school.", "My daughter changed schools."),
    ("My rent is 900 euros.", "Anna's rent was raised to 950 euros."),
    ("Кошку зовут Муся.", "Новую кошку зовут Клякса."),
    ("Старшая дочь учится в третьем классе.", "Младшая дочь теперь учится в первом классе."),
    ("На проде стоит Redis 6.", "На стенде теперь стоит Redis 7."),
    ("我养了一只猫叫煤球。", "我现在又养了一只猫叫雪饼。"),
    ("儿子在二中上学。", "女儿现在在五中上学。"),
]


def held_against(older: str, newer: str, cosine: float | None = None, kind: Kind = Kind.FACT) -> Relation:
    return relation(Side(read(older), kind), Side(read(newer), kind), cosine)


@pytest.mark.parametrize(("older", "newer"), REPLACING)
def test_a_contradiction_replaces_and_says_why(older: str, newer: str) -> None:
    found = held_against(older, newer)
    assert (found.kind, bool(found.why)) == (REPLACES, True)


@pytest.mark.parametrize(("older", "newer"), BESIDE)
def test_what_is_not_plainly_a_contradiction_stays_beside(older: str, newer: str) -> None:
    assert held_against(older, newer).kind == APART


@pytest.mark.parametrize(("older", "newer"), ALIKE)
def test_the_same_in_nearly_the_same_words_is_the_same(older: str, newer: str) -> None:
    assert held_against(older, newer).kind == held_against(newer, older).kind == SAME


def test_vectors_that_are_far_apart_keep_statements_apart_and_near_ones_prove_nothing() -> None:
    assert held_against("Postgres is the database.", "Postgres is our database now.", 0.1).kind != SAME
    assert (
        held_against("Meeting with Irina on Tuesday at 10", "Meeting with Irina on Thursday at 10", 0.984).kind == APART
    )


def test_an_event_that_happens_again_replaces_nothing() -> None:
    assert held_against("I ran 5 km by the lake.", "I ran 7 km by the lake.", kind=Kind.EVENT).kind == APART


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_can_be_held_against_each_other(one: str, other: str) -> None:
    assert held_against(one, other).kind in (SAME, REPLACES, APART)
    assert held_against(one, one).kind == SAME


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Whenever you suggest music, only suggest jazz.", "Forget what I said about jazz."),
        ("Never book hotels above 100 euros.", "The hotel limit no longer holds, you may book up to 200 euros."),
        ("Предлагай только вегетарианские рестораны.", "Про вегетарианские рестораны забудь, предлагай любые."),
        ("推荐餐厅时只推荐素食。", "关于素食那条不用守了，推荐什么餐厅都可以。"),
    ],
)
def test_a_rule_that_is_taken_back_holds_no_more_and_others_stay(older: str, newer: str) -> None:
    other = Side(read("Always answer in short sentences. 总是用中文回答。Всегда отвечай на русском."), Kind.INSTRUCTION)
    new = Side(read(newer), Kind.INSTRUCTION)
    assert relation(Side(read(older), Kind.INSTRUCTION), new).kind == REPLACES
    assert relation(other, new).kind == APART
