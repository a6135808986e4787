"""The one place that knows what a secret looks like: text in, text without secrets out."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from openclaw_neuralstream.secrets import (
    beside,
    library,
    near,
    numbers,
    personal,
    places,
    prose,
    said,
    spoken,
    vendors,
    yours,
)
from openclaw_neuralstream.secrets.folding import folded
from openclaw_neuralstream.secrets.rule import MARKER, Rule, Span

__all__ = ["Redaction", "learn", "redact", "rules_version", "warm"]

RULES = 7
"""Counts the changes of the rules: what an older number left in a store is taken out by `neuralstream admin scrub`."""

_LOOKS = 50
_OWN: tuple[Rule | near.Near | spoken.Spoken, ...] = (
    *vendors.RULES,
    *prose.RULES,
    *places.RULES,
    *said.RULES,
    *spoken.RULES,
    *beside.RULES,
    near.Near(),
    *numbers.RULES,
    *personal.RULES,
)
_ANCHORS = tuple({anchor: None for rule in _OWN for anchor in rule.anchors})


@dataclass(slots=True)
class _Learnt:
    """What this process was told on top. One for the whole process on purpose: no border may know less than another."""

    rules: tuple[Rule, ...] = ()
    version: str = ""


_LEARNT = _Learnt()


@dataclass(frozen=True, slots=True)
class Redaction:
    """The text with markers like "[redacted:aws-access-key]", and how many of each sort were taken out."""

    text: str
    found: dict[str, int] = field(default_factory=dict)


def redact(text: str, *, keep_lines: bool = False) -> Redaction:
    """Replace every secret by a marker. Takes any text; doing it again changes nothing.

    keep_lines: a secret of several lines leaves its line breaks, so that every other line keeps its number.

    A marker can bring neighbours into reach of a rule, so this looks again until nothing more is found; a text that
    was made to go on for ever is left after `_LOOKS`.
    """
    found: Counter[str] = Counter()
    for _ in range(_LOOKS):
        if not (spans := _merged(_spans(text), _markers(text))):
            break
        found.update(span.name for span in spans)
        text = _replaced(text, spans, keep_lines=keep_lines)
    return Redaction(text, dict(found))


def learn(patterns: Sequence[str]) -> None:
    """Look for these, too, from now on: "name: regular expression" lines (the setting `secret_patterns`).

    They replace what was learnt before. Raises ValueError for a line that is none.
    """
    _LEARNT.rules = yours.rules_of(patterns)
    joined = "\n".join(patterns).encode("utf-8", "backslashreplace")
    _LEARNT.version = f"+{hashlib.blake2b(joined, digest_size=4).hexdigest()}" if patterns else ""


def rules_version() -> str:
    """Which rules are in force: ours by number, and a digest of what was learnt on top ("3" or "3+9f86d081")."""
    return f"{RULES}{_LEARNT.version}"


def warm() -> None:
    """Load the library's detectors now instead of at the first text that needs them; takes about 0.2 s."""
    library.rules()


def _spans(text: str) -> Iterator[Span]:
    """Also of the text as a machine would read it, where that differs."""
    yield from _plain_spans(text)
    if plain := folded(text):
        for span in _plain_spans(plain.text):
            yield Span(*plain.place(span.start, span.end), span.name)


def _plain_spans(text: str) -> Iterator[Span]:
    lowered = text.lower()
    held = {anchor for anchor in _ANCHORS if anchor in lowered}  # once, not for each of the 200 rules that share them
    for rule in _OWN:
        if not rule.anchors or not held.isdisjoint(rule.anchors):
            yield from rule.find(text)
    for rule in _LEARNT.rules:
        if rule.applies(lowered):
            yield from rule.find(text)
    if library.can_apply(lowered, text):
        for rule in library.rules():
            if rule.applies(lowered):
                yield from rule.find(text)


def _markers(text: str) -> list[Span]:
    return [Span(*match.span(), "") for match in MARKER.finditer(text)] if "[redacted:" in text else []


def _merged(spans: Iterable[Span], markers: list[Span]) -> list[Span]:
    """In order, overlapping ones joined under the name of the first; of one that begins with markers, what follows."""
    merged: list[Span] = []
    behind = (_behind(span, markers) if markers else span for span in spans)
    for span in sorted((span for span in behind if span), key=lambda s: (s.start, -s.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, span.end), last.name)
        else:
            merged.append(span)
    return merged


def _behind(span: Span, markers: list[Span]) -> Span | None:
    """The span behind the markers it begins with; None when there is nothing, or a marker stands in its middle."""
    first = bisect_right(markers, span.start, key=lambda marker: marker.start) - 1
    for at in range(max(0, first), len(markers)):
        marker = markers[at]
        if marker.start >= span.end:
            break
        if marker.start <= span.start < marker.end:
            span = Span(min(marker.end, span.end), span.end, span.name)
        elif span.start < marker.start < span.end:
            return None
    return span if span.start < span.end else None


def _replaced(text: str, spans: list[Span], *, keep_lines: bool) -> str:
    parts, position = [], 0
    for span in spans:
        parts += [text[position : span.start], f"[redacted:{span.name}]"]
        if keep_lines:
            parts += re.findall(r"\r\n|\n|\r", text[span.start : span.end])
        position = span.end
    return "".join([*parts, text[position:]])
