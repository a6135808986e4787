"""Tags by one name: what their spellings share, how they stand over each other, which a text mentions."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Kind
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.text.lexicon import is_stop, stem

MARKS = frozenset({*(kind.value for kind in Kind), "by-hand", "asked", "correction", "answer", "confirmed", "imported"})
"""What a gem is or how it came to be. It stands among its tags, and is no subject that a question could be about."""

LONGEST = 64
"""Characters that a tag named by a person may have."""

_CJK = "\u0e00-\u0eff\u1100-\u11ff\u2e80-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_SIGNS = "\u0300-\u036f\u0900-\u0dff\u0591-\u05c7\u064b-\u065f"  # combining marks inside a word
_TOKEN = lazy(rf"(?P<gram>[{_CJK}]+)|(?P<word>(?:(?![{_CJK}])[^\W_]|[{_SIGNS}])+[+#]*)")
_ENGLISH = lazy(r"[a-z]{3,}")
_GAP = lazy(r"[\s\-_/.·'’&]{0,3}")
_LONGEST_RUN, _LONGEST_GRAM = 4, 8
_MOST_CHARS = 6_000
_ENDINGS = ("", "e", "s", "es", "ed", "ing", "ings")


def is_mark(name: str) -> bool:
    """Whether a tag says what kind of record it is, not what it is about."""
    return name.strip().lower() in MARKS


def tidy(name: str) -> str:
    """How a tag is written that nobody has named otherwise: small letters, "-" between words, "/" between levels."""
    plain = unicodedata.normalize("NFKC", _folded_case(name)).strip().lstrip("#").strip()
    levels = (re.sub(r"[\s_-]+", "-", level).lstrip("#-").rstrip("-") for level in plain.split("/"))
    return "/".join(level for level in levels if level)


def key_of(name: str) -> str:
    """What all spellings of a tag or an entity share; "" for nothing. "Trading Options", "trading_option" → "tradeoption"."""
    levels = ("".join(_keys(level)) for level in tidy(name).split("/"))
    return "/".join(level for level in levels if level)


def mentions(text: str) -> Mapping[str, str]:
    """The keys of all names that could be meant in a text, each with the words that say it.

    Up to four words in a row, or two to eight Chinese, Japanese, Korean or Thai characters; no single stop word.
    """
    return _mentions(text[:_MOST_CHARS])


@lru_cache(maxsize=256)
def _mentions(text: str) -> Mapping[str, str]:
    """A question is read for tags and entities, of gems and of notes."""
    found: dict[str, str] = {}
    text = unicodedata.normalize("NFKC", text)
    tokens = list(_TOKEN.finditer(text))
    for start, first in enumerate(tokens):
        if gram := first["gram"]:
            for piece in _pieces(gram):
                found.setdefault(piece, piece)
        keys: list[str] = []
        for place in range(start, min(start + _LONGEST_RUN, len(tokens))):
            if place > start and not _GAP.fullmatch(text, tokens[place - 1].end(), tokens[place].start()):
                break
            keys.append(_token_key(tokens[place]))
            said = text[first.start() : tokens[place].end()]
            if place == start and not _tells(first):
                continue
            found.setdefault("".join(keys), said)
            if len(keys) > 1:
                found.setdefault("/".join(keys), said)
    return found


def _keys(level: str) -> list[str]:
    return [_token_key(match) for match in _TOKEN.finditer(level)] or [re.sub(r"\s+", "", level)]


def _token_key(match: re.Match[str]) -> str:
    return match["gram"].casefold() if match["gram"] else _word_key(match["word"])


def _tells(match: re.Match[str]) -> bool:
    """Whether a single token may stand for a tag."""
    word = match["gram"] or match["word"]
    return len(word) > 1 and not is_stop(stem(word))


def _pieces(run: str) -> list[str]:
    folded = run.casefold()
    return [
        folded[start : start + size]
        for size in range(2, _LONGEST_GRAM + 1)
        for start in range(len(folded) - size + 1)
        if not is_stop(folded[start : start + size])
    ]


@lru_cache(maxsize=65_536)
def _word_key(word: str) -> str:
    """The stem, where the word is an inflection of it: "traded" and "trades" are "trade", "organization" is no "organ"."""
    plain = _folded(word)
    if not _ENGLISH.fullmatch(plain):
        return stem(plain)
    root = stem(plain)
    if plain in _forms(root):
        return root
    single = _singular(plain)
    return _word_key(single) if single != plain else plain


def _forms(root: str) -> set[str]:
    forms = {root + ending for ending in _ENDINGS}
    forms |= {root + root[-1] + ending for ending in ("ing", "ings", "ed")}
    if root.endswith("e"):
        forms |= {root[:-1] + ending for ending in ("ing", "ings", "ed")}
    if root.endswith("i"):
        forms |= {root[:-1] + ending for ending in ("y", "ies", "ied", "ying")}
    return forms


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _folded(word: str) -> str:
    folded = unicodedata.normalize("NFKC", _folded_case(word))
    if folded.isascii() or re.search("[\u0400-\u04ff]", folded):
        return folded.replace("ё", "е")
    bare = "".join(char for char in unicodedata.normalize("NFD", folded) if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", bare) or folded


def _folded_case(text: str) -> str:
    """Case folded until it stays as it is (Unicode 5.18.4: twice is enough)."""
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", once.casefold())


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
