"""Take out of a message what its author did not write: injected blocks, timestamps, run-time lines, queue headers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from openclaw_neuralstream.model import FactKind, Kind
from openclaw_neuralstream.patterns import lazy

# Blocks that memory plugins and the host put around their own words, by the name of the tag.
_TAGS = (
    r"neuralstream-[a-z-]+",
    r"relevant[-_]memories",
    r"relevant[-_]memory",
    r"mem0[-_a-z]*",
    r"hindsight[-_a-z]*",
    r"supermemory[-_a-z]*",
    r"honcho[-_a-z]*",
    r"openviking[-_a-z]*",
    r"memos[-_a-z]*",
    r"palaia[-_a-z]*",
    r"remnic[-_a-z]*",
    r"cognee[-_a-z]*",
    r"lcm[-_a-z]*",
    r"hyperspell[-_a-z]*",
    r"memory[-_]context",
    r"memories",
    r"recalled[-_]memor(?:y|ies)",
    r"recalled[-_]context",
    r"retrieved[-_](?:context|memor(?:y|ies))",
    r"long[-_]term[-_]memory",
    r"user[-_]memor(?:y|ies)",
    r"system-reminder",
)
_EVERYDAY = lazy(r"memories|memory[-_]context|long[-_]term[-_]memory|user[-_]memor(?:y|ies)", re.IGNORECASE)
"""Tags that a person may well write about: without a closing one, only the tag itself is taken out."""

_LINE = 32_768  # a record, or an opening tag, may be longer than what other patterns see
_OPEN = lazy(rf"<(?P<tag>{'|'.join(_TAGS)})(?:\s[^<>]{{0,500}})?>", re.IGNORECASE, window=_LINE)
_INTERNAL_BEGIN = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
_INTERNAL_END = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"
_PARAGRAPH = lazy(r"\n[ \t]*\n")
_KINDS = (*Kind, *FactKind, "turn", "sequence", "note")
"""What a record of our block may call itself."""

_RECORD_LINE = lazy(  # a line of our block as a model quotes it: day, kind, text, and the citation at its end
    rf"^[ \t]*(?:[-*>]\s+)?\[\d{{4}}-\d{{2}}-\d{{2}} · (?:{'|'.join(_KINDS)})(?: · [^\]\n]{{0,120}})?\] [^\n]*"
    r"\([^()\n]+\)[ \t]*$\n?",
    re.MULTILINE,
    window=_LINE,
)
_GAPS = lazy(r"\n[ \t]*\n(?:[ \t]*\n)+")
_NESTED = 20  # what is left around a block can make another one
_STRAY_CLOSE = lazy(rf"</(?:{'|'.join(_TAGS)})\s*>|{re.escape(_INTERNAL_END)}", re.IGNORECASE)

_TIMESTAMP = lazy(
    r"\A\s*\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2})?(?:\s*[\w:+/\-]{1,40})?\]\s?",
    re.ASCII,
)
_RUNTIME = lazy(r"(?:\A|\n)[ \t]*Runtime: agent=[^\n]*\s*\Z")
_RESET = lazy(r"\A\s*/(?:new|reset)(?=\s|\Z)[ \t]*", re.IGNORECASE)
_CLOCK = lazy(r"\n(?:Current time: [^\n]*|Reference UTC: [^\n]*)(?=\n|\Z)")
_QUEUED = lazy(r"\A\s*\[Queued messages while agent was busy\]\s*", re.IGNORECASE)
_QUEUED_ITEM = lazy(r"(?:\A|\n)(?:---\n)?Queued #\d+(?: \(from [^\n)]{0,200}\))?[ \t]*(?:\n|\Z)")
_SUBAGENT = "[Subagent Context]"
_SUBAGENT_TASK = lazy(r"\n[^\S\n]*\[Subagent Task\]\s*")
_SUBAGENT_END = "Begin. Execute the assigned task to completion."
_ANNOUNCED_TASK = lazy(r"^task: ([^\n]{1,300})$", re.MULTILINE)
_RESULT_BEGIN, _RESULT_END = "<prompt-data>", "</prompt-data>"
_ROUTED_FOOTER = lazy(r"\[Inter-session message\][^\n]*\n")


def strip_injected(text: str) -> str:
    """The text without injected blocks, ours and other plugins'; one that is never closed ends at the next empty line.

    Takes any text. What is left keeps its line breaks; more than one empty line in a row becomes one.
    """
    for _ in range(_NESTED):
        stripped = "".join(_outside(text)) if "<" in text else text
        stripped = _RECORD_LINE.sub("", stripped) if " · " in text else stripped
        if stripped == text:
            break
        text = _GAPS.sub("\n\n", _STRAY_CLOSE.sub("", stripped)).strip()
    return text


def strip_host(text: str) -> str:
    """A user's message without what the host adds: `[Sat 2026-11-21 08:51 UTC] `, `Runtime: …`, `/new `."""
    text = _RUNTIME.sub("", text)
    text = _TIMESTAMP.sub("", text)
    text = _RESET.sub("", text)
    return _CLOCK.sub("", text) if "Reference UTC:" in text else text


def queued(text: str) -> list[str]:
    """The single messages of a prompt collected while the agent was busy; the text itself when it is none."""
    header = _QUEUED.match(text)
    if not header:
        return [text]
    parts = _QUEUED_ITEM.split("\n" + text[header.end() :])
    return [part.strip() for part in parts if part.strip() not in ("", "---")]


def subagent_task(text: str) -> str:
    """The bare task of a sub-agent's prompt."""
    if text.lstrip().startswith(_SUBAGENT) and (head := _SUBAGENT_TASK.search(text)):
        text = text[head.end() :]
    bare = text.rstrip()
    return bare.removesuffix(_SUBAGENT_END).rstrip() if bare.endswith(_SUBAGENT_END) else text


def announced(text: str) -> str:
    """What a sub-agent's announcement says: its task and its result, without the host's instructions."""
    if footer := _ROUTED_FOOTER.search(text):
        text = text[: footer.start()].rstrip("\n")
    result, closed, _ = text.partition(_RESULT_BEGIN)[2].partition(_RESULT_END)
    if not closed:
        return text
    task = _ANNOUNCED_TASK.search(text)
    return f"{reporter(task[1] if task else '')} reported: {result.strip()}"


def reporter(label: str) -> str:
    """How a sub-agent is spoken of in what it found."""
    return f"Sub-agent {label!r}" if label else "A sub-agent"


def _outside(text: str) -> Iterator[str]:
    """The parts of the text that are in no block."""
    position = 0
    marks: dict[str, tuple[int, int]] = {}
    while position <= len(text):
        start, end = _next_block(text, position, marks)
        if start < 0:
            yield text[position:]
            return
        yield text[position:start]
        position = end


def _next_block(text: str, position: int, marks: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Start and end of the first block at or after the position; (-1, -1) when there is none."""
    opening = _OPEN.search(text, position)
    internal, begun = _next_mark(text, _INTERNAL_BEGIN, position, marks, _find_exact)
    if internal >= 0 and (opening is None or internal < opening.start()):
        return internal, _close(text, begun, _next_mark(text, _INTERNAL_END, begun, marks, _find_exact))
    if opening is None:
        return -1, -1
    tag = opening["tag"].lower()
    closing = _next_mark(text, f"</{tag}", opening.end(), marks, _find_tag)
    if _EVERYDAY.fullmatch(tag) and closing[0] < 0:
        return opening.span()
    return opening.start(), _close(text, opening.end(), closing)


def _close(text: str, start: int, closing: tuple[int, int]) -> int:
    """Where the block ends: behind its closing mark, else at the next empty line."""
    if closing[0] >= 0:
        return closing[1]
    gap = _PARAGRAPH.search(text, start)
    return gap.start() if gap else len(text)


def _next_mark(
    text: str,
    mark: str,
    position: int,
    known: dict[str, tuple[int, int]],
    find: Callable[[str, str, int], tuple[int, int]],
) -> tuple[int, int]:
    """Where the mark is next, at or after the position; (-1, …) when nowhere. known: no stretch is searched twice for it."""
    if mark not in known or 0 <= known[mark][0] < position:
        known[mark] = find(text, mark, position)
    return known[mark]


def _find_exact(text: str, closing: str, start: int) -> tuple[int, int]:
    found = text.find(closing, start)
    return found, found + len(closing)


def _find_tag(text: str, closing: str, start: int) -> tuple[int, int]:
    match = lazy(re.escape(closing) + r"\s*>", re.IGNORECASE).search(text, start)
    return match.span() if match else (-1, -1)
