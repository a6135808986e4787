"""Patterns are compiled when they are first used, behave like compiled ones, and every one of them is right."""

from __future__ import annotations

import gc
import importlib
import pkgutil
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from re import _constants as re_kinds  # type: ignore[attr-defined]
from re import _parser as re_parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import openclaw_neuralstream as package
from openclaw_neuralstream import patterns
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets import library


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
        "import gc; from openclaw_neuralstream import patterns; from openclaw_neuralstream.memory import wiring; from openclaw_neuralstream.server import server;"
        "print(patterns.warm(), sum(type(one).__name__ == '_Lazy' for one in gc.get_objects()))"
    )
    put_off, all_of_them = map(int, said.split())
    assert put_off > 0.9 * all_of_them


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120).stdout


SHORT = [
    "a+",
    "a*",
    "(a)|(b)",
    "a|$",
    "a+$",
    "(?m)^a*$",
    r"\s+",
    "(?<=a)b*",
    "b(?=a)",
    "b(?!a)",
    "(a+)(b)?",
    "",
    r"\Z",
    "(?<!a)a+(?!a)",
]


@pytest.mark.parametrize("pattern", SHORT)
@given(text=st.text("aab \n", max_size=90))
def test_a_text_longer_than_a_window_is_read_as_a_short_one_is(pattern: str, text: str):
    by_windows, at_once = lazy(pattern, window=16), re.compile(pattern)
    assert [m.span() for m in by_windows.finditer(text)] == [m.span() for m in at_once.finditer(text)]
    assert by_windows.findall(text) == at_once.findall(text)
    assert by_windows.split(text, 2) == at_once.split(text, 2)
    assert by_windows.subn(r"[\g<0>]", text) == at_once.subn(r"[\g<0>]", text)
    assert str(by_windows.search(text, 3)) == str(at_once.search(text, 3))


# What follows is about time. Tests compare the work of one text with that of a longer one of the same kind: a pattern
# that is linear takes four times as long for four times the text, one that is quadratic sixteen times, a cubic one 64.

RUNS = [
    " ",
    "\n",
    "\t",
    "\r\n",
    *"aZ1_-.,:;\"'`([<{)]>*/@#=?!|\\+$&%我я\u0301",
    "a ",
    "1,",
    "a.",
    "a'",
    "(a",
    "Ab ",
    "\n- ",
    "a\n",
    "to the ",
]
"""What a hostile text is made of whatever the pattern is."""

BEHIND = [" ", "\n", "a", "1", "a ", "("]
"""What runs on behind the beginning of something that the pattern looks for."""

SAMPLES = 6  # texts that each pattern would match, one for each choice that it leaves
BEGINNINGS = 4


def samples(parsed: Any) -> list[str]:
    """Texts of about the form that the pattern looks for: every alternative once, repetitions as short as can be."""

    def of(parts: Any) -> list[str]:
        made = [""]
        for op, value in parts:
            made = [text + more for text, more in zip_longest_last(made, one(op, value))][:SAMPLES]
        return made

    def one(op: Any, value: Any) -> list[str]:
        if op is re_kinds.LITERAL:
            return [chr(value)]
        if op in (re_kinds.NOT_LITERAL, re_kinds.ANY, re_kinds.IN):
            return [in_set(value) if op is re_kinds.IN else "a"]
        if op is re_kinds.BRANCH:
            return [text for branch in value[1] for text in of(branch)]
        if op in (re_kinds.SUBPATTERN, re_kinds.ATOMIC_GROUP):
            return of(value[3] if op is re_kinds.SUBPATTERN else value)
        if op in (re_kinds.MAX_REPEAT, re_kinds.MIN_REPEAT, re_kinds.POSSESSIVE_REPEAT):
            return [text * max(1, min(value[0], 40)) for text in of(value[2])]
        return [""]

    def in_set(items: Any) -> str:
        kind, value = items[0]
        if kind is re_kinds.LITERAL:
            return chr(value)
        if kind is re_kinds.RANGE:
            return chr(value[0])
        shown = str(value)
        return "1" if "DIGIT" in shown else " " if "SPACE" in shown and "NOT" not in shown else "a"

    return [text for text in dict.fromkeys(of(parsed)) if text]


def zip_longest_last(first: list[str], second: list[str]) -> list[tuple[str, str]]:
    """Pairs until both are at their ends; the shorter one goes on with its last."""
    length = max(len(first), len(second))
    return [(first[min(i, len(first) - 1)], second[min(i, len(second) - 1)]) for i in range(length)]


def hostile(pattern: Any) -> Iterator[tuple[str, str]]:
    """(what stands at the beginning, what is repeated behind it)."""
    yield from (("", run) for run in RUNS)
    for sample in samples(re_parser.parse(pattern.pattern, pattern._flags)):
        yield from (("", sample[:60] + gap) for gap in ("", " ", "\n"))
        step = max(1, len(sample) // BEGINNINGS)
        for end in [*range(step, len(sample), step), len(sample)]:
            yield from ((sample[:end], run) for run in BEHIND)
            yield "", sample[:end] + " "


def cost(run: Callable[[Any], object], pattern: Any, text: tuple[str, str], length: int, times: int = 1) -> float:
    """Seconds of this thread for the text at that length; the least of several."""
    first, again = text
    whole: Any = (first + again * (length // len(again) + 1))[:length]
    if isinstance(pattern.pattern, bytes):
        whole = whole.encode("utf-8", "surrogatepass")
    taken = []
    for _ in range(times):
        begun = time.thread_time()
        run(whole)
        taken.append(time.thread_time() - begun)
    return min(taken)


MEASURABLE = 0.003  # seconds; what takes less is as good as the clock


def outgrown(run: Callable[[Any], object], pattern: Any, text: tuple[str, str], length: int, most: float) -> float:
    """How many times as long four times the text takes, where that is more than `most`; else 0."""
    for long in (256, length):  # one that never ends is seen in the short text
        for times in (1, 3):  # the clock of a busy machine is looked at again before anything is said
            taken = cost(run, pattern, text, long, times)
            grown = taken / max(cost(run, pattern, text, long // 4, times), 1e-6) if taken >= MEASURABLE else 0
            if grown <= most:
                break
        else:
            return grown
    return 0


def all_patterns() -> list[Any]:
    """Every pattern of the package once."""
    for module in pkgutil.walk_packages(package.__path__, "openclaw_neuralstream."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    library.rules()  # those of the library are made when they are first needed
    found = {(one.pattern, one._flags, one.window): one for one in gc.get_objects() if type(one).__name__ == "_Lazy"}
    return [found[key] for key in sorted(found, key=repr)]


def test_a_pattern_that_is_quadratic_takes_linear_time_for_a_long_text():
    quadratic = lazy(r"\s+x")
    assert not outgrown(quadratic.search, quadratic, ("", " "), 16_384, 9)


@pytest.mark.timeout(900)
def test_every_pattern_is_linear_from_one_start_and_no_worse_than_quadratic_within_a_window():
    """What may see more than the usual window must be linear from all starts."""
    slow = []
    for pattern in all_patterns():
        compiled = re.compile(pattern.pattern, pattern._flags)
        most = 9 if pattern.window > patterns.WINDOW else 40  # quadratic, with room for the clock; cubic is 64

        def find(text: Any, finditer: Callable[[Any], Any] = compiled.finditer) -> bool:
            return all(finditer(text))

        for text in dict.fromkeys(hostile(pattern)):
            grown = outgrown(compiled.match, pattern, text, 2_048, 9) or outgrown(
                find, pattern, text, 2_048 if most == 9 else 512, most
            )
            if grown:
                slow.append(f"{grown:.0f} times for {text}: {pattern.pattern!r}")
                break
    assert slow == []
