"""Regular expressions that are compiled when they are first used: a thousand of them would be half of a start."""

from __future__ import annotations

import re
import time
from typing import Any, AnyStr, cast

_REST = 0.001  # seconds between patterns while warming: whoever answers a question goes first

_waiting: list[_Lazy] = []


class _Lazy:
    """Stands for a pattern; its first use compiles it, and its methods are the compiled one's own from then on."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags
        _waiting.append(self)

    def compile(self) -> None:
        compiled = re.compile(self.pattern, self._flags)
        for name in _OF_THE_COMPILED:
            setattr(self, name, getattr(compiled, name))

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


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile`, put off until the pattern is first used; an error in it shows then (`warm` finds every one)."""
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))


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
