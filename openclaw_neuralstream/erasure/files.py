"""Forgetting in files beside the memory file: log, model answers, proposals, copies of the memory set aside."""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openclaw_neuralstream import logs
from openclaw_neuralstream.erasure.values import PERSON, Left, Receipt
from openclaw_neuralstream.state import StateDir, write_private
from openclaw_neuralstream.traces import holds, mentions, said_in, without

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
