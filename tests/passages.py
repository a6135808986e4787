"""An index of verbatim turns without a memory behind it: filled, and emptied, as its projection does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from openclaw_neuralstream.model import Turn
from openclaw_neuralstream.ports import Vectors
from openclaw_neuralstream.store.passages import Kept, PassageIndex

_ALL = 1_000_000_000


def add(index: PassageIndex, turns: Sequence[Turn], embed: Callable[[Sequence[str]], Vectors]) -> int:
    """Make these turns searchable at once; returns how many were new. The same turn twice changes nothing."""
    known = index.sizes()
    fresh = {turn.turn_id: Kept(turn.turn_id, turn, 0) for turn in turns if turn.turn_id not in known}
    if fresh:
        assert index.apply(list(fresh.values()), mark=index.mark())
    bare = index.without_vector(_ALL)
    if bare:
        index.embed(bare, embed([one.text for one in bare]))
    return len(fresh)


def forget(index: PassageIndex, turn_ids: Sequence[str]) -> int:
    """Take these turns out, down to their bytes; returns how many passages they had."""
    before = index.stored()[0]
    assert index.apply([Kept(turn_id, None, -1) for turn_id in turn_ids], mark=index.mark())
    index.wipe()
    return before - index.stored()[0]
