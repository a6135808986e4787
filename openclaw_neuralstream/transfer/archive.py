"""Everything in one archive and back; a local store to a server and back."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from openclaw_neuralstream.errors import BadRequest, StateError, not_there, unwritable
from openclaw_neuralstream.model import Batch, EmbedderIdentity, Trigger
from openclaw_neuralstream.ports import GemIndex, IndexEntry, TurnBuffer
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.store import database
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.lines import instant

FORMAT = 1
MANIFEST = "manifest.json"
MEMORY, STATE, WORKSPACES = "memory.sqlite", "state", "workspaces"

_FILES = ("settings.toml", "host-config.json")
_HOOKS = "hooks"
_FOLDERS = (_HOOKS, "templates", "spool")
_MOST = 64 * 2**30
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Contents:
    """What an archive holds. files: name → {"bytes", "sha256"}; workspaces: agent → its folder when it was made."""

    version: str
    made_at: str
    gems: int
    turns: int
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    workspaces: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT


def write(
    state: StateDir, target: Path, *, version: str, now: datetime, workspaces: Mapping[str, tuple[Path, list[Path]]],
    progress: Progress = lambda _: None,
) -> Contents:  # fmt: skip
    """Write the archive, owner-only, whole or not at all. workspaces: agent → (its folder, files of it to keep).

    The memory file is copied as one moment of it (SQLite's backup), whether its process runs or not.
    Raises StateError and BadRequest.
    """
    if not state.database.is_file():
        raise BadRequest("there is no memory to keep", where=str(state.path), fix="neuralstream status")
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with tempfile.TemporaryDirectory(dir=state.path, prefix=".backup-") as folder:
            copy = Path(folder) / MEMORY
            progress("memory")
            database.copy(state.database, copy)
            gems, turns = _counts(copy)
            files = {f"{STATE}/{MEMORY}": copy, **dict(_own_files(state))}
            for agent, (root, kept) in workspaces.items():
                files |= {f"{WORKSPACES}/{agent}/{path.relative_to(root).as_posix()}": path for path in kept}
            contents = Contents(
                version, instant(now), gems, turns, workspaces={a: str(r) for a, (r, _) in workspaces.items()}
            )
            _pack(beside, files, contents, progress)
        beside.replace(target)
    except OSError as error:
        raise unwritable("the archive", target, error) from error
    finally:
        beside.unlink(missing_ok=True)
    return contents


def check(source: Path) -> Contents:
    """Read all of it: every file is there and as it was, and the memory file in it is sound. Raises BadRequest."""
    with tempfile.TemporaryDirectory(prefix="neuralstream-check-") as folder:
        return _unpack(source, Path(folder))


def new_code(contents: Contents, state: StateDir) -> list[str]:
    """The archive's hooks that are not already in place byte for byte: they would run at the next start."""
    hooks = {name: state.path / name.removeprefix(f"{STATE}/") for name in contents.files if _is_hook(name)}
    return [
        path.relative_to(state.path).as_posix()
        for name, path in sorted(hooks.items())
        if not path.is_file() or _digest(path)[0] != contents.files[name]["sha256"]
    ]


def restore(
    source: Path, state: StateDir, *, files_to: Path | None, now: datetime, with_hooks: bool = False
) -> tuple[Contents, str]:
    """Put an archive in place of the memory; what was there is moved aside. Returns its contents and where that is.

    Only while no process serves the state directory. files_to: a folder for the workspaces' files; None leaves them out.
    with_hooks: whether its hooks, which are code, replace the ones in place; else those stay as they are.
    Raises BadRequest, the memory untouched, when the archive is not whole.
    """
    state.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=state.path, prefix=".restore-") as folder:
        unpacked = Path(folder)
        contents = _unpack(source, unpacked)
        if not with_hooks:
            shutil.rmtree(unpacked / STATE / _HOOKS, ignore_errors=True)
        aside = _aside(state, now, (*_FILES, *(name for name in _FOLDERS if with_hooks or name != _HOOKS)))
        for item in sorted((unpacked / STATE).iterdir()):
            item.replace(state.path / item.name)
        if files_to and (unpacked / WORKSPACES).is_dir():
            _copy_new(unpacked / WORKSPACES, files_to)
    return contents, str(aside) if aside else ""


def _own_files(state: StateDir) -> Iterator[tuple[str, Path]]:
    for name in _FILES:
        if (state.path / name).is_file():
            yield f"{STATE}/{name}", state.path / name
    for name in _FOLDERS:
        for path in sorted((state.path / name).rglob("*")):
            if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
                yield f"{STATE}/{path.relative_to(state.path).as_posix()}", path


def _pack(target: Path, files: Mapping[str, Path], contents: Contents, progress: Progress) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as raw, tarfile.open(fileobj=raw, mode="w:gz", compresslevel=6) as tar:
        for name, path in files.items():
            progress(name)
            with suppress(FileNotFoundError):  # a note that was deleted meanwhile
                data = path.read_bytes() if not name.endswith(MEMORY) else None
                digest, size = _digest(path) if data is None else (hashlib.sha256(data).hexdigest(), len(data))
                contents.files[name] = {"bytes": size, "sha256": digest}
                info = tarfile.TarInfo(name)
                info.size, info.mode, info.mtime = size, 0o600, int(path.stat().st_mtime)
                with closing(path.open("rb") if data is None else io.BytesIO(data)) as content:
                    tar.addfile(info, content)
        listed = json.dumps(asdict(contents), ensure_ascii=True, indent=1).encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(listed), 0o600
        tar.addfile(info, io.BytesIO(listed))
        tar.close()
        raw.flush()
        os.fsync(raw.fileno())


def _is_hook(name: str) -> bool:
    return PurePosixPath(name).parts[:2] == (STATE, _HOOKS)


def _belongs(member: tarfile.TarInfo) -> bool:
    """Whether `write` puts such a name there; no other may reach the state directory when it is moved into place."""
    path = PurePosixPath(member.name)
    parted = "\\" in member.name and (os.name == "nt" or path.parts[:1] != (WORKSPACES,))  # parts folders on Windows
    if path.is_absolute() or ".." in path.parts or parted:
        return False
    match path.parts:
        case (only,):
            return only in (STATE, WORKSPACES) if member.isdir() else only == MANIFEST
        case (top, name):
            known = _FOLDERS if member.isdir() else (MEMORY, *_FILES)
            return top == WORKSPACES or (top == STATE and name in known)
        case (top, name, *_):
            return top == WORKSPACES or (top == STATE and name in _FOLDERS)
    return False


def _check_members(source: Path, members: list[tarfile.TarInfo]) -> None:
    """Refuse, before anything is written, what no archive of ours holds. Raises BadRequest that names the member.

    A link is refused wherever it points: what lies inside the folder it is unpacked to can lie outside once moved.
    """
    seen: set[PurePosixPath] = set()
    for member in members:
        if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE):
            raise _bad(source, f"{member.name} is neither a plain file nor a folder")
        if not _belongs(member):
            raise _bad(source, f"{member.name} is no place that a backup writes to")
        if (path := PurePosixPath(member.name)) in seen:
            raise _bad(source, f"{member.name} is in it twice")
        seen.add(path)
    if sum(member.size for member in members) > _MOST:
        raise _bad(source, "it is too large to be one of ours")


def _unpack(source: Path, folder: Path) -> Contents:
    try:
        with tarfile.open(source, "r:gz") as tar:
            _check_members(source, members := tar.getmembers())
            if hasattr(tarfile, "data_filter"):
                tar.extractall(folder, members, filter="data")
            else:  # Python 3.11.0 to 3.11.3
                tar.extractall(folder, members)  # noqa: S202  each member was looked at
    except FileNotFoundError as error:
        raise not_there(source) from error
    except (OSError, EOFError, tarfile.TarError) as error:
        raise _bad(source, str(error)) from error
    contents = _contents(source, folder / MANIFEST)
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    if unlisted := sorted(there - set(contents.files) - {MANIFEST}):
        raise _bad(source, f"{unlisted[0]} is in it and not in its list of contents")
    for name, expected in contents.files.items():
        path = folder / name
        if not path.is_file() or _digest(path) != (expected["sha256"], expected["bytes"]):
            raise _bad(source, f"{name} is missing or not as it was")
    memory = folder / STATE / MEMORY
    with _reading(source):
        database.sound(memory)
        if _counts(memory) != (contents.gems, contents.turns):
            raise _bad(source, "it holds another number of gems or turns than it says")
    return contents


def _contents(source: Path, manifest: Path) -> Contents:
    try:
        found = Contents(**json.loads(manifest.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise _bad(source, "it has no list of contents that reads") from error
    if found.format > FORMAT:
        raise BadRequest("a newer version made this archive", where=str(source), fix="upgrade openclaw-neuralstream")
    return found


@contextmanager
def _reading(source: Path) -> Iterator[None]:
    try:
        yield
    except StateError as error:
        raise _bad(source, error.what) from error


def _counts(memory: Path) -> tuple[int, int]:
    gems = database.value(memory, "SELECT count(*) FROM gems")
    return int(gems), int(database.value(memory, "SELECT count(*) FROM turns"))


def _aside(state: StateDir, now: datetime, own: Iterable[str]) -> Path | None:
    """Move what is there out of the way: the memory with its side files, what is made from it, and the user's own files."""
    names = (MEMORY, f"{MEMORY}-wal", f"{MEMORY}-shm", "index", "turns", *own)
    there = [state.path / name for name in names if (state.path / name).exists()]
    if not there:
        return None
    aside = state.path / f"replaced-{now:%Y%m%dT%H%M%S%f}"
    aside.mkdir(mode=0o700)
    for item in there:
        item.replace(aside / item.name)
    return aside


def _copy_new(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        if path.is_file():
            there = target / path.relative_to(source)
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(path.read_bytes())


def _digest(path: Path) -> tuple[str, int]:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), path.stat().st_size


def _bad(source: Path, why: str) -> BadRequest:
    return BadRequest(f"not a whole archive: {why}", where=str(source), fix="take another one; nothing was changed")


_CHUNK = 500
_SAMPLE = 50
_NEAR = 0.99  # cosine of a vector with what the index gives back for it: quantization may move it a little
_STATE = "move.index"
_LEASE = timedelta(minutes=10)

MovingProgress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the new store holds against what it should. wrong: sampled gems that it does not find by their own vector."""

    expected: int
    found: int
    sampled: int = 0
    wrong: int = 0

    @property
    def well(self) -> bool:
        """Whether it may be used."""
        return self.expected == self.found and not self.wrong


class IndexMove:
    """The gem index, filled anew at another place from the truth, whose vectors are kept. Killed at any point, it goes on.

    name: where to, so that a move begun to another place is not taken for this one.
    """

    def __init__(self, truth: Truth, target: GemIndex, name: str) -> None:
        self._truth = truth
        self._target = target
        self._name = name
        self._identity: EmbedderIdentity = target.identity

    @property
    def total(self) -> int:
        """How many gems have a vector to move."""
        return self._truth.embedded_count(self._identity)

    @property
    def done(self) -> int:
        """How many of them an interrupted move has copied."""
        state = self._state()
        return int(state["done"]) if state else 0

    def copy(self, progress: MovingProgress = lambda _: None) -> None:
        """Copy what is not there yet, then what changed meanwhile. Raises VendorAway; repeated, it goes on."""
        state = self._state()
        if state is None and self._target.position():
            self.follow()  # it served before and was kept: the events since then are enough
            if self._target.count() == self.total:
                progress(self.total)
                return
        if state is None or self._target.count() < int(state["done"]):
            self._target.clear()
            last = self._truth.last_event()
            state = {"to": self._name, "last": last, "done": 0, "seen": last}
        done, seen = int(state["done"]), int(state["seen"])
        while True:
            now = self._truth.last_event()
            done, seen = max(0, done - (now - seen)), now  # what was forgotten meanwhile moved the others up
            ids = self._truth.embedded_ids(self._identity, limit=_CHUNK, offset=done)
            if not ids:
                break
            self._say(ids)
            done += len(ids)
            self._truth.set_meta(_STATE, json.dumps({**state, "done": done, "seen": seen}))
            progress(done)
        self._target.advance(int(state["last"]))
        self._truth.set_meta(_STATE, "")
        self.follow()

    def follow(self) -> None:
        """Apply the events that came since."""
        while events := self._truth.events(self._target.position(), limit=_CHUNK):
            self._say(list(dict.fromkeys(event.gem_id for event in events)))
            self._target.advance(events[-1].seq)

    def check(self) -> Checked:
        """Count, and ask for a sample of gems by their own vectors."""
        ids = list(self._sample())
        gems = self._truth.gems(gem_ids=ids, superseded=True, limit=max(1, len(ids))) if ids else []
        vectors = self._truth.vectors([gem.gem_id for gem in gems], self._identity)
        wrong = 0
        for gem in gems:
            hits = self._target.search(vectors[gem.gem_id], gem.scope, limit=10, superseded=True)
            wrong += not any(hit.cosine >= _NEAR for hit in hits)
        return Checked(self.total, self._target.count(), len(gems), wrong)

    def _sample(self) -> Iterator[str]:
        total = self.total
        for place in range(0, total, max(1, total // _SAMPLE)):
            yield from self._truth.embedded_ids(self._identity, limit=1, offset=place)

    def _say(self, gem_ids: list[str]) -> None:
        """Make the target say of these gems what the truth says now."""
        gems = self._truth.gems(gem_ids=gem_ids, superseded=True, limit=len(gem_ids))
        vectors = self._truth.vectors([gem.gem_id for gem in gems], self._identity)
        self._target.delete([gem_id for gem_id in gem_ids if gem_id not in vectors])
        self._target.upsert([IndexEntry(gem, vectors[gem.gem_id]) for gem in gems if gem.gem_id in vectors])

    def _state(self) -> dict[str, int | str] | None:
        found: dict[str, int | str] = json.loads(self._truth.meta(_STATE) or "{}")
        return found if found.get("to") == self._name else None


class Handing(TurnBuffer, Protocol):
    """A buffer whose turns can go to another one."""

    def hand_over(self, batch: Batch) -> bool:
        """Let the batch's turns go, forgotten here. False when the claim was lost."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Turns that waited, and how many of them were handed over."""

    waiting: int
    turns: int = 0


def waiting(buffer: TurnBuffer, now: datetime) -> int:
    """How many turns a buffer holds, claimed ones included."""
    return sum(backlog.waiting + backlog.claimed for backlog in buffer.stats(now))


def move_turns(
    source: Handing, target: TurnBuffer, *, now: datetime, progress: MovingProgress = lambda _: None
) -> Moved:
    """Every waiting turn of one buffer into another, with its number; only for the one owner of both.

    A turn is in the target before it leaves the source: killed in between it is in both, and known by its id. Raises
    VendorAway, and StateError when turns are left or did not arrive.
    """
    for buffer in (source, target):
        buffer.release_claims()
    before, already, moved, added = waiting(source, now), waiting(target, now), 0, 0
    for backlog in source.stats(now):
        while batch := source.claim(backlog.session, limit=_CHUNK, lease=_LEASE, now=now, trigger=Trigger.MANUAL):
            added += sum(target.append(turn) for turn in batch.turns)
            if not source.hand_over(batch):
                raise StateError(
                    "another process took turns that were being moved", fix="neuralstream admin stop, then again"
                )
            moved += len(batch.turns)
            progress(moved)
    arrived = waiting(target, now) - already
    if waiting(source, now) or arrived != added:
        what = f"{before} turns waited, {moved} were handed over, {arrived} of {added} arrived"
        raise StateError(what, fix="the setting was not changed; run the same command again")
    return Moved(before, moved)
