"""What a gem says now: its statements added up, a person's edits on top, its links read by the times of what was said.

The result depends on what was said and when, never on the order in which it arrived; so batches may come late, twice or
out of order, and taking one back gives what would be without it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from openclaw_neuralstream.importance import repeated
from openclaw_neuralstream.model import Gem, Origin
from openclaw_neuralstream.store import gems, statements, vectors, words
from openclaw_neuralstream.store.statements import Link, Statement

_TRUST = {Origin.OWNER: 2, Origin.AGENT: 1, Origin.SYSTEM: 1, Origin.UNTRUSTED: 0}
_SURER = 0.5
"""How much of its confidence a further statement adds: saying it twice is no proof."""

_MOST = 0.99
_LISTS = frozenset({"tags", "topics"})


def settle(connection: sqlite3.Connection, rows: Iterable[int], at: datetime, *, edited: bool = False) -> list[str]:
    """Make these gems, and those linked with them, say what their statements say; returns the ids of those removed.

    A gem without statements goes, unless a person edited it: then the person's word keeps it.
    """
    gone: list[str] = []
    concerned: dict[str, None] = {}
    for row in dict.fromkeys(rows):
        gem_id = _id_of(connection, row)
        if gem_id is None:
            continue
        for link in statements.links_of(connection, gem_id):
            concerned[link.older] = concerned[link.newer] = None
        concerned[gem_id] = None
        if not statements.of_gem(connection, row) and not _kept_by_hand(connection, row, gem_id):
            gone.append(gem_id)
    for gem_id in gone:
        remove(connection, gem_id, at)
    for gem_id in concerned:
        _write(connection, gem_id, at, edited=edited)
    return gone


def remove(connection: sqlite3.Connection, gem_id: str, at: datetime) -> None:
    """Take a gem out with all that belongs to it; its turns stay."""
    row = gems.row_of(connection, gem_id)
    if row is None:
        return
    words.delete(connection, row)
    statements.forget(connection, row, gem_id)
    for statement in (
        "DELETE FROM evidence WHERE gem = ?",
        "DELETE FROM vectors WHERE gem = ?",
        "DELETE FROM gems WHERE seq = ?",
    ):
        connection.execute(statement, (row,))
    gems.note(connection, gem_id, "undone", at)


def combined(gem_id: str, said: Sequence[Statement], hand: dict[str, Any]) -> Gem:
    """The gem that these statements, earliest first, make; not yet linked. The first one gives its words and source."""
    first = said[0].gem
    turns = list(dict.fromkeys(turn for statement in said for turn in statement.gem.evidence))
    gem = replace(
        first,
        gem_id=gem_id,
        superseded_by="",
        supersedes="",
        created_at=min(statement.gem.created_at for statement in said),
        evidence=tuple(turns),
        tags=_all("tags", said),
        topics=_all("topics", said),
        entities=_all("entities", said),
        confidence=_confidence(said),
    )
    times = _times_said(said)
    best = max(said, key=lambda statement: statement.gem.importance).gem
    importance, reason = repeated(best.importance, best.importance_reason, times)
    gem = replace(gem, importance=importance, importance_reason=reason)
    if not hand:
        return gem
    changes: dict[str, Any] = {name: tuple(value) if name in _LISTS else value for name, value in hand.items()}
    if "origin" in changes:
        changes["origin"] = Origin(changes["origin"])
    if "importance" in changes:
        changes["importance_reason"] = "set by hand"
    return replace(gem, **changes, edited=True)


def times_of(connection: sqlite3.Connection, row: int) -> tuple[datetime, datetime] | None:
    """When the gem was said first and last; None when no statement is left."""
    said = statements.of_gem(connection, row)
    return (said[0].said_at, said[-1].said_at) if said else None


def _write(connection: sqlite3.Connection, gem_id: str, at: datetime, *, edited: bool) -> None:
    row, known = gems.row_of(connection, gem_id), gems.get(connection, gem_id)
    if row is None or known is None:
        return
    said = statements.of_gem(connection, row)
    if not said:
        return
    now = _linked(connection, combined(gem_id, said, statements.hand(connection, gem_id)), said)
    if now == known:
        return
    gems.write(connection, now, _action(known, now, edited=edited), at)
    connection.execute("UPDATE gems SET batch_id = ? WHERE seq = ?", (said[0].batch_id or now.batch, row))
    connection.execute("DELETE FROM evidence WHERE gem = ?", (row,))
    gems.support(connection, row, now.evidence)
    if (now.content, now.summary, now.topics, now.entities) != (
        known.content,
        known.summary,
        known.topics,
        known.entities,
    ):
        words.delete(connection, row)
        words.insert(connection, row, now)
    if now.content != known.content and not edited:
        vectors.replace(connection, gem_id, None, None)  # embedded anew in the background


def _linked(connection: sqlite3.Connection, gem: Gem, said: Sequence[Statement]) -> Gem:
    """With what replaced it and what it replaced: of several, the next and the last one in time."""
    after: list[tuple[tuple[datetime, int, int], str, datetime]] = []
    before: list[tuple[tuple[datetime, int, int], str]] = []
    mine = said[-1].order
    for link in statements.links_of(connection, gem.gem_id):
        other = link.newer if link.older == gem.gem_id else link.older
        theirs = _said_of(connection, other)
        if not theirs:
            if link.fixed and link.older == gem.gem_id:
                gem = replace(gem, superseded_by=other)  # the other one is not here (an import of a part)
            elif link.fixed:
                gem = replace(gem, supersedes=other)
            continue
        if _wins(link, gem.gem_id, said, theirs):
            before.append((theirs[-1].order, other))
        else:
            after.append((theirs[-1].order, other, _since(theirs, mine[0])))
    if before:
        last = max(before)
        gem = replace(gem, supersedes=last[1], valid_from=_valid_from(gem, said, last[0][0]))
    if after:
        _, name, since = min(after)
        ends = since if gem.valid_to is None or gem.valid_to > since else gem.valid_to
        gem = replace(gem, superseded_by=name, valid_to=ends)
    return gem


def _wins(link: Link, gem_id: str, mine: Sequence[Statement], theirs: Sequence[Statement]) -> bool:
    """Whether this gem is the one that holds. More trust wins; then what was said last; then as the link was found."""
    newer = link.newer == gem_id
    if link.fixed:
        return newer
    trust, other = _trust(mine), _trust(theirs)
    if trust != other:
        return trust > other
    if mine[-1].order[:2] != theirs[-1].order[:2]:
        return mine[-1].order[:2] > theirs[-1].order[:2]
    return newer


def _trust(said: Sequence[Statement]) -> int:
    return _TRUST[said[0].gem.origin]


def _since(winner: Sequence[Statement], lost: datetime) -> datetime:
    """When it began to hold instead: its first statement after the other's last one, whole seconds as it is written."""
    later = [s.said_at for s in winner if s.said_at >= lost]
    first = min(later) if later else winner[-1].said_at
    begins = winner[0].gem.valid_from
    moment = first if begins is None or len(later) < len(winner) else max(begins, first) if begins > first else begins
    return moment.replace(microsecond=0)


def _valid_from(gem: Gem, said: Sequence[Statement], lost: datetime) -> datetime | None:
    """Said before and again after the other: it holds from then on."""
    if said[0].said_at > lost or gem.valid_from is None:
        return gem.valid_from
    return min((s.said_at for s in said if s.said_at > lost), default=said[-1].said_at).replace(microsecond=0)


def _said_of(connection: sqlite3.Connection, gem_id: str) -> list[Statement]:
    row = gems.row_of(connection, gem_id)
    return statements.of_gem(connection, row) if row is not None else []


def _all(name: str, said: Sequence[Statement]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for statement in said for word in getattr(statement.gem, name)))


def _times_said(said: Sequence[Statement]) -> int:
    """In how many turns it was said anew; a statement without turns (by hand) counts once."""
    seen: set[str] = set()
    times = 0
    for statement in said:
        fresh = set(statement.gem.evidence) - seen
        times += bool(fresh) or not statement.gem.evidence
        seen |= fresh
    return max(1, times)


def _confidence(said: Sequence[Statement]) -> float:
    """1 − (1 − best) · Π (1 − ½ · cᵢ) over the further statements that bring new turns."""
    order = sorted(said, key=lambda s: (-s.gem.confidence, s.order))
    seen = set(order[0].gem.evidence)
    doubt = 1 - order[0].gem.confidence
    for statement in order[1:]:
        fresh = set(statement.gem.evidence) - seen
        if fresh or (not statement.gem.evidence and not seen):
            doubt *= 1 - _SURER * statement.gem.confidence
            seen |= fresh
    best = order[0].gem.confidence
    return best if len(order) == 1 else round(max(best, min(_MOST, 1 - doubt)), 3)


def _action(known: Gem, now: Gem, *, edited: bool) -> str:
    if now.superseded_by and not known.superseded_by:
        return "superseded"
    if known.superseded_by and not now.superseded_by:
        return "restored"
    return "edited" if edited else "merged"


def _id_of(connection: sqlite3.Connection, row: int) -> str | None:
    found = connection.execute("SELECT gem_id FROM gems WHERE seq = ?", (row,)).fetchone()
    return str(found[0]) if found else None


def _kept_by_hand(connection: sqlite3.Connection, row: int, gem_id: str) -> bool:
    """A gem that a person edited stands by itself from now on, as it is."""
    gem = gems.get(connection, gem_id)
    if gem is None or not statements.hand(connection, gem_id):
        return False
    alone = replace(gem, superseded_by="", supersedes="", batch="")
    statements.add(
        connection, row, alone, batch_id=statements.BY_HAND, said_at=gem.valid_from or at_of(gem), place=0, why="edited"
    )
    return True


def at_of(gem: Gem) -> datetime:
    """When a gem without turns counts as said."""
    return gem.valid_from or gem.created_at
