"""The whole examination: the place, the process, the host, beside each other where they take long."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from openclaw_neuralstream.cli.checks.finding import Finding, broken, note, ok
from openclaw_neuralstream.cli.checks.host import host, look
from openclaw_neuralstream.cli.checks.place import place
from openclaw_neuralstream.cli.checks.process import models, process, workspaces
from openclaw_neuralstream.clock import utc_now
from openclaw_neuralstream.errors import NeuralStreamError, StateDamaged
from openclaw_neuralstream.memory.places import load_settings
from openclaw_neuralstream.root import manifest
from openclaw_neuralstream.server import client
from openclaw_neuralstream.server.client import Door
from openclaw_neuralstream.server.protocol import RemoteError
from openclaw_neuralstream.state import StateDir

_CHECK_SECONDS = 300.0


def examine(state: StateDir, *, openclaw: str = "", with_host: bool = True) -> Iterator[Finding]:
    """Findings as they come. Starts the process when it is away. with_host: also ask OpenClaw, which takes seconds."""
    version = str(manifest()["plugin"]["version"])
    with ThreadPoolExecutor(1, thread_name_prefix="neuralstream-doctor") as beside:
        facts = beside.submit(look, openclaw, state) if with_host else None
        yield from place(state)
        yield from _process(state, version)
        if facts:
            yield from host(facts.result(), version=version, wanted_slot=_wants_slot(state))


def _wants_slot(state: StateDir) -> bool:
    try:
        return load_settings(state).settings.memory_slot
    except NeuralStreamError:
        return False  # told by the checks of the place


def _process(state: StateDir, version: str) -> Iterator[Finding]:
    if state.named and not state.is_memory:
        fix = "neuralstream install, or name the directory of the memory with --state-dir"
        yield note("process", f"there is no memory in {state.path}", "nothing is captured or recalled", fix)
        return
    try:
        door = client.connect(state)
        try:
            now = door.call("status")
            with ThreadPoolExecutor(1, thread_name_prefix="neuralstream-doctor-file") as beside:
                checked = beside.submit(_damage, door)
                served = list(models(now))
            damaged = checked.result()
        finally:
            door.close()
    except NeuralStreamError as error:
        fix = error.fix or "neuralstream serve shows why"
        yield broken("process", _said(error), "nothing is captured or recalled", fix)
        return
    yield damaged or ok("file", "the memory file reads from end to end")
    yield from process(now, version=version, today=utc_now())
    yield from served
    yield from workspaces(now["workspaces"])


def _damage(door: Door) -> Finding | None:
    try:
        door.call("check", timeout=_CHECK_SECONDS)
    except RemoteError as error:
        if error.code != StateDamaged.code:
            raise
        why = "what can be read is kept when the process starts anew; the old file stays beside it"
        return broken("file", _said(error), why, "neuralstream admin stop")
    return None


def _said(error: NeuralStreamError) -> str:
    return " · ".join(part for part in (error.what, error.where) if part)
