"""Tags by one name: "Options", "option" and "#options" are one; "trading/options" lies below "trading"."""

from __future__ import annotations

from openclaw_neuralstream.model import slug_of
from openclaw_neuralstream.tags import key_of


def canonical(tag: str) -> str:
    """What all spellings of a tag share, in notes and gems alike; "" for what has no letters."""
    return key_of(tag) if slug_of(tag) else ""


def with_parents(tag: str) -> list[tuple[str, str]]:
    """A tag and those above it as (canonical, spelling): "a/b" gives a/b and a. Without cycles by its very form."""
    levels = [level for level in tag.split("/") if slug_of(level)]
    return [(canonical("/".join(levels[:n])), "/".join(levels[:n])) for n in range(1, len(levels) + 1)]
