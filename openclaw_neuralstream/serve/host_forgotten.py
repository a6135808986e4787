"""Follows `openclaw memory forget`: the host writes which sessions it was told to forget, and tells nobody; we look there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import structlog

from openclaw_neuralstream.backfill import host
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.erasure import HOST, What
from openclaw_neuralstream.errors import StateError
from openclaw_neuralstream.state import NAME
from openclaw_neuralstream.worker import Worker

log = structlog.get_logger(__name__)

_Found = TypeVar("_Found")

_LOOK = 15.0  # seconds between looks at the time of the host's files; only a changed one is opened
_KNOWN = "forget.host_sessions"  # the truth's note of the sessions that were dealt with: ids by agent, no words


class HostForgotten:
    """Looks into the session stores of the host for sessions that are to be forgotten, and has them forgotten here."""

    def __init__(self, memory: Memory, folder: Path | None = None) -> None:
        state = memory.parts.state.path
        self._memory = memory
        self._folder = folder or (state.parent if state.name == NAME else None)
        self._seen: dict[str, tuple[int, ...]] = {}

    def told(self, folder: str) -> None:
        """The host's bridge names the host's state directory."""
        if os.path.isdir(folder):  # noqa: PTH112  Path.is_dir raises for a name that is too long
            self._folder = Path(folder)

    def worker(self) -> Worker:
        """What looks every few seconds; the memory employs it."""
        return Worker("host-forgotten", self.look, period=_LOOK)

    def look(self) -> None:
        """One look; what is new is asked to be forgotten, in the background, also when the process ends before."""
        if self._folder is None or not self._memory.settings.forget_with_host:
            return
        stamps: dict[str, tuple[int, ...]] = self._read(host.stamps, {})
        for agent, stamp in stamps.items():
            if self._seen.get(agent) != stamp:
                self._take(agent, self._read(partial(host.forgotten, agent=agent), []))
                self._seen[agent] = stamp

    def _read(self, work: Callable[[Path], _Found], nothing: _Found) -> _Found:
        """It is the host's file: another version of it, or a damaged one, is left alone until it changes."""
        try:
            return work(self._folder) if self._folder else nothing
        except (OSError, StateError) as error:
            log.warning("host.sessions_unread", error=type(error).__name__)
            return nothing

    def _take(self, agent: str, sessions: list[host.Forgotten]) -> None:
        truth = self._memory.truth
        known = json.loads(truth.meta(_KNOWN) or "{}")
        done = set(known.get(agent, ()))
        new = [one for one in sessions if one.session_id not in done]
        for one in new:
            session = one.key or one.session_id
            if truth.keys_of(session):
                self._memory.eraser.ask(What(session=session, agent=agent, since=one.since, until=one.until, by=HOST))
                truth.count("forgotten.with_host")
        if new:
            known[agent] = sorted(done | {one.session_id for one in new})
            truth.set_meta(_KNOWN, json.dumps(known))
