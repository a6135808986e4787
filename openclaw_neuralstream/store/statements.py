"""Statements: each time that something was said. A gem is what its statements, links and a person's edits add up to."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openclaw_neuralstream.database import storable
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.formats import gem_from_json, gem_to_json
from openclaw_neuralstream.model import Gem
from openclaw_neuralstream.store.codec import from_seconds, seconds

BY_HAND = ""
"""The batch of what no batch brought: remembered by hand, or imported."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One time that it was said. gem: as the extractor gave it. row: the gem it became part of. why: in words."""

    seq: int
    row: int
    batch_id: str
    gem: Gem
    said_at: datetime
    place: int
    why: str

    @property
    def order(self) -> tuple[datetime, int, int]:
        """What was said earlier comes first; within one moment the place in its batch decides."""
        return self.said_at, self.place, self.seq


@dataclass(frozen=True, slots=True)
class Link:
    """Two gems that cannot both hold. fixed: older and newer are given, not for the times to decide."""

    older: str
    newer: str
    batch_id: str
    why: str
    fixed: bool


def add(
    connection: sqlite3.Connection, row: int, gem: Gem, *, batch_id: str, said_at: datetime, place: int, why: str
) -> None:
    """Note that it was said; said again by hand it counts as one statement, at its last time, with all its evidence."""
    known = connection.execute(
        "SELECT seq, said_at, body FROM statements WHERE batch_id = ? AND own_id = ?", (batch_id, storable(gem.gem_id))
    ).fetchone()
    if known is None:
        connection.execute(
            "INSERT INTO statements(gem, batch_id, own_id, said_at, place, body, why) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (row, batch_id, storable(gem.gem_id), seconds(said_at), place, body_of(gem), storable(why)),
        )
        return
    seq, at, body = known
    data = json.loads(body)
    data["evidence"] = list(dict.fromkeys((*data["evidence"], *gem.evidence)))
    connection.execute(
        "UPDATE statements SET said_at = ?, body = ? WHERE seq = ?", (max(at, seconds(said_at)), _text(data), seq)
    )


def of_gem(connection: sqlite3.Connection, row: int) -> list[Statement]:
    """The statements of a gem, earliest first; one that does not read back is left out."""
    return _statements(connection, "gem = ?", (row,))


def of_batch(connection: sqlite3.Connection, batch_id: str) -> list[Statement]:
    """What a batch said, in the order of the extractor."""
    return sorted(_statements(connection, "batch_id = ?", (batch_id,)), key=lambda said: (said.place, said.seq))


def row_of(connection: sqlite3.Connection, own_id: str) -> int | None:
    """The gem that holds a statement of this very content; None when none does."""
    found = connection.execute(
        "SELECT gem FROM statements WHERE own_id = ? ORDER BY seq LIMIT 1", (storable(own_id),)
    ).fetchone()
    return int(found[0]) if found else None


def take_back(connection: sqlite3.Connection, batch_id: str) -> list[int]:
    """Remove all that a batch said, found or dropped; returns the gems concerned. They are not settled yet."""
    rows = [row for (row,) in connection.execute("SELECT DISTINCT gem FROM statements WHERE batch_id = ?", (batch_id,))]
    linked = connection.execute(
        "SELECT g.seq FROM links l JOIN gems g ON g.gem_id IN (l.older, l.newer) WHERE l.batch_id = ?", (batch_id,)
    ).fetchall()
    for table in ("statements", "links", "drops", "made"):
        connection.execute(f"DELETE FROM {table} WHERE batch_id = ?", (batch_id,))  # noqa: S608 - our own words
    return list(dict.fromkeys([*rows, *(row for (row,) in linked)]))


def take_back_by_hand(connection: sqlite3.Connection, gem_id: str, said: Iterable[Statement]) -> None:
    """Remove these statements of a gem that were made by hand, and what it replaced thereby. It is not settled yet."""
    connection.executemany("DELETE FROM statements WHERE seq = ?", [(one.seq,) for one in said])
    connection.execute("DELETE FROM links WHERE newer = ? AND batch_id = ? AND NOT fixed", (storable(gem_id), BY_HAND))


def link(
    connection: sqlite3.Connection, older: str, newer: str, *, batch_id: str, why: str, fixed: bool = False
) -> None:
    """Note that the two cannot both hold."""
    connection.execute(
        "INSERT INTO links(older, newer, batch_id, why, fixed) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (storable(older), storable(newer), batch_id, storable(why), fixed),
    )


def links_of(connection: sqlite3.Connection, gem_id: str) -> list[Link]:
    """All links of a gem."""
    rows = connection.execute(
        "SELECT older, newer, batch_id, why, fixed FROM links WHERE older = ?1"
        " UNION SELECT older, newer, batch_id, why, fixed FROM links WHERE newer = ?1",
        (storable(gem_id),),
    ).fetchall()
    return [Link(older, newer, batch_id, why, bool(fixed)) for older, newer, batch_id, why, fixed in rows]


def links_of_batch(connection: sqlite3.Connection, batch_id: str) -> list[Link]:
    """The links that a batch brought."""
    rows = connection.execute(
        "SELECT older, newer, batch_id, why, fixed FROM links WHERE batch_id = ? ORDER BY older, newer", (batch_id,)
    ).fetchall()
    return [Link(older, newer, batch, why, bool(fixed)) for older, newer, batch, why, fixed in rows]


def forget(connection: sqlite3.Connection, row: int, gem_id: str) -> None:
    """Remove all that was said of a gem, and what its batches dropped beside it: it may have been the same words."""
    connection.execute(
        "DELETE FROM drops WHERE batch_id IN (SELECT batch_id FROM statements WHERE gem = ? AND batch_id <> '')", (row,)
    )
    connection.execute("DELETE FROM statements WHERE gem = ?", (row,))
    connection.execute("DELETE FROM links WHERE older = ?1 OR newer = ?1", (storable(gem_id),))
    connection.execute("DELETE FROM hands WHERE gem_id = ?", (storable(gem_id),))


def hand(connection: sqlite3.Connection, gem_id: str) -> dict[str, Any]:
    """What a person set in this gem, by field; {} when nothing."""
    row = connection.execute("SELECT fields FROM hands WHERE gem_id = ?", (storable(gem_id),)).fetchone()
    return dict(json.loads(row[0])) if row else {}


def set_hand(connection: sqlite3.Connection, gem_id: str, changes: Mapping[str, Any]) -> None:
    """Keep what a person set; it wins over all statements, whatever becomes of them."""
    fields = {**hand(connection, gem_id), **changes}
    connection.execute("INSERT OR REPLACE INTO hands(gem_id, fields) VALUES (?, ?)", (storable(gem_id), _text(fields)))


def forget_hand(connection: sqlite3.Connection, gem_id: str) -> None:
    """What a person set in this gem holds no more."""
    connection.execute("DELETE FROM hands WHERE gem_id = ?", (storable(gem_id),))


def drop(connection: sqlite3.Connection, batch_id: str, place: int, content: str, why: str) -> None:
    """Note what was not kept, and why."""
    connection.execute(
        "INSERT OR REPLACE INTO drops(batch_id, place, content, why) VALUES (?, ?, ?, ?)",
        (batch_id, place, storable(content), storable(why)),
    )


def drops(connection: sqlite3.Connection, batch_id: str) -> list[tuple[str, str]]:
    """(content, why) of what the batch's judgement dropped, in the order of the extractor."""
    return connection.execute(
        "SELECT content, why FROM drops WHERE batch_id = ? ORDER BY place", (batch_id,)
    ).fetchall()


def body_of(gem: Gem) -> str:
    """JSON text; only a text with lone surrogates is written in escapes, which SQLite's UTF-8 cannot hold otherwise."""
    return _text(gem_to_json(gem))


def _statements(connection: sqlite3.Connection, where: str, parameters: Sequence[object]) -> list[Statement]:
    rows = connection.execute(
        f"SELECT seq, gem, batch_id, body, said_at, place, why FROM statements WHERE {where}",  # noqa: S608 - our words
        tuple(parameters),
    ).fetchall()
    return sorted(_readable(rows), key=lambda said: said.order)


def _readable(rows: Iterable[Sequence[Any]]) -> Iterable[Statement]:
    for seq, row, batch_id, body, said_at, place, why in rows:
        try:
            gem = gem_from_json(json.loads(body))
        except (BadRequest, ValueError, TypeError):
            continue
        yield Statement(seq, row, batch_id, gem, from_seconds(said_at), place, why)


def _text(data: Mapping[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(data, separators=(",", ":"))
    return text
