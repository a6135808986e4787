"""Tags as a directed acyclic graph: spellings and aliases of one name, parents and children; no change makes a cycle."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.tags.names import LONGEST, key_of, tidy

FADE = 0.7
"""What a record of a child counts for its parent's name, and of a grandchild for its grandparent's, each step again."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that a person has named: its canonical name, other names for it, and the names of those above it."""

    name: str
    aliases: tuple[str, ...]
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TagGraph:
    """What a person has said about tags; every change gives a new graph, and raises BadRequest where it cannot be.

    names: key → as it was written. homes: key of a spelling → key of the tag it stands for (itself, for a canonical one).
    above: key → keys of its parents. Tags that only records hold are in none of these, and are their own canonical ones.
    "a/b" stands below "a" by its very name.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)
    above: Mapping[str, frozenset[str]] = field(default_factory=dict)

    # --- reading ----------------------------------------------------------------------------------------------------

    def key(self, name: str) -> str:
        """The key of the tag that a name stands for; "" for what is no name."""
        return self.home(key_of(name))

    def home(self, key: str) -> str:
        """The key of the tag that a spelling's key stands for."""
        return self.homes.get(key, key)

    def canonical(self, name: str) -> str:
        """The one name of a tag; a name nobody has spoken of is tidied. Idempotent."""
        return self.name(self.key(name)) or tidy(name)

    def name(self, key: str) -> str:
        """The canonical name of a tag's key; "" when no person has named it."""
        return self.names.get(self.home(key), "")

    def spellings(self, key: str) -> frozenset[str]:
        """All keys that stand for a tag, its own among them."""
        return frozenset({key, *(spelling for spelling, home in self.homes.items() if home == key)})

    def parents(self, key: str) -> frozenset[str]:
        """The keys right above a tag: those it was put under, and the level above it in its name."""
        level, _, _ = key.rpartition("/")
        implied = {self.home(level)} - {key} if level else set()
        return frozenset({*self.above.get(key, ()), *implied})

    def reach(self, key: str, known: Iterable[str] = ()) -> dict[str, int]:
        """A tag and all below it, each with the fewest steps to it."""
        below: dict[str, set[str]] = defaultdict(set)
        for other in {*self.homes.values(), *map(self.home, known)}:
            self._below(other, below)
        found, waiting = {key: 0}, deque([key])
        while waiting:
            now = waiting.popleft()
            for child in sorted(below[now] - found.keys()):
                found[child] = found[now] + 1
                waiting.append(child)
        return found

    def _below(self, key: str, below: dict[str, set[str]]) -> None:
        """Note a tag under its parents; a level that nobody holds ("a/b" of "a/b/c") is noted under its own, too."""
        for parent in self.parents(key):
            if key not in below[parent]:
                below[parent].add(key)
                self._below(parent, below)

    def tags(self) -> Iterator[tuple[str, Tag]]:
        """Every tag that a person has named, by its key, in the order of their names."""
        for key in sorted(set(self.homes.values()), key=lambda key: self.names[key]):
            others = sorted(self.names[spelling] for spelling in self.spellings(key) - {key})
            parents = sorted(self.names.get(parent) or parent for parent in self.parents(key))
            yield key, Tag(self.names[key], tuple(others), tuple(parents))

    # --- changing ---------------------------------------------------------------------------------------------------

    def alias(self, alias: str, name: str) -> TagGraph:
        """`alias` is another word for `name`. A tag that has aliases or parents itself is merged instead."""
        spelling, key = _checked(alias), self.key(_named(name))
        if spelling == key:
            raise BadRequest(f"{alias!r} is only another spelling of {name!r}", fix="nothing is to be done")
        known = self.home(spelling)
        if known == key:
            raise BadRequest(f"{tidy(alias)!r} is an alias of {self.canonical(name)!r} already")
        if known != spelling:
            raise BadRequest(
                f"{tidy(alias)!r} is an alias of {self.name(known)!r} already",
                fix=f"neuralstream tags unalias {tidy(alias)!r}",
            )
        return self.merge(alias, name)

    def unalias(self, alias: str) -> TagGraph:
        """An alias is a tag of its own again."""
        spelling = _checked(alias)
        home = self.home(spelling)
        if home == spelling:
            raise BadRequest(f"{alias!r} is no alias", fix="neuralstream tags show NAME")
        homes = {**self.homes, spelling: spelling}
        return replace(self, homes=homes).sound(spelling)

    def merge(self, name: str, into: str) -> TagGraph:
        """All that is called `name` is `into` from now on, its aliases, parents and children with it."""
        old, new = self.key(_named(name)), self.key(_named(into))
        if old == new:
            raise BadRequest(f"{name!r} and {into!r} are one tag already", fix="nothing is to be done")
        known = self.knowing(into).knowing(name)
        homes = {key: new if home == old else home for key, home in known.homes.items()}
        above: dict[str, frozenset[str]] = {}
        for child, parents in known.above.items():
            moved = frozenset(new if parent == old else parent for parent in parents)
            home = new if child == old else child
            above[home] = (above.get(home, frozenset()) | moved) - {home}
        return replace(known, homes=homes, above=_filled(above)).sound(new)

    def rename(self, name: str, to: str) -> TagGraph:
        """The tag is called `to` from now on; the name it had remains an alias, unless both are one spelling."""
        old, new = self.key(_named(name)), _checked(to)
        known = self.knowing(name)
        if self.home(new) not in (old, new) or (new in self.homes and self.home(new) == new and new != old):
            raise BadRequest(
                f"there is a tag {self.canonical(to)!r} already",
                fix=f"neuralstream tags merge {self.canonical(name)} {self.canonical(to)}",
            )
        names = {**known.names, new: tidy(to)}
        homes = {**{key: new if home == old else home for key, home in known.homes.items()}, new: new}
        above = {
            new if child == old else child: frozenset(new if parent == old else parent for parent in parents)
            for child, parents in known.above.items()
        }
        return TagGraph(names, homes, _filled(above)).sound(new)

    def put_under(self, name: str, parent: str) -> TagGraph:
        """`name` stands below `parent`. Raises BadRequest that names the path which would close a cycle."""
        child, over = self.key(_named(name)), self.key(_named(parent))
        if over in self.parents(child):
            raise BadRequest(f"{self.canonical(name)!r} stands below {self.canonical(parent)!r} already")
        if path := self._path(over, child):
            raise self._cycle([child, *path])
        known = self.knowing(name).knowing(parent)
        return replace(known, above={**known.above, child: known.above.get(child, frozenset()) | {over}})

    def take_from(self, name: str, parent: str) -> TagGraph:
        """`name` no longer stands below `parent`."""
        child, over = self.key(_named(name)), self.key(_named(parent))
        if over not in self.above.get(child, ()):
            implied = over in self.parents(child)
            why = "by its very name" if implied else "not"
            fix = f"neuralstream tags rename {self.canonical(name)} NAME" if implied else "neuralstream tags show NAME"
            raise BadRequest(f"{self.canonical(name)!r} stands {why} below {self.canonical(parent)!r}", fix=fix)
        return replace(self, above=_filled({**self.above, child: self.above[child] - {over}}))

    def without(self, name: str) -> TagGraph:
        """Nothing that a person said of this tag or alias is known any more; what stood below it stands alone."""
        spelling = _checked(name)
        if spelling not in self.names:
            raise BadRequest(f"nobody has said anything of the tag {name!r}", fix="neuralstream tags list")
        gone = {spelling} if self.home(spelling) != spelling else self.spellings(spelling)
        return TagGraph(
            {key: value for key, value in self.names.items() if key not in gone},
            {key: home for key, home in self.homes.items() if key not in gone},
            _filled({child: parents - gone for child, parents in self.above.items() if child not in gone}),
        )

    # --- inside -----------------------------------------------------------------------------------------------------

    def knowing(self, name: str) -> TagGraph:
        """With this name as a tag that a person has spoken of."""
        key = key_of(name)
        if key in self.homes:
            return self
        return replace(self, names={**self.names, key: tidy(name)}, homes={**self.homes, key: key})

    def _path(self, start: str, end: str) -> list[str]:
        """The keys from a tag up to one above it, both included; [] when it is not above it."""
        came: dict[str, str] = {start: ""}
        waiting = deque([start])
        while waiting:
            now = waiting.popleft()
            if now == end:
                path = [now]
                while came[path[-1]]:
                    path.append(came[path[-1]])
                return path[::-1]
            for parent in sorted(self.parents(now) - came.keys()):
                came[parent] = now
                waiting.append(parent)
        return []

    def sound(self, key: str) -> TagGraph:
        """Itself, when no tag stands above itself. Raises BadRequest with the path, from `key` where it is on it."""
        for start in [key, *sorted({*self.homes.values(), *self.above})]:
            for parent in sorted(self.parents(start)):
                if path := self._path(parent, start):
                    raise self._cycle([start, *path])
        return self

    def _cycle(self, path: list[str]) -> BadRequest:
        shown = " → ".join(self.names.get(key) or key for key in path)
        return BadRequest(
            f"a tag cannot stand above itself: {shown}",
            fix="neuralstream tags unparent CHILD PARENT takes one of these steps away",
        )


def nearness(steps: int) -> float:
    """What a record so many steps below counts."""
    return FADE**steps


def _named(name: str) -> str:
    if not key_of(name):
        raise BadRequest(f"{name!r} is no name of a tag", fix="letters or digits, e.g. trading-options")
    if len(tidy(name)) > LONGEST:
        raise BadRequest(f"a tag has at most {LONGEST} characters (got {len(tidy(name))})")
    return name


def _checked(name: str) -> str:
    return key_of(_named(name))


def _filled(above: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    return {child: parents for child, parents in above.items() if parents}
