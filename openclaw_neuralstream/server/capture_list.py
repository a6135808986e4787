"""Turns of another capture layer: its Redis lists are read, its items become turns, and are settled when those are kept."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import structlog

from openclaw_neuralstream.capture.foreign import Heard, Piece, event_of, newest_first, read_piece, turns_of
from openclaw_neuralstream.errors import BadRequest, VendorAway
from openclaw_neuralstream.memory import wiring
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.server import moments
from openclaw_neuralstream.worker import Worker

log = structlog.get_logger(__name__)

NAME = "capture list"
_PERIOD = 3.0
_MOST = 2_000  # items of one look
_ANSWERED_SECONDS = 5.0  # how long an answered turn may still grow
_OPEN_SECONDS = 120.0  # how long a question waits for its answer
_reading = threading.Lock()  # the worker's look and one asked for: two at once would settle each other's items


@dataclass(slots=True)
class Taken:
    """What one look at the lists gave: turns new, known before, not to be remembered, items of no known shape, waiting."""

    new: int = 0
    seen: int = 0
    skipped: int = 0
    aside: int = 0
    waiting: int = 0

    def count(self, memory: Memory) -> None:
        """Into the counters that `status` shows, and into what this process has taken."""
        process = _taken.setdefault(memory, Counter())
        for name, by in asdict(self).items():
            if by and name != "waiting":
                memory.truth.count(f"capture_list.{name}", by)
                process[name] += by


_taken: WeakKeyDictionary[Memory, Counter[str]] = WeakKeyDictionary()  # by this process since its start, whoever looked


@dataclass(slots=True)
class _Open:
    """A turn that may still grow: what it was made of when we last looked, and since when."""

    refs: tuple[str, ...]
    since: float


@dataclass(slots=True)
class CaptureList:
    """Reads every key of `capture_list`. One reader for each memory; `take_in` may be called from any one thread."""

    memory: Memory
    monotonic: Callable[[], float] = time.monotonic
    _feeds: list[Any] = field(default_factory=list)
    _link: Any = None
    _falling: set[str] = field(default_factory=set)  # lists that are written newest first
    _growing: dict[str, _Open] = field(default_factory=dict)

    def worker(self) -> Worker:
        """What looks again and again; the memory employs it."""
        return Worker("capture-list", self.look, period=_PERIOD)

    def look(self) -> None:
        """Take in what is there; a server that is away is remembered as away."""
        if NAME in self.memory.away:
            return
        with suppress(VendorAway), self.memory.away.watching(NAME):
            while self.take_in().new >= _MOST // 4:
                pass

    def take_in(self, *, settled: bool = False) -> Taken:
        """One look at every list. settled: turns that may still grow are taken as they are. Raises VendorAway."""
        total = Taken()
        with _reading:
            for feed in self._opened():
                self._take(feed, total, settled=settled)
            total.count(self.memory)  # whoever looks next finds it counted
        if total.new or total.aside:
            log.info("capture_list.read", **asdict(total))
        return total

    def dry_run(self) -> list[dict[str, Any]]:
        """What stands in each list, nothing changed: items, and what the first of them would become."""
        return [self._looked(feed) for feed in self._opened()]

    def close(self) -> None:
        """Release the connections."""
        if self._link is not None:
            self._link.close()

    def _opened(self) -> list[Any]:
        if self._link is None:
            from openclaw_neuralstream.store.redis_list import CaptureFeed

            knobs, store = self.memory.settings, self.memory.truth.store_id
            self._link = wiring.capture_link(knobs)
            self._feeds = [
                CaptureFeed(
                    self._link,
                    key,
                    ours=f"{knobs.redis.prefix}:capture:{store}:{key}",
                    take=knobs.capture_list_mode == "take",
                    oldest=lambda first, last: "RIGHT" if _falls(first, last) else "LEFT",
                )
                for key in _names(knobs.capture_list)
            ]
        return self._feeds

    def _take(self, feed: Any, total: Taken, *, settled: bool) -> None:
        items = feed.peek(_MOST)
        pieces = {item.ref: read_piece(item.ref, item.data) for item in items}
        strange = [ref for ref, piece in pieces.items() if piece is None]
        feed.set_aside(strange)
        total.aside += len(strange)
        known = [piece for piece in pieces.values() if piece is not None]
        if newest_first(known):
            self._falling.add(feed.key)
        turns = turns_of(known, falling=feed.key in self._falling)
        cut = len(items) >= _MOST and not all(map(_at_the_cut, turns))
        for heard in turns:
            if cut and _at_the_cut(heard):
                continue  # the rest of it stands in what was not read yet
            if not (settled or heard.complete or self._grown(heard)):
                total.waiting += 1
                continue
            self._growing.pop(heard.pieces[0].identity, None)
            self._keep(feed, heard, total)

    def _keep(self, feed: Any, heard: Heard, total: Taken) -> None:
        """Keep the turn, then settle its items: killed in between, the same turn comes again and is known."""
        try:
            accepted = moments.turn_end(self.memory, self._event(feed.key, heard))["accepted"]
        except BadRequest:
            feed.set_aside(heard.refs)
            total.aside += len(heard.refs)
            return
        feed.settle(heard.refs)
        setattr(total, accepted, getattr(total, accepted) + 1)

    def _event(self, key: str, heard: Heard) -> dict[str, Any]:
        knobs = self.memory.settings
        owners = _names(knobs.capture_list_owner)
        return event_of(heard, source=key, agent="main", owners=owners, now=self.memory.now())

    def _grown(self, heard: Heard) -> bool:
        """Whether the last turn of a session has been as it is for so long that nothing more will come."""
        patience = _ANSWERED_SECONDS if heard.answered else _OPEN_SECONDS
        if heard.last_at and self.memory.now().timestamp() - heard.last_at / 1000 > patience:
            return True
        now, name = self.monotonic(), heard.pieces[0].identity
        known = self._growing.get(name)
        if known is None or known.refs != heard.refs:
            self._growing[name] = _Open(heard.refs, now)
            return False
        return now - known.since > patience

    def _looked(self, feed: Any) -> dict[str, Any]:
        items, first = feed.look(_MOST)
        pieces = [read_piece(item.ref, item.data) for item in first]
        known = [piece for piece in pieces if piece is not None]
        turns = turns_of(known)
        users = sorted({piece.user for piece in known})
        owners = [self._event(feed.key, heard)["sender"]["owner"] for heard in turns]
        return {
            "key": feed.key,
            "mode": "take" if feed.take else "read",
            "items": items,
            "looked_at": len(first),
            "unknown_shape": len(pieces) - len(known),
            "turns": len(turns),
            "of_the_owner": sum(owners),
            "users": users,
        }


def intake(memory: Memory, params: Mapping[str, Any]) -> dict[str, Any]:
    """{"dry_run"?, "since_start"?} → what the capture lists hold, or what was taken in since the request.

    since_start: the client has started this process for it, whose own worker may have been quicker: count from its start.
    """
    if not memory.settings.capture_list:
        raise BadRequest(
            "no capture list is set", where="capture_list", fix="neuralstream config set capture_list mem:turns"
        )
    before = {} if params.get("since_start") else dict(_taken.get(memory, {}))
    reader = CaptureList(memory)
    try:
        if params.get("dry_run"):
            return {"lists": reader.dry_run()}
        now = reader.take_in(settled=True)
        by_all = {name: by - before.get(name, 0) for name, by in _taken[memory].items()}
        return {**asdict(now), **by_all}
    finally:
        reader.close()


METHODS: dict[str, Callable[[Memory, Mapping[str, Any]], Any]] = {"intake": intake}


def _at_the_cut(heard: Heard) -> bool:
    """Whether the turn may go on beyond either end of what was read."""
    return not heard.complete or heard.pieces[0].messages[0]["role"] != "user"


def _falls(first: bytes, last: bytes) -> bool:
    pieces: list[Piece] = [piece for body in (first, last) if (piece := read_piece("", body)) is not None]
    return newest_first(pieces)


def _names(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]
