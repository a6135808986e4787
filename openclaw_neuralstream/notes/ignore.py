"""Which paths of a workspace are notes: what the settings include, less what git, editors and we ourselves leave out."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

from openclaw_neuralstream.patterns import lazy

OWN_FOLDER = ".memory"
"""What we derive ourselves lives here; it is never a note."""

SUFFIXES = (".md", ".markdown")
INCLUDED = ("MEMORY.md", "memory.md", "memory/", "notes/", "bank/")

_NEVER_FOLDERS = frozenset({OWN_FOLDER, ".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv"})
_PASSING = (
    "*~",
    ".#*",
    "#*#",
    "~$*",
    "._*",
    ".goutputstream-*",
    "*.sw[a-z]",
    "*.tmp",
    "*.tmp.md",
    "*.part",
    "*___jb_*___",
)
_PASSING_NAME = lazy("|".join(fnmatch.translate(pattern) for pattern in _PASSING))
_WILD = lazy(r"[*?\[]")
GITIGNORE = ".gitignore"


@dataclass(frozen=True, slots=True)
class Choice:
    """What its owner wants of a workspace to be notes.

    include, exclude: patterns as in `.gitignore`, relative to the workspace and anchored there (`**/` = anywhere).
    apart: folders inside it that are another agent's workspace. hidden: names that begin with a dot too.
    """

    include: tuple[str, ...] = INCLUDED
    exclude: tuple[str, ...] = ()
    hidden: bool = False
    gitignore: bool = True
    apart: frozenset[str] = frozenset()


class Rules:
    """The choice applied to one workspace; `.gitignore` files are read once, `refresh` reads them again.

    Paths are relative to the workspace, with "/" between their parts, "" for the workspace itself.
    """

    def __init__(self, root: Path, choice: Choice) -> None:
        self._root = root
        self._choice = choice
        self._included = _spec(_anchored(choice.include))
        self._excluded = _spec(_anchored(choice.exclude))
        self._starts = tuple(_literal(pattern) for pattern in choice.include if not pattern.startswith("!"))
        self._git: dict[str, GitIgnoreSpec | None] = {}

    def refresh(self) -> None:
        """Forget the `.gitignore` files; each is read again when it is needed."""
        self._git.clear()

    def enters(self, folder: str) -> bool:
        """Whether notes may lie in this folder, its parents taken for granted."""
        if not folder:
            return True
        name = folder.rpartition("/")[2]
        if name in _NEVER_FOLDERS or folder in self._choice.apart or (name.startswith(".") and not self._choice.hidden):
            return False
        if not any(_related(folder, start) for start in self._starts):
            return False
        return not self._excluded.match_file(folder + "/") and not self._by_git(folder, folder=True)

    def takes(self, file: str) -> bool:
        """Whether this file is a note, its folder taken for granted."""
        name = file.rpartition("/")[2]
        if not name.lower().endswith(SUFFIXES) or _PASSING_NAME.match(name):
            return False
        if name.startswith(".") and not self._choice.hidden:
            return False
        if not self._included.match_file(file) or self._excluded.match_file(file):
            return False
        return not self._by_git(file, folder=False)

    def reaches(self, path: str) -> bool:
        """Whether all folders above this path are entered."""
        return all(self.enters(folder) for folder in above(path))

    def _by_git(self, path: str, *, folder: bool) -> bool:
        """What the nearest `.gitignore` with an opinion says; none has one: False."""
        if not self._choice.gitignore:
            return False
        for base in reversed(list(above(path))):
            spec = self._git_of(base)
            if spec is None:
                continue
            inner = path[len(base) + 1 :] if base else path
            said = spec.check_file(inner + "/" if folder else inner).include
            if said is not None:
                return said
        return False

    def _git_of(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._git:
            self._git[folder] = _git_file(self._root / folder / GITIGNORE)
        return self._git[folder]


def above(path: str) -> Iterator[str]:
    """The folders above a path, the workspace itself ("") first."""
    yield ""
    position = path.find("/")
    while position >= 0:
        yield path[:position]
        position = path.find("/", position + 1)


def clean_patterns(patterns: Iterable[str]) -> tuple[str, ...]:
    """Patterns without spaces around them, without empty ones; "." is everything."""
    stripped = (pattern.strip() for pattern in patterns)
    return tuple("**" if pattern in (".", "./", "*") else pattern for pattern in stripped if pattern)


def refused(patterns: Iterable[str], complain: Callable[[str], object]) -> None:
    """Tell `complain` about patterns that leave the workspace."""
    for pattern in patterns:
        bare = pattern.removeprefix("!")
        if ".." in PurePosixPath(bare).parts or bare.startswith("~"):
            complain(pattern)


def _anchored(patterns: Iterable[str]) -> list[str]:
    return [_anchor(pattern) for pattern in clean_patterns(patterns)]


def _anchor(pattern: str) -> str:
    no, bare = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    return no + (bare if bare.startswith(("/", "**")) else "/" + bare)


def _spec(patterns: list[str]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(patterns)


def _literal(pattern: str) -> str:
    """The folder in which all matches of a pattern lie; "" = anywhere."""
    bare = "" if pattern.strip() in (".", "./") else pattern.strip().strip("/")
    wild = _WILD.search(bare)
    return bare if wild is None else bare[: wild.start()].rpartition("/")[0]


def _related(folder: str, start: str) -> bool:
    """Whether one of the two lies in the other."""
    return not start or folder == start or folder.startswith(start + "/") or start.startswith(folder + "/")


def _git_file(path: Path) -> GitIgnoreSpec | None:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    spec = GitIgnoreSpec.from_lines(line for line in lines if not line.startswith("\ufeff#"))
    return spec if spec.patterns else None
