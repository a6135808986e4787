"""Forgetting in lines that wait for the process, or that it refused: read as what they would become, and cut as they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from openclaw_neuralstream.capture.event import moment_of
from openclaw_neuralstream.erasure.choosing import Place, asked, in_place, pieces_of
from openclaw_neuralstream.erasure.files import Trace, replaced
from openclaw_neuralstream.erasure.values import Reached, What
from openclaw_neuralstream.lexicon import sentences
from openclaw_neuralstream.model import Turn
from openclaw_neuralstream.store.cutting import cut
from openclaw_neuralstream.traces import GAP, held, said_in, without

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
    places: set[Place]
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
