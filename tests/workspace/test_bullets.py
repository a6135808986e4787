"""Typed bullets: what they say, and that a fact is written as a bullet that says the same."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.model import FactKind
from openclaw_neuralstream.workspace.markdown import entities_in, pointers_in, unique
from openclaw_neuralstream.workspace.parse import Bullet, parse, read, render_fact


@pytest.mark.parametrize(
    ("line", "kind", "entities", "confidence", "text"),
    [
        ("- W @Peter: Lives in Berlin.", "world", ("Peter",), None, "Lives in Berlin."),
        ("- B @warelay: I fixed it.", "experience", ("warelay",), None, "I fixed it."),
        ("- O(c=0.95) @Peter: Prefers tea.", "opinion", ("Peter",), 0.95, "Prefers tea."),
        ("- O (c=95%) @Peter: Prefers tea.", "opinion", ("Peter",), 0.95, "Prefers tea."),
        ("- O(c=0,8) @Пётр: Любит чай.", "opinion", ("Пётр",), 0.8, "Любит чай."),
        ("- О(c=0.8) @Пётр: Кириллическая буква.", "opinion", ("Пётр",), 0.8, "Кириллическая буква."),
        ("- W @王芳：在成都。", "world", ("王芳",), None, "在成都。"),
        ("* S Everybody was tired.", "observation", (), None, "Everybody was tired."),
        ("- W @Peter, @Anna and @Maria: sailed.", "world", ("Peter", "Anna", "Maria"), None, "sailed."),
        ('- W @"Peter Müller": sailed.', "world", ("Peter Müller",), None, "sailed."),
        ("1. W: a plain one about @Anna", "world", ("Anna",), None, "a plain one about @Anna"),
        ("- W @Peter is away", "world", ("Peter",), None, "@Peter is away"),
    ],
)
def test_a_bullet_says_its_kind_entities_confidence_and_text(
    line: str, kind: str, entities: tuple[str, ...], confidence: float | None, text: str
) -> None:
    found = read([line])
    assert found is not None
    assert (found.kind.value, found.entities, found.confidence, found.text) == (kind, entities, confidence, text)


@pytest.mark.parametrize(
    "line", ["- Buy milk", "- Was there", "- О Петре ничего", "- В Москве дождь", "-W no", "W @x: y", "- W", "- S"]
)
def test_other_items_are_no_facts(line: str) -> None:
    assert read([line]) is None


def test_a_wrong_confidence_is_said_and_the_rest_kept() -> None:
    found = read(["- O(c=7) @Peter: Prefers tea."])
    assert found is not None
    assert (found.confidence, found.text) == (None, "Prefers tea.")
    assert "0 and 1" in found.wrong


def test_sources_for_and_against_are_kept_apart() -> None:
    lines = [
        "- O(c=0.7) @Peter: Prefers tea.",
        "  - for: memory/a.md#L3, memory/b.md",
        "  - against: memory/c.md#L9-L11",
    ]
    found = read(lines)
    assert found is not None
    assert (found.evidence, found.against) == (("memory/a.md#L3", "memory/b.md"), ("memory/c.md#L9-L11",))
    assert found.text == "Prefers tea."


def test_addresses_and_code_name_nobody() -> None:
    assert entities_in("write to peter@example.com, see `@decorator` and @Anna.") == ("Anna",)


NAMES = st.from_regex(r"[A-Za-zА-Яа-я王芳][A-Za-zА-Яа-я0-9王芳_\-]{0,12}", fullmatch=True) | st.sampled_from(
    ["Peter Müller", "a.b", "home.example"]
)
TEXTS = st.text(
    st.sampled_from("abc de@#:：()[]`\"'王芳Петя 0123.,–/W O(c=0.5)") | st.characters(exclude_categories=("C", "Z")),
    min_size=1,
    max_size=60,
)


@st.composite
def told(draw: st.DrawFn) -> Bullet:
    text = " ".join(draw(TEXTS).split()) or "x"
    kind = draw(st.sampled_from(FactKind))
    confidence = draw(st.none() | st.floats(0, 1).map(lambda c: round(c, 3))) if kind is FactKind.OPINION else None
    entities = unique((*draw(st.lists(NAMES, max_size=3)), *entities_in(text)))
    evidence = tuple(
        dict.fromkeys(
            (*draw(st.lists(st.sampled_from(["memory/a.md#L1", "bank/b.md"]), max_size=2)), *pointers_in(text))
        )
    )
    return Bullet(kind, text, entities, confidence, evidence, ())


@given(told())
def test_what_is_rendered_is_read_back_the_same(bullet: Bullet) -> None:
    found = read(render_fact(bullet).split("\n"))
    assert found == bullet


@given(st.lists(told(), min_size=1, max_size=4))
def test_a_file_of_rendered_facts_gives_the_same_facts(bullets: list[Bullet]) -> None:
    body = "# Day\n\n## Retain\n" + "\n".join(map(render_fact, bullets)) + "\n"
    document = parse("memory/2025-11-27.md", body.encode("utf-8", "replace"))
    assert [(f.kind, f.text, f.entities, f.confidence, f.evidence) for f in document.facts] == [
        (b.kind, b.text, b.entities, b.confidence, b.evidence) for b in bullets
    ]
    assert all(fact.day == date(2025, 11, 27) for fact in document.facts)
