"""After a change of the rules: everything that is stored is looked through again, and what is secret is taken out.

One step at a time, so that a process that is killed goes on where it was: the cursor and the receipt are notes of the
memory file. The receipt says where how much of what was found, by the names of the detectors; never what it was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from openclaw_neuralstream import logs, secrets
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.store.forgetting import GEMS, PLACES, RULES, Scrubbed, clean_body
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.lines import Found, clean_text, instant

log = structlog.get_logger(__name__)

_CURSOR, _RECEIPT = "scrub.cursor", "scrub.receipt"
_ROWS = 200
BUFFERS, FILES = "buffers", "files"
_ORDER = (*PLACES, BUFFERS, FILES)


@dataclass(slots=True)
class Receipt:
    """What a run did so far: the place and row to go on from, changed rows and findings by place, what could not be."""

    version: str
    place: str = _ORDER[0]
    after: int = 0
    looked: int = 0
    changed: dict[str, int] = field(default_factory=dict)
    found: dict[str, dict[str, int]] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)  # tried again by the next run
    kept: list[str] = field(default_factory=list)  # files that cannot be rewritten
    finished: bool = False
    at: str = ""

    def add(self, place: str, looked: int, changed: int, found: Found) -> None:
        """Count one step."""
        self.looked += looked
        if changed:
            self.changed[place] = self.changed.get(place, 0) + changed
        if found:
            self.found[place] = dict(Found(self.found.get(place, {})) + found)


def due(truth: Truth) -> bool:
    """Whether something stored was never looked through with the rules in force."""
    return truth.erasing.rules_due()


def begin(truth: Truth) -> None:
    """A memory that holds nothing yet needs no scrubbing."""
    if due(truth) and sum(truth.erasing.scrub_sizes().values()) <= 1:
        truth.set_meta(RULES, secrets.rules_version())


def last_receipt(truth: Truth) -> dict[str, Any]:
    """What the last finished run changed; {} when there was none."""
    found = json.loads(truth.meta(_RECEIPT) or "{}")
    return found if isinstance(found, dict) else {}


def total(memory: Memory) -> int:
    """How many rows a run looks at, about."""
    return sum(memory.truth.erasing.scrub_sizes().values()) + len(memory.parts.buffers) + 1


def step(memory: Memory, given: dict[str, Any] | None = None, *, dry_run: bool = False) -> dict[str, Any]:
    """The next piece of work; returns the receipt so far, "finished" in it.

    A dry run changes nothing and keeps no note: it is given back the receipt of its last step.
    """
    receipt = _resumed(memory.truth, given, dry_run=dry_run)
    if receipt.place in PLACES:
        _database(memory, receipt, dry_run=dry_run)
    elif receipt.place == BUFFERS:
        _buffers(memory, receipt, dry_run=dry_run)
        receipt.place = FILES
    else:
        _files(memory, receipt, dry_run=dry_run)
        receipt.finished, receipt.at = True, instant(memory.now())
        if not dry_run:
            memory.injected.drop_briefs()
    told = _plain(receipt)
    if not dry_run:
        _note(memory, receipt, told)
    return told


def _resumed(truth: Truth, given: dict[str, Any] | None, *, dry_run: bool) -> Receipt:
    kept = (given or {}) if dry_run else json.loads(truth.meta(_CURSOR) or "{}")
    if kept.get("version") != secrets.rules_version():
        return Receipt(secrets.rules_version())  # other rules: from the beginning
    names = Receipt.__dataclass_fields__
    return Receipt(**{name: value for name, value in kept.items() if name in names})


def _plain(receipt: Receipt) -> dict[str, Any]:
    return {name: getattr(receipt, name) for name in Receipt.__dataclass_fields__}


def _note(memory: Memory, receipt: Receipt, told: dict[str, Any]) -> None:
    truth = memory.truth
    if not receipt.finished:
        truth.set_meta(_CURSOR, json.dumps(told))
        return
    truth.erasing.wipe()
    memory.projection.catch_up()
    if not memory.turn_projection.catch_up():
        receipt.left.append("the index of turns: it is not written now")
    if memory.sequencer:
        memory.sequencer.reconcile()
    truth.set_meta(_RECEIPT, json.dumps(told))
    if not receipt.left:
        truth.set_meta(RULES, receipt.version)
    truth.set_meta(_CURSOR, "")
    log.info("secrets.scrubbed", rows=receipt.looked, changed=sum(receipt.changed.values()), left=len(receipt.left))


def _database(memory: Memory, receipt: Receipt, *, dry_run: bool) -> None:
    place = receipt.place
    done = memory.truth.erasing.scrub(place, receipt.after, _ROWS, memory.now(), write=not dry_run)
    receipt.add(place, done.looked, done.changed, done.found)
    if not dry_run and place == GEMS:
        _embed(memory, done)
    if done.last is None or done.looked < _ROWS:
        receipt.place, receipt.after = _ORDER[_ORDER.index(place) + 1], 0
    else:
        receipt.after = done.last


def _embed(memory: Memory, done: Scrubbed) -> None:
    """Make the vectors of changed gems anew; while the embedder is away their words find them, and it is done later."""
    gems = memory.truth.gems(gem_ids=done.vectors, superseded=True, limit=len(done.vectors)) if done.vectors else []
    made = {gem.gem_id: vector for gem, vector in memory.distiller.embedded(gems) if vector is not None}
    memory.truth.set_vectors(made, memory.parts.embedder.identity)
    memory.projection.catch_up()


def _buffers(memory: Memory, receipt: Receipt, *, dry_run: bool) -> None:
    """Buffers beside the memory file (it is the last one, and was looked through already)."""
    for buffer in memory.parts.buffers[:-1]:
        revise = getattr(buffer, "revise", None)
        if revise is None:
            continue
        found = Found()
        would = 0

        def change(body: bytes, found: Found = found) -> bytes:
            nonlocal would
            cleaned = clean_body(body, found)
            would += cleaned != body
            return body if dry_run else cleaned

        try:
            revise(change)
        except VendorAway as error:
            receipt.left.append(f"{type(buffer).__name__}: {error.what}")
            continue
        receipt.add(BUFFERS, 1, would, found)


def _files(memory: Memory, receipt: Receipt, *, dry_run: bool) -> None:
    """The spool and the log, line by line; a damaged memory file that was moved aside cannot be rewritten: it is named."""
    state = memory.parts.state
    for path in _texts(state.spool, state.logs):
        found = Found()
        changed = _rewrite(path, found, dry_run=dry_run)
        receipt.add(FILES, 1, changed, found)
    receipt.kept += [
        f"{path.name}: a damaged copy that cannot be rewritten; delete it when you need it no more"
        for path in sorted(state.path.glob("memory.sqlite.damaged-*"))
        if not path.name.endswith(("-wal", "-shm"))
    ]


def _texts(spool: Path, logged: Path) -> Iterator[Path]:
    for folder, patterns in ((spool, ("*.jsonl", "*.bad", "*.old", ".*.part")), (logged, (f"{logs.FILE_NAME}*",))):
        for pattern in patterns:
            yield from sorted(path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink())


def _rewrite(path: Path, found: Found, *, dry_run: bool) -> int:
    """Rewrite a text file in place, so that a log that is open goes on in it; returns how many lines changed."""
    with logs.held(path):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        cleaned = clean_text(text, found)  # as a whole: a key may stand on several lines
        if cleaned == text:
            return 0
        if not dry_run:
            data = cleaned.encode("utf-8", "surrogateescape")
            with path.open("r+b") as file:
                file.write(b"\0" * path.stat().st_size)  # the old bytes, on file systems that write in place
                file.flush()
                os.fsync(file.fileno())
                file.seek(0)
                file.write(data)
                file.truncate()
        return sum(found.values())


def run(memory: Memory, *, dry_run: bool = False, progress: Callable[[int], None] = lambda _: None) -> dict[str, Any]:
    """All steps; returns the receipt."""
    told = step(memory, dry_run=dry_run)
    while not told["finished"]:
        progress(told["looked"])
        told = step(memory, told, dry_run=dry_run)
    return told
