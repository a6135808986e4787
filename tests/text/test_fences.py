"""Fences: found by bytes, whatever stands around them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream.text.fences import escaped, fenced, fences, generated_lines, named, unescaped

BODY = "- Peter lives in Malmö (memory/2025-11-27.md#L12)\n- 他喜欢绿茶"


def test_a_fence_is_found_with_the_bytes_around_it_left_out() -> None:
    data = b"# Peter\r\n\r\n" + fenced("entity", BODY, "\r\n") + b"my own words \xff\n"
    (fence,) = fences(data)
    assert (data[: fence.start], data[fence.end :]) == (b"# Peter\r\n\r\n", b"my own words \xff\n")
    assert not fence.touched


def test_line_breaks_that_git_converts_are_no_change_by_hand() -> None:
    (fence,) = fences(fenced("entity", BODY).replace(b"\n", b"\r\n"))
    assert not fence.touched


def test_a_word_changed_by_hand_shows() -> None:
    (fence,) = fences(fenced("entity", BODY).replace("Malmö".encode(), b"Lund"))
    assert fence.touched


def test_a_marker_without_its_partner_opens_nothing() -> None:
    whole = fenced("entity", BODY)
    assert fences(whole.replace(b":end entity", b":end other")) == []
    assert len(fences(whole[: len(whole) // 2] + whole)) == 1


def test_the_lines_of_a_fence_are_known_for_what_they_are() -> None:
    data = b"# Peter\n\n" + fenced("entity", BODY) + b"- W @Peter: by hand\n"
    assert generated_lines(data) == [(3, 6)]


@given(before=st.binary(max_size=80), after=st.binary(max_size=80), body=st.text(max_size=80))
def test_any_bytes_around_a_fence_stay_apart_from_it(before: bytes, after: bytes, body: str) -> None:
    data = before + b"\n" + fenced("page", body) + after
    for fence in named(data, "page"):
        assert data[fence.start :].startswith(b"<!-- neuralstream:begin page")
        assert data[: fence.start] + data[fence.start : fence.end] + data[fence.end :] == data


@given(st.text(alphabet="ab1 <>!?/[]()`~\\-жд茶", max_size=40))
def test_what_is_escaped_reads_back(text: str) -> None:
    assert unescaped(escaped(text)) == text


@pytest.mark.parametrize("text", ["limit <1500 and 3 > 2", "C:\\Users\\ann", "любит a < b", "喜欢 <5 分钟"])
def test_harmless_signs_stay_as_they_are(text: str) -> None:
    assert escaped(text) == text


@pytest.mark.parametrize("text", ["<img src=x>", "![p](http://x)", "[a](b)", "```js", "<!-- x -->", "<http://x>"])
def test_nothing_escaped_is_markup(text: str) -> None:
    assert not re.search(r"(?<!\\)<[A-Za-z/!?]|\]\(|!\[|^```", escaped(text))
