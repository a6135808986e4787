"""The marked parts of a Markdown file that are ours to rewrite: found, made, replaced; every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from openclaw_neuralstream.model import digest
from openclaw_neuralstream.patterns import lazy

_MARKER = lazy(
    rb"^<!-- neuralstream:(?:begin (?P<begin>[a-z][a-z0-9-]{0,39}) digest=(?P<digest>[0-9a-f]{16})"
    rb"|end (?P<end>[a-z][a-z0-9-]{0,39})) -->[ \t]*(?:\r\n|\n|\r|\Z)",
    re.MULTILINE,
)
_MARKER_LINE = lazy(r"^[ \t]*<!-- neuralstream:(?:begin|end|off)\b[^\n]*-->[ \t]*(?:\n|\Z)", re.MULTILINE)
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Fence:
    """One generated part. Offsets are in bytes: [start, end) with its markers, [inner, outer) its body alone.

    stated: the digest its marker names; another digest of the body means that a person changed it by hand.
    """

    name: str
    stated: str
    start: int
    inner: int
    outer: int
    end: int
    body: bytes

    @property
    def touched(self) -> bool:
        """True when the body is no longer what we wrote."""
        return body_digest(self.body) != self.stated


def fences(data: bytes) -> list[Fence]:
    """The fences of a file in their order. A marker without its partner opens or closes nothing. Total."""
    found: list[Fence] = []
    begin: re.Match[bytes] | None = None
    for marker in _MARKER.finditer(data):
        if marker["begin"]:
            begin = marker
        elif begin and begin["begin"] == marker["end"]:
            body = data[begin.end() : marker.start()]
            places = (begin.start(), begin.end(), marker.start(), marker.end())
            found.append(Fence(begin["begin"].decode(), begin["digest"].decode(), *places, body))
            begin = None
    return found


def named(data: bytes, name: str) -> list[Fence]:
    """The fences of this name: one where all is well, several where somebody copied it."""
    return [fence for fence in fences(data) if fence.name == name]


def generated_lines(data: bytes) -> list[tuple[int, int]]:
    """First and last line (from 1, markers included) of each fence: what stands there is no evidence of anything."""
    ranges = []
    for fence in fences(data):
        first = _line_of(data, fence.start)
        ranges.append((first, first + max(1, _breaks(data[fence.start : fence.end])) - 1))
    return ranges


def is_generated(line: int, ranges: Sequence[tuple[int, int]]) -> bool:
    """Whether a line (from 1) lies in one of these ranges."""
    return any(first <= line <= last for first, last in ranges)


def without_markers(text: str) -> str:
    """A text without the lines that only open or close one of our parts, or switch us off."""
    return _MARKER_LINE.sub("", text) if "<!-- neuralstream:" in text else text


def escaped(text: str) -> str:
    """One line with the signs that would open HTML, a link, a picture or code escaped as Markdown escapes them."""
    return _ACTIVE.sub(lambda sign: f"\\{sign[0]}", text)


def unescaped(text: str) -> str:
    """What `escaped` was given."""
    return _ESCAPED.sub(r"\1", text)


_ACTIVE = lazy(
    r"\\(?=[\\<>\[(`~])|<(?=[A-Za-z/!?])|\A>|(?<=--)>|(?<=!)\[|(?<=\])[(\[]|(?<![`\\])`(?=``)|(?<![~\\])~(?=~~)"
)
_ESCAPED = lazy(r"\\([\\<>\[(`~])")


def fenced(name: str, body: str, newline: str = "\n") -> bytes:
    """A fence of this name around the text, which ends with a line break of its own."""
    text = "\n".join(body.strip("\n").splitlines())
    inner = f"{text}\n" if text else ""
    whole = (
        f"<!-- neuralstream:begin {name} digest={body_digest(inner.encode('utf-8', 'replace'))} -->\n"
        f"{inner}<!-- neuralstream:end {name} -->\n"
    )
    return whole.replace("\n", newline).encode("utf-8", "replace")


def newline_of(data: bytes) -> str:
    """CRLF where the file's first line ends so, else LF."""
    return "\r\n" if re.match(rb"[^\n]*\r\n", data) else "\n"


def body_digest(body: bytes) -> str:
    """16 hex digits of a body; how its lines are broken does not count, so that git may convert them."""
    return digest(re.sub(rb"\r\n?", b"\n", body).decode("utf-8", "surrogateescape"), size=8)


def _line_of(data: bytes, offset: int) -> int:
    return _breaks(data[:offset]) + 1


def _breaks(data: bytes) -> int:
    return len(re.findall(rb"\r\n|\n|\r", data))
