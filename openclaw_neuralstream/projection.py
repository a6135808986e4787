"""The gem index follows the truth: event by event, from scratch when it was lost, embedding what has no vector yet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import structlog

from openclaw_neuralstream import gemcraft
from openclaw_neuralstream.away import EMBEDDER, INDEX, Away
from openclaw_neuralstream.errors import EmbedderMismatch, VendorAway
from openclaw_neuralstream.ports import Embedder, GemIndex, IndexEntry
from openclaw_neuralstream.store.truth import Truth

log = structlog.get_logger(__name__)

_CHUNK = 500
_EMBED_CHUNK = 32


class Projection:
    """Keeps one index in step with the truth. Work that fails because a service is away is simply tried again.

    away: told how index and embedder fare.
    """

    def __init__(self, truth: Truth, index: GemIndex, embedder: Embedder, away: Away | None = None) -> None:
        self._truth = truth
        self._index = index
        self._embedder = embedder
        self._away = away or Away()
        self._lock = threading.Lock()

    @property
    def behind(self) -> int:
        """How many gem events the index has not seen; -1 when it cannot be used now."""
        try:
            return self._truth.last_event() - self._position()
        except VendorAway:
            return -1

    def count(self) -> int:
        """How many gems the index holds. Raises VendorAway."""
        with self._away.watching(INDEX):
            return self._index.count()

    def _position(self) -> int:
        with self._away.watching(INDEX):
            return self._index.position()

    def catch_up(self) -> bool:
        """Apply the events it has not seen. False when the index is away: the events wait."""
        with self._lock:
            try:
                while events := self._truth.events(self._position(), limit=_CHUNK):
                    with self._away.watching(INDEX, wrote=True):
                        self._apply([event.gem_id for event in events])
                        self._index.advance(events[-1].seq)
            except VendorAway:
                return False
        return True

    def check(self) -> bool:
        """At start: rebuild when the index holds another number of gems than the truth has vectors for; else catch up."""
        try:
            lost = self._differs() and self._differs()  # twice: gems may be stored between the two counts
        except VendorAway:
            return False
        if lost:
            log.warning("index.rebuilding")
            self.rebuild()
        return True

    def _differs(self) -> bool:
        return self.catch_up() and self.count() != self._truth.embedded_count(self._embedder.identity)

    def rebuild(self, progress: Callable[[int], None] = lambda _: None) -> int:
        """Empty the index and fill it from the truth; returns the number of gems."""
        with self._lock, self._away.watching(INDEX, wrote=True):
            last = self._truth.last_event()
            self._index.clear()
            done = 0
            while ids := self._truth.embedded_ids(self._embedder.identity, limit=_CHUNK, offset=done):
                self._apply(ids)
                done += len(ids)
                progress(done)
            self._index.advance(last)
        return done

    def embed_missing(
        self, stopping: Callable[[], bool] = lambda: False, progress: Callable[[int], None] = lambda _: None
    ) -> int:
        """Embed the gems that have no vector of the present embedder (it was away when they were made).

        Gems whose vector was made by another embedder wait for `reembed`. Resumable at any point.
        """
        return self._embed(stopping, progress, stale=False)

    def reembed(
        self, stopping: Callable[[], bool] = lambda: False, progress: Callable[[int], None] = lambda _: None
    ) -> int:
        """Embed every gem that has no vector of the present embedder. Resumable at any point; returns how many.

        An index that another embedder made is made anew, where it holds nothing of others.
        """
        with suppress(VendorAway):  # vectors are made all the same, and follow when the index can be used
            try:
                self._position()
            except EmbedderMismatch:
                self.rebuild()
        return self._embed(stopping, progress, stale=True)

    def _embed(self, stopping: Callable[[], bool], progress: Callable[[int], None], *, stale: bool) -> int:
        identity, done = self._embedder.identity, 0
        while not stopping() and (gems := self._truth.unembedded(identity, limit=_EMBED_CHUNK, stale=stale)):
            try:
                with self._away.watching(EMBEDDER, wrote=True):
                    vectors = self._embedder.embed_documents([gemcraft.embedded_text(gem) for gem in gems])
                self._truth.set_vectors({g.gem_id: v for g, v in zip(gems, vectors, strict=True)}, identity)
                with self._lock, self._away.watching(INDEX, wrote=True):
                    self._apply([gem.gem_id for gem in gems])
            except VendorAway:
                break
            done += len(gems)
            progress(done)
        return done

    def _apply(self, gem_ids: list[str]) -> None:
        """Make the index say of these gems what the truth says now."""
        unique = list(dict.fromkeys(gem_ids))
        gems = {gem.gem_id: gem for gem in self._truth.gems(gem_ids=unique, superseded=True, limit=len(unique))}
        vectors = self._truth.vectors(list(gems), self._embedder.identity)
        self._index.delete([gem_id for gem_id in unique if gem_id not in vectors])
        self._index.upsert([IndexEntry(gem, vectors[gem_id]) for gem_id, gem in gems.items() if gem_id in vectors])
