"""Patterns are compiled when they are first used, behave like compiled ones, and every one of them is right."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_neuralstream import patterns
from openclaw_neuralstream.patterns import lazy


def test_nothing_is_compiled_before_the_first_use() -> None:
    wrong = lazy("(")
    patterns._waiting.remove(wrong)  # no thread of a later test that warms finds it
    with pytest.raises(re.error):
        wrong.search("text")


@given(st.text("ab 1", max_size=12))
def test_it_does_what_the_compiled_one_does(text: str) -> None:
    late, now = lazy("(?P<a>a+)|B", re.IGNORECASE), re.compile("(?P<a>a+)|B", re.IGNORECASE)
    assert [match.span() for match in late.finditer(text)] == [match.span() for match in now.finditer(text)]
    assert late.sub("-", text) == now.sub("-", text)
    assert late.split(text) == now.split(text)
    assert (late.pattern, late.flags, late.groups, dict(late.groupindex)) == (now.pattern, now.flags, 1, {"a": 1})


def test_bytes_are_patterns_too() -> None:
    assert lazy(rb"\d+").findall(b"1 and 22") == [b"1", b"22"]


def test_what_a_pattern_does_not_have_is_no_attribute() -> None:
    with pytest.raises(AttributeError):
        _ = lazy("a").serach  # type: ignore[attr-defined]


def test_every_pattern_of_the_package_is_right() -> None:
    """In a process of its own, where none has been used yet."""
    said = run(
        "import importlib, pkgutil, openclaw_neuralstream as all; from openclaw_neuralstream import patterns\n"
        "for module in pkgutil.walk_packages(all.__path__, 'openclaw_neuralstream.'):\n"
        "    module.name.endswith('__main__') or importlib.import_module(module.name)\n"
        "print(patterns.warm(), patterns.warm())"
    )
    compiled, again = map(int, said.split())
    assert compiled > 500
    assert again == 0


def test_importing_the_product_compiles_hardly_any() -> None:
    said = run(
        "import gc; from openclaw_neuralstream import patterns, wiring; from openclaw_neuralstream.serve import server;"
        "print(patterns.warm(), sum(type(one).__name__ == '_Lazy' for one in gc.get_objects()))"
    )
    put_off, all_of_them = map(int, said.split())
    assert put_off > 0.9 * all_of_them


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120).stdout
