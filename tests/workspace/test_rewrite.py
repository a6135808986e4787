"""What is rewritten is the fence alone, byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.text.fences import fences
from openclaw_neuralstream.workspace.writing import OFF, Verdict, appended, outside, rewrite

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=120)


def test_a_new_page_has_its_heading_and_the_fence() -> None:
    made = rewrite(None, "entity", "- lives in Malmö", head="# Peter")
    assert made.verdict is Verdict.CREATED
    assert made.after.startswith(b"# Peter\n\n<!-- neuralstream:begin entity")


def test_a_page_of_ones_own_gets_the_fence_at_its_end() -> None:
    made = rewrite(b"# Peter\r\nmine", "entity", "- lives in Lund")
    assert made.after.startswith(b"# Peter\r\nmine\r\n\r\n<!-- neuralstream:begin")
    assert b"\n" not in made.after.replace(b"\r\n", b"")


def test_the_same_again_changes_nothing() -> None:
    first = rewrite(b"# Peter\n", "entity", "- a\n- b").after
    assert rewrite(first, "entity", "- a\n- b").verdict is Verdict.UNCHANGED


def test_a_fence_without_its_last_line_break_stays_without_it() -> None:
    first = rewrite(b"mine\n", "entity", "- a").after.rstrip()
    assert rewrite(first, "entity", "- a").verdict is Verdict.UNCHANGED
    assert rewrite(first, "entity", "- b").after.endswith(b"end entity -->")


def test_a_hand_in_the_fence_is_seen() -> None:
    first = rewrite(None, "entity", "- lives in Malmö").after
    edited = first.replace("Malmö".encode(), b"Lund, since May")
    assert rewrite(edited, "entity", "- lives in Malmö, really").verdict is Verdict.BY_HAND


def test_a_copied_fence_is_left_alone() -> None:
    first = rewrite(None, "entity", "- a").after
    again = rewrite(first + first, "entity", "- b")
    assert (again.verdict, again.after) == (Verdict.UNCLEAR, first + first)


def test_a_file_that_says_off_is_left_alone() -> None:
    before = OFF + b"\nmine"
    assert rewrite(before, "entity", "- a").after == before


@given(before=st.binary(max_size=200), one=TEXT, two=TEXT)
def test_any_bytes_of_a_person_stay_as_they_are(before: bytes, one: str, two: str) -> None:
    first = rewrite(before, "entity", one)
    second = rewrite(first.after, "entity", two)
    assert first.after.startswith(before)
    assert second.after.startswith(before)
    assert OFF in before or second.verdict in (Verdict.UPDATED, Verdict.UNCHANGED)


@given(before=st.binary(max_size=80), after=st.binary(max_size=80), one=TEXT, two=TEXT)
def test_bytes_on_both_sides_stay_as_they_are(before: bytes, after: bytes, one: str, two: str) -> None:
    made = rewrite(before, "entity", one).after + after
    again = rewrite(made, "entity", two)
    if again.verdict is Verdict.UPDATED and len(fences(again.after)) == 1:
        assert outside(again.after, "entity") == outside(made, "entity")
        assert again.after.startswith(before)
        assert again.after.endswith(after)


@pytest.mark.parametrize("before", [b"# Log\n\nmine", b"# Log\r\n\r\nmine\r\n", b"\xff\xfe broken"])
def test_what_is_appended_follows_a_blank_line(before: bytes) -> None:
    made = appended(before, "## Retain\n- W @Peter: Lives in Malmö")
    assert made.startswith(before)
    assert b"Retain" in made
