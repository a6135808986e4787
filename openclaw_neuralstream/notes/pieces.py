"""A section cut into pieces that fit a prompt: at blocks, tables and code kept whole as long as they may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openclaw_neuralstream.notes.blocks import Block, Shape
from openclaw_neuralstream.patterns import lazy

ENOUGH = 1_200
"""Bytes (UTF-8) after which a piece ends with its block: about 300 tokens in any language."""

LONGEST = 8_000
"""Bytes of a table, a code block or any other block that stays whole; a longer one is cut at lines."""

_BREAK = lazy(r"[.!?…]\s|[。！？；]|\s")


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines first..last (from 0), or a part of one endless line."""

    first: int
    last: int
    text: str


def pieces(lines: Sequence[str], blocks: Sequence[Block]) -> Iterator[Piece]:
    """Cut these blocks, in order; each piece is text of whole lines, except of lines longer than a piece may be."""
    group: list[Block] = []
    size = 0
    for block in blocks:
        length = _size(lines, block.first, block.last)
        if group and (size + length > ENOUGH or block.first > group[-1].last + 3) and _may_end(group[-1], block):
            yield _whole(lines, group)
            group, size = [], 0
        if length > LONGEST:
            if group:
                yield _whole(lines, group)
                group, size = [], 0
            yield from _cut(lines, block)
            continue
        group.append(block)
        size += length
        if size > LONGEST:
            yield _whole(lines, group)
            group, size = [], 0
    if group:
        yield _whole(lines, group)


def _may_end(last: Block, following: Block) -> bool:
    """A line that introduces a list, a table or code stays with it."""
    return not (last.shape is Shape.TEXT and last.first == last.last and following.shape in {Shape.CODE, Shape.TABLE})


def _whole(lines: Sequence[str], group: Sequence[Block]) -> Piece:
    first, last = group[0].first, group[-1].last
    return Piece(first, last, "\n".join(lines[first : last + 1]))


def _cut(lines: Sequence[str], block: Block) -> Iterator[Piece]:
    first, size = block.first, 0
    for at in range(block.first, block.last + 1):
        length = _size(lines, at, at)
        if size and size + length > 2 * ENOUGH:
            yield Piece(first, at - 1, "\n".join(lines[first:at]))
            first, size = at, 0
        if length > LONGEST:
            for part in _slices(lines[at]):
                yield Piece(at, at, part)
            first, size = at + 1, 0
        else:
            size += length
    if first <= block.last:
        yield Piece(first, block.last, "\n".join(lines[first : block.last + 1]))


def _slices(line: str) -> Iterator[str]:
    step = ENOUGH * 2 if line.isascii() else ENOUGH
    at = 0
    while at < len(line):
        end = min(at + step, len(line))
        if end < len(line):
            borders = [match.end() for match in _BREAK.finditer(line, at + step // 2, end)]
            end = borders[-1] if borders else end
        if line[at:end].strip():
            yield line[at:end].strip()
        at = end


def _size(lines: Sequence[str], first: int, last: int) -> int:
    return sum(
        len(line) if line.isascii() else len(line.encode("utf-8", "replace")) for line in lines[first : last + 1]
    )
