"""Turns to gems: claim a batch, extract drafts, store gems and turns in one transaction, let the index follow.

A crash anywhere repeats work and changes nothing: claims carry a lease, ids are derived from content, and the truth
refuses a turn that another batch extracted.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import numpy as np
import structlog

from openclaw_neuralstream.errors import AnswerRefused, NeuralStreamError, StateError, VendorAway, crash
from openclaw_neuralstream.extract import triggers
from openclaw_neuralstream.judgement import GemJudge
from openclaw_neuralstream.memory import gemcraft
from openclaw_neuralstream.memory.parts import Parts
from openclaw_neuralstream.memory.projection import EMBEDDER, EXTRACTOR, Away, Projection
from openclaw_neuralstream.model import (
    Backlog,
    Batch,
    Draft,
    ExtractorIdentity,
    Gem,
    Origin,
    Session,
    Trigger,
    Turn,
    Usage,
)
from openclaw_neuralstream.ports import Extractor, Reading, TurnBuffer, Vector
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.text.lines import clean_gem, clean_turn

_OPINION_WEIGHT = 0.6
"""Share of the extractor's opinion in a gem's importance; the rest is the formula's (importance.py)."""

log = structlog.get_logger(__name__)

_NEAR = 8  # nearest gems that a new one is held against, beside those that share words
_KNOWN = 10  # nearest gems shown to an extractor
_HISTORY = 200  # earlier turns offered to one that does not say how many it can use; it cuts them by tokens
_REFUSED = 50  # refused drafts of a batch that are kept to be looked at


@dataclass(frozen=True, slots=True)
class Distilled:
    """What a distillation did: batches committed, turns they held, gems stored, turns put back, answers refused."""

    batches: int = 0
    turns: int = 0
    gems: int = 0
    waiting: int = 0
    refused: int = 0

    def __add__(self, other: Distilled) -> Distilled:
        return Distilled(
            self.batches + other.batches,
            self.turns + other.turns,
            self.gems + other.gems,
            self.waiting + other.waiting,
            self.refused + other.refused,
        )


@dataclass(frozen=True, slots=True)
class _Made:
    """The gems of a batch, who made them, and for each the known gems that its draft says it replaces.

    refused: (content, why) of what became no gem.
    """

    gems: list[Gem]
    identity: ExtractorIdentity
    named: dict[str, tuple[str, ...]]
    refused: tuple[tuple[str, str], ...] = ()


class Distiller:
    """Distils what the triggers, a boundary of the host or a person ask for. One batch at a time."""

    def __init__(
        self,
        parts: Parts,
        projection: Projection,
        away: Away,
        spare: Callable[[Sequence[Turn]], Sequence[Turn]] = lambda turns: turns,
    ) -> None:
        """spare: what of claimed turns may become gems while a forgetting is not done."""
        self.away = away
        self._spare = spare
        self._parts = parts
        self._settings = parts.settings
        self._truth = parts.truth
        self._buffers = parts.buffers
        self._embedder = parts.embedder
        self._now = parts.clock
        self._projection = projection
        self._asked: dict[tuple[str, str], Trigger] = {}
        self._usage: dict[tuple[str, str], Usage] = {}
        self._crossed: set[tuple[str, str]] = set()
        self._lock = threading.Lock()
        self._one_at_a_time = threading.Lock()

    # --- asked for --------------------------------------------------------------------------------------------------

    def append(self, turn: Turn) -> bool:
        """Keep a turn in the first buffer that answers; the embedded one, last, always does, and knows what waits elsewhere."""
        *preferred, last = self._buffers
        for buffer in preferred:
            name = _name(buffer)
            if name in self.away:
                continue
            with suppress(VendorAway):
                with self.away.watching(name, wrote=True):
                    new = buffer.append(turn)
                return self._truth.queued(turn) or new
        return last.append(turn)

    def note_usage(self, session: Session, usage: Usage) -> None:
        """What the context trigger looks at: it fires once when the window crosses the threshold, and after it shrank."""
        place = (session.agent, session.key)
        with self._lock:
            self._usage[place] = usage
            if (usage.percent or 0) < self._settings.context_threshold:
                self._crossed.discard(place)

    def ask(self, session: Session, trigger: Trigger) -> None:
        """All that waits for this session is due."""
        with self._lock:
            self._asked[session.agent, session.key] = trigger

    @property
    def busy(self) -> bool:
        """True while a batch is being distilled or turns wait for their trigger."""
        return self._one_at_a_time.locked() or any(True for _ in self.backlogs())

    def backlogs(self) -> Iterator[tuple[TurnBuffer, Backlog]]:
        """What waits, in every buffer that answers."""
        for buffer in self._buffers:
            if _name(buffer) not in self.away:
                yield from ((buffer, backlog) for backlog in self._stats(buffer) or ())

    def waiting(self) -> tuple[list[Backlog], list[str]]:
        """What waits, and the names of the buffers that cannot say; also those that rest are asked."""
        told = {_name(buffer): self._stats(buffer) for buffer in self._buffers}
        backlogs = [backlog for found in told.values() for backlog in found or ()]
        return backlogs, [name for name, found in told.items() if found is None]

    def _stats(self, buffer: TurnBuffer) -> list[Backlog] | None:
        """What waits in a buffer; None when it does not say."""
        with suppress(VendorAway), self.away.watching(_name(buffer)):
            return buffer.stats(self._now())
        return None

    # --- distil -----------------------------------------------------------------------------------------------------

    def due(self, stopping: Callable[[], bool] = lambda: False) -> Distilled:
        """Distil what is due now."""
        with self._lock:
            asked, self._asked = self._asked, {}
        total = Distilled()
        for buffer, backlog in self.backlogs():
            place = (backlog.session.agent, backlog.session.key)
            trigger = asked.get(place) or self._trigger(backlog)
            if trigger is None or stopping():
                continue
            done = self._session(buffer, backlog.session, trigger, stopping)
            with self._lock:
                if trigger is Trigger.CONTEXT and done.turns:
                    self._crossed.add(place)
                if place in asked and (done.waiting or EXTRACTOR in self.away):
                    self._asked.setdefault(place, trigger)  # asked for and not done: stays asked for
            total += done
        return total

    def everything(
        self,
        trigger: Trigger,
        *,
        progress: Callable[[Distilled], None] = lambda _: None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> Distilled:
        """Distil all that waits; with Trigger.IDLE only what has been idle long enough."""
        total = Distilled()
        for buffer, backlog in self.backlogs():
            if trigger is Trigger.IDLE and self._trigger(backlog) is None:
                continue
            total += self._session(buffer, backlog.session, trigger, stopping)
            progress(total)
        return total

    def _trigger(self, backlog: Backlog) -> Trigger | None:
        place = (backlog.session.agent, backlog.session.key)
        usage = None if place in self._crossed else self._usage.get(place)
        if self._truth.session(*place, "", self._now()).epoch > backlog.session.epoch:
            return Trigger.BOUNDARY  # its window is gone: asked for before a restart, perhaps
        return triggers.decide(backlog, usage=usage, now=self._now(), settings=self._settings)

    def _session(
        self, buffer: TurnBuffer, session: Session, trigger: Trigger, stopping: Callable[[], bool]
    ) -> Distilled:
        total = Distilled()
        with self._one_at_a_time:
            while EXTRACTOR not in self.away and not stopping():
                if trigger is Trigger.BATCH and self._waiting(buffer, session) < self._settings.batch_size:
                    break
                done = self._next_batch(buffer, session, trigger)
                total += done
                if not done.batches:
                    break
        return total

    def _waiting(self, buffer: TurnBuffer, session: Session) -> int:
        place = (session.agent, session.key)
        backlogs = (b for b in buffer.stats(self._now()) if (b.session.agent, b.session.key) == place)
        return sum(backlog.waiting for backlog in backlogs)

    def _next_batch(self, buffer: TurnBuffer, session: Session, trigger: Trigger) -> Distilled:
        read_at = self._truth.erasing.begun()
        try:
            batch = buffer.claim(
                session, limit=self._settings.batch_size, lease=self._lease(), now=self._now(), trigger=trigger
            )
            return self._done(buffer, batch, read_at) if batch else Distilled()
        except VendorAway as error:  # the buffer went away: the lease gives its turns back
            self.away.mark(_name(buffer), error, wrote=True)
            return Distilled()

    def _done(self, buffer: TurnBuffer, batch: Batch, read_at: int) -> Distilled:
        try:
            return self._batch(buffer, batch, read_at)
        except Exception:  # whatever it is: what was claimed waits again instead of for its lease
            with suppress(NeuralStreamError):
                buffer.release(batch)
            raise

    def _batch(self, buffer: TurnBuffer, batch: Batch, read_at: int) -> Distilled:
        started, fresh = time.perf_counter(), batch
        try:
            fresh = self._without_extracted(batch)
            made = self._made(fresh, self._parts.choose_extractor()) if fresh.turns else None
            stored = self._store(fresh, made, read_at) if made else []
        except StateError:  # the disk is full or the file busy: not the batch's fault
            raise
        except VendorAway as error:
            self.away.mark(EXTRACTOR, error)
            buffer.release(batch)
            return Distilled(waiting=len(batch.turns))
        except NeuralStreamError as error:
            return self._set_aside(buffer, fresh, batch, error)
        except Exception as error:  # border: a batch that fails costs itself attempts, not the others theirs
            log.exception("batch.failed", batch=batch.batch_id)
            return self._set_aside(buffer, fresh, batch, AnswerRefused(crash(error)))
        if stored is None:  # another process extracted some of these turns meanwhile, or a person forgot some of it
            buffer.release(batch)
            return Distilled(waiting=len(batch.turns))
        buffer.commit(batch)
        return self._counted(fresh, stored, started) if fresh.turns else Distilled(batches=1)

    def _counted(self, fresh: Batch, stored: Sequence[Gem], started: float) -> Distilled:
        self.away.answered(EXTRACTOR, wrote=True)
        self._projection.catch_up()
        self._truth.count("gems.stored", len(stored))
        self._truth.count(f"batches.{fresh.trigger.value}")
        ms = round(1000 * (time.perf_counter() - started))
        log.info("gems.stored", count=len(stored), turns=len(fresh.turns), trigger=fresh.trigger.value, ms=ms)
        return Distilled(batches=1, turns=len(fresh.turns), gems=len(stored))

    def _without_extracted(self, batch: Batch) -> Batch:
        ids = [turn.turn_id for turn in batch.turns]
        known, kept = self._truth.extracted(ids), {turn.turn_id: turn for turn in self._truth.turns(ids)}
        told = [_whole(turn, kept.get(turn.turn_id)) for turn in batch.turns if turn.turn_id not in known]
        fresh = self._spare(told)
        return replace(batch, turns=tuple(map(clean_turn, fresh)))  # they may have waited since older rules

    def again(self, batch: Batch, extractor: Extractor, read_at: int) -> list[Gem] | None:
        """The gems that this extractor makes of a batch that was stored before, in the place of the old ones.

        None, and nothing changed, when something was forgotten after the batch was read. Raises VendorAway and AnswerRefused; nothing is changed then.
        """
        with self._one_at_a_time:
            stored = self._store(batch, self._made(batch, extractor), read_at, anew=True)
        self._projection.catch_up()
        return stored

    def judged(self, batch: Batch | None = None, named: Mapping[str, Sequence[str]] | None = None) -> GemJudge:
        """The judge for the gems of a batch, or for one by hand."""
        return GemJudge({turn.turn_id: turn for turn in batch.turns} if batch else {}, named or {})

    def _store(self, batch: Batch, made: _Made, read_at: int, *, anew: bool = False) -> list[Gem] | None:
        embedded = self.embedded(made.gems)
        return self._truth.store(
            batch,
            embedded,
            embedder=self._embedder.identity,
            at=self._now(),
            judge=self.judged(batch, made.named),
            near=self._near(embedded),
            extractor=made.identity,
            anew=anew,
            refused=made.refused,
            read_at=read_at,
        )

    def _near(self, embedded: Sequence[tuple[Gem, Vector | None]]) -> dict[str, list[str]]:
        """The gems near each one by vector; the truth finds those that share words by itself."""
        found: dict[str, list[str]] = {}
        with suppress(VendorAway):
            for gem, vector in embedded:
                if vector is not None:
                    hits = self._parts.index.search(vector, gem.scope, limit=_NEAR, superseded=True)
                    found[gem.gem_id] = [hit.gem_id for hit in hits]
        return found

    def _made(self, batch: Batch, extractor: Extractor) -> _Made:
        offered = int(getattr(extractor, "history_turns", _HISTORY))
        history = tuple(self._truth.history(batch.session, batch.turns[0], limit=offered))
        known = self._known(batch)
        refused: list[tuple[str, str]] = []
        noted = partial(_note, refused)
        reading = Reading(batch, history, known, noted, self._likeness)
        drafts = self._drafts(extractor, reading)
        gems = gemcraft.gems_of(drafts, batch, extractor.identity, now=self._now())
        scored = [self._scored(gem) for gem in gems]
        kept = [gem for gem in scored if gem.importance >= self._settings.min_importance]
        passed = [gem for gem in kept if False not in self._parts.hooks.each("filter_gem", gem=gem)]
        least = self._settings.min_importance
        refused += [
            (g.content, f"importance {g.importance:.2f} is below {least}") for g in scored if g.importance < least
        ]
        refused += [(gem.content, "a hook does not want it") for gem in kept if gem not in passed]
        told = tuple((gemcraft.one_line(redact(text).text), why) for text, why in refused[:_REFUSED])
        return _Made(passed, extractor.identity, gemcraft.named_by(drafts, passed, known), told)

    def _likeness(self, one: str, other: str) -> float:
        """The cosine of two texts' vectors; 0 while the embedder is away: then words alone decide."""
        try:
            first, second = self._embedder.embed_documents([one, other])
        except VendorAway:
            return 0.0
        return float(np.dot(first, second))

    def _scored(self, gem: Gem) -> Gem:
        said = self._parts.hooks.first("score_gem", gem=gem)
        scored = float(said) if isinstance(said, int | float) and math.isfinite(said) else None
        return gemcraft.weighed(gem, opinion_weight=_OPINION_WEIGHT, scored=scored)

    def _drafts(self, extractor: Extractor, reading: Reading) -> list[Draft]:
        # not scrubbed yet: what is read beside the batch may hold what newer rules know
        if self._truth.erasing.rules_due():
            history, known = map(clean_turn, reading.history), map(clean_gem, reading.known)
            reading = replace(reading, history=tuple(history), known=tuple(known))
        try:
            drafts: list[Draft] | None = self._parts.hooks.first("extract", reading=reading)
            return extractor.extract(reading) if drafts is None else drafts
        except NeuralStreamError:
            raise
        except Exception as error:  # border: an extractor that raises costs its batch attempts, not the others theirs
            log.exception("extractor.failed", batch=reading.batch.batch_id)
            raise AnswerRefused(crash(error)) from error

    def _known(self, batch: Batch) -> tuple[Gem, ...]:
        """The nearest gems; not those of this very batch, and none that the owner may be confirming just now."""
        text = "\n".join(turn.text_of("owner", "third-party") for turn in batch.turns)[:4_000]
        try:
            hits = self._parts.index.search(self._embedder.embed_query(text), batch.turns[0].scope, limit=_KNOWN)
        except VendorAway:
            return ()
        gems = self._truth.gems(gem_ids=[hit.gem_id for hit in hits], limit=_KNOWN) if hits else []
        return tuple(gem for gem in gems if gem.batch != batch.batch_id and gem.origin is not Origin.UNTRUSTED)

    def embedded(self, gems: Sequence[Gem]) -> list[tuple[Gem, Vector | None]]:
        """Gems with their vectors; with None while the embedder is away or unfit: words find them, the vectors come later."""
        if not gems:
            return []
        try:
            with self.away.watching(EMBEDDER, wrote=True):
                vectors = self._embedder.embed_documents([gemcraft.embedded_text(gem) for gem in gems])
        except VendorAway:
            return [(gem, None) for gem in gems]
        return list(zip(gems, vectors, strict=True))

    def _set_aside(self, buffer: TurnBuffer, fresh: Batch, batch: Batch, error: NeuralStreamError) -> Distilled:
        attempts = self._truth.fail(fresh, error.what)
        self._truth.count("batches.refused")
        log.warning("batch.refused", batch=batch.batch_id, attempt=attempts)
        if attempts < self._settings.model_attempts:
            buffer.release(batch)
            self.away.mark(EXTRACTOR, error)
            return Distilled(refused=1, waiting=len(fresh.turns))
        self._truth.bury(fresh, error.what, self._now())
        buffer.commit(batch)
        self.away.answered(EXTRACTOR, wrote=True)  # from now on the dead letter tells it
        return Distilled(batches=1, refused=1)

    def _lease(self) -> timedelta:
        return timedelta(seconds=max(self._settings.lease, 3 * self._settings.model_timeout))


def _name(buffer: TurnBuffer) -> str:
    return type(buffer).__name__


def _whole(turn: Turn, kept: Turn | None) -> Turn:
    """The turn with its answer, where that came after another buffer had taken the turn in."""
    return replace(turn, utterances=kept.utterances) if kept and kept.completes(turn) else turn


def _note(refused: list[tuple[str, str]], content: str, why: str) -> None:
    refused.append((content, why))
