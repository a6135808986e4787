"""The blocks of a Markdown text by line: headings, paragraphs, list items, code, tables. CommonMark where it matters.

A full CommonMark parser in Python reads one or two megabytes a second; an index of thousands of files wants ten times
that and only needs to know where headings, code and items stand. `tests/notes` compares this reader with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from openclaw_neuralstream.patterns import lazy

BREAK = lazy("\r\n|\n|\r")


class Shape(Enum):
    """What a block is."""

    HEADING = auto()
    TEXT = auto()
    ITEM = auto()
    CODE = auto()
    TABLE = auto()
    HTML = auto()


@dataclass(frozen=True, slots=True)
class Block:
    """A block from line `first` to line `last` (counted from 0, both included).

    level: of a heading 1 to 6, of an item how far it is indented. title: of a heading.
    """

    shape: Shape
    first: int
    last: int
    level: int = 0
    title: str = ""


_ATX = lazy(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = lazy(r"([ \t]*)(`{3,}(?=[^`]*$)|~{3,})")
_ITEM = lazy(r"([ \t]*)(?:[-*+•]|\d{1,9}[.)])(?=[ \t]|$)")
_RULE = lazy(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_UNDERLINE = lazy(r" {0,3}(=+|-+)[ \t]*$")
_RAW = lazy(r" {0,3}<(script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE)
_TAG = lazy(
    r" {0,3}</?(?:address|article|aside|blockquote|body|center|details|dialog|dd|div|dl|dt|fieldset|figcaption|figure"
    r"|footer|form|h[1-6]|header|hr|html|iframe|li|link|main|menu|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead"
    r"|title|tr|ul)(?=[\s/>]|$)",
    re.IGNORECASE,
)
_SPECIAL = frozenset("-*+•0123456789`~|_#<>")
"""What a line begins with that may end a list item."""

_INDENTED = ("    ", "\t", " \t", "  \t", "   \t")


def blocks(lines: Sequence[str], start: int = 0) -> list[Block]:
    """The blocks of these lines from line `start` on, in order; blank lines and rules belong to none. Total."""
    return _Reader(lines, start).read()


class _Reader:
    def __init__(self, lines: Sequence[str], start: int) -> None:
        self.lines = lines
        self.at = start
        self.found: list[Block] = []
        self.in_list = False

    def read(self) -> list[Block]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            bare = line.strip(" \t")
            if not bare:
                self.at += 1
            else:
                self._block(line, bare)
        return self.found

    def _block(self, line: str, bare: str) -> None:
        lead = bare[0]
        indented = line.startswith(_INDENTED)
        if lead in "`~" and (self.in_list or not indented) and (fence := _FENCE.match(line)):
            self._code(fence)
        elif indented and not self.in_list:
            self._until(Shape.CODE, lambda text: text.startswith(_INDENTED) or not text.strip(" \t"))
        elif lead == "#" and not indented and (heading := _ATX.match(line)):
            self.in_list = False
            self._add(Shape.HEADING, self.at, level=len(heading[1]), title=(heading[2] or "").strip())
        elif lead in "-*_" and _RULE.match(line):
            self.in_list = False
            self.at += 1
        elif lead in "-*+•0123456789" and _ITEM.match(line):
            self._item()
        elif lead == "<" and not indented and self._html(bare, line):
            pass
        elif lead == "|":
            self._until(Shape.TABLE, lambda text: text.lstrip(" \t").startswith("|"))
        else:
            self.in_list = self.in_list and line[0] in " \t"
            self._paragraph()

    def _add(self, shape: Shape, last: int, *, level: int = 0, title: str = "") -> None:
        first = self.at
        self.at = last + 1
        while last > first and not self.lines[last].strip(" \t"):
            last -= 1
        self.found.append(Block(shape, first, last, level, title))

    def _until(self, shape: Shape, goes_on: Callable[[str], bool]) -> None:
        last = self.at
        while last + 1 < len(self.lines) and goes_on(self.lines[last + 1]):
            last += 1
        self._add(shape, last)

    def _code(self, fence: re.Match[str]) -> None:
        mark, indent = fence[2], len(fence[1])
        last = self.at
        while last + 1 < len(self.lines):
            text = self.lines[last + 1]
            bare = text.strip(" \t")
            if self.in_list and indent > 1 and bare and text[0] not in " \t":
                break  # the list item ends, and its code with it
            last += 1
            if (
                len(bare) >= len(mark)
                and bare == mark[0] * len(bare)
                and (self.in_list or not text.startswith(_INDENTED))
            ):
                break
        self._add(Shape.CODE, last)

    def _item(self) -> None:
        """One item with its lazy lines; what is deeper in it are blocks of their own."""
        self.in_list = True
        last = self.at
        while last + 1 < len(self.lines) and self._goes_on(self.lines[last + 1]):
            last += 1
        indent = len(self.lines[self.at]) - len(self.lines[self.at].lstrip(" \t"))
        self._add(Shape.ITEM, last, level=indent)

    def _goes_on(self, text: str) -> bool:
        bare = text.lstrip(" \t")
        if not bare:
            return False
        lead = bare[0]
        if lead not in _SPECIAL:
            return True
        if lead in "|>" or _ITEM.match(text) or _FENCE.match(text) or _RULE.match(text):
            return False
        return not (_ATX.match(bare) or bare.startswith("<!--"))

    def _html(self, bare: str, line: str) -> bool:
        if bare.startswith("<!--"):
            end = "-->"
        elif raw := _RAW.match(line):
            end = f"</{raw[1].lower()}>"
        elif _TAG.match(line):
            self._until(Shape.HTML, lambda text: bool(text.strip(" \t")))
            return True
        else:
            return False
        last = self.at
        text = line[line.find("<!--") + 4 :] if end == "-->" else line
        while end not in text.lower() and last + 1 < len(self.lines):
            last += 1
            text = self.lines[last]
        self._add(Shape.HTML, last)
        return True

    def _paragraph(self) -> None:
        last = self.at
        while last + 1 < len(self.lines):
            text = self.lines[last + 1]
            bare = text.strip(" \t")
            under = _UNDERLINE.match(text)
            if under and not self.in_list and not self.lines[self.at].lstrip(" ").startswith(">"):
                title = " ".join(part.strip() for part in self.lines[self.at : last + 1])
                self._add(Shape.HEADING, last + 1, level=1 if under[1][0] == "=" else 2, title=title)
                return
            if not bare or self._interrupts(text, bare):
                break
            last += 1
        self._add(Shape.TEXT, last)

    def _interrupts(self, text: str, bare: str) -> bool:
        if text.startswith(_INDENTED):
            return False
        if bare[0] in "-*+_•" and (_RULE.match(text) or (_ITEM.match(text) and len(bare) > 1)):
            return True
        if bare.startswith(("1. ", "1) ")):
            return True
        return bool(
            (bare[0] == "#" and _ATX.match(text))
            or (bare[0] in "`~" and _FENCE.match(text))
            or (bare[0] == "<" and (bare.startswith("<!--") or _RAW.match(text) or _TAG.match(text)))
        )
