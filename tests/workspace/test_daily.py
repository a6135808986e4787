"""A sentence as a bullet at its place in a log; every other byte stays."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.model import FactKind
from openclaw_neuralstream.workspace import daily
from openclaw_neuralstream.workspace.parse import parse, render_fact
from openclaw_neuralstream.workspace.retaining import Sentence, retain, today

DAY = date(2026, 11, 21)


def placed(text: str | None, bullet: str = "- W: new") -> str:
    data = None if text is None else text.encode()
    return daily.with_bullet(data, bullet, DAY).data.decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "# 2026-11-21\n\n## Retain\n- W: new\n"),
        ("", "# 2026-11-21\n\n## Retain\n- W: new\n"),
        ("# Day\n\nwords", "# Day\n\nwords\n\n## Retain\n- W: new\n"),
        ("# Day\n\n## Retain\n- W: old\n", "# Day\n\n## Retain\n- W: old\n- W: new\n"),
        ("# Day\n\n## Retain\n- W: old", "# Day\n\n## Retain\n- W: old\n- W: new\n"),
        ("## Retain\n- W: old\n\n\n## Later\nwords\n", "## Retain\n- W: old\n- W: new\n\n\n## Later\nwords\n"),
        ("## Retain\n", "## Retain\n- W: new\n"),
        ("# D\r\n\r\n## Retain\r\n- W: old\r\n", "# D\r\n\r\n## Retain\r\n- W: old\r\n- W: new\r\n"),
        ("## Запомнить\n- W: old\n\n# Потом\n", "## Запомнить\n- W: old\n- W: new\n\n# Потом\n"),
        ("## 记住\n- W: old\n", "## 记住\n- W: old\n- W: new\n"),
        ("```\n## Retain\n```\n", "```\n## Retain\n```\n\n## Retain\n- W: new\n"),
        ("## Retain\n### More\n- W: old\n## End\n", "## Retain\n### More\n- W: old\n- W: new\n## End\n"),
    ],
)
def test_it_stands_at_the_end_of_the_retain_section(before: str | None, after: str) -> None:
    assert placed(before) == after


@given(st.text(alphabet="#\n\r `-WO:abRetain@\ufeff世я", max_size=200))
@example("\r")
def test_every_other_byte_stays_and_the_parser_finds_the_fact(text: str) -> None:
    data = text.encode()
    done = daily.with_bullet(data, "- W @Peter: moved to Kyoto.", DAY)
    rest = done.data
    for piece in (b"- W @Peter: moved to Kyoto.",):
        assert rest.count(piece) == 1
    assert all(line in rest for line in data.split())
    if "```" not in text:
        facts = [fact for fact in parse("memory/2026-11-21.md", done.data).facts if fact.text == "moved to Kyoto."]
        assert [fact.line for fact in facts] == [done.line] or b"~~~" in data


@given(st.lists(st.sampled_from(["W: a", "O(c=0.5) @Анна: любит чай", "B: I fixed it", "S @彼得: 住在柏林", "plain words"]), min_size=1, max_size=6))
def test_what_is_retained_twice_stands_once(sentences: list[str]) -> None:
    data: bytes | None = None
    for sentence in sentences:
        bullet = daily.bullet_of(sentence)
        assert bullet is not None
        data = daily.with_bullet(data, render_fact(bullet), DAY).data
    assert data is not None
    assert len(parse("memory/2026-11-21.md", data).facts) == len(set(sentences))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Peter lives in Berlin", FactKind.WORLD), ("Peter prefers tea", FactKind.OPINION), ("I fixed the build", FactKind.EXPERIENCE),
        ("Пётр живёт в Казани", FactKind.WORLD), ("Анна любит чай", FactKind.OPINION), ("Я починил сборку", FactKind.EXPERIENCE),
        ("彼得住在柏林", FactKind.WORLD), ("彼得喜欢喝茶", FactKind.OPINION), ("我修好了构建", FactKind.EXPERIENCE), ("I like tea", FactKind.OPINION),
    ],
)  # fmt: skip
def test_a_plain_sentence_is_of_the_kind_it_seems_to_be(text: str, kind: FactKind) -> None:
    bullet = daily.bullet_of(text)
    assert bullet is not None
    assert (bullet.kind, bullet.text) == (kind, text)


def test_a_sentence_over_several_lines_is_one_bullet() -> None:
    bullet = daily.bullet_of("W @Peter: first\nsecond\n\n## Not a heading\n- nor a bullet")
    assert bullet is not None
    assert render_fact(bullet) == "- W @Peter: first second ## Not a heading - nor a bullet"
    assert daily.bullet_of("  \n ") is None


def test_the_day_is_the_users_own() -> None:
    late = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
    assert [today(late, zone) for zone in ("UTC", "Asia/Tokyo", "America/New_York")] == [DAY, date(2026, 11, 22), DAY]


def test_the_log_lies_where_this_workspace_keeps_its_logs(tmp_path: Path) -> None:
    def kept() -> str:
        return retain(tmp_path, tmp_path / "lock", Sentence("W: x"), DAY, dry_run=True).path

    assert kept() == "memory/2026-11-21.md"
    (tmp_path / "memory" / "daily").mkdir(parents=True)
    (tmp_path / "memory" / "daily" / "2026-11-20.md").write_text("x")
    assert kept() == "memory/daily/2026-11-21.md"
    (tmp_path / "memory" / "2026-11-21.md").write_text("x")
    assert kept() == "memory/2026-11-21.md"


def test_many_writers_at_once_lose_nothing_nor_what_an_editor_appends(tmp_path: Path) -> None:
    """Our own processes queue behind a lock; somebody who knows nothing of it appends at the same time."""
    file = tmp_path / "memory" / "2026-11-21.md"
    file.parent.mkdir()
    file.write_text("# Day\n\n## Retain\n")
    stop = threading.Event()
    foreign: list[str] = []

    def editor() -> None:
        while not stop.is_set() and len(foreign) < 3000:
            with file.open("a") as log:
                log.write(f"- W: foreign {len(foreign)}\n")
            foreign.append(f"- W: foreign {len(foreign)}")

    thread = threading.Thread(target=editor, daemon=True)
    thread.start()
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda number: retain(tmp_path, tmp_path / "lock", Sentence(f"W: own {number}"), DAY), range(40)))
    stop.set()
    thread.join(30)
    assert not thread.is_alive()
    assert foreign
    lines = file.read_text().splitlines()
    assert sorted(lines[3:]) == sorted([*foreign, *(item.bullet for item in done)])


def test_what_cannot_be_kept_is_refused_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="nothing to keep"):
        retain(tmp_path, tmp_path / "lock", Sentence(" - "), DAY)
    with pytest.raises(BadRequest, match="at most"):
        retain(tmp_path, tmp_path / "lock", Sentence("x" * 5_000), DAY)
    with pytest.raises(NotFound, match="not there"):
        retain(tmp_path / "gone", tmp_path / "lock", Sentence("x"), DAY)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-11-21.md").write_bytes("# Day\n".encode("utf-16"))
    with pytest.raises(BadRequest, match="not UTF-8"):
        retain(tmp_path, tmp_path / "lock", Sentence("W: x"), DAY)
    assert (tmp_path / "memory" / "2026-11-21.md").read_bytes() == "# Day\n".encode("utf-16")
