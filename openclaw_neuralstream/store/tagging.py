"""What a person has said about tags, in the memory file, and the labels of the gems read by it."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Scope
from openclaw_neuralstream.store import gems, labels
from openclaw_neuralstream.store.database import Database
from openclaw_neuralstream.store.labels import VERSION, Label
from openclaw_neuralstream.store.schema import from_seconds, seconds
from openclaw_neuralstream.store.tags import TagGraph, is_mark, mentions

_ROUNDS = 4  # of looking for levels below levels that were merged
_MOST_KEYS = 64
_STEP = 200


@dataclass(frozen=True, slots=True)
class TagChange:
    """One change that a person made: what was done with which names, and when."""

    seq: int
    at: datetime
    action: str
    names: tuple[str, ...]


class TagStore:
    """The tags of one memory file. Any thread may ask; a change is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: tuple[str, TagGraph] = ("", TagGraph())
        self._keeping = threading.Lock()

    # --- the graph --------------------------------------------------------------------------------------------------

    def graph(self) -> TagGraph:
        """What is said of tags now; read anew only when it changed."""
        with self._database.read() as connection:
            return self._graph(connection)

    def version(self) -> str:
        """Another text whenever other tags are known by a person's word, or one is known no more."""
        with self._database.read() as connection:
            return labels.get(connection, VERSION)

    def change(
        self,
        action: str,
        names: Sequence[str],
        made: Callable[[TagGraph], TagGraph],
        at: datetime,
        *,
        rehearse: bool = False,
    ) -> tuple[TagGraph, TagGraph]:
        """Make a change and note it; returns the graph before and after. rehearse: tell, and change nothing.

        Raises BadRequest where the change cannot be; nothing is changed then.
        """
        if rehearse:
            before = self.graph()
            return before, made(before)
        with self._database.write() as connection:
            before = _read(connection)
            after = made(before)
            _write(connection, after)
            body = json.dumps({"names": list(names), "before": _plain(before)}, ensure_ascii=True)
            connection.execute(
                "INSERT INTO tag_changes(at, action, body) VALUES (?, ?, ?)", (seconds(at), action, body)
            )
            _changed(connection)
        return before, after

    def undo(self) -> TagChange:
        """Take the last change back. Raises BadRequest when there is none."""
        with self._database.write() as connection:
            row = connection.execute(
                "SELECT seq, at, action, body FROM tag_changes ORDER BY seq DESC LIMIT 1"
            ).fetchone()
            if row is None:
                raise BadRequest("nothing was changed that could be taken back", fix="neuralstream tags list")
            _write(connection, _from_plain(json.loads(row[3])["before"]))
            connection.execute("DELETE FROM tag_changes WHERE seq = ?", row[:1])
            _changed(connection)
            return _change(row)

    def remove(self, name: str) -> tuple[TagGraph, TagGraph]:
        """Forget all that was said of a tag or alias, also in the list of changes, which ends there."""
        with self._database.write() as connection:
            before = _read(connection)
            after = before.without(name)
            _write(connection, after)
            connection.execute("DELETE FROM tag_changes")  # each holds all that was known before it
            connection.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('forget.pending', '1')")
            _changed(connection)
        return before, after

    def changes(self, limit: int = 50) -> list[TagChange]:
        """The last changes, the newest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT seq, at, action, body FROM tag_changes ORDER BY seq DESC LIMIT ?", (limit,)
            ).fetchall()
        return [_change(row) for row in rows]

    # --- labels -----------------------------------------------------------------------------------------------------

    def counts(self, scope: Scope) -> list[Label]:
        """Every tag that gems of the scope's agent and user carry, by key; not yet read by the graph."""
        with self._database.read() as connection:
            known = gems.known_scope(connection, scope)
            return labels.counts(connection, known) if known is not None else []

    def mentioned(self, text: str, scope: Scope) -> dict[str, str]:
        """The keys of the tags that a text mentions, canonical ones, each with the words that say it; marks are none."""
        said = mentions(text)
        with self._database.read() as connection:
            graph, known = self._graph(connection), gems.known_scope(connection, scope)
            held = labels.among(connection, known, labels.SAID, said) if known is not None and said else {}
        told = {key for key, name in held.items() if not is_mark(name)} | (said.keys() & graph.homes.keys())
        return _by_home(graph, told, said)

    def named(self, text: str, scope: Scope) -> dict[str, tuple[str, str]]:
        """The keys of whom and what the gems of the scope name and a text mentions: key → (a spelling, the words)."""
        said = mentions(text)
        with self._database.read() as connection:
            known = gems.known_scope(connection, scope)
            held = labels.among(connection, known, labels.ENTITY, said) if known is not None and said else {}
        return {key: (name, said[key]) for key, name in held.items()}

    def spellings(self, keys: Iterable[str], scope: Scope | None) -> dict[str, int]:
        """The keys of all names and aliases of these tags and of those below them, nearest first, each with its steps."""
        with self._database.read() as connection:
            graph, found = self._graph(connection), self._reach(connection, keys, scope)
        spelt = {
            spelling: steps
            for key, steps in sorted(found.items(), key=lambda item: (item[1], item[0]))
            for spelling in sorted(graph.spellings(key))
        }
        return dict(list(spelt.items())[: 16 * _MOST_KEYS])

    def carrying(
        self,
        spellings: Iterable[str],
        scope: Scope,
        *,
        limit: int,
        entities: bool = False,
        superseded: bool = False,
    ) -> dict[str, set[str]]:
        """The newest gems of the scope that carry one of these keys: gem id → which of them it carries."""
        kinds = (labels.ENTITY,) if entities else labels.TAGS
        found: dict[str, set[str]] = {}
        with self._database.read() as connection:
            known = gems.known_scope(connection, scope)
            if known is None:
                return {}
            for key in list(spellings)[:_MOST_KEYS]:
                for _, gem_id in labels.newest(
                    connection, scope, known, key, kinds=kinds, limit=limit, superseded=superseded
                ):
                    found.setdefault(gem_id, set()).add(key)
        return found

    def many(self, spellings: Iterable[str], scope: Scope, most: int, *, entities: bool = False) -> int:
        """How many gems carry these keys, counted up to `most`."""
        kinds = (labels.ENTITY,) if entities else labels.TAGS
        with self._database.read() as connection:
            known = gems.known_scope(connection, scope)
            if known is None:
                return 0
            found = 0
            for key in list(spellings)[:_MOST_KEYS]:
                found += labels.many(connection, known, key, kinds, most)
                if found >= most:
                    return most
            return found

    def total(self, spellings: Collection[str], scope: Scope) -> tuple[int, int]:
        """How many gems that hold carry one of these keys, each counted once: as said, and only as inferred."""
        with self._database.read() as connection:
            known = gems.known_scope(connection, scope)
            if known is None:
                return 0, 0
            said = labels.total(connection, known, spellings, (labels.SAID,))
            return said, labels.total(connection, known, spellings, labels.TAGS) - said

    def inferred(self, gem_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The tags that were inferred for these gems; gems without any are left out."""
        if not gem_ids:
            return {}
        with self._database.read() as connection:
            return labels.inferred(connection, gem_ids)

    # --- inferring --------------------------------------------------------------------------------------------------

    def allow(self, most: int) -> None:
        """How many tags may be inferred for one gem; another number than before has all inferred anew.

        So has a file whose gems were labelled by a version that knew fewer kinds of labels.
        """
        wanted = {labels.MOST: str(most), labels.FORM: labels.PRESENT}
        with self._database.read() as connection:
            if all(labels.get(connection, name) == value for name, value in wanted.items()):
                return
        with self._database.write() as connection:
            for name, value in wanted.items():
                labels.put(connection, name, value)
            labels.infer_anew(connection)

    def infer_anew(self) -> None:
        """Have the tags of all gems inferred again, by what is known now."""
        with self._database.write() as connection:
            labels.infer_anew(connection)

    def left(self) -> int:
        """How many gems wait for their tags to be inferred."""
        with self._database.read() as connection:
            after = labels.get(connection, labels.CURSOR)
            found = connection.execute("SELECT count(*) FROM gems WHERE seq > ?", (int(after or 0),)).fetchone()
            return int(found[0]) if after else 0

    def infer_some(self, limit: int = _STEP) -> int:
        """Infer the tags of the next gems whose turn it is, in one transaction; returns how many, 0 = all is done."""
        with self._database.read() as connection:
            if not labels.get(connection, labels.CURSOR):
                return 0
        with self._database.write() as connection:
            after = int(labels.get(connection, labels.CURSOR) or 0)
            rows = connection.execute(
                "SELECT seq FROM gems WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
            ).fetchall()
            read = [(row, gem) for (row,) in rows if (gem := gems.of_row(connection, row)) is not None]
            labels.infer_some(connection, read)
            labels.put(connection, labels.CURSOR, str(rows[-1][0]) if len(rows) == limit else "")
            return len(rows)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _graph(self, connection: sqlite3.Connection) -> TagGraph:
        version = labels.get(connection, VERSION)
        kept = self._kept
        if kept[0] != version:
            kept = (version, _read(connection))
            with self._keeping:
                self._kept = kept
        return kept[1]

    def _reach(self, connection: sqlite3.Connection, keys: Iterable[str], scope: Scope | None) -> dict[str, int]:
        return reach(connection, self._graph(connection), keys, scope)


def reach(connection: sqlite3.Connection, graph: TagGraph, keys: Iterable[str], scope: Scope | None) -> dict[str, int]:
    """These tags and all below them, those among them that only records hold included."""
    if scope is None:
        scope_ids: list[int] = gems.scope_ids(connection)
    else:
        known = gems.known_scope(connection, scope)
        scope_ids = [known] if known is not None else []
    found: dict[str, int] = {}
    for key in map(graph.home, keys):
        held: set[str] = set()
        below = graph.reach(key)
        for _ in range(_ROUNDS):
            wider = {
                nested for tag in below for spelling in graph.spellings(tag)
                for nested in labels.nested(connection, scope_ids, spelling)
            }  # fmt: skip
            if wider <= held:
                break
            held |= wider
            below = graph.reach(key, held)
        for tag, steps in below.items():
            found[tag] = min(found.get(tag, steps), steps)
    return found


def meant(connection: sqlite3.Connection, name: str, scope: Scope | None) -> list[str]:
    """The keys of all spellings of a tag and of those below it; for lists of gems."""
    graph = _read(connection)
    found = reach(connection, graph, [graph.key(name)], scope)
    return sorted(spelling for key in found for spelling in graph.spellings(key))


def _by_home(graph: TagGraph, keys: Iterable[str], said: Mapping[str, str]) -> dict[str, str]:
    """Canonical keys with the longest words that say each."""
    found: dict[str, str] = {}
    for key in sorted(keys):
        home = graph.home(key)
        if len(said[key]) > len(found.get(home, "")):
            found[home] = said[key]
    return found


def _read(connection: sqlite3.Connection) -> TagGraph:
    rows = connection.execute("SELECT key, name, tag FROM tags ORDER BY key").fetchall()
    above: dict[str, set[str]] = {}
    for child, parent in connection.execute("SELECT child, parent FROM tag_parents ORDER BY child, parent").fetchall():
        above.setdefault(child, set()).add(parent)
    names = {key: name for key, name, _ in rows}
    return TagGraph(
        names,
        {key: tag if tag in names else key for key, _, tag in rows},
        {child: frozenset(parents) for child, parents in above.items()},
    )


def _write(connection: sqlite3.Connection, graph: TagGraph) -> None:
    connection.execute("DELETE FROM tags")
    connection.execute("DELETE FROM tag_parents")
    connection.executemany(
        "INSERT INTO tags(key, name, tag) VALUES (?, ?, ?)",
        [(key, name, graph.homes[key]) for key, name in graph.names.items()],
    )
    connection.executemany(
        "INSERT INTO tag_parents(child, parent) VALUES (?, ?)",
        [(child, parent) for child, parents in graph.above.items() for parent in sorted(parents)],
    )


def _changed(connection: sqlite3.Connection) -> None:
    """Number the new state, and have inferred tags drawn by it."""
    labels.renumber(connection)
    labels.infer_anew(connection)


def _plain(graph: TagGraph) -> dict[str, Any]:
    return {
        "names": dict(graph.names),
        "homes": dict(graph.homes),
        "above": {child: sorted(parents) for child, parents in graph.above.items()},
    }


def _from_plain(data: Mapping[str, Any]) -> TagGraph:
    return TagGraph(
        data["names"], data["homes"], {child: frozenset(parents) for child, parents in data["above"].items()}
    )


def _change(row: Sequence[Any]) -> TagChange:
    return TagChange(row[0], from_seconds(row[1]), row[2], tuple(json.loads(row[3])["names"]))


def gems_with(connection: sqlite3.Connection, name: str, scope: Scope | None) -> tuple[str, list[object]]:
    """An SQL condition on `seq` for the gems that carry a tag or one below it, and its parameters."""
    keys = meant(connection, name, scope)
    condition = (
        "seq IN (SELECT l.gem FROM scopes s CROSS JOIN json_each(?) k CROSS JOIN json_each(?) m"
        " CROSS JOIN labels l ON l.scope_id = s.scope_id AND l.kind = m.value AND l.key = k.value)"
    )
    return condition, [json.dumps(keys), json.dumps(list(labels.TAGS))]
