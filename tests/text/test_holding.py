"""How long something holds, as a text says it: from when, until when."""

from __future__ import annotations

from datetime import date

import pytest

from openclaw_neuralstream.text.when import held_in

DAY = date(2026, 1, 5)
LAST = date(2026, 12, 31)


@pytest.mark.parametrize(
    "text",
    [
        "lives in Oslo until 2026-12-31",
        "works there till 31 December 2026",
        "живёт в Осло до 31 декабря 2026 года",
        "живёт в Осло по 31.12.2026",
        "住在奥斯陆直到2026年12月31日",
        "住在奥斯陆，2026年12月31日为止",
    ],
)
def test_what_holds_until_a_day_began_on_no_day_that_is_said(text: str) -> None:
    assert held_in(text, DAY) == (None, LAST)


@pytest.mark.parametrize("text", ["lives there since 2026-12-31", "живёт там с 31.12.2026", "2026年12月31日以来住在那里"])
def test_what_holds_since_a_day_has_no_end(text: str) -> None:
    assert held_in(text, DAY) == (LAST, None)


def test_a_range_has_both() -> None:
    assert held_in("in Marrakech (27 Nov – 1 Dec 2026)", DAY) == (date(2026, 11, 27), date(2026, 12, 1))
