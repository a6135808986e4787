"""Events that the bridge wrote down while the process was away, taken in once it is back: in order, and only once."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream.errors import BadRequest, NeuralStreamError
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.server.protocol import decode, encode

log = structlog.get_logger(__name__)

_TAKEN = ".draining"
_draining = threading.Lock()  # at the start and when the bridge asks: two at once would take the same files
_BAD = "refused.jsonl.bad"
_MOST_ASIDE = 5_000_000  # bytes of refused events kept, twice
_PART_AGE = 3_600  # seconds after which an unfinished file is the trace of a gateway that died writing it


@dataclass(frozen=True, slots=True)
class Drained:
    """How many events were taken in, and how many lines did not read and were put aside."""

    events: int = 0
    refused: int = 0


def pending(folder: Path) -> int:
    """How many bytes wait."""
    return sum(path.stat().st_size for path in _files(folder))


def drain(memory: Memory, folder: Path, methods: Mapping[str, Callable[[Memory, Mapping[str, Any]], Any]]) -> Drained:
    """Take in every spool file, oldest first. Turns are idempotent: a crash in the middle repeats and changes nothing.

    A file is renamed first, so that the bridge's next event opens a new one; it is removed when all of it is taken in.
    Raises StateError where a planted link stands among them.
    """
    memory.parts.state.refuse_links()
    with _draining:
        return _drain(memory, folder, methods)


def _drain(memory: Memory, folder: Path, methods: Mapping[str, Callable[[Memory, Mapping[str, Any]], Any]]) -> Drained:
    events = refused = 0
    memory.eraser.clear_spool()
    for path in _files(folder):
        with memory.eraser.intake:
            taken = (
                path
                if path.name.endswith(_TAKEN)
                else path.rename(path.with_name(f"{path.name}.{os.getpid()}{_TAKEN}"))
            )
        done = False
        while not done:  # again from the beginning, which changes nothing, where a forgetting has changed the lines
            seen = memory.eraser.spools_changed
            for line in taken.read_bytes().splitlines():
                with memory.eraser.intake:
                    if memory.eraser.spools_changed != seen:
                        break
                    took = _took(memory, folder, methods, line)
                events += took is True
                refused += took is False
            with memory.eraser.intake:
                done = memory.eraser.spools_changed == seen
                if done:
                    _erase(taken)
    if events or refused:
        memory.truth.count("spool.events", events)
        log.info("spool.drained", events=events, refused=refused)
    return Drained(events, refused)


def _took(
    memory: Memory, folder: Path, methods: Mapping[str, Callable[[Memory, Mapping[str, Any]], Any]], line: bytes
) -> bool | None:
    """Take a line in; False when it was put aside, None when there was nothing on it."""
    if not line.strip(b"\0"):
        return None  # overwritten by a process that was killed before it could delete the file
    try:
        _take(memory, methods, line)
    except NeuralStreamError as error:
        if not isinstance(error, BadRequest):
            raise  # the state does not take it now: the file stays
    except Exception:  # border: one line that nobody can take must not keep the others out
        log.exception("spool.refused")
    else:
        return True
    _put_line_aside(folder, line)
    return False


def _erase(path: Path) -> None:
    """Delete a file of words that nobody redacted yet; overwritten first, for file systems that write in place."""
    with path.open("r+b") as file:
        file.write(b"\0" * path.stat().st_size)
        file.flush()
        os.fsync(file.fileno())
    path.unlink()


def _take(memory: Memory, methods: Mapping[str, Callable[[Memory, Mapping[str, Any]], Any]], line: bytes) -> None:
    message = decode(line)
    if message.get("method") not in methods:
        raise BadRequest("not a spooled event")
    methods[message["method"]](memory, message.get("params", {}))


def put_aside(folder: Path, message: Mapping[str, Any]) -> None:
    """Keep an event that does not read, without its secrets, so that nothing said is lost without a trace."""
    _put_line_aside(folder, encode(dict(message)))


def _put_line_aside(folder: Path, line: bytes) -> None:
    path = folder / _BAD
    if path.exists() and path.stat().st_size > _MOST_ASIDE:
        path.replace(path.with_suffix(".old"))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        text = redact(line.decode("utf-8", "replace")).text.strip()
        file.write(text.replace("\n", " ").encode("utf-8", "replace") + b"\n")


def _files(folder: Path) -> list[Path]:
    _adopt_left_parts(folder)
    found = [*folder.glob("*.jsonl"), *folder.glob(f"*{_TAKEN}")] if folder.is_dir() else []
    return sorted(found, key=lambda path: (path.stat().st_mtime, path.name))


def _adopt_left_parts(folder: Path) -> None:
    """A file that was never finished: complete it as it is (a torn line is refused) or it would wait for ever."""
    for part in folder.glob(".*.part") if folder.is_dir() else ():
        if time.time() - part.stat().st_mtime > _PART_AGE:
            part.rename(folder / f"{part.name.removeprefix('.').removesuffix('.part')}.jsonl")
