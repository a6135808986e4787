"""The content of a host message as text: parts joined, pictures and files named instead of kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from openclaw_neuralstream.patterns import lazy

_BLOB = lazy(
    r"data:[\w.+/-]{1,100}(?:;[\w=.-]{1,100}){0,4};base64,[A-Za-z0-9+/=_-]{64,}|"
    r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{76}\r?\n){8,}[A-Za-z0-9+/=]*|"
    r"(?<![A-Za-z0-9+/=])(?=[A-Za-z+/]*\d)[A-Za-z0-9+/]{2000,}={0,2}",
    window=16_384,
)
_CONTROL = lazy(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_SILENT = frozenset(
    {
        "thinking",
        "reasoning",
        "redacted_thinking",
        "toolCall",
        "tool_use",
        "toolUse",
        "tool_call",
        "tool_result",
        "toolResult",
    }
)
_SAID = frozenset({"", "text", "input_text", "output_text"})


def text_of(content: Any, limit: int = 0) -> str:
    """The text of a message's content: a string, or a list of parts, each as by `clean`. Never raises.

    Thoughts and tool calls are left out; any other part without text is named: "[image: cat.png]".
    """
    if isinstance(content, str):
        return clean(content, limit)
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list | tuple):
        return ""
    return "\n".join(text for text in (clean(part, limit) for part in _parts(content)) if text.strip())


def clean(text: str, limit: int = 0) -> str:
    """Without control characters, and with long base64 named instead of kept; limit: as of `shorten`, 0 = all."""
    text = shorten(text, limit) if limit else text
    text = _CONTROL.sub(lambda match: " " if len(match[0]) < 4 else " [binary] ", text)
    return _BLOB.sub("[binary]", text) if len(text) > 64 else text


def word_of(value: Any) -> str:
    """A field that should be a word; "" when it is anything else."""
    return value if isinstance(value, str) else ""


def shorten(text: str, limit: int) -> str:
    """At most about `limit` characters: the beginning and the end, with what was cut said between them."""
    if len(text) <= limit:
        return text
    head = max(1, limit * 3 // 4)
    tail = max(0, limit - head)
    end = text[len(text) - tail :] if tail else ""
    return f"{text[:head]} […{len(text) - head - tail} characters cut…] {end}".rstrip()


def _parts(content: list[Any] | tuple[Any, ...]) -> Iterator[str]:
    for part in content:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            yield _part(part)


def _part(part: Mapping[str, Any]) -> str:
    kind = word_of(part.get("type"))
    if kind in _SILENT:
        return ""
    text = part.get("text")
    if isinstance(text, str) and kind in _SAID:
        return text
    names = (part.get(key) for key in ("name", "filename", "fileName", "title"))
    name = next((name for name in names if isinstance(name, str)), "")
    word = kind if re.fullmatch(r"[\w.-]{1,40}", kind) else "part"
    return f"[{word}: {name[:100]}]" if name else f"[{word}]"
