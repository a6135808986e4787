"""Events that the bridge wrote down while the process was away, taken in once it is back: in order, and only once."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest, NeuralStreamError

log = structlog.get_logger(__name__)

_TAKEN = ".draining"
_draining = threading.Lock()  # at the start and when the bridge asks: two at once would take the same files
_BAD = "refused.jsonl.bad"


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
    """
    with _draining:
        return _drain(memory, folder, methods)


def _drain(
    memory: Memory, folder: Path, methods: Mapping[str, Callable[[Memory, Mapping[str, Any]], Any]]
) -> Drained:
    events = refused = 0
    for path in _files(folder):
        taken = path if path.name.endswith(_TAKEN) else path.rename(path.with_name(f"{path.name}.{os.getpid()}{_TAKEN}"))
        for line in taken.read_bytes().splitlines():
            try:
                _take(memory, methods, line)
                events += 1
            except (BadRequest, ValueError, RecursionError):
                refused += 1
                _put_aside(folder, line)
        taken.unlink()
    if events or refused:
        memory.truth.count("spool.events", events)
        log.info("spool.drained", events=events, refused=refused)
    return Drained(events, refused)


def _take(memory: Memory, methods: Mapping[str, Callable[[Memory, Mapping[str, Any]], Any]], line: bytes) -> None:
    message = json.loads(line)
    if not isinstance(message, dict) or message.get("method") not in methods:
        raise BadRequest("not a spooled event")
    try:
        methods[message["method"]](memory, message.get("params") or {})
    except BadRequest:
        raise
    except NeuralStreamError as error:
        log.warning("spool.failed", method=message["method"], error=error.code)
        raise


def _put_aside(folder: Path, line: bytes) -> None:
    descriptor = os.open(folder / _BAD, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(line + b"\n")


def _files(folder: Path) -> list[Path]:
    found = [*folder.glob("*.jsonl"), *folder.glob(f"*{_TAKEN}")] if folder.is_dir() else []
    return sorted(found, key=lambda path: (path.stat().st_mtime, path.name))
