"""The YAML block at the head of a file: tags, aliases, title, date; broken YAML is reported with its line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.when import dates_in

LONGEST = 64_000
"""Characters of a block that are read; a longer one is taken as text."""

_DEEPEST = 40
_FLOW = lazy(r"[\[{]")
_handler = YAMLHandler()


@dataclass(frozen=True, slots=True)
class Head:
    """What the block says. lines: how many lines it takes, its fences included; 0 = there is none.

    wrong: what is wrong with it and on which line (from 1); None when nothing is.
    """

    lines: int = 0
    title: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    day: date | None = None
    wrong: tuple[int, str] | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


def head_of(lines: Sequence[str]) -> Head:
    """The frontmatter of a file given as lines. Total: what cannot be read is left in the text and reported."""
    if not lines or lines[0].rstrip() != "---":
        return Head()
    end = next((i for i, line in enumerate(lines[1 : LONGEST // 2], start=1) if line.rstrip() in {"---", "..."}), 0)
    if not end:
        return Head(wrong=(1, "the frontmatter is not closed with ---")) if _looks_meant(lines) else Head()
    block = "\n".join(lines[1:end])
    if not block.strip():
        return Head(lines=end + 1)
    if len(block) > LONGEST or len(_FLOW.findall(block)) > LONGEST // 8:
        return Head(wrong=(1, "the frontmatter is too long to be read"))
    return _read(block, end)


def _looks_meant(lines: Sequence[str]) -> bool:
    """A rule at the top is no frontmatter; a rule with `key: value` below is."""
    return len(lines) > 1 and bool(re.match(r"[A-Za-z_][\w-]*:(\s|$)", lines[1]))


def _read(block: str, end: int) -> Head:
    try:
        if _depth(block) > _DEEPEST:
            return Head(end + 1, wrong=(2, "the frontmatter is nested too deeply"))
        values = _handler.load(block)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 2
        return Head(end + 1, wrong=(min(line, end + 1), f"the frontmatter is not valid YAML: {error.problem}"))
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError, TypeError, AttributeError, LookupError) as error:
        return Head(end + 1, wrong=(2, f"the frontmatter is not valid YAML: {type(error).__name__}"))
    if not isinstance(values, dict):
        return (
            Head()
            if values is None or not _looks_meant(["---", *block.split("\n")])
            else Head(end + 1, wrong=(2, _NO_KEYS))
        )
    named = {str(key).strip().lower(): value for key, value in values.items()}
    aliases = _words(named.get("aliases")) + _words(named.get("alias")) + _words(named.get("aka"))
    return Head(
        lines=end + 1,
        title=_word(named.get("title")) or _word(named.get("name")),
        tags=tuple(dict.fromkeys(_words(named.get("tags"), blanks=True) + _words(named.get("tag"), blanks=True))),
        aliases=tuple(dict.fromkeys(aliases)),
        day=next((day for key in ("date", "day", "created", "updated") if (day := _day(named.get(key)))), None),
        values=named,
    )


_NO_KEYS = "the frontmatter has no keys"


def _depth(block: str) -> int:
    """How deep flow collections nest, and how deep the indentation goes."""
    deepest = depth = 0
    for char in block:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    dashes = max((len(re.match(r"[\s\-?:]*", line)[0]) for line in block.split("\n")), default=0)  # type: ignore[index]
    return max(deepest, dashes // 4)


def _words(value: object, *, blanks: bool = False) -> tuple[str, ...]:
    """A list, or one text with commas (or blanks, where words cannot hold any), as words."""
    if isinstance(value, str):
        parts: Sequence[object] = re.split(r"[,，、;\s]+" if blanks else r"[,，、;]", value)
    elif isinstance(value, (list, tuple, set)):
        parts = list(value)[:200]
    else:
        parts = [] if value is None or isinstance(value, dict) else [value]
    return tuple(word for part in parts if (word := _word(part)))


def _word(value: object) -> str:
    if isinstance(value, (str, int, float, date)) and not isinstance(value, bool):
        return " ".join(str(value).split()).lstrip("#@").strip()[:200]
    return ""


def _day(value: object) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    found = dates_in(value[:100], None) if isinstance(value, str) else None
    return found[0] if found else None
