"""The state directory: where it is, and that only its owner can read it."""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from openclaw_neuralstream.errors import SettingsError, StateError

NAME = "neuralstream"

_FILES = ("memory.sqlite*", "serve.*", "*.json", "*.lock")
_FOLDERS = ("index", "turns", "spool", "logs", "notes", "reflect")
# What we write in a state directory. settings.toml, hooks/ and templates/ are the owner's, who may keep them elsewhere.


@dataclass(frozen=True, slots=True)
class StateDir:
    """The files of one memory. Everything in it is owner-only.

    named: a person gave this very directory with a command; one that holds nothing is rather mistyped than new.
    """

    path: Path
    named: bool = field(default=False, compare=False)

    @property
    def database(self) -> Path:
        """The truth: turns, gems, events."""
        return self.path / "memory.sqlite"

    @property
    def index(self) -> Path:
        """Folder of the embedded gem index."""
        return self.path / "index"

    @property
    def turns(self) -> Path:
        """Folder of the index of verbatim turns."""
        return self.path / "turns"

    @property
    def spool(self) -> Path:
        """Folder of events that the bridge could not deliver."""
        return self.path / "spool"

    @property
    def logs(self) -> Path:
        """Folder of our own log."""
        return self.path / "logs"

    @property
    def endpoint(self) -> Path:
        """Where the running process answers; see `serve.endpoint`."""
        return self.path / "serve.json"

    @property
    def lock(self) -> Path:
        """Held by the one process that owns the stores."""
        return self.path / "serve.lock"

    @property
    def host_config(self) -> Path:
        """The plugin's settings as the host last gave them."""
        return self.path / "host-config.json"

    @property
    def settings(self) -> Path:
        """The user's settings."""
        return self.path / "settings.toml"

    @property
    def memory_slot(self) -> Path:
        """Whom OpenClaw's memory slot was taken from."""
        return self.path / "memory-slot.json"

    @property
    def hooks(self) -> Path:
        """The user's own hooks."""
        return self.path / "hooks"

    @property
    def templates(self) -> Path:
        """The user's own templates."""
        return self.path / "templates"

    @property
    def is_memory(self) -> bool:
        """Whether this directory was ever one of ours: something kept, waiting, or set."""
        signs = (self.database, self.spool, self.index, self.endpoint, self.lock, self.host_config, self.settings)
        return any(sign.exists() for sign in (*signs, self.hooks, self.templates))

    def found(self) -> StateDir:
        """It, for what only reads. Raises StateError where a person named a directory in which nothing was ever kept."""
        if self.named and not self.is_memory:
            raise StateError(
                "there is no memory here",
                where=str(self.path),
                fix="name its directory with --state-dir, or begin one here: "
                f'neuralstream remember "…" --state-dir {shlex.quote(str(self.path))}',
            )
        return self

    def refuse_links(self, *only: Path) -> None:
        """Raise StateError where a link stands in the place of a file or folder of ours: it would lead us elsewhere.

        The directory itself may be a link of its owner's. A second hard link is refused because what is forgotten here
        would stay readable there, and because a file of another program would be written to. only: look at these alone.
        """
        for path in only or self._ours():
            try:
                found = path.lstat()
            except OSError:
                continue  # gone meanwhile, or not ours to read: whoever opens it says so
            folder = stat.S_ISDIR(found.st_mode)
            if stat.S_ISLNK(found.st_mode):
                place = shlex.quote(str(path))
                mend = f"rm {place} takes only the link away; what it leads to ({_target(path)}) can be moved there instead"
                raise StateError("a symbolic link stands in the place of our own", where=str(path), fix=mend)
            if not folder and found.st_nlink > 1:
                place, copy = shlex.quote(str(path)), shlex.quote(f"{path}.own")
                mend = f"neuralstream admin stop, then give it a copy of its own: cp -p {place} {copy} && mv {copy} {place}"
                raise StateError("another name (hard link) leads to the same file", where=str(path), fix=mend)

    def _ours(self) -> Iterator[Path]:
        """Our files and folders as they stand there, and what lies directly in the folders."""
        for pattern in _FILES:
            yield from sorted(self.path.glob(pattern))
        for name in _FOLDERS:
            folder = self.path / name
            yield folder
            if folder.is_dir() and not folder.is_symlink():
                yield from sorted(folder.iterdir())

    def prepare(self) -> StateDir:
        """Make it and its folders, owner-only. Raises StateError when it cannot be written, or holds planted links."""
        self.refuse_links()
        try:
            for folder in (self.path, self.index, self.spool, self.logs):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.chmod(0o700)
        except OSError as error:
            raise StateError(
                f"the state directory cannot be used ({error.strerror or error})",
                where=str(self.path),
                fix=f"make it writable for you, or name another one with NEURALSTREAM_STATE_DIR (now {self.path})",
            ) from error
        if not os.access(self.path, os.W_OK):
            raise StateError(
                "the state directory is read-only",
                where=str(self.path),
                fix="make it writable for you, or name another one with NEURALSTREAM_STATE_DIR",
            )
        return self


def state_dir(environ: Mapping[str, str] | None = None) -> StateDir:
    """NEURALSTREAM_STATE_DIR, else `neuralstream` in OpenClaw's state directory, else in ~/.openclaw."""
    environ = os.environ if environ is None else environ
    if own := environ.get("NEURALSTREAM_STATE_DIR"):
        return StateDir(Path(own).expanduser().absolute())
    host = environ.get("OPENCLAW_STATE_DIR")
    base = Path(host).expanduser() if host else Path.home() / ".openclaw"
    return StateDir((base / NAME).absolute())


def host_config(state: StateDir) -> dict[str, Any]:
    """The plugin's settings as the host last gave them; {} when it never did. Raises SettingsError."""
    try:
        found = json.loads(state.host_config.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {error}"
        raise SettingsError([problem], where=str(state.host_config), fix="delete the file") from error
    return found if isinstance(found, dict) else {}


def write_private(path: Path, text: str) -> None:
    """Write an owner-only file atomically: a temporary file beside it, then a rename."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # never through a link that lies there
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return "?"


def runs(pid: int) -> bool:
    """Whether there is such a process, ours or another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
