"""What is to be forgotten, and where it lies in files: spool, generated pages, journal."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from openclaw_neuralstream import logs
from openclaw_neuralstream.capture.event import moment_of
from openclaw_neuralstream.errors import BadRequest, NeuralStreamError
from openclaw_neuralstream.model import Gem, Known, Turn, cited, slug_of
from openclaw_neuralstream.state import StateDir, write_private
from openclaw_neuralstream.store.forgetting import Said, cut
from openclaw_neuralstream.store.turns import TurnRow
from openclaw_neuralstream.text.fences import fenced, fences, generated_lines, is_generated, newline_of
from openclaw_neuralstream.text.lexicon import sentences
from openclaw_neuralstream.text.lines import moment
from openclaw_neuralstream.text.traces import GAP, held, holds, mentions, names, said_in, without, worth
from openclaw_neuralstream.workspace.writing import FileChanged, FileRefused, Place, read, write

HOST, PERSON = "host", "person"


@dataclass(frozen=True, slots=True)
class What:
    """Criteria that hold together; empty ones ask for nothing. Times: since is included, until is not.

    gems, turns: ids; turns go as a whole, with what was said in them alone. words: must be said. person: who said it or is named. session: the host's key or id.
    epoch: of the session, the last one that is meant; None = all. by: who asked, a person or the host.
    """

    gems: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    words: str = ""
    person: str = ""
    entity: str = ""
    session: str = ""
    agent: str = ""
    user: str = ""
    since: datetime | None = None
    until: datetime | None = None
    epoch: int | None = None
    by: str = PERSON

    @property
    def asks(self) -> list[str]:
        """The names of the criteria that are given."""
        return [
            name
            for name in ("gems", "turns", "words", "person", "entity", "session", "agent", "user", "since", "until")
            if getattr(self, name)
        ]

    @property
    def whole(self) -> bool:
        """Whether a place or a time is meant, with all that was said there, and not some of what was said."""
        return not (self.gems or self.words or self.person or self.entity or self.user)

    @property
    def named(self) -> tuple[str, ...]:
        """The words and names of which lines of files are cited; none where only some of what was said is meant."""
        narrowed = self.gems or self.turns or self.session or self.agent or self.user or self.since or self.until
        return () if narrowed else tuple(filter(None, (self.words, self.person, self.entity)))

    def to_json(self) -> dict[str, Any]:
        """As the journal keeps it."""
        return {
            **asdict(self),
            "since": self.since.isoformat() if self.since else None,
            "until": self.until.isoformat() if self.until else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> What:
        """The inverse. Raises BadRequest."""
        try:
            known = {name: data[name] for name in cls.__dataclass_fields__ if data.get(name) is not None}
            for name in ("since", "until"):
                if name in known:
                    known[name] = datetime.fromisoformat(known[name])
            return cls(**{**known, **{name: tuple(known.get(name, ())) for name in ("gems", "turns")}})
        except (TypeError, ValueError) as error:
            raise BadRequest(f"criteria do not read: {error}", where="forget") from error


@dataclass(frozen=True, slots=True)
class Left:
    """Something that could not be removed: where, why, and what to do."""

    where: str
    what: str
    fix: str = ""


@dataclass(slots=True)
class Receipt:
    """What went where, in counts, and what could not go. finished: nothing is left to be tried again."""

    at: str = ""
    by: str = PERSON
    asked: list[str] = field(default_factory=list)
    removed: dict[str, int] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    finished: bool = False

    def add(self, name: str, count: int) -> None:
        """Count what went."""
        if count:
            self.removed[name] = self.removed.get(name, 0) + count

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Receipt:
        """The inverse."""
        return cls(**{**data, "left": [Left(**item) for item in data.get("left", ())]})


@dataclass(frozen=True, slots=True)
class Reached:
    """A turn, or a line that waits, which loses these texts. where: "memory", "buffer" or "spool". whole: nothing is left of it."""

    where: str
    id: str
    session: str = ""
    at: str = ""
    texts: tuple[str, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the criteria come to in the memory file: gems, whole turns, and pieces of other turns.

    For a preview also: reached, all that loses something, and forms, how often other endings of the words stand there.
    """

    gems: tuple[Gem, ...] = ()
    turns: tuple[str, ...] = ()
    cuts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reached: tuple[Reached, ...] = ()
    forms: Mapping[str, int] = field(default_factory=dict)


Kept = tuple[str, str]
"""Agent and session key."""


def choose(
    what: What,
    gems: Sequence[Gem],
    rows: Sequence[TurnRow],
    places: set[Kept],
    read: Callable[[Sequence[str]], Iterable[Turn]],
) -> Chosen:
    """places: the sessions that `what.session` names. read: the texts of turns by id."""
    here = [
        row
        for row in rows
        if in_place(what, (row.agent, row.key), row.epoch, row.at, places)
        and (not what.turns or row.turn_id in what.turns)
    ]
    ids = {row.turn_id for row in here}
    if what.whole:
        known = {row.turn_id for row in rows}
        meant = [gem for gem in gems if _stands_there(what, gem, ids, known, places)]
        return Chosen(tuple(meant), tuple(row.turn_id for row in here))
    meant = [gem for gem in gems if _is_meant(what, gem, ids, places)]
    if what.words or what.person or what.entity:
        meant += _repeating(gems, meant)
    return Chosen(tuple(meant), (), {} if what.gems else _cuts(what, read([row.turn_id for row in here])))


def in_place(what: What, place: Kept, epoch: int, at: datetime, places: set[Kept]) -> bool:
    """Whether something said here and then is inside of the criteria of place and time."""
    agent, _ = place
    return (
        what.agent in ("", agent)
        and (not what.session or place in places)
        and (what.epoch is None or epoch <= what.epoch)
        and (what.since is None or at >= what.since)
        and (what.until is None or at < what.until)
    )


def asked(what: What, *, own: bool = False) -> list[Callable[[str], bool]]:
    """What a sentence must hold: the words just as they are, and names with any ending. own: the person said it; [] = anything."""
    said = [partial(_exactly, what.words)] if what.words else []
    people = [what.entity] if own else [what.person, what.entity]
    return [*said, *(partial(_with_endings, name) for name in people if name)]


def _exactly(words: str, text: str) -> bool:
    return names(text, words)


def _with_endings(name: str, text: str) -> bool:
    return mentions(text, name)


def pieces_of(what: What, turn: Turn) -> tuple[str, ...]:
    """The sentences of a turn that say the words, or that the person said or is named in."""
    if what.user not in ("", turn.scope.user):
        return ()
    found: dict[str, None] = {}
    for said in turn.utterances:
        own = bool(what.person) and slug_of(said.name) == slug_of(what.person)
        wanted = asked(what, own=own)
        for sentence in sentences(said.text) if wanted else [said.text]:
            if all(holds(sentence) for holds in wanted):
                found[sentence] = None
    return tuple(found)


def _cuts(what: What, turns: Iterable[Turn]) -> dict[str, tuple[str, ...]]:
    if not (what.words or what.person or what.entity):
        return {}
    return {turn.turn_id: pieces for turn in turns if (pieces := pieces_of(what, turn))}


def _stands_there(what: What, gem: Gem, ids: set[str], known: set[str], places: set[Kept]) -> bool:
    """Nothing else supports it. What is written by hand, or whose turns are gone, goes by its own session and time."""
    evidence = set(gem.evidence) & known
    if evidence:
        return evidence <= ids
    if what.turns:
        return False
    if what.by == HOST:
        return False  # a person asked for it outright: that it was in this session is not why it is kept
    return in_place(what, (gem.scope.agent, gem.session_key), gem.epoch, gem.created_at, places)


def _is_meant(what: What, gem: Gem, ids: set[str], places: set[Kept]) -> bool:
    said = f"{gem.content}\n{gem.summary}"
    meant = (
        (not what.gems or gem.gem_id in what.gems)
        and what.agent in ("", gem.scope.agent)
        and what.user in ("", gem.scope.user)
        and (not what.words or names(said, what.words))
        and (not what.person or slug_of(gem.speaker) == slug_of(what.person) or _names(gem, what.person))
        and (not what.entity or _names(gem, what.entity))
    )
    if not meant or not (what.session or what.since or what.until or what.turns):
        return meant
    if what.turns or set(gem.evidence) & ids:
        return bool(set(gem.evidence) & ids)
    return in_place(what, (gem.scope.agent, gem.session_key), gem.epoch, gem.created_at, places)


def _names(gem: Gem, name: str) -> bool:
    slug = slug_of(name)
    return any(slug_of(entity) == slug for entity in gem.entities) or mentions(f"{gem.content}\n{gem.summary}", name)


def _repeating(gems: Sequence[Gem], meant: Sequence[Gem]) -> list[Gem]:
    """Gems of the same agent that repeat one of them word for word inside of more words."""
    ids = {gem.gem_id for gem in meant}
    return [
        gem
        for gem in gems
        if gem.gem_id not in ids
        and any(one.scope == gem.scope and one.content.casefold() in gem.content.casefold() for one in meant)
    ]


_DECIDED = ("rejected", "accepted")


@dataclass(frozen=True, slots=True)
class Trace:
    """What to look for. pieces: words as they were said. contents: what they say. ids: of gems. entities: whom they name."""

    pieces: tuple[str, ...]
    contents: tuple[str, ...]
    ids: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Every wording."""
        return tuple(dict.fromkeys((*self.pieces, *self.contents)))

    def in_line(self, line: str) -> bool:
        """Whether a line says it, or cites a gem that is gone."""
        if any(f"gem {gem_id[:8]}" in line for gem_id in self.ids) or holds(line, self.words):
            return True
        return bool(said_in(line, self.contents))

    def in_text(self, text: str) -> bool:
        """The same for a text of many lines."""
        return any(self.in_line(line) for line in text.splitlines())


def own_log(state: StateDir, trace: Trace, receipt: Receipt) -> None:
    """Cut it out of the log, which holds no words, and is looked at all the same."""
    for path in sorted(path for path in state.logs.glob("*") if path.is_file() and not path.is_symlink()):
        receipt.add("log lines", _rewrite(path, lambda line: _cut(line, trace.words)))


def reflections(state: StateDir, trace: Trace, receipt: Receipt) -> None:
    """Drop answers of models and proposals that hold it; of a decided proposal only the decision stays."""
    for path in sorted((state.path / "reflect").rglob("*.json")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.parent.name == "answers":
            if trace.in_text(_strings(text)) or any(mentions(text, name) for name in trace.entities):
                _erase(path)
                receipt.add("model answers", 1)
            continue
        if not trace.in_text(_strings(text)):
            continue
        _erase(path)
        if path.parent.name in _DECIDED:
            kept = {**_loaded(text), "text": "", "reason": "", "before": None, "after": ""}
            write_private(path, json.dumps(kept, ensure_ascii=False) + "\n")
        receipt.add("proposals", 1)


def set_aside(state: StateDir, trace: Trace, receipt: Receipt) -> None:
    """Copies that a repair or a restore set aside: deleted when a person asked, else named."""
    for path in sorted([*state.path.glob("memory.sqlite.damaged-*"), *state.path.glob("replaced-*")]):
        if not _copy_holds(path, trace):
            continue
        if receipt.by == PERSON:
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if file.is_file() and not file.is_symlink():
                    _erase(file)
            if path.is_dir():
                shutil.rmtree(path)
            receipt.add("copies set aside", 1)
        else:
            what = "a copy of the memory that was set aside still holds it"
            receipt.left.append(Left(path.name, what, f"delete it when you need it no more: {path}"))


def _copy_holds(path: Path, trace: Trace) -> bool:
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    marks = [word.encode() for word in (*trace.words, *trace.ids)]
    marks += [json.dumps(word, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass") for word in trace.words]
    return any(mark in data for file in files for data in [file.read_bytes()] for mark in marks if mark)


def _cut(line: str, words: tuple[str, ...]) -> str:
    escaped = [json.dumps(word, ensure_ascii=ascii_)[1:-1] for word in words for ascii_ in (True, False)]
    return without(line, [*words, *escaped])


def _rewrite(path: Path, change: Callable[[str], str]) -> int:
    """Rewrite a file of lines in place, so that a log that is open goes on in it; returns how many lines changed."""
    with logs.held(path):
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        changed = [change(line) if line.strip() else line for line in lines]
        count = sum(old != new for old, new in zip(lines, changed, strict=True))
        if count:
            kept = [new for old, new in zip(lines, changed, strict=True) if new or not old]
            _overwrite(path, "\n".join(kept).encode("utf-8", "surrogateescape"))
    return count


def replaced(path: Path, data: bytes) -> None:
    """Put a new file in the place of one, whole or not at all, and then overwrite the bytes of the old one."""
    with path.open("r+b") as old:
        beside = path.with_name(f".{path.name}.tmp")
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        old.write(b"\0" * os.fstat(old.fileno()).st_size)
        old.flush()
        os.fsync(old.fileno())


def _overwrite(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:
        file.write(b"\0" * path.stat().st_size)
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)
        file.write(data)
        file.truncate()


def _erase(path: Path) -> None:
    _overwrite(path, b"")
    path.unlink()


def _strings(text: str) -> str:
    """Every text in a JSON file, files that a proposal carries included."""
    raw = _loaded(text)
    carried = [raw.get(name) for name in ("before", "after")] if isinstance(raw, dict) else []
    files = [base64.b64decode(body).decode("utf-8", "replace") for body in carried if isinstance(body, str)]
    return "\n".join([*_leaves(raw), *files])


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}


_MOST = 50  # lines that are cited


class Index(Protocol):
    """What is asked of a workspace's index."""

    def known(self) -> dict[str, Known]:
        """Every indexed path."""

    def wipe(self) -> None:
        """Overwrite what removed text left behind."""


class Folder(Protocol):
    """A workspace."""

    @property
    def root(self) -> Path:
        """Where it is."""

    @property
    def index(self) -> Index | None:
        """None while it cannot be opened."""

    def harvest(self, paths: set[str] | None = None) -> object:
        """Index what changed."""


def own_lines(folder: Folder, asked: Sequence[str], receipt: Receipt) -> None:
    """Cite the person's own lines that name what is asked to be forgotten; nothing is changed."""
    index = folder.index
    for path in sorted(index.known()) if index is not None and asked else ():
        with suppress(FileRefused):
            _cite(path, read(Place(folder.root, path)) or b"", _naming(asked), receipt)


def workspace(
    folder: Folder, trace: Trace, receipt: Receipt, asked: Sequence[str] = (), *, after: str = "", most: int
) -> str:
    """Look through the indexed files of a workspace behind this path; returns the last path, or "" when there are no more.

    asked: names and words of which the person's own lines are cited. most: files that are looked through.
    """
    index = folder.index
    if index is None:
        return ""
    if not trace.words:
        own_lines(folder, asked, receipt)
        return ""
    named = _naming(asked)
    changed: set[str] = set()
    paths = sorted(path for path in index.known() if path > after)
    for path in paths[:most]:
        try:
            data = read(Place(folder.root, path))
        except FileRefused:
            continue
        if data is None:
            continue
        left = _without(data, trace)
        if left != data and _written(Place(folder.root, path), data, left, receipt):
            changed.add(path)
            receipt.add("generated pages", 1)
        _cite(path, left, lambda line: trace.in_line(line) or named(line), receipt)
    with suppress(NeuralStreamError):
        if changed:
            folder.harvest(changed)
        index.wipe()
    return paths[most - 1] if len(paths) > most else ""


def _written(place: Place, data: bytes, after: bytes, receipt: Receipt) -> bool:
    try:
        write(place, after, read_as=data)
    except (FileChanged, FileRefused) as error:
        receipt.left.append(
            Left(place.path, f"its generated part still holds it ({error.what})", "neuralstream forget again")
        )
        return False
    return True


def _without(data: bytes, trace: Trace) -> bytes:
    """The file with generated parts that no longer say it; what a person changed inside of one is the person's own."""
    newline = newline_of(data)
    for fence in reversed(fences(data)):
        if fence.touched:
            continue
        lines = fence.body.decode("utf-8", "replace").splitlines()
        kept = [line for line in lines if not trace.in_line(line)]
        if kept != lines:
            data = data[: fence.start] + fenced(fence.name, "\n".join(kept), newline) + data[fence.end :]
    return data


def _naming(asked: Sequence[str]) -> Callable[[str], bool]:
    return lambda line: bool(asked) and all(mentions(line, words) for words in asked)


def _cite(path: str, data: bytes, says: Callable[[str], bool], receipt: Receipt) -> None:
    touched = any(fence.touched for fence in fences(data))
    ours = [] if touched else generated_lines(data)
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if len(receipt.left) >= _MOST:
            return
        if line.strip() and not is_generated(number, ours) and says(line):
            place = cited(path, number, number)
            receipt.left.append(Left(place, "a line of your own says it", "edit the file; the index follows"))


_LINES = ("*.jsonl", "*.jsonl.*", "*.bad", "*.old", "*.draining", ".*.part")
_HALF_WRITTEN = ".*.tmp"  # of a forgetting that was killed: the file itself is still as it was
_NAMES = frozenset({
    "method", "type", "role", "agent", "session_key", "session_id", "run_id", "trigger", "id", "idempotencyKey",
    "stopReason", "toolName", "toolCallId",
})  # fmt: skip
"""Fields of an event that are no words of anybody."""
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Meant:
    """What goes of a waiting line. until: what was said later stays. places: the sessions that `what.session` names.

    read: the turn that an event would become; None where it becomes none.
    """

    what: What
    trace: Trace
    until: datetime
    places: set[Kept]
    read: Callable[[Mapping[str, Any], datetime], Turn | None]

    @property
    def asked(self) -> list[Callable[[str], bool]]:
        """What a sentence must hold; [] where something else is meant."""
        return [] if self.what.gems else asked(self.what)

    def change(self, line: str) -> tuple[str, list[str]]:
        """The line without it ("" when all of it goes), and the texts that go."""
        try:
            message = json.loads(line)
            params = message["params"]
            params["session_key"] = params.get("session_key") or ""
            return self._changed(line, message, params)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # no event of a form that is known
            return self._torn(line)

    def _changed(self, line: str, message: dict[str, Any], params: dict[str, Any]) -> tuple[str, list[str]]:
        turn = self.read(params, self.until)
        at = turn.at if turn else moment_of(params.get("at"), self.until)
        if at > self.until:
            return line, []
        here = self._here(params, at)
        if here and self.what.whole and (not self.what.turns or (turn and turn.turn_id in self.what.turns)):
            return "", list(_texts(message))
        wanted = self.asked if here and (turn is None or self.what.user in ("", turn.scope.user)) else []
        pieces = [*self.trace.words, *(pieces_of(self.what, turn) if turn and wanted else ())]
        gone: list[str] = []
        after = self._walk(message, pieces, wanted, gone)
        if not gone:
            return line, []
        if turn is not None and cut(turn, [*pieces, *gone]) is None:
            return "", gone
        return json.dumps(after, ensure_ascii=False), gone

    def _here(self, params: Mapping[str, Any], at: datetime) -> bool:
        what, agent = self.what, str(params.get("agent") or "main")
        key = str(params["session_key"])
        if what.session in (key, params.get("session_id")):
            key = what.session
        return in_place(what, (agent, key), what.epoch or 0, at, self.places | {(agent, what.session)})

    def _walk(
        self,
        value: Any,
        pieces: Sequence[str],
        wanted: Sequence[Callable[[str], bool]],
        gone: list[str],
        name: str = "",
    ) -> Any:
        if isinstance(value, list):
            return [self._walk(item, pieces, wanted, gone, name) for item in value]
        if isinstance(value, dict):
            return {key: self._walk(item, pieces, wanted, gone, key) for key, item in value.items()}
        if not isinstance(value, str) or name in _NAMES:
            return value
        found = [*held(value, pieces), *said_in(value, self.trace.contents)]
        named = bool(wanted) and all(holds(value) for holds in wanted)
        found += [one for one in sentences(value) if named and all(holds(one) for holds in wanted)]
        gone += dict.fromkeys(found)
        left = without(value, found)
        if named and len(wanted) == 1 and wanted[0](left):  # where no sentence could be told apart
            gone.append(left)
            return GAP
        return left

    def _torn(self, line: str) -> tuple[str, list[str]]:
        """A line that does not read becomes nothing any more: where it names what is meant, all of it goes."""
        plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), line)
        what = self.what
        narrowed = what.turns or what.user or what.since or what.until or (what.session and what.session not in line)
        named = not narrowed and (all(holds(plain) for holds in self.asked) if self.asked else what.whole)
        if held(plain, self.trace.words) or (named and (self.asked or what.session)):
            return "", [plain]
        return line, []


def look_through(folder: Path, meant: Meant, *, write: bool = True) -> list[Reached]:
    """Every line of the spool, and of what was refused, that loses something; with write it has lost it then.

    To be called while nothing is taken in. Killed in between it has changed a file or has not.
    """
    for left in folder.glob(_HALF_WRITTEN) if write else ():
        left.unlink(missing_ok=True)
    reached: list[Reached] = []
    seen: set[Path] = set()
    while fresh := set(_files(folder)) - seen:  # the bridge gives a file its name when it is whole
        seen |= fresh
        for path in sorted(fresh):
            reached += _looked(path, meant, write=write)
    return reached


def _looked(path: Path, meant: Meant, *, write: bool) -> list[Reached]:
    try:
        lines = path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    except FileNotFoundError:
        return []
    changed = [meant.change(line) if line.strip("\0\r ") else (line, []) for line in lines]
    found = [
        Reached("spool", path.name, texts=tuple(gone), whole=not after)
        for line, (after, gone) in zip(lines, changed, strict=True)
        if after != line
    ]
    if found and write:
        kept = [after for line, (after, _) in zip(lines, changed, strict=True) if after or not line]
        replaced(path, "\n".join(kept).encode("utf-8", "surrogateescape"))
    return found


def _files(folder: Path) -> Iterator[Path]:
    found = {path for pattern in _LINES for path in folder.glob(pattern)}
    yield from sorted(path for path in found if path.is_file() and not path.is_symlink())


def _texts(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, str) and name not in _NAMES:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, name)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, key)


@dataclass(eq=False, slots=True)
class Journal:
    """One forgetting after its transaction. entities: whom the gems named. done: the steps that need no second try.

    reached: how far a long step has come that was interrupted, by its name.
    """

    what: What
    said: Said
    receipt: Receipt
    entities: Sequence[str] = ()
    done: list[str] = field(default_factory=list)
    reached: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, kept: Mapping[str, Any]) -> Journal:
        """As the memory file keeps it."""
        said = Said(**{**kept["said"], "agents": set(kept["said"]["agents"])})
        receipt = Receipt.from_json(kept["receipt"])
        done, reached = list(kept.get("done", ())), dict(kept.get("reached", {}))
        return cls(What.from_json(kept["what"]), said, receipt, kept["entities"], done, reached)

    def to_json(self) -> dict[str, Any]:
        """The inverse."""
        return {
            "what": self.what.to_json(),
            "said": {**asdict(self.said), "agents": sorted(self.said.agents)},
            "entities": list(self.entities),
            "receipt": self.receipt.to_json(),
            "done": self.done,
            "reached": self.reached,
        }

    @property
    def until(self) -> datetime:
        """What was said later is not meant: it may wait in the spool when a process comes back that was killed in between."""
        return moment(self.receipt.at) + timedelta(seconds=1)

    def trace(self) -> Trace:
        """What to look for in files."""
        pieces = tuple(worth(self.said.pieces))
        return Trace(pieces, tuple(self.said.contents), tuple(self.said.gem_ids), tuple(self.entities))
