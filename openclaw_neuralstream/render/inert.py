"""Make remembered text harmless in a prompt: one line, no markup, no markers, no invisible characters."""

from __future__ import annotations

import re
import unicodedata

from openclaw_neuralstream.patterns import lazy

_SPACE = lazy(r"\s+")
_MARKERS = lazy(
    r"<{2,}|>{2,}|`{3,}|~{3,}|\[/?INST\]|<\|[^|>]{0,40}\|>|^\s*(?:system|assistant|user|human)\s*:", re.IGNORECASE
)
_OPENS = lazy(r"^(?:#{1,6}(?=\s|$)|[-+*](?=\s|$)|(?:[-_*=]\s*){2,}$)")
_LOOK_ALIKES = str.maketrans({"#": "＃", "-": "–", "+": "＋", "*": "∗", "_": "＿", "=": "＝"})
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})
_JOINERS = frozenset("‌‍")  # needed by Persian, Hindi and emoji


def inert(text: str) -> str:
    """One line in which nothing opens or closes a tag, a fence, a role or a host's marker.

    Angle brackets become their look-alikes ‹ and ›, so that a quoted block can never end ours. Idempotent.
    """
    flat = _SPACE.sub(" ", text)
    if not flat.isprintable():
        flat = _SPACE.sub(" ", "".join(char if _shows(char) else " " for char in flat))
    flat = flat.strip()
    quiet = _MARKERS.sub(lambda match: match[0].replace(":", "∶").replace("`", "'").replace("~", "-"), flat)
    quiet = re.sub(r"\[(/?)(INST)\]", r"(\1\2)", quiet, flags=re.IGNORECASE)
    return quiet.replace("<", "‹").replace(">", "›")


def paragraph(text: str) -> str:
    """`inert` for a line of its own in Markdown: it opens no heading, list, quote or rule."""
    return _OPENS.sub(lambda match: match[0].translate(_LOOK_ALIKES), inert(text))


def _shows(char: str) -> bool:
    return char in "\n\t\r" or char in _JOINERS or unicodedata.category(char) not in _INVISIBLE


def framed(text: str) -> str:
    """A block that somebody else has written, inside our outer tag: it is recognised and never captured again."""
    inside = text.strip()
    if inside.startswith("<neuralstream-memory") and inside.endswith("</neuralstream-memory>"):
        return inside
    return f"<neuralstream-memory>\n{inside.replace('<neuralstream-memory', '‹neuralstream-memory').replace('</neuralstream-memory', '‹/neuralstream-memory')}\n</neuralstream-memory>"
