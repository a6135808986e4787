"""What a batch said, and taking it back: the gems that only it supports go, what it replaced holds again."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from openclaw_neuralstream.model import Gem, Turn
from openclaw_neuralstream.store import batches, gems, settling, statements, turns
from openclaw_neuralstream.store.batches import BatchRow, Made
from openclaw_neuralstream.store.statements import Link, Statement


@dataclass(frozen=True, slots=True)
class BatchDetail:
    """A batch from its turns to what became of each gem.

    said: its statements, each with the gem it is part of (None: unreadable). drops: (content, why).
    """

    row: BatchRow
    made: Made | None
    turns: tuple[Turn, ...]
    turn_ids: tuple[str, ...]
    said: tuple[tuple[Statement, Gem | None], ...]
    links: tuple[Link, ...]
    drops: tuple[tuple[str, str], ...]
    refusals: tuple[tuple[datetime, str], ...]


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking back does. removed, restored: whole gems; changed: gems that lose evidence; kept: edited by hand."""

    removed: tuple[Gem, ...]
    restored: tuple[Gem, ...]
    changed: tuple[Gem, ...]
    kept: tuple[Gem, ...]


def detail(connection: sqlite3.Connection, prefix: str) -> BatchDetail | None:
    """All there is to say; None when none, or more than one, begins so."""
    found = batches.find(connection, prefix) if prefix else []
    if len(found) != 1:
        return None
    row = found[0]
    ids = batches.turn_ids(connection, row.batch_id)
    said = statements.of_batch(connection, row.batch_id)
    return BatchDetail(
        row,
        batches.made(connection, row.batch_id),
        tuple(turns.read(connection, ids)),
        tuple(ids),
        tuple((statement, gems.of_row(connection, statement.row)) for statement in said),
        tuple(statements.links_of_batch(connection, row.batch_id)),
        tuple(statements.drops(connection, row.batch_id)),
        tuple(batches.refusals(connection, row.batch_id)),
    )


def foreseen(connection: sqlite3.Connection, batch_id: str) -> Undone | None:
    """What `undo` would do; nothing is changed."""
    if batches.holder(connection, batch_id)[0] != "stored":
        return None
    removed: list[Gem] = []
    changed: list[Gem] = []
    kept: list[Gem] = []
    restored: dict[str, Gem] = {}
    own = {statement.row for statement in statements.of_batch(connection, batch_id)}
    for row in own:
        gem = gems.of_row(connection, row)
        if gem is None:
            continue
        alone = all(statement.batch_id == batch_id for statement in statements.of_gem(connection, row))
        group = changed if not alone else kept if statements.hand(connection, gem.gem_id) else removed
        group.append(gem)
    gone = {gem.gem_id for gem in removed}
    for link in statements.links_of_batch(connection, batch_id) + [
        link for gem in removed for link in statements.links_of(connection, gem.gem_id)
    ]:
        for name in (link.older, link.newer):
            gem = gems.get(connection, name)
            if gem is not None and name not in gone and gem.superseded_by in {link.older, link.newer}:
                restored[name] = gem
    return Undone(tuple(removed), tuple(restored.values()), tuple(changed), tuple(kept))


def undo(connection: sqlite3.Connection, batch_id: str, at: datetime) -> Undone | None:
    """Take it back. None when the batch is not stored."""
    plan = foreseen(connection, batch_id)
    if plan is None:
        return None
    settling.settle(connection, statements.take_back(connection, batch_id), at)
    batches.undone(connection, batch_id)
    after = {gem.gem_id: gems.get(connection, gem.gem_id) for gem in plan.restored}
    restored = tuple(gem for gem in after.values() if gem is not None and not gem.superseded_by)
    return Undone(plan.removed, restored, plan.changed, plan.kept)
