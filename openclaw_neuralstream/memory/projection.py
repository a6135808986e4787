"""The indexes that follow the truth: gems, verbatim turns, vectors and tags of notes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import structlog

from openclaw_neuralstream.capture.event import strip_injected
from openclaw_neuralstream.errors import EmbedderMismatch, NeuralStreamError, VendorAway, VendorRefused
from openclaw_neuralstream.foreground import FOREGROUND
from openclaw_neuralstream.memory import gemcraft
from openclaw_neuralstream.memory.parts import Parts
from openclaw_neuralstream.model import Scope, Turn
from openclaw_neuralstream.ports import Embedder, GemIndex, IndexEntry, NoteVectors, Passage
from openclaw_neuralstream.store.passages import Kept, PassageIndex
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.lines import clean_turn
from openclaw_neuralstream.worker import FairLock
from openclaw_neuralstream.workspace.workspace import Workspace

EXTRACTOR, EMBEDDER, INDEX = "extractor", "embedder", "index"
"""What these are called here; a buffer by its class, the capture list by its own name."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a service failed the last time. refuses_writes: it answers, and takes nothing; reading proves nothing then."""

    error: NeuralStreamError
    refuses_writes: bool


class Away:
    """Remembers a service as failing until its next success; for `delay` seconds after a failure it rests."""

    def __init__(
        self,
        delay: float = 0.0,
        count: Callable[[str], None] = lambda _: None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._delay = delay
        self._count = count
        self._monotonic = monotonic
        self._until: dict[str, float] = {}
        self._failures: dict[str, Failure] = {}

    def mark(self, name: str, error: NeuralStreamError, *, wrote: bool = False) -> None:
        """It failed just now; counted and logged once in `delay` seconds. wrote: something was to be written."""
        resting = name in self
        self._failures[name] = Failure(error, refuses_writes=wrote and isinstance(error, VendorRefused))
        self._until[name] = self._monotonic() + self._delay
        if not resting:
            log.warning("vendor.away", vendor=name, error=error.what)
            self._count(f"away.{name}")

    def answered(self, name: str, *, wrote: bool = False) -> None:
        """It served just now. One that refused a write is well again when it takes one."""
        failure = self._failures.get(name)
        if failure is not None and (wrote or not failure.refuses_writes):
            self._failures.pop(name, None)
            self._until.pop(name, None)

    @contextmanager
    def watching(self, name: str, *, wrote: bool = False) -> Iterator[None]:
        """A call of the service: its failure is marked and goes on, its success is noted."""
        try:
            yield
        except VendorAway as error:
            self.mark(name, error, wrote=wrote)
            raise
        self.answered(name, wrote=wrote)

    def __contains__(self, name: str) -> bool:
        """Whether it rests: it failed less than `delay` seconds ago."""
        return self._monotonic() < self._until.get(name, 0.0)

    def names(self) -> list[str]:
        """The services that failed and have not served since, in alphabetical order."""
        return sorted(self._failures)

    def reasons(self) -> dict[str, dict[str, str]]:
        """For each of them what failed, where, and what mends it."""
        failures = sorted(self._failures.items())
        return {n: {"what": f.error.what, "where": f.error.where, "fix": f.error.fix} for n, f in failures}


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


_TURN_PROJECTION_CHUNK = 200
_TURN_PROJECTION_EMBED_CHUNK = 16
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
                bare = self._index.without_vector(_TURN_PROJECTION_EMBED_CHUNK)
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
                    events = self._truth.evidence.events(mark.position, limit=_TURN_PROJECTION_CHUNK)
                    upto = (
                        events[-1][0]
                        if len(events) == _TURN_PROJECTION_CHUNK
                        else max(last, *(number for number, _ in events), 0)
                    )
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
        for start in range(0, len(stale), _TURN_PROJECTION_CHUNK):
            ids = stale[start : start + _TURN_PROJECTION_CHUNK]
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


MOST_VECTORS = 5_000
"""Notes and facts of a workspace that are also found by meaning, the newest first; the others by their words alone."""

INFERRED_TAGS = 3
"""Tags at most that are inferred for a gem or note that has none of its own."""

A_ROUND = 64
"""Notes embedded between two looks at the clock: about half a second of one core."""


class NoteProjection:
    """Gives the notes and facts of every workspace what their files do not hold: a vector, and the tags they mention.

    refused: told why a workspace was left out.
    """

    def __init__(
        self, parts: Parts, away: Away | None = None, *, refused: Callable[[NeuralStreamError], None] = lambda _: None
    ) -> None:
        self._knobs = parts.settings
        self._embedder = parts.embedder
        self._away = away or Away()
        self._vocabulary = parts.vocabulary
        self._workspaces = parts.workspaces
        self._refused = refused

    def catch_up(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """Some notes of every workspace; one whose index cannot be read is left out until the next round."""
        for workspace in self._workspaces.all():
            if stopping():
                return
            try:
                self._follow(workspace, stopping)
            except NeuralStreamError as error:
                log.warning("notes.not_followed", code=error.code, error=error.what)
                self._refused(error)

    def _follow(self, workspace: Workspace, stopping: Callable[[], bool]) -> None:
        index = workspace.index
        if index is None:
            return
        self._embed(index)
        if workspace.keeper and not stopping():
            self._vocabulary.infer_notes(index, Scope(workspace.keeper), INFERRED_TAGS, A_ROUND)

    def _embed(self, index: NoteVectors) -> None:
        """Give some notes and facts a vector: a few a round, so that a big workspace never takes a core."""
        identity = str(self._embedder.identity)
        room = MOST_VECTORS - index.embedded(identity)
        texts = index.unembedded(identity, limit=min(A_ROUND, room)) if room > 0 else {}
        if not texts:
            return
        try:
            with self._away.watching(EMBEDDER, wrote=True):
                vectors = self._embedder.embed_documents(list(texts.values()))
        except VendorAway:
            return
        index.embed(identity, dict(zip(texts, vectors, strict=True)))
