"""Why a gem is worth nothing by itself: by its form, and by the head that chooses what is worth keeping."""

from __future__ import annotations

import re
from collections.abc import Callable

from openclaw_neuralstream.extract.learned import worth
from openclaw_neuralstream.extract.rules.dates import names_single_day, recurs
from openclaw_neuralstream.lexicon import INJECTION, content_terms
from openclaw_neuralstream.model import Gem
from openclaw_neuralstream.patterns import lazy

_NOISE = lazy(
    r"^\s*(?:Traceback \(most recent|\S*(?:Error|Exception)\b[:\[(]|at \S+ ?\(|File \"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|"
    r"(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE)\b\s*[:\]\[|-]|[\[{(<][\s\"'{\[<]*[\w-]+[\"']?\s*[:=>]|\$ \w|drwx|-rw-|diff --git|@@ -\d|index [0-9a-f]{7})|"
    r"\b\d+ passed\b|\b\d+ (?:failed|errors?|warnings?) in \d|\bexit(?:ed with)? code \d|\b(?:GET|POST|PUT|DELETE) /\S* HTTP/|\bstdout\b|\bstderr\b|"
    r"\b0x[0-9a-f]{6,}|\b[0-9a-f]{32,}\b|(?:[A-Za-z]:)?/(?:tmp|var/log|proc)/\S+:\d+|HTTP/\d(?:\.\d)? \d{3}|npm (?:WARN|ERR!)",
    re.IGNORECASE,
)
_PROTOCOL = lazy(r"HEARTBEAT_OK|NO_REPLY|<system|\[system\]")
_BRACKET_DAY = lazy(r" ?\(?\d{4}(?:-\d\d){0,2}(?: – [\d-]+)?\)?")
_LETTERS = 0.45  # least share of letters, digits aside
_LEAST_TERMS = 2
_WORTHLESS = -1.0
"""Margin of the head below which a gem is worth nothing; above it the head may err."""


def junk(gem: Gem) -> str:
    """Why it is junk, in a few words; "" when it is not. Gems kept by hand are judged for planted orders only."""
    by_hand = gem.edited or gem.extractor.name == "hand"
    return next((why for why, fits in (_LADDER[:1] if by_hand else _LADDER) if fits(gem)), "")


def _answered(gem: Gem) -> bool:
    """A question of the agent stored with the owner's answer."""
    return bool({"answer", "confirmed"} & set(gem.tags)) or "? — " in gem.content or "？ — " in gem.content


def _is_noise(gem: Gem) -> bool:
    solid = [char for char in gem.content if not char.isspace()]
    letters = sum(char.isalnum() for char in solid) / len(solid) if solid else 0.0
    return bool(_NOISE.search(gem.content) or _PROTOCOL.search(gem.content)) or letters < _LETTERS


def _is_worthless(gem: Gem) -> bool:
    text = _BRACKET_DAY.sub("", gem.content)
    return len(set(content_terms(text))) < _LEAST_TERMS or worth(text) < _WORTHLESS


def _undated(gem: Gem) -> bool:
    text = gem.content
    return names_single_day(text) and not (_BRACKET_DAY.search(text) or recurs(text) or gem.valid_to)


_LADDER: tuple[tuple[str, Callable[[Gem], bool]], ...] = (
    ("a planted order", lambda gem: bool(INJECTION.search(gem.content))),
    ("tool noise", _is_noise),
    ("a question", lambda gem: gem.content.rstrip().endswith(("?", "？")) and not _answered(gem)),
    ("nothing worth keeping", _is_worthless),
    ("a day without its date", _undated),
)
