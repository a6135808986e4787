"""Rows read straight from the leaf pages of a SQLite file, for tables whose upper pages are lost.

After the file format at https://www.sqlite.org/fileformat2.html, sections 1.6 and 2. Only table leaves (type 13) are read,
and only cells that a page lists: what was deleted or freed stays gone.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

Value = None | int | float | str | bytes

_PAGE = 4_096
_LEAF = 13
_RESERVED_HEAD = 100  # bytes of the first page before its own header
_FIXED = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # serial types of integers and their sizes


def leaf_rows(path: Path) -> Iterator[tuple[int, Sequence[Value]]]:
    """Every row of every table leaf: its number and its columns. Cells that make no sense are passed over."""
    with path.open("rb") as file:
        pages = _Pages(file.read())
    for number in range(1, pages.count + 1):
        page = pages.page(number)
        start = _RESERVED_HEAD if number == 1 else 0
        if page[start] == _LEAF:
            yield from _cells(pages, page, start)


class _Pages:
    """The pages of a file, the first one has number 1."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.count = len(data) // _PAGE

    def page(self, number: int) -> bytes:
        if not 1 <= number <= self.count:
            raise ValueError(number)
        return self._data[(number - 1) * _PAGE : number * _PAGE]


def _cells(pages: _Pages, page: bytes, start: int) -> Iterator[tuple[int, Sequence[Value]]]:
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    for index in range(min(count, _PAGE // 4)):
        at = start + 8 + 2 * index
        offset = int.from_bytes(page[at : at + 2], "big")
        try:
            size, offset = _varint(page, offset)
            row, offset = _varint(page, offset)
            yield row, _columns(_payload(pages, page, offset, size))
        except (ValueError, IndexError, struct.error, UnicodeDecodeError):
            continue


def _payload(pages: _Pages, page: bytes, offset: int, size: int) -> bytes:
    """What a cell holds, its overflow pages joined (section 1.6)."""
    most, least = _PAGE - 35, (_PAGE - 12) * 32 // 255 - 23
    if size <= most:
        return page[offset : offset + size]
    fitting = least + (size - least) % (_PAGE - 4)
    local = fitting if fitting <= most else least
    parts = [page[offset : offset + local]]
    following = int.from_bytes(page[offset + local : offset + local + 4], "big")
    missing = size - local
    while missing > 0:
        overflow = pages.page(following)
        parts.append(overflow[4 : 4 + missing])
        missing -= len(parts[-1])
        following = int.from_bytes(overflow[:4], "big")
    return b"".join(parts)


def _columns(payload: bytes) -> Sequence[Value]:
    """The values of a record (section 2.1)."""
    size, at = _varint(payload, 0)
    kinds = []
    while at < size:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[Value] = []
    at = size
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    if at != len(payload):
        raise ValueError(at)
    return values


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in _FIXED:
        end = at + _FIXED[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == 7:
        return struct.unpack(">d", payload[at : at + 8])[0], at + 8
    if kind in {0, 8, 9}:
        return (None, 0, 1)[(0, 8, 9).index(kind)], at
    if kind < 12:
        raise ValueError(kind)
    end = at + (kind - 12) // 2
    data = payload[at:end]
    if len(data) != end - at:
        raise ValueError(kind)
    return (data.decode() if kind % 2 else data), end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends (section 1.6, "varint")."""
    value = 0
    for index in range(8):
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    return _signed(value << 8 | data[at + 8]), at + 9


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
