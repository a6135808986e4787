"""Tags by one name: "Options", "option" and "#options" are one; "trading/options" lies below "trading"."""

from __future__ import annotations

from openclaw_neuralstream.lexicon import stem
from openclaw_neuralstream.model import slug_of


def canonical(tag: str) -> str:
    """What all spellings of a tag share: each level as a slug, its words stemmed; "" for what has no letters."""
    levels = [slug_of(level) for level in tag.split("/")]
    return "/".join("-".join(stem(word) for word in level.split("-")) for level in levels if level)


def with_parents(tag: str) -> list[tuple[str, str]]:
    """A tag and those above it as (canonical, spelling): "a/b" gives a/b and a. Without cycles by its very form."""
    levels = [level for level in tag.split("/") if slug_of(level)]
    return [(canonical("/".join(levels[:n])), "/".join(levels[:n])) for n in range(1, len(levels) + 1)]
