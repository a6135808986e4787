"""Sentences of English, Russian, Chinese and Japanese text; code blocks and list items are kept whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

from openclaw_neuralstream.patterns import lazy

_CODE = lazy(r"^[ \t]*(```|~~~)[^\n]*\n.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_ITEM = lazy(r"\s*(?:[-*•+>#|]|\d{1,3}[.)]\s|\[.\])")
_END = lazy(r"[。！？｡]+[”’」』）)】\"]*|[.!?…]+[\"'”’»)\]]*(?=\s|$)|；")
_ABBREVIATION = lazy(
    r"(?:^|[\s(«\"'])(?:mr|mrs|ms|dr|prof|st|vs|e\.g|i\.e|etc|approx|no|fig|inc|ltd|jr|sr|a\.m|p\.m|u\.s"
    r"|т\.\s?е|т\.\s?к|т\.\s?н|др|проф|см|стр|рис|ул|им|тыс|млн|млрд|руб|[a-zа-я])\.$",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """Split a text into its sentences, stripped, in order; fenced code blocks are kept whole, blanks left out."""
    return list(_each(text))


def first_sentence(text: str) -> str:
    """The first of them; "" where there is none."""
    return next(_each(text), "")


def _each(text: str) -> Iterator[str]:
    position = 0
    for block in _CODE.finditer(text):
        yield from _prose(text[position : block.start()])
        if fenced := block.group().strip():
            yield fenced
        position = block.end()
    yield from _prose(text[position:])


def _prose(text: str) -> Iterator[str]:
    for line in _lines(text):
        yield from _split_line(line)


def _lines(text: str) -> list[str]:
    """Paragraph lines with hard wraps undone: a line that goes on in lower case belongs to the one before."""
    joined: list[list[str]] = []
    open_line = False
    for raw in text.splitlines():
        line = raw.strip()
        if joined and open_line and line[:1].islower() and not _ITEM.match(raw):
            joined[-1].append(line)
        elif line:
            joined.append([line])
        open_line = bool(line) and not _END.search(line[-2:])
    return [" ".join(parts) for parts in joined]


def _split_line(line: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(line):
        if match.group() == "." and _ABBREVIATION.search(line[max(start, match.end() - 12) : match.end()]):
            continue
        if sentence := line[start : match.end()].strip():
            yield sentence
        start = match.end()
    if sentence := line[start:].strip():
        yield sentence
