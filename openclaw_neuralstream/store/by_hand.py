"""What a person asked to be kept, in the place of what it corrects; what is still true of that stays, and all of it can be taken back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from openclaw_neuralstream.model import Gem, content_uuid
from openclaw_neuralstream.ports import Judgement
from openclaw_neuralstream.store import gems, settling, statements
from openclaw_neuralstream.store.takeback import Undone
from openclaw_neuralstream.store.tombstones import is_buried
from openclaw_neuralstream.store.writing import Writer

_BESIDE = "still true beside "
"""Why a gem stands in the place of another one, before the id of the correction that left it."""

Remainder = Callable[[Gem, Gem], Gem | None]
"""What an older gem says besides what a newer one corrects, as a gem of its own; None when nothing."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A gem that holds no more since another was kept, why, and what is still true of it (None: nothing more was said)."""

    gem: Gem
    why: str
    rest: Gem | None


@dataclass(frozen=True, slots=True)
class Kept:
    """What was kept by hand, and what it replaced."""

    gem: Gem
    replaced: tuple[Replaced, ...] = ()


def keep(writer: Writer, gem: Gem, written: Judgement, remainder: Remainder) -> Kept:
    """What `writer` made of a gem, with what it replaced, and what is still true of that, kept beside it."""
    connection = writer.connection
    kept = gems.get(connection, written.same_as or gem.gem_id) or gem
    whys = dict(written.replaces)
    replaced = []
    for older in _read(connection, list(whys)):
        rest = remainder(older, kept)
        if older.superseded_by not in {one.gem_id for one in (kept, rest) if one is not None}:
            continue
        known = gems.get(connection, rest.gem_id) if rest is not None else None
        if known is not None and not known.superseded_by:  # its words are those of a gem that holds: that one says it
            replaced.append(Replaced(older, whys[older.gem_id], known))
            continue
        if rest is not None and known is not None:  # one that was replaced is not to be it again
            rest = replace(rest, gem_id=_own_id(kept, rest))
        if rest is not None and is_buried(connection, rest):
            rest = None
        if rest is not None:
            replace(writer, judge=None).write(rest, None, said_at=settling.at_of(gem), place=1)
            why = f"{_BESIDE}{kept.gem_id}"
            statements.link(connection, older.gem_id, rest.gem_id, batch_id=statements.BY_HAND, why=why)
            settling.settle(connection, _rows(connection, [older.gem_id]), writer.at)
        replaced.append(Replaced(older, whys[older.gem_id], rest))
    return Kept(gems.get(connection, kept.gem_id) or kept, tuple(replaced))


def take_back(connection: sqlite3.Connection, gem_id: str, extractor: str, at: datetime) -> Undone | None:
    """Take back what was said by hand of this gem: what it replaced holds again. None where nothing was said by hand.

    Where nothing else was said of it, it goes with what a person set in it since; what an import brought stays.
    """
    row = gems.row_of(connection, gem_id)
    if row is None or not _by_hand(connection, gem_id, extractor):
        return None
    own = [link for link in statements.links_of(connection, gem_id) if link.newer == gem_id]
    older = [link.older for link in own if link.batch_id == statements.BY_HAND and not link.fixed]
    beside = [link for name in older for link in statements.links_of(connection, name)]
    rests = [link.newer for link in beside if link.why == f"{_BESIDE}{gem_id}"]
    before = {gem.gem_id: gem for gem in _read(connection, [gem_id, *rests])}
    rows = _rows(connection, [gem_id, *rests, *older])
    for name in (gem_id, *rests):
        statements.take_back_by_hand(connection, name, _by_hand(connection, name, extractor))
    if not statements.of_gem(connection, row):
        statements.forget_hand(connection, gem_id)
    settling.settle(connection, rows, at)
    removed = tuple(gem for name, gem in before.items() if gems.get(connection, name) is None)
    restored = tuple(gem for gem in _read(connection, older) if not gem.superseded_by)
    return Undone(removed, restored, (), tuple(gem for gem in before.values() if gem not in removed))


def _own_id(correction: Gem, rest: Gem) -> str:
    return content_uuid(_BESIDE, correction.gem_id, rest.content)


def _by_hand(connection: sqlite3.Connection, gem_id: str, extractor: str) -> list[statements.Statement]:
    """What was said of a gem by hand; an import has no batch either, but another extractor."""
    row = gems.row_of(connection, gem_id)
    said = statements.of_gem(connection, row) if row is not None else []
    return [one for one in said if one.batch_id == statements.BY_HAND and one.gem.extractor.name == extractor]


def _read(connection: sqlite3.Connection, gem_ids: Sequence[str]) -> list[Gem]:
    found = (gems.get(connection, gem_id) for gem_id in gem_ids)
    return [gem for gem in found if gem is not None]


def _rows(connection: sqlite3.Connection, gem_ids: Sequence[str]) -> list[int]:
    found = (gems.row_of(connection, gem_id) for gem_id in gem_ids)
    return [row for row in found if row is not None]
