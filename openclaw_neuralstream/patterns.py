"""Regular expressions that are compiled when they are first used: a thousand of them would be half of a start.

They also read a long text a window at a time. `re` keeps the interpreter for itself for as long as a call lasts, and a
pattern that tries every start of a text may take the square of its length: so it is the square of a window at most.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, AnyStr, cast

WINDOW = 1_024
"""Characters that a search reads at a time: what a match needs to see must lie within half of it from its start."""

WHOLE = sys.maxsize
"""The window of a pattern that reads a text at once."""

_READ_AGAIN = 8  # times the length of a text that is spent at most on matches longer than a window
_REST = 0.001  # seconds between patterns while warming: whoever answers a question goes first
_LOOKS_FOR_THE_END = re.compile(r"\\Z|\$")

_waiting: list[_Lazy] = []


class _Lazy:
    """Stands for a pattern; its first use compiles it, and its methods are the compiled one's own from then on."""

    def __init__(self, pattern: str | bytes, flags: int, window: int) -> None:
        self.pattern = pattern
        self.window = window
        self._flags = flags
        _waiting.append(self)

    def compile(self) -> None:
        compiled = re.compile(self.pattern, self._flags)
        for name in _OF_THE_COMPILED:
            setattr(self, name, getattr(compiled, name))
        vars(self).update(_windowed(compiled, self.window))

    @property
    def is_compiled(self) -> bool:
        return "search" in vars(self)

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_THE_COMPILED:
            raise AttributeError(name)
        self.compile()
        return vars(self)[name]

    def __repr__(self) -> str:
        return f"lazy({self.pattern!r})"


_OF_THE_COMPILED = (
    "search",
    "match",
    "fullmatch",
    "finditer",
    "findall",
    "sub",
    "subn",
    "split",
    "flags",
    "groups",
    "groupindex",
)


def lazy(pattern: AnyStr, flags: int = 0, *, window: int = WINDOW) -> re.Pattern[AnyStr]:
    """`re.compile`, put off until the pattern is first used; an error in it shows then (`warm` finds every one).

    From one start it must take linear time for any text: `match` and `fullmatch` see all of it. Where what a search
    finds may lie further apart, window: how much is read at a time; from all starts, too, it must then be linear.
    """
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags, window))


def warm() -> int:
    """Compile what has not been used yet, resting in between; how many there were. Raises re.error for a wrong one."""
    done = 0
    while _waiting:
        one = _waiting.pop()
        if not one.is_compiled:
            one.compile()
            done += 1
            time.sleep(_REST)
    return done


def _windowed(compiled: re.Pattern[Any], window: int) -> dict[str, Callable[..., Any]]:
    """The methods that try every start of a text: the pattern's own for a short one, else as those, by windows."""

    def search(text: Any, pos: int = 0, endpos: int = sys.maxsize) -> Any:
        short = len(text) <= window
        return compiled.search(text, pos, endpos) if short else next(matches(text, pos, endpos), None)

    def finditer(text: Any, pos: int = 0, endpos: int = sys.maxsize) -> Any:
        return compiled.finditer(text, pos, endpos) if len(text) <= window else matches(text, pos, endpos)

    def findall(text: Any, pos: int = 0, endpos: int = sys.maxsize) -> list[Any]:
        short = len(text) <= window
        return compiled.findall(text, pos, endpos) if short else _all(matches(text, pos, endpos), compiled, text)

    def sub(repl: Any, text: Any, count: int = 0) -> Any:
        return (
            compiled.sub(repl, text, count) if len(text) <= window else _replaced(matches(text), repl, text, count)[0]
        )

    def subn(repl: Any, text: Any, count: int = 0) -> tuple[Any, int]:
        return compiled.subn(repl, text, count) if len(text) <= window else _replaced(matches(text), repl, text, count)

    def split(text: Any, maxsplit: int = 0) -> list[Any]:
        return compiled.split(text, maxsplit) if len(text) <= window else _parts(matches(text), text, maxsplit)

    matches = partial(_matches, compiled, window)
    return {"search": search, "finditer": finditer, "findall": findall, "sub": sub, "subn": subn, "split": split}


def _all(found: Iterator[re.Match[Any]], compiled: re.Pattern[Any], text: Any) -> list[Any]:
    """As `findall`: of each match its one group or itself, or a tuple of its groups."""
    if compiled.groups > 1:
        return [match.groups(text[:0]) for match in found]
    return [match[compiled.groups] or text[:0] for match in found]


def _replaced(found: Iterator[re.Match[Any]], repl: Any, text: Any, count: int) -> tuple[Any, int]:
    """As `subn`."""
    parts, at, done = [], 0, 0
    for match in islice(found, count or None):
        parts += [text[at : match.start()], repl(match) if callable(repl) else match.expand(repl)]
        at, done = match.end(), done + 1
    return text[:0].join([*parts, text[at:]]), done


def _parts(found: Iterator[re.Match[Any]], text: Any, maxsplit: int) -> list[Any]:
    """As `split`."""
    parts, at = [], 0
    for match in islice(found, maxsplit or None):
        parts += [text[at : match.start()], *match.groups()]
        at = match.end()
    return [*parts, text[at:]]


def _matches(
    compiled: re.Pattern[Any], window: int, text: Any, at: int = 0, end: int = sys.maxsize
) -> Iterator[re.Match[Any]]:
    """As `finditer`, `window` characters at a time; windows overlap, and what starts in the second half is the next one's.

    Only the end of a window is unlike the text: what stands before one is seen (as with `pos`). So a match that reaches
    the end is tried again with more text; `left` bounds what is read so, and with it the time for any text. When nothing
    is left, it stays cut off, and is none where its pattern may have taken the cut for the end of the text.
    """
    at, end = max(0, at), min(end, len(text))
    left = _READ_AGAIN * (end - at)
    wants_end = _LOOKS_FOR_THE_END.search(str(compiled.pattern)) is not None
    empty = -1  # where the last match was, if it was an empty one
    while at <= end:
        limit = min(at + window, end)
        following = at + window // 2 if limit < end else end + 1
        for match in compiled.finditer(text, at, limit):
            start, longer = match.start(), match
            if start >= following:
                break
            while longer and _reaches(longer, limit, end) and left > 0:
                limit = min(start + max(window, 2 * (limit - start)), end)
                left -= limit - start
                longer = compiled.match(text, start, limit)
            if longer and wants_end and _reaches(longer, limit, end):
                longer = None
            if longer and not start == longer.end() == empty:
                empty = start if start == longer.end() else -1
                yield longer
            following = max(following, match.end())
            if longer is not match:
                following = max(start + 1, longer.end() if longer else 0)
                break
        at = following


def _reaches(match: re.Match[Any], limit: int, end: int) -> bool:
    """Whether what was read ended before the text did, and the match there; `$` also stands before a last line break."""
    return limit < end and match.end() >= limit - 1
