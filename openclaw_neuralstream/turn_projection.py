"""The index of verbatim turns follows the truth: change by change, turn by turn when it was lost, vectors afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog

from openclaw_neuralstream.away import EMBEDDER, Away
from openclaw_neuralstream.capture.strip import strip_injected
from openclaw_neuralstream.clean import clean_turn
from openclaw_neuralstream.errors import VendorAway
from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.model import Turn
from openclaw_neuralstream.ports import Embedder, Passage
from openclaw_neuralstream.store.passages import Kept, PassageIndex
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.worker import FairLock

log = structlog.get_logger(__name__)

_CHUNK = 200
_EMBED_CHUNK = 16
_REST = 1.0
"""How long the vectors' thread rests after a chunk, in times of what the chunk took: half a core at most is theirs."""


class TurnProjection:
    """Keeps the index of turns in step with the truth; without an index (the setting is off) there is nothing to do.

    Words come first and at once, vectors after them: until then, or while the embedder is away, words alone find a turn.
    Errors of the disk go through, as they do from the gem projection; the changes wait.
    """

    def __init__(self, truth: Truth, index: PassageIndex | None, embedder: Embedder, away: Away | None = None) -> None:
        self._truth = truth
        self._index = index
        self._embedder = embedder
        self._away = away or Away()
        self._lock = FairLock()  # held for a chunk at a time: a forgetting waits for no more than that

    def catch_up(self) -> bool:
        """Apply the changes it has not seen. False when they must wait."""
        if self._index is None:
            return True
        try:
            return self._caught_up(self._index)
        except VendorAway as error:
            log.warning("turns.unusable", error=error.what)
            return False

    def check(self) -> bool:
        """At start: look at every turn, whether it is there and as long as it was; then nothing is missed."""
        if self._index is None:
            self._truth.evidence.trim(self._truth.evidence.last_event())
            return True
        try:
            self._sweep(self._index)
            return self._caught_up(self._index)
        except VendorAway as error:
            log.warning("turns.unusable", error=error.what)
            return False

    def rebuild(self, progress: Callable[[int], None] = lambda _: None) -> int:
        """Throw the index away and fill it with every turn; returns how many. Their vectors follow in the background."""
        if self._index is None:
            return 0
        with self._lock:
            self._index.clear()
        self._sweep(self._index, progress)
        self.catch_up()
        return len(self._index.sizes())

    def embed_missing(
        self, stopping: Callable[[], bool] = lambda: False, pause: Callable[[float], object] = lambda _: None
    ) -> int:
        """Give passages their vectors, a few at a time; returns how many. pause: rests for as many seconds."""
        done = 0
        try:
            while self._index is not None and not stopping():
                self._index.mark()  # what was lost is made again, empty
                bare = self._index.without_vector(_EMBED_CHUNK)
                if not bare:
                    break
                begun = time.perf_counter()
                with self._away.watching(EMBEDDER, wrote=True):
                    vectors = self._embedder.embed_documents([one.text for one in bare])
                self._index.embed(bare, vectors)
                done += len(bare)
                pause(_REST * (time.perf_counter() - begun))
        except VendorAway as error:
            log.info("turns.vectors_wait", error=error.what)
        return done

    def find(self, passage_id: str) -> Passage | None:
        """What was said, by the id that recall shows or the start of it; None when there is none, or more than one."""
        try:
            return self._index.find(passage_id) if self._index is not None else None
        except VendorAway:
            return None

    def status(self) -> dict[str, Any]:
        """How many turns and passages there are, how many changes wait (-1: it cannot be used), how many lack a vector."""
        index = self._index
        if index is None:
            return {"on": False, "turns": 0, "kept": 0, "passages": 0, "behind": 0, "unembedded": 0}
        kept = self._truth.evidence.count()
        try:
            position = index.mark().position
            behind = kept if position is None else len(self._truth.evidence.events(position, limit=100_000))
            counts = {"turns": len(index.sizes()), "passages": index.stored()[0], "unembedded": index.bare_count()}
        except VendorAway:
            return {"on": True, "turns": 0, "kept": kept, "passages": 0, "behind": -1, "unembedded": 0}
        return {"on": True, "kept": kept, "behind": behind, **counts}

    # --- one step after the other -----------------------------------------------------------------------------------

    def _caught_up(self, index: PassageIndex) -> bool:
        seen = -1
        while True:
            with self._lock:
                mark = index.mark()
                last = self._truth.evidence.last_event()
                lost = mark.position is None or not self._truth.evidence.trimmed() <= mark.position <= last
                if mark.position == last and not lost:
                    break
                if mark.position is not None and not lost:
                    events = self._truth.evidence.events(mark.position, limit=_CHUNK)
                    upto = events[-1][0] if len(events) == _CHUNK else max(last, *(number for number, _ in events), 0)
                    ids = list(dict.fromkeys(turn_id for _, turn_id in events))
                    if index.apply(self._kept(ids), mark=mark, position=upto) and events:
                        seen = upto
            if lost:
                self._sweep(index)
        if seen >= 0:
            self._truth.evidence.trim(seen)
        return index.wipe()

    def _sweep(self, index: PassageIndex, progress: Callable[[int], None] = lambda _: None) -> None:
        """Make the index hold just the turns that the truth has, whatever it holds now."""
        mark = index.mark()
        last = self._truth.evidence.last_event()
        known, kept = index.sizes(), self._truth.evidence.sizes()
        every = mark.position is None or mark.position < self._truth.evidence.trimmed()
        stale = _differing(known, kept, every=every)
        if stale:
            log.info("turns.reconciled", count=len(stale), of=len(kept))
        for start in range(0, len(stale), _CHUNK):
            ids = stale[start : start + _CHUNK]
            done = False
            while not done:
                with self._lock:
                    mark = index.mark()  # before the truth is read: what somebody else writes meanwhile makes it void
                    done = index.apply(self._kept(ids), mark=mark)
            progress(start + len(ids))
        while not index.apply((), mark=(now := index.mark()), position=max(last, now.position or 0)):
            continue
        self._truth.evidence.trim(last)

    def _kept(self, turn_ids: Sequence[str]) -> list[Kept]:
        """What the truth says of these turns now, without secrets that newer rules know and without injected text."""
        found: dict[str, Kept] = {}
        for id_, turn, size in self._truth.evidence.kept(turn_ids):
            FOREGROUND.rest()
            found[id_] = Kept(id_, _clean(turn), size)
        gone = [Kept(turn_id, None, -1) for turn_id in turn_ids if turn_id not in found]
        return [*found.values(), *gone]


def _differing(known: Mapping[str, int], kept: Mapping[str, int], *, every: bool) -> list[str]:
    """The turns to look at: those that are gone first, then those that are new or another size, in their order."""
    gone = [turn_id for turn_id in known if turn_id not in kept]
    return gone + [turn_id for turn_id, size in kept.items() if every or known.get(turn_id) != size]


def _clean(turn: Turn | None) -> Turn | None:
    if turn is None:
        return None
    cleaned = clean_turn(turn)
    said = tuple(replace(one, text=strip_injected(one.text)) for one in cleaned.utterances)
    return cleaned if said == cleaned.utterances else replace(cleaned, utterances=said)
