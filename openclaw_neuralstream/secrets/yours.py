"""The user's own rules: "name: regular expression" lines, checked so that they can neither hang nor eat ordinary words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants as kinds  # type: ignore[attr-defined]  # the parser is what `re` itself reads a pattern with
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.secrets.rule import Rule, detector

_LINE = lazy(r"\s*([a-z0-9][a-z0-9-]{0,31})\s*:\s*(.*?)\s*", re.DOTALL)
_LONGEST = 500
_MANY = 50  # repetitions that count as without end when they stand inside one another
_ORDINARY = ("Thanks, see you tomorrow at nine.", "Спасибо, увидимся завтра в девять.", "谢谢，明天九点见。")
_FORM = 'a line "name: regular expression", the name of a-z, 0-9 and "-"'


def rules_of(lines: Iterable[str]) -> tuple[Rule, ...]:
    """One rule a line. Raises ValueError that says what is wrong with which."""
    rules = tuple(_rule(line) for line in lines)
    names = [rule.name for rule in rules]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"the name {twice[0]} stands there twice")
    return rules


def _rule(line: str) -> Rule:
    named = _LINE.fullmatch(line)
    if not named or not named[2]:
        raise ValueError(f"{_shown(line)} is not {_FORM}")
    name, pattern = named[1], named[2]
    if len(pattern) > _LONGEST:
        raise ValueError(f"{name}: longer than {_LONGEST} characters")
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{name}: not a regular expression ({error})") from None
    if _endless(parser.parse(pattern), inside=False):
        raise ValueError(f"{name}: a repetition without end inside another one can take for ever; give it a limit")
    if compiled.search("") or any(compiled.search(text) for text in _ORDINARY):
        raise ValueError(f"{name}: it matches ordinary words; say more of what the secret looks like")
    return Rule(name, detector(pattern), group=1 if compiled.groups else 0)


def _endless(part: Any, *, inside: bool) -> bool:
    """Whether a repetition without end stands inside another one: those backtrack for ever."""
    if isinstance(part, parser.SubPattern | list):
        return any(_endless(item, inside=inside) for item in part)
    if not isinstance(part, tuple):
        return False
    if part and part[0] in (kinds.MAX_REPEAT, kinds.MIN_REPEAT):
        _, (_, most, body) = part
        many = most == kinds.MAXREPEAT or most > _MANY
        return (many and inside) or _endless(body, inside=inside or many)
    return any(_endless(item, inside=inside) for item in part)


def _shown(line: str) -> str:
    """The line without what may be a secret that somebody wrote there instead of its shape."""
    return repr(line.partition(":")[0][:40])
