"""A message as sentences of its author's own prose: fences, quotes, forwarded mail, logs and code are left out by their form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import WORDLESS, sentences
from openclaw_neuralstream.text.traces import GAP

_FENCE = lazy(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_QUOTE_LINE = lazy(r"^\s*(?:>|\|).*$", re.MULTILINE)
_MAIL_HEAD = lazy(
    r"^(?:(?:From|От|От кого|发件人)\s*[:：]|Begin forwarded message|-+ ?(?:Forwarded|Original) message).{0,200}$",
    re.MULTILINE | re.IGNORECASE,
)
_NOISE_LINE = lazy(
    r"^\s*(?:at \S+ ?\(|File \"|Traceback|\S*(?:Error|Exception):|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|(?:INFO|WARN|ERROR|DEBUG|TRACE)\b|[{}\[\]();,<>]+\s*$|[\"'][\w.-]+[\"']\s*:|"
    r"\$ |#!|import \w|from \w+ import|def \w|class \w+[:(]|const \w|let \w+ ?=|var \w|function \w|return\b|SELECT\b|INSERT\b|<\w+|</)",
)
_BULLET = lazy(r"^\s*(?:[-*•–]|\d{1,2}[.)、])\s+")
_OPENING = lazy(r"[^:：]{2,150}(?:：|:(?=\s))")
_COMMA = lazy(r"(?<=[,;，；、])\s*|\s+[—–]\s+")
_UNSPACED = lazy(f"[{WORDLESS}]")
_SPACES = lazy(r"[ \t]+")
_MOST_CHARS = 20_000  # read at either end of a message; what is longer was pasted
_MOST_UNITS = 200
_LONG = 180  # characters of a sentence that is cut at its commas; Chinese says as much in a third
_PIECE = 60  # least characters of what it is cut into
_LONGEST = 400
"""Characters of a sentence that is read; a longer one is no prose."""

_SHORT = 30
"""Characters of a message that is read behind the agent's question: an answer needs its question."""

_LONGEST_QUESTION = 200


def units(text: str) -> list[str]:
    """The sentences of a message in their order; one that does not end is cut at its commas."""
    return list(islice(_units(own_lines(text)), _MOST_UNITS))


def opening(text: str) -> str:
    """What a message says up to its first colon: perhaps what the agent is to do with all that follows. "" without one."""
    match = _OPENING.match(text)
    return match[0] if match else ""


def readings(found: Sequence[str], asked: str) -> list[str]:
    """A message's sentences as they are judged and kept: a short one by itself behind what the agent asked last, "Which city? — Graz"."""
    if len(found) != 1 or not asked:
        return list(found)
    last = next(reversed(sentences(asked)), "").strip()
    share = 3 if _UNSPACED.search(found[0]) else 1
    answers = last.endswith(("?", "？")) and len(last) <= _LONGEST_QUESTION and share * len(found[0]) <= _SHORT
    return [f"{last} — {found[0]}"] if answers else list(found)


def _units(lines: list[str]) -> Iterator[str]:
    for line in lines:
        for sentence in sentences(line):
            yield from (piece for piece in _pieces(sentence.strip()) if piece and len(piece) <= _LONGEST)


def own_lines(text: str) -> list[str]:
    """Lines of the author's own prose; a bullet with its heading."""
    if len(text) > 2 * _MOST_CHARS:
        text = f"{text[:_MOST_CHARS]}\n{text[-_MOST_CHARS:]}"
    text = _QUOTE_LINE.sub("", _FENCE.sub("\n", text)).replace(GAP, "\n")
    forwarded = _MAIL_HEAD.search(text)
    text = text[: forwarded.start()] if forwarded else text
    lines: list[str] = []
    heading = ""
    for line in text.split("\n"):
        if not line.strip():
            continue
        if _NOISE_LINE.match(line):
            heading = ""
            continue
        bullet = _BULLET.match(line)
        body = _SPACES.sub(" ", line[bullet.end() :] if bullet else line).strip()
        if body.endswith((":", "：")) and not bullet:
            heading = body
            continue
        lines.append(f"{heading} {body}" if bullet and heading else body)
        heading = heading if bullet else ""
    return lines


def _pieces(sentence: str) -> Iterator[str]:
    """A breathless sentence by its commas, so that what matters in it does not drag along the rest."""
    share = 3 if _UNSPACED.search(sentence) else 1
    if len(sentence) * share <= _LONG:
        yield sentence
        return
    held = ""
    for part in _COMMA.split(sentence):
        held = f"{held} {part}".strip() if share == 1 else held + part
        if len(held) * share >= _PIECE:
            yield held.strip(" ,;，；、")
            held = ""
    if held:
        yield held.strip(" ,;，；、")
