"""What a memory knows by name, gems and notes taken together: tags with their aliases and places, persons and things."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from openclaw_neuralstream.errors import NotFound, StateError
from openclaw_neuralstream.model import Entity, Scope, Wanted
from openclaw_neuralstream.ports import Meant, NoteSearch, NoteVectors
from openclaw_neuralstream.store.tagging import TagStore
from openclaw_neuralstream.store.tags import TagGraph, is_mark, key_of, mentions, tidy

SearchOf = Callable[[Scope], NoteSearch | None]

_CLOSE = 3  # names that are offered for one that nobody knows


@dataclass(frozen=True, slots=True)
class Listed:
    """A tag as lists show it: its canonical name, other names, what it stands under, and what carries it.

    gems: as said; inferred: gems of which only we say it; notes, notes_inferred: the same. named: a person has spoken of it. mark: it says what kind of record it is.
    """

    name: str
    aliases: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    gems: int = 0
    inferred: int = 0
    notes: int = 0
    notes_inferred: int = 0
    named: bool = False
    mark: bool = False

    @property
    def count(self) -> int:
        """How many gems and notes carry it."""
        return self.gems + self.inferred + self.notes + self.notes_inferred


class KnownNames:
    """The vocabulary of one memory (`ports.Vocabulary`), and what a person does with its tags."""

    def __init__(self, tags: TagStore, search_of: SearchOf = lambda _: None) -> None:
        self.tags = tags
        self._search_of = search_of

    # --- what a text means ------------------------------------------------------------------------------------------

    def tags_of(self, text: str, scope: Scope) -> frozenset[str]:
        """The tags that a text mentions, by name or alias, in whatever form of the word."""
        graph = self.tags.graph()
        return frozenset(graph.name(key) or tidy(words) for key, words in self._tags_in(text, scope, graph).items())

    def entities_of(self, text: str, scope: Scope) -> frozenset[str]:
        """Whom and what a text mentions of those that gems and notes name."""
        return frozenset(name for name, *_ in self._entities_in(text, scope))

    def tags_meant(self, names: Iterable[str], text: str, scope: Scope) -> list[Meant]:
        """These tags, each with all tags below it."""
        graph = self.tags.graph()
        said = self._tags_in(text, scope, graph)
        keys = dict.fromkeys(key for name in names if (key := graph.key(name)))
        return [
            Meant(graph.name(key) or key, said.get(key, ""), self.tags.spellings([key], scope)) for key in sorted(keys)
        ]

    def entities_meant(self, names: Iterable[str], text: str, scope: Scope) -> list[Meant]:
        """These entities, each with all its names."""
        asked = {key_of(name) for name in names}
        return [
            Meant(name, words, dict.fromkeys(keys, 0))
            for name, words, keys in self._entities_in(text, scope)
            if keys & asked
        ] or [Meant(name, "", {key: 0}) for name in sorted(names) if (key := key_of(name))]

    def wanted(self, wanted: Wanted, scope: Scope) -> Wanted:
        """What a person narrows a question to, with all names of its tags and of the tags below them."""
        if not wanted.tags:
            return wanted
        return replace(wanted, tag_keys=self.spellings(wanted.tags, scope))

    def canonical(self, names: Iterable[str]) -> dict[str, str]:
        """The canonical name of each of these tags; one that no person has named stays as it is written."""
        graph = self.tags.graph()
        return {name: graph.name(key_of(name)) or name if graph.homes else name for name in names}

    def spellings(self, names: Iterable[str], scope: Scope) -> tuple[str, ...]:
        """The keys of all names of these tags and of those below them, gems' and notes' alike."""
        graph = self.tags.graph()
        return tuple(self.tags.spellings([graph.key(name) for name in names], scope))

    def infer_notes(self, index: NoteVectors, scope: Scope, most: int, limit: int) -> int:
        """Infer the tags of the next notes and facts that have none, by what is known now; returns how many were read."""
        version = f"{self.tags.version()}/{most}"
        texts = index.uninferred(version, limit=limit)
        if texts:
            index.infer(version, {id_: self._inferred(text, scope, most) for id_, text in texts.items()})
        return len(texts)

    def _inferred(self, text: str, scope: Scope, most: int) -> list[tuple[str, str]]:
        """(key, name) of the known tags that a text mentions, the longest first."""
        graph = self.tags.graph()
        found = self._tags_in(text, scope, graph) if most else {}
        best = sorted(found, key=lambda key: (-len(found[key]), key))[:most]
        return [(key, graph.name(key) or tidy(found[key])) for key in best]

    # --- which gems -------------------------------------------------------------------------------------------------

    def gems_of(
        self, keys: Iterable[str], scope: Scope, *, limit: int, entities: bool = False, superseded: bool = False
    ) -> dict[str, set[str]]:
        """The newest gems with one of these keys: gem id → its keys among them."""
        return self.tags.carrying(keys, scope, limit=limit, entities=entities, superseded=superseded)

    def spread(self, keys: Iterable[str], scope: Scope, *, most: int, entities: bool = False) -> int:
        """How many gems carry one of these keys, counted up to `most`."""
        return self.tags.many(keys, scope, most, entities=entities)

    def inferred(self, gem_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The tags that were inferred for these gems."""
        return self.tags.inferred(gem_ids)

    # --- lists ------------------------------------------------------------------------------------------------------

    def listed(self, scope: Scope, graph: TagGraph | None = None) -> list[Listed]:
        """Every tag that a gem or note of the scope carries or that a person has named, by name; read by `graph`."""
        return [row for _, row in self._rows(scope, graph or self.tags.graph())]

    def known(self, name: str, scope: Scope, rows: Sequence[Listed] | None = None) -> Listed:
        """A tag as it is listed. Raises NotFound with the names that are close."""
        graph = self.tags.graph()
        key = graph.key(name)
        rows = self.listed(scope) if rows is None else rows
        for row in rows:
            if graph.key(row.name) == key:
                return row
        raise NotFound(f"no tag {name!r}", fix=_offer(name, rows))

    def is_other(self, name: str, to: str, rows: Sequence[Listed]) -> bool:
        """Whether `to` is a tag that is there and not this one."""
        graph = self.tags.graph()
        return graph.key(to) != graph.key(name) and any(graph.key(row.name) == graph.key(to) for row in rows)

    def below(self, name: str, scope: Scope) -> list[tuple[Listed, int]]:
        """Every tag below this one with its steps, the nearest first."""
        graph = self.tags.graph()
        rows = dict(self._rows(scope, graph))
        found = graph.reach(graph.key(name), rows)
        steps = sorted(found.items(), key=lambda item: (item[1], item[0]))
        return [(rows[key], count) for key, count in steps if count and key in rows]

    def reached(self, name: str, scope: Scope) -> dict[str, int]:
        """How many gems and notes carry a tag or one below it, each counted once."""
        graph, search = self.tags.graph(), self._search_of(scope)
        below = graph.reach(graph.key(name), dict(self._rows(scope, graph)))
        keys = sorted(spelling for key in below for spelling in graph.spellings(key))
        gems, inferred = self.tags.total(keys, scope)
        return {"gems": gems, "inferred": inferred, "notes": search.tag_total(keys) if search else 0}

    def _rows(self, scope: Scope, graph: TagGraph) -> list[tuple[str, Listed]]:
        search = self._search_of(scope)
        rows = {key: Listed(tag.name, tag.aliases, named=True) for key, tag in graph.tags()}
        held: dict[str, dict[str, list[tuple[int, str]]]] = {}
        for label in self.tags.counts(scope):
            home = graph.home(label.key)
            row = rows.setdefault(home, Listed(""))
            rows[home] = replace(row, gems=row.gems + label.said, inferred=row.inferred + label.inferred)
            held.setdefault(home, {}).setdefault(label.key, []).append((label.said + label.inferred, label.name))
        for key, (name, count) in (search.tag_counts() if search else {}).items():
            home = graph.home(key)
            row = rows.setdefault(home, Listed(""))
            rows[home] = replace(row, notes=row.notes + count)
            held.setdefault(home, {}).setdefault(key, []).append((count, name))
        for key, (name, count) in (search.inferred_counts() if search else {}).items():
            home = graph.home(key)
            row = rows.setdefault(home, Listed(""))
            rows[home] = replace(row, notes_inferred=row.notes_inferred + count)
            held.setdefault(home, {}).setdefault(key, []).append((0, name))
        for home, spelt in held.items():
            if len(spelt) > 1:  # a record may carry two names of one tag
                gems, inferred = self.tags.total(list(spelt), scope)
                notes = search.tag_total(list(spelt)) if search else 0
                rows[home] = replace(rows[home], gems=gems, inferred=inferred, notes=notes)
            if not rows[home].named:
                names = [item for found in spelt.values() for item in found]
                rows[home] = replace(rows[home], name=tidy(min(names, key=lambda item: (-item[0], item[1]))[1]))
        return sorted(_placed(graph, rows), key=lambda item: item[1].name)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _tags_in(self, text: str, scope: Scope, graph: TagGraph) -> dict[str, str]:
        """Canonical key → the words of the text that say it."""
        found = self.tags.mentioned(text, scope)
        search = self._search_of(scope)
        said = mentions(text) if search else {}
        with suppress(StateError):  # notes that cannot be read are left out, as recall leaves them out
            for key, name in (search.tagged(list(said)) if search and said else {}).items():
                home = graph.home(key)
                if not is_mark(name) and len(said[key]) > len(found.get(home, "")):
                    found[home] = said[key]
        return found

    def _entities_in(self, text: str, scope: Scope) -> list[tuple[str, str, set[str]]]:
        """(canonical name, the words that say it, the keys of all its names), of gems and of notes with their pages."""
        found: list[tuple[str, str, set[str]]] = []
        told: set[str] = set()
        said = mentions(text)
        for entity in self._of_notes(text, scope):
            names = (entity.name, *entity.aliases)
            keys = {key for name in names if (key := key_of(name))}
            words = max((said[key] for key in keys if key in said), key=len, default="")
            found.append((entity.name, words, keys))
            told |= keys
        for key, (name, words) in self.tags.named(text, scope).items():
            if key not in told:
                found.append((name, words, {key}))
        return found

    def _of_notes(self, text: str, scope: Scope) -> list[Entity]:
        search = self._search_of(scope)
        if search is None:
            return []
        with suppress(StateError):
            return search.named_in(text)
        return []


def _placed(graph: TagGraph, rows: dict[str, Listed]) -> list[tuple[str, Listed]]:
    """By key, with parents and children by name; a level that only stands in the names of others is no row of its own."""
    below: dict[str, set[str]] = {}
    placed = []
    for key, row in rows.items():
        parents = [parent for parent in graph.parents(key) if parent in rows]
        for parent in parents:
            below.setdefault(parent, set()).add(row.name)
        placed.append(
            (key, replace(row, parents=tuple(sorted(rows[parent].name for parent in parents)), mark=is_mark(row.name)))
        )
    return [(key, replace(row, children=tuple(sorted(below.get(key, ()))))) for key, row in placed]


def _offer(name: str, rows: Sequence[Listed]) -> str:
    import difflib

    known = [spelling for row in rows for spelling in (row.name, *row.aliases)]
    close = difflib.get_close_matches(tidy(name), known, n=_CLOSE, cutoff=0.6)
    return f"did you mean {', '.join(close)}?" if close else "neuralstream tags list"
