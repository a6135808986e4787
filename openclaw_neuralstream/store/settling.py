"""What a gem is after all that was said of it: settled, written, by hand, taken back."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from openclaw_neuralstream.importance import repeated
from openclaw_neuralstream.model import EmbedderIdentity, Gem, Origin, Turn, content_uuid, digest
from openclaw_neuralstream.ports import Judge, Judgement, Neighbour, Vector
from openclaw_neuralstream.store import batches, gems, labels, schema, turns
from openclaw_neuralstream.store.batches import BatchRow, Made
from openclaw_neuralstream.store.gems import Link, Statement
from openclaw_neuralstream.store.schema import seconds
from openclaw_neuralstream.text.lexicon import content_terms

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
        for link in gems.links_of(connection, gem_id):
            concerned[link.older] = concerned[link.newer] = None
        concerned[gem_id] = None
        if not gems.of_gem(connection, row) and not _kept_by_hand(connection, row, gem_id):
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
    schema.delete(connection, row)
    gems.forget(connection, row, gem_id)
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
    said = gems.of_gem(connection, row)
    return (said[0].said_at, said[-1].said_at) if said else None


def _write(connection: sqlite3.Connection, gem_id: str, at: datetime, *, edited: bool) -> None:
    row, known = gems.row_of(connection, gem_id), gems.get(connection, gem_id)
    if row is None or known is None:
        return
    said = gems.of_gem(connection, row)
    if not said:
        return
    now = _linked(connection, combined(gem_id, said, gems.hand(connection, gem_id)), said)
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
        schema.delete(connection, row)
        schema.insert(connection, row, now)
    if now.content != known.content and not edited:
        gems.replace(connection, gem_id, None, None)  # embedded anew in the background


def _linked(connection: sqlite3.Connection, gem: Gem, said: Sequence[Statement]) -> Gem:
    """With what replaced it and what it replaced: of several, the next and the last one in time."""
    after: list[tuple[tuple[datetime, int, int], str, datetime]] = []
    before: list[tuple[tuple[datetime, int, int], str]] = []
    mine = said[-1].order
    for link in gems.links_of(connection, gem.gem_id):
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
    return gems.of_gem(connection, row) if row is not None else []


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
    if gem is None or not gems.hand(connection, gem_id):
        return False
    alone = replace(gem, superseded_by="", supersedes="", batch="")
    gems.add(connection, row, alone, batch_id=gems.BY_HAND, said_at=gem.valid_from or at_of(gem), place=0, why="edited")
    return True


def at_of(gem: Gem) -> datetime:
    """When a gem without turns counts as said."""
    return gem.valid_from or gem.created_at


_SALT = "tombstone.salt"
_MINUTES = 2  # by which the clocks of two records of one turn may differ


def bury(connection: sqlite3.Connection, gem: Gem, at: datetime) -> None:
    """Remember that this gem was forgotten, by its content and by its id (an edited one has the id of what it was)."""
    connection.executemany(
        "INSERT INTO tombstones(digest, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(mark, seconds(at)) for mark in _marks(connection, gem)],
    )


def lift(connection: sqlite3.Connection, gem: Gem) -> None:
    """Let this gem in again: a person asked for it anew."""
    connection.executemany("DELETE FROM tombstones WHERE digest = ?", [(mark,) for mark in _marks(connection, gem)])


def is_buried(connection: sqlite3.Connection, gem: Gem) -> bool:
    """True when a gem of the same content and scope, or of the same id, was forgotten."""
    if not _any(connection):
        return False
    found = connection.execute("SELECT 1 FROM tombstones WHERE digest IN (?, ?)", _marks(connection, gem)).fetchone()
    return found is not None


def bury_content(connection: sqlite3.Connection, gem: Gem, contents: Sequence[str], at: datetime) -> None:
    """Remember every wording of a forgotten gem."""
    for content in contents:
        bury(connection, replace(gem, content=content), at)


def bury_turn(connection: sqlite3.Connection, turn: Turn, at: datetime) -> None:
    """Remember that what this turn said was forgotten, whichever id another record of it has."""
    marks = {_turn_mark(connection, turn, 0)} if _words_of(turn) else set()
    connection.executemany(
        "INSERT INTO tombstones(digest, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
        [(mark, seconds(at)) for mark in marks],
    )


def is_turn_buried(connection: sqlite3.Connection, turn: Turn) -> bool:
    """True when the same words, said in the same conversation within the same minutes, were forgotten."""
    if not _any(connection) or not _words_of(turn):
        return False
    marks = [_turn_mark(connection, turn, by) for by in range(-_MINUTES, _MINUTES + 1)]
    asked = ", ".join("?" * len(marks))
    return connection.execute(f"SELECT 1 FROM tombstones WHERE digest IN ({asked})", marks).fetchone() is not None  # noqa: S608


def _words_of(turn: Turn) -> str:
    """What people said in it: the answer to it may be recorded in other ways."""
    said = [u.text for u in turn.utterances if u.speaker in ("owner", "third-party")] or [
        u.text for u in turn.utterances
    ]
    return " ".join("\n".join(said).casefold().split())


def _turn_mark(connection: sqlite3.Connection, turn: Turn, by: int) -> str:
    minute = str(int(seconds(turn.at) // 60) + by)
    return digest(_salt(connection), "turn", turn.session.agent, turn.session.key, _words_of(turn), minute)


def _any(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is not None


def _marks(connection: sqlite3.Connection, gem: Gem) -> tuple[str, str]:
    """Salted per file, so that a stolen file does not confirm a guess about what was in it elsewhere."""
    salt = _salt(connection)
    content = " ".join(gem.content.casefold().split()).rstrip(".!?。！？ ")
    return digest(salt, gem.scope.agent, gem.scope.user, content), digest(salt, gem.gem_id)


def _salt(connection: sqlite3.Connection) -> str:
    salt = labels.get(connection, _SALT)
    if not salt:
        salt = secrets.token_hex(16)
        labels.put(connection, _SALT, salt)
    return salt


_NEAR = 24  # gems that share words with a new one and are held against it
_TERMS = 40
_BEFORE = 64  # gems of the same batch that a new one is held against

NEW = Judgement("new", "new")
FORGOTTEN = Judgement("dropped", "it was forgotten once")


@dataclass(frozen=True, slots=True)
class Writer:
    """One batch (or hand) that writes. near: ids of gems near a new one by vector, where an index told.

    written: what it wrote already, in order: an index does not know it yet, and it may share no word with what corrects it.
    """

    connection: sqlite3.Connection
    counts: schema.Counts
    batch_id: str
    at: datetime
    embedder: EmbedderIdentity | None = None
    judge: Judge | None = None
    near: Mapping[str, Sequence[str]] = field(default_factory=dict)
    written: dict[str, None] = field(default_factory=dict)

    def write(self, gem: Gem, vector: Vector | None, *, said_at: datetime, place: int) -> Judgement:
        """Judge one gem and do what the judgement says; the result tells what was done."""
        if is_buried(self.connection, gem):
            return FORGOTTEN
        judged = self._judged(gem, vector, said_at)
        if judged.outcome == "dropped":
            gems.drop(self.connection, self.batch_id, place, gem.content, judged.why)
            return judged
        row = gems.row_of(self.connection, judged.same_as) if judged.outcome == "same" else None
        known = row is not None
        if row is None:
            row = gems.insert(self.connection, gem, self.at, batch_id=self.batch_id)
            if vector is not None and self.embedder is not None:
                gems.put(self.connection, row, vector, self.embedder)
            self.written[gem.gem_id] = None
        gems.add(self.connection, row, gem, batch_id=self.batch_id, said_at=said_at, place=place, why=judged.why)
        self._link(judged.same_as if known else gem.gem_id, gem, judged)
        settle(self.connection, [row], self.at)
        return judged

    def _judged(self, gem: Gem, vector: Vector | None, said_at: datetime) -> Judgement:
        judged = self.judge(gem, said_at, self._neighbours(gem, vector)) if self.judge else NEW
        if judged.outcome == "dropped":
            return judged
        row = gems.statement_row_of(self.connection, gem.gem_id) or gems.row_of(self.connection, gem.gem_id)
        holder = gems.of_row(self.connection, row) if row is not None else None
        if holder is None:
            return judged
        return replace(judged, outcome="same", why="said before, word for word", same_as=holder.gem_id)

    def _link(self, gem_id: str, gem: Gem, judged: Judgement) -> None:
        for other, why in judged.replaces:
            if other != gem_id:
                gems.link(self.connection, other, gem_id, batch_id=self.batch_id, why=why)
        for other, why in judged.replaced_by:
            if other != gem_id:
                gems.link(self.connection, gem_id, other, batch_id=self.batch_id, why=why)
        if gem.supersedes and gem.supersedes != gem_id:
            gems.link(self.connection, gem.supersedes, gem_id, batch_id=self.batch_id, why="kept", fixed=True)
        if gem.superseded_by and gem.superseded_by != gem_id:
            gems.link(self.connection, gem_id, gem.superseded_by, batch_id=self.batch_id, why="kept", fixed=True)

    def _neighbours(self, gem: Gem, vector: Vector | None) -> list[Neighbour]:
        """Gems of the same agent, user and project that share words with it, that an index found near it, or written just before."""
        scope_id = gems.known_scope(self.connection, gem.scope)
        if scope_id is None:
            return []
        terms = list(dict.fromkeys(content_terms(gem.content)))[:_TERMS]
        hits = schema.search(self.connection, self.counts, terms, gem.scope, scope_id, limit=_NEAR, superseded=True)
        ids = dict.fromkeys(
            [*(hit.gem_id for hit in hits), *self.near.get(gem.gem_id, ()), *list(self.written)[-_BEFORE:]]
        )
        cosines = self._cosines(list(ids), vector)
        found = []
        for gem_id in ids:
            row, stored = gems.row_of(self.connection, gem_id), gems.get(self.connection, gem_id)
            if row is None or stored is None or stored.scope != gem.scope:
                continue
            times = times_of(self.connection, row)
            if times is not None:
                found.append(Neighbour(stored, *times, cosines.get(gem_id)))
        return found

    def _cosines(self, gem_ids: list[str], vector: Vector | None) -> dict[str, float]:
        if vector is None or self.embedder is None:
            return {}
        known = gems.vector_of(self.connection, gem_ids, self.embedder)
        return {gem_id: float(np.dot(other, vector)) for gem_id, other in known.items()}


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
    said = gems.of_batch(connection, row.batch_id)
    return BatchDetail(
        row,
        batches.made(connection, row.batch_id),
        tuple(turns.read(connection, ids)),
        tuple(ids),
        tuple((statement, gems.of_row(connection, statement.row)) for statement in said),
        tuple(gems.links_of_batch(connection, row.batch_id)),
        tuple(gems.drops(connection, row.batch_id)),
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
    own = {statement.row for statement in gems.of_batch(connection, batch_id)}
    for row in own:
        gem = gems.of_row(connection, row)
        if gem is None:
            continue
        alone = all(statement.batch_id == batch_id for statement in gems.of_gem(connection, row))
        group = changed if not alone else kept if gems.hand(connection, gem.gem_id) else removed
        group.append(gem)
    gone = {gem.gem_id for gem in removed}
    for link in gems.links_of_batch(connection, batch_id) + [
        link for gem in removed for link in gems.links_of(connection, gem.gem_id)
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
    settle(connection, gems.take_back(connection, batch_id), at)
    batches.undone(connection, batch_id)
    after = {gem.gem_id: gems.get(connection, gem.gem_id) for gem in plan.restored}
    restored = tuple(gem for gem in after.values() if gem is not None and not gem.superseded_by)
    return Undone(plan.removed, restored, plan.changed, plan.kept)


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
            replace(writer, judge=None).write(rest, None, said_at=at_of(gem), place=1)
            why = f"{_BESIDE}{kept.gem_id}"
            gems.link(connection, older.gem_id, rest.gem_id, batch_id=gems.BY_HAND, why=why)
            settle(connection, _rows(connection, [older.gem_id]), writer.at)
        replaced.append(Replaced(older, whys[older.gem_id], rest))
    return Kept(gems.get(connection, kept.gem_id) or kept, tuple(replaced))


def take_back(connection: sqlite3.Connection, gem_id: str, extractor: str, at: datetime) -> Undone | None:
    """Take back what was said by hand of this gem: what it replaced holds again. None where nothing was said by hand.

    Where nothing else was said of it, it goes with what a person set in it since; what an import brought stays.
    """
    row = gems.row_of(connection, gem_id)
    if row is None or not _by_hand(connection, gem_id, extractor):
        return None
    own = [link for link in gems.links_of(connection, gem_id) if link.newer == gem_id]
    older = [link.older for link in own if link.batch_id == gems.BY_HAND and not link.fixed]
    beside = [link for name in older for link in gems.links_of(connection, name)]
    rests = [link.newer for link in beside if link.why == f"{_BESIDE}{gem_id}"]
    before = {gem.gem_id: gem for gem in _read(connection, [gem_id, *rests])}
    rows = _rows(connection, [gem_id, *rests, *older])
    for name in (gem_id, *rests):
        gems.take_back_by_hand(connection, name, _by_hand(connection, name, extractor))
    if not gems.of_gem(connection, row):
        gems.forget_hand(connection, gem_id)
    settle(connection, rows, at)
    removed = tuple(gem for name, gem in before.items() if gems.get(connection, name) is None)
    restored = tuple(gem for gem in _read(connection, older) if not gem.superseded_by)
    return Undone(removed, restored, (), tuple(gem for gem in before.values() if gem not in removed))


def _own_id(correction: Gem, rest: Gem) -> str:
    return content_uuid(_BESIDE, correction.gem_id, rest.content)


def _by_hand(connection: sqlite3.Connection, gem_id: str, extractor: str) -> list[gems.Statement]:
    """What was said of a gem by hand; an import has no batch either, but another extractor."""
    row = gems.row_of(connection, gem_id)
    said = gems.of_gem(connection, row) if row is not None else []
    return [one for one in said if one.batch_id == gems.BY_HAND and one.gem.extractor.name == extractor]


def _read(connection: sqlite3.Connection, gem_ids: Sequence[str]) -> list[Gem]:
    found = (gems.get(connection, gem_id) for gem_id in gem_ids)
    return [gem for gem in found if gem is not None]


def _rows(connection: sqlite3.Connection, gem_ids: Sequence[str]) -> list[int]:
    found = (gems.row_of(connection, gem_id) for gem_id in gem_ids)
    return [row for row in found if row is not None]
