"""Which fact takes the place of another: only what is said of the same subject and can be true once at a time."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from openclaw_neuralstream.model import Document, Known, Period, Wanted
from openclaw_neuralstream.workspace.index import NoteIndex
from openclaw_neuralstream.workspace.parse import parse

BOTH = [
    ("@Peter: lives in Lisbon.", "@Peter: his mother moved to Madrid."),
    ("@Peter: lives in Oslo.", "@Peter: sister lives in Paris."),
    ("@Peter: lives in Oslo since 2024.", "@Peter: his team; the server was moved to AWS."),
    ("@Peter: lives in Oslo.", "@Peter: moved to the back row."),
    ("@Peter: lives in Oslo.", "@Peter: lives in a small flat with a cat."),
    ("@Peter: works at Acme.", "@Peter: works for three hours on Mondays."),
    ("@Peter: works at Acme.", "@Peter: works at night."),
    ("@Peter: works at Acme.", "@Peter: wife works for Google."),
    ("@Cache: idea: use sqlite for the cache", "@Cache: idea: paint the fence"),
    ("@Peter: child: Tom", "@Peter: child: Ann"),
    ("@Peter: phone: 12", "@Peter: mother's phone: 34"),
    ("@Peter: is 40 years old.", "@Peter: son is 7 years old."),
    ("@Peter: is married.", "@Peter: is engaged in politics."),
    ("@Peter: lives in Oslo.", "lives in Rome with @Peter"),
    ("@Peter: currently in Marrakech.", "@Peter: is now in charge of sales."),
    ("@Пётр: живёт в Казани.", "@Пётр: его мама переехала в Москву."),
    ("@Пётр: живёт в Казани.", "@Пётр: живёт с котом."),
    ("@Пётр: живёт в Казани.", "@Пётр: сестра живёт в Туле."),
    ("@Пётр: работает в «Ромашке».", "@Пётр: работает в Photoshop."),
    ("@Пётр: работает в Яндексе.", "@Пётр: работает на Python."),
    ("@Пётр: идея: кэш", "@Пётр: идея: забор"),
    ("@Пётр: ему 40 лет.", "@Пётр: 5 лет работал в школе."),
    ("@彼得: 住在里斯本。", "@彼得: 他妈妈搬到马德里。"),
    ("@彼得: 住在里斯本。", "@彼得: 妹妹住在巴黎。"),
    ("@彼得: 住在里斯本。", "@彼得: 住在一间小公寓里。"),
    ("@彼得: 在腾讯工作。", "@彼得: 在家工作。"),
    ("@彼得: 想法：用缓存", "@彼得: 想法：刷栅栏"),
    ("@彼得: 今年40岁。", "@彼得: 40岁开始跑步。"),
]  # fmt: skip
LATER = [
    ("@Peter: lives in Lisbon.", "@Peter: moved to Madrid."),
    ("@Peter: Peter lives in Lisbon.", "@Peter: He has moved to Porto last week."),
    ("@Peter: works at Acme.", "@Peter: joined Google."),
    ("@Peter: works as a baker at Acme.", "@Peter: now works for Globex."),
    ("@MaxRisk: equity is $3,884", "@MaxRisk: equity: 3,900"),
    ("@Shop: release status: green", "@Shop: release status: red"),
    ("@Peter: currently in Marrakech.", "@Peter: is now in Rabat."),
    ("@Анна: живёт в Москве.", "@Анна: переехала в Казань."),
    ("@Анна: Анна теперь живёт в Туле.", "@Анна: она перебралась в Казань."),
    ("@Анна: работает в Яндексе.", "@Анна: устроилась в «Ромашку»."),
    ("@Анна: телефон: 12", "@Анна: телефон: 34"),
    ("@王芳: 住在上海。", "@王芳: 搬到了北京。"),
    ("@王芳: 王芳现在住在上海。", "@王芳: 她已经搬到北京。"),
    ("@王芳: 在腾讯工作。", "@王芳: 入职了谷歌。"),
    ("@王芳: 电话：12", "@王芳: 电话：34"),
]


def log(day: str, *bullets: str) -> Document:
    return parse(f"memory/{day}.md", "\n".join(["## Retain", *(f"- W {bullet}" for bullet in bullets)]).encode())


def holding(folder: Path, *documents: Document) -> list[str]:
    index = NoteIndex.of(folder)
    index.replace(documents, {document.path: Known("d", 1, 1) for document in documents})
    try:
        return [fact.text for fact in index.facts(Wanted())]
    finally:
        index.close()


@pytest.mark.parametrize(("first", "second"), BOTH)
def test_what_is_said_of_somebody_or_something_else_replaces_nothing(tmp_path: Path, first: str, second: str) -> None:
    assert len(holding(tmp_path, log("2026-01-05", first), log("2026-02-05", second))) == 2


@pytest.mark.parametrize(("first", "second"), LATER)
def test_what_is_true_once_at_a_time_is_replaced_by_the_later(tmp_path: Path, first: str, second: str) -> None:
    held = holding(tmp_path, log("2026-01-05", first), log("2026-02-05", second))
    assert held == [second.partition(": ")[2]]


@pytest.mark.parametrize(
    ("before", "until"),
    [
        ("@Peter: lives in Rome.", "@Peter: lives in Oslo until 2026-12-31."),
        ("@Пётр: живёт в Риме.", "@Пётр: живёт в Осло до 31.12.2026."),
        ("@彼得: 住在罗马。", "@彼得: 住在奥斯陆，2026年12月31日为止。"),
    ],
)
def test_what_holds_until_a_day_holds_before_it(tmp_path: Path, before: str, until: str) -> None:
    index = NoteIndex.of(tmp_path)
    documents = [log("2025-03-01", before), log("2026-01-05", until)]
    index.replace(documents, {document.path: Known("d", 1, 1) for document in documents})
    june, later = (Period(date(year, 6, 1), date(year, 6, 30)) for year in (2026, 2027))
    assert [fact.text for fact in index.facts(Wanted(as_of=june))] == [until.partition(": ")[2]]
    assert index.facts(Wanted(as_of=later)) == []
    index.close()


def test_a_fact_under_an_alias_replaces_one_under_the_name_as_long_as_the_page_says_so(tmp_path: Path) -> None:
    index = NoteIndex.of(tmp_path)

    def fill(*documents: Document) -> list[str]:
        index.replace(documents, {document.path: Known("d", 1, 1) for document in documents})
        return [fact.text for fact in index.facts(Wanted())]

    both = ["lives in Lisbon", "lives in Rome", "теперь живёт в Казани"]
    logs = [log("2026-01-05", "@Peter: lives in Lisbon"), log("2026-02-05", "@Pete: lives in Rome")]
    assert fill(*logs, log("2026-03-05", "@Петя: теперь живёт в Казани")) == both
    assert fill(parse("bank/entities/Peter.md", "---\naliases: [Pete, Петя]\n---\n# Peter\n".encode())) == both[2:]
    assert fill(parse("bank/entities/Peter.md", b"---\naliases: [Pete]\n---\n# Peter\n")) == both[1:]
    index.remove(["bank/entities/Peter.md"])
    assert fill() == both
    index.close()
