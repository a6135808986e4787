"""Tags by one name: what their spellings share, how they stand over each other, which of them a text mentions. All pure."""

from __future__ import annotations

from openclaw_neuralstream.tags.graph import FADE, Tag, TagGraph, nearness
from openclaw_neuralstream.tags.names import MARKS, is_mark, key_of, mentions, tidy

__all__ = ["FADE", "MARKS", "Tag", "TagGraph", "is_mark", "key_of", "mentions", "nearness", "tidy"]
