"""Memory, the story in one place: retain · distil · recall · brief · remember · forget.

Turns are kept in a buffer; triggers claim batches of them; an extractor proposes drafts; what passes becomes gems in one
transaction with the turns they came from; the index follows; recall asks all sources and a template says it to the model.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import structlog

from openclaw_neuralstream.embed.embedded import EmbeddedEmbedder
from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, NotFound, StateDamaged, VendorAway
from openclaw_neuralstream.judgement import only_secret
from openclaw_neuralstream.memory import gemcraft
from openclaw_neuralstream.memory.assembly import Assembler, Blocks
from openclaw_neuralstream.memory.distil import Distilled, Distiller
from openclaw_neuralstream.memory.forget import Eraser
from openclaw_neuralstream.memory.forget_files import What
from openclaw_neuralstream.memory.parts import Parts
from openclaw_neuralstream.memory.projection import EMBEDDER, Away, NoteProjection, Projection, TurnProjection
from openclaw_neuralstream.memory.reflector import WEEK, Reflector
from openclaw_neuralstream.memory.reminding import Conversations, Injected, Reminded, Reminder, Standing
from openclaw_neuralstream.memory.sequencer import Sequencer
from openclaw_neuralstream.model import (
    Assembled,
    Batch,
    Block,
    Child,
    Dropped,
    Gem,
    Origin,
    Query,
    Recall,
    Record,
    Scope,
    Session,
    Trigger,
    Turn,
    Usage,
)
from openclaw_neuralstream.ports import Extractor
from openclaw_neuralstream.recall import HEARD, Book, NoteWords, recall
from openclaw_neuralstream.recall.asking import Asker
from openclaw_neuralstream.recall.intent import Intent
from openclaw_neuralstream.recall.query import referred, resolved
from openclaw_neuralstream.recall.rank import Depth
from openclaw_neuralstream.recall.source import PluggedSource
from openclaw_neuralstream.store.settling import Kept
from openclaw_neuralstream.store.truth import BatchDetail, Undone
from openclaw_neuralstream.text.lines import clean_record, clean_turn
from openclaw_neuralstream.worker import Worker
from openclaw_neuralstream.workspace.workspace import Workspace

RERANKED = 12
"""Records that the reranking model is shown at most."""

RERANK_SECONDS = 5.0
"""What it may take where no reply waits; on the reply path recall_deadline_ms holds."""

log = structlog.get_logger(__name__)

EMBEDDER_META = "embedder"
"""The truth's note of which embedder made its vectors; `embedder = "auto"` stays with it."""

_SOURCES_SHARE = 0.5
"""Of recall_deadline_ms is what all sources together have: what they propose has still to be judged, rendered and sent."""

_REFLECTED = "reflected"  # the truth's note of when reflection last ran by itself
_REFLECT_LOOK = 60.0  # seconds between looks whether it is due
_FIRST_QUESTION = "What did we decide last week? Что мы решили? 我们决定了什么？"
_FEW_FILES = 16  # saved at once, they are embedded at once
_INFERRING = 2.0  # seconds of a round of the clock in which what is derived from old gems is drawn
_LONGEST_TURN = timedelta(days=1)  # after which a turn that began has been cut off, whatever its host was doing
_TICK = 5.0  # seconds between looks at the clock


class Memory:
    """One memory over one state directory. All verbs may be called from any thread."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.settings = parts.settings
        self.truth = parts.truth
        self.now = parts.clock
        self.away = Away(parts.settings.retry_delay, parts.truth.count)
        self.projection = Projection(parts.truth, parts.index, parts.embedder, self.away)
        self.turn_projection = TurnProjection(parts.truth, parts.passages, parts.embedder, self.away)
        self.note_projection = NoteProjection(parts, self.away, refused=self._note)
        self.reflector = Reflector(parts)
        self.sequencer = Sequencer(parts, parts.pairs, refused=self._note) if parts.pairs else None
        self.injected = Injected(parts.truth, parts.clock)
        self.eraser = Eraser(parts, self.projection, self.turn_projection, self.injected, self.sequencer)
        self.distiller = Distiller(parts, self.projection, self.away, self.eraser.spare)
        self.blocks = Blocks(parts)
        self.assembler = Assembler(parts, self.recall, self._wanted)
        self.standing = Standing(parts.truth)
        self.conversations = Conversations()
        self._reminder = Reminder(
            parts.truth,
            lambda: self.settings,
            self._recall_in_time,
            self._wanted,
            standing=self.standing,
            blocks=self.blocks,
            assembler=self.assembler,
            conversations=self.conversations,
        )
        self._depth = self._looking_deeper()
        self._asker = Asker()
        self._intent = Intent(EmbeddedEmbedder())
        books: list[Book] = [(self.parts.truth, 1), (NoteWords(self.parts.workspaces.search), 1)]
        self._wordbooks = (*books, (self.parts.passages, HEARD)) if self.parts.passages else tuple(books)
        self.hurried = False  # whether who waits for a reply goes on without us after recall_deadline_ms
        self._forget_worker = Worker("forget", self._forget, period=_TICK, refused=self._note)
        self._distil_worker = Worker("distil", self._distil, period=_TICK, refused=self._note)
        self._tick_worker = Worker(
            "tick",
            self._idle,
            self._embed_gems,
            self._infer_tags,
            lambda: self.note_projection.catch_up(lambda: self._tick_worker.stopping),
            period=_TICK,
            refused=self._note,
        )
        self._turns_worker = Worker("turns", self._follow_turns, period=_TICK, refused=self._note)
        self._reflect_worker = Worker(
            "reflect", self._reflect, self._end_left_open, period=_REFLECT_LOOK, refused=self._note
        )
        self._workers = [
            self._forget_worker,
            self._distil_worker,
            self._turns_worker,
            self._tick_worker,
            self._reflect_worker,
        ]
        self._reembed_worker: Worker | None = None
        parts.workspaces.on_change = self._notes_changed
        self.damaged = False  # the memory file does not read back: the process should end, the next start mends it
        self._closing = threading.Event()
        self._starting, self._upkeep = threading.Lock(), False
        self._warmed = threading.Event()
        self._warmer = threading.Thread(target=self._warm, name="neuralstream-warm", daemon=True)

    def _looking_deeper(self) -> Depth | None:
        if self.parts.reranker is None:
            return None
        always, most = self.settings.rerank == "model", RERANKED
        return Depth(self.parts.reranker, always=always, most=most, count=self.truth.count)

    # --- life -------------------------------------------------------------------------------------------------------

    def start(self) -> Memory:
        """Start the workers: distilling in the background, the idle clock, warming of the models.

        Whoever starts owns the state directory: claims that a process left behind when it died are given back, and turns
        that waited in a server which is not used any more wait here.
        """
        for buffer in self.parts.buffers:
            with suppress(VendorAway):  # then their leases run out
                buffer.release_claims()
        if len(self.parts.buffers) == 1:
            self.truth.take_over()
        self._warmer.start()
        for worker in self._workers:
            worker.start()
        if not self.eraser.due:
            self._start_upkeep()
        return self

    def _start_upkeep(self) -> None:
        """Follow the workspaces and the turns: after what is left of a forgetting, which waits for neither."""
        with self._starting:
            if not self._upkeep and not self._closing.is_set():
                self._upkeep = True
                self.parts.workspaces.start()
                if self.sequencer:
                    self.sequencer.start()

    def employ(self, worker: Worker) -> None:
        """Have it started, stopped and its crashes counted with the others; to be told before `start`."""
        self._workers.append(worker)

    def close(self, deadline: float = 3.0) -> None:
        """Stop the workers and release the stores. A batch in the middle of its extraction stays claimed, and safe."""
        with self._starting:
            self._closing.set()
        for worker in reversed(self._workers):
            worker.stop(deadline)
        if self.sequencer:
            self.sequencer.close(deadline)
        self.parts.workspaces.close(deadline)
        if self._warmer.is_alive():
            self._warmer.join(deadline)
        self.parts.index.close()
        if self.parts.passages is not None:
            self.parts.passages.close()
        for buffer in self.parts.buffers:
            buffer.close()
        self.truth.close()

    @property
    def busy(self) -> bool:
        """True while a batch is being distilled or turns wait for their trigger."""
        return self.distiller.busy

    @property
    def crashes(self) -> int:
        """How often a worker's round ended in an error nobody expected."""
        return sum(worker.crashes for worker in self._all_workers()) + self.parts.workspaces.crashes

    @property
    def failing(self) -> dict[str, str]:
        """The workers whose last round failed, and why."""
        return {worker.name: worker.failing for worker in self._all_workers() if worker.failing}

    def _all_workers(self) -> list[Worker]:
        return [*self._workers, *([self.sequencer.worker] if self.sequencer else [])]

    # --- sessions ---------------------------------------------------------------------------------------------------

    def session(self, agent: str, key: str, host_id: str = "") -> Session:
        """The conversation in its present epoch."""
        return self.truth.session(agent, key, host_id, self.now())

    def end_session(self, session: Session, reason: str) -> Session:
        """Its context is gone; the next request opens a new epoch. Returns the session as it is from now on."""
        return self.truth.end_session(session.agent, session.key, reason, self.now())

    # --- retain and distil ------------------------------------------------------------------------------------------

    def begin(self, turn: Turn) -> None:
        """Keep the beginning of a turn durably; `retain` completes it. It is no work, and no evidence, until then."""
        turn = clean_turn(turn)
        if not self.truth.is_buried(turn):
            self.truth.begin(turn)

    def retain(self, turn: Turn, usage: Usage | None = None) -> bool:
        """Keep a turn durably and answer at once; False when it was known. Extraction runs elsewhere.

        When the configured buffer is away the embedded one takes the turn: it is never lost. Secrets are taken out here,
        whoever calls.
        """
        turn = clean_turn(turn)
        # a forgetting sees all of the turn, or the turn is taken in as the forgetting left its beginning
        with self.eraser.intake:
            turn = self.truth.as_left(turn)
            forgotten = self.truth.is_buried(turn)
            new = not forgotten and self.distiller.append(turn)
        if forgotten:
            self.truth.count("turns.forgotten_before")
            return False
        self.truth.count("turns.new" if new else "turns.seen")
        if usage is not None:
            self.distiller.note_usage(turn.session, usage)
        self._distil_worker.wake()
        self._turns_worker.wake()
        if new and self.sequencer:
            self.sequencer.note(turn)
        return new

    def ask_to_distil(self, session: Session, trigger: Trigger) -> None:
        """Distil all that waits for this session, in the background."""
        self.distiller.ask(session, trigger)
        self._distil_worker.wake()

    def look_for_idle(self) -> None:
        """Let the triggers look at every backlog, in the background."""
        self._distil_worker.wake()

    def flush(
        self, trigger: Trigger = Trigger.MANUAL, *, progress: Callable[[Distilled], None] = lambda _: None
    ) -> Distilled:
        """Distil now, in this thread: everything that waits, or with Trigger.IDLE only what has been idle long enough."""
        done = self.distiller.everything(trigger, progress=progress, stopping=lambda: self._distil_worker.stopping)
        self.turn_projection.catch_up()
        return done

    # --- recall -----------------------------------------------------------------------------------------------------

    @property
    def sources_seconds(self) -> float:
        """How long all sources together may take where a reply waits; 0 = any time: nobody gives up on us."""
        return _SOURCES_SHARE * self.settings.recall_deadline_ms / 1000 if self.hurried else 0.0

    def recall(
        self, query: Query, *, filtered: bool = True, patience: float = 0.0, seconds: float = 0.0, gated: bool = False
    ) -> Recall:
        """The records that matter for this question, best first, and why others were dropped. Nothing relevant: none.

        filtered: without those that a hook keeps from being shown; what is to be forgotten must be found all the same.
        patience: seconds in which a reranker may answer, 0 = the setting. seconds: those that all sources have, 0 = any.
        gated: nobody searches; a message that needs nothing from memory gets nothing.
        """
        if not gated and (digits := referred(query.text)):
            return Recall(tuple(self._wanted([clean_record(item) for item in self._referred(digits, query)], query)))
        vocabulary = self.parts.vocabulary
        if query.wanted and query.wanted.tags and not query.wanted.tag_keys:
            query = replace(query, wanted=vocabulary.wanted(query.wanted, query.scope))
        found = recall(
            query,
            sources=self.parts.sources,
            settings=self.settings,
            counter=self.parts.counter,
            vocabulary=vocabulary,
            depth=self._depth,
            patience=patience or RERANK_SECONDS,
            asker=self._asker,
            seconds=seconds,
            looked_through=not self.truth.erasing.rules_due(),
            wordbooks=self._wordbooks,
            intent=self._intent,
            gated=gated,
        )
        names = vocabulary.canonical({tag for record in found.records for tag in record.tags})
        found = replace(found, records=tuple(_tagged(record, names) for record in found.records))
        if not filtered or not self.parts.hooks.has("filter_record"):
            return found
        wanted = {record.id for record in self._wanted(found.records, query)}
        unwanted = {record.id for record in found.records} - wanted
        return replace(
            found,
            records=tuple(record for record in found.records if record.id not in unwanted),
            dropped=(*(Dropped(r, "filtered") for r in found.records if r.id in unwanted), *found.dropped),
        )

    def _referred(self, digits: str, query: Query) -> list[Record]:
        """What a short citation of a block stands for: the record with its whole source."""
        passages = self.parts.passages

        def passage(prefix: str, scope: Scope) -> str:
            found = passages.find(prefix) if passages is not None else None
            return found.id if found is not None and found.scope == scope else ""

        return resolved(
            digits,
            query,
            shown=self.injected.lately(query.scope.agent),
            gem=self.truth.gem,
            passage=passage,
            sources=self.parts.sources,
        )

    def _recall_in_time(self, query: Query, *, patience: float = 0.0, gated: bool = False) -> Recall:
        """As `recall`, with the sources that answer while a reply can wait."""
        return self.recall(query, patience=patience, seconds=self.sources_seconds, gated=gated)

    def _wanted(self, records: Sequence[Record], query: Query) -> list[Record]:
        """Those that no hook filters out; nothing is shown to anybody past it."""
        if not self.parts.hooks.has("filter_record"):
            return list(records)
        each = self.parts.hooks.each
        return [record for record in records if False not in each("filter_record", record=record, query=query)]

    def remind(self, query: Query, *, awaited: bool = True, gated: bool = True) -> Block:
        """The block for a turn: what stands and matters; empty when there is neither.

        awaited: whether a reply waits for it, so that what is left out of it counts. gated: nobody searches, so that a
        message that needs nothing from memory gets nothing.
        """
        return self._reminder.reminded(query, awaited=awaited, gated=gated).block

    def reminded(self, query: Query, *, awaited: bool = True, gated: bool = True) -> Reminded:
        """As `remind`, with the recall that the block was made of."""
        return self._reminder.reminded(query, awaited=awaited, gated=gated)

    def stands(self, query: Query) -> list[Record]:
        """Rules of the owner that touch the matter of the message: they stand beside its records, and in the brief of every session."""
        return self._reminder.stands(query)

    def brief(self, session: Session, query: Query) -> Block:
        """The block for the first turn of a session; empty when nothing is known."""
        return self._reminder.brief(session, query)

    def brief_child(self, child: Child, query: Query) -> Block:
        """The block for a sub-agent's first request; empty when nothing is known for it."""
        return self._reminder.brief_child(child, query)

    def assemble(self, query: Query, token_budget: int = 0) -> Assembled:
        """A context for a prompt: what matches, what is new in any session, else MEMORY.md; 0 = the setting's budget."""
        return self.assembler.assemble(query, token_budget)

    # --- by hand ----------------------------------------------------------------------------------------------------

    def remember(
        self, text: str, scope: Scope, session: Session, *, importance: float = 0.8, origin: Origin = Origin.OWNER
    ) -> Gem:
        """Store a gem that was asked for outright, at once; the same text twice is one gem. Raises as `keep` does."""
        return self.keep(text, scope, session, importance=importance, origin=origin).gem

    def keep(
        self, text: str, scope: Scope, session: Session, *, importance: float = 0.8, origin: Origin = Origin.OWNER
    ) -> Kept:
        """As `remember`, and says what it replaced; what is still true of that is kept as a gem of its own.

        Raises BadRequest when a hook's `filter_gem` says that it must not be kept.
        """
        gem = gemcraft.by_hand(text, scope, session, importance=importance, now=self.now(), origin=origin)
        if only_secret(gem.content):
            raise BadRequest(
                "it holds nothing but a secret, and secrets are not kept", fix="say what it is for and where it is kept"
            )
        if False in self.parts.hooks.each("filter_gem", gem=gem):
            raise BadRequest(
                "a hook of yours keeps this from being remembered", fix="neuralstream admin plugins names the hooks"
            )
        identity = self.parts.embedder.identity
        ((_, vector),) = self.distiller.embedded([gem])
        kept = self.truth.remember(
            gem, vector, identity, self.now(), judge=self.distiller.judged(), remainder=gemcraft.remainder
        )
        rests = [item.rest for item in kept.replaced if item.rest is not None]
        vectors = {rest.gem_id: made for rest, made in self.distiller.embedded(rests) if made is not None}
        self.truth.set_vectors(vectors, identity)
        if kept.replaced:
            self.injected.drop_briefs()
        self.projection.catch_up()
        return kept

    def take_back(self, gem_id: str) -> Undone:
        """Take back what was remembered by hand, and what followed from it: what it replaced holds again.

        Raises NotFound, and BadRequest for a gem that was not remembered by hand.
        """
        gem = self.gem(gem_id)
        undone = self.truth.take_back(gem.gem_id, gemcraft.BY_HAND.name, self.now())
        if undone is None:
            raise BadRequest(
                f"gem {gem.gem_id[:8]} was not remembered by hand",
                fix="neuralstream admin batches undo takes a batch back, neuralstream gems forget a gem",
            )
        self.injected.drop_briefs()
        self.projection.catch_up()
        return undone

    def gem(self, gem_id: str) -> Gem:
        """By id or unique prefix. Raises NotFound."""
        gem = self.truth.gem(gem_id)
        if gem is None:
            raise NotFound(f"no gem {gem_id!r}", fix="neuralstream gems list shows the ids")
        return gem

    def edit(self, gem_id: str, **changes: Any) -> Gem:
        """Change content, summary, importance, tags or topics by hand; it is embedded and indexed again."""
        gem = self.gem(gem_id)
        vector = None
        if changes.get("content") is not None:
            vector = self.distiller.embedded([replace(gem, content=changes["content"])])[0][1]
            if changes.get("summary") is None:
                changes["summary"] = gemcraft.one_line(changes["content"])
        identity = self.parts.embedder.identity
        edited = self.truth.edit(gem.gem_id, vector=vector, embedder=identity, at=self.now(), **changes)
        self.injected.drop_briefs()
        self.projection.catch_up()
        return edited

    def confirm(self, gem_id: str) -> Gem:
        """The owner vouches for what somebody else, a page or a tool said. Raises NotFound."""
        confirmed = self.truth.confirm(self.gem(gem_id).gem_id, self.now())
        self.projection.catch_up()
        return confirmed

    def forget(self, gem_ids: Sequence[str]) -> int:
        """Remove gems wherever they lie; tombstones keep them from coming back. Returns how many were here."""
        ids = tuple(dict.fromkeys(self.gem(gem_id).gem_id for gem_id in gem_ids))
        return self.eraser.forget(What(gems=ids)).removed.get("gems", 0) if ids else 0

    def import_gems(self, gems: Sequence[Gem]) -> int:
        """Store gems of an export, embedded anew; those already here and those forgotten are left alone."""
        stored = self.truth.import_gems(self.distiller.embedded(gems), self.parts.embedder.identity, self.now())
        self.projection.catch_up()
        return stored

    # --- batches ----------------------------------------------------------------------------------------------------

    def batch(self, batch_id: str) -> BatchDetail:
        """By id or unique prefix. Raises NotFound."""
        found = self.truth.batch(batch_id)
        if found is None:
            raise NotFound(f"no batch {batch_id!r}", fix="neuralstream admin batches list shows the ids")
        return found

    def undo(self, batch_id: str, *, dry_run: bool = False) -> Undone:
        """Take back what a batch said. Raises NotFound, and BadRequest for one that is not stored."""
        found = self.batch(batch_id)
        undone = self.truth.undo(found.row.batch_id, self.now(), dry_run=dry_run)
        if undone is None:
            raise BadRequest(f"batch {found.row.batch_id[:8]} is {found.row.state}: there is nothing to take back")
        if not dry_run:
            self.truth.count("batches.undone")
            self.injected.drop_briefs()
            self.projection.catch_up()
            self.turn_projection.catch_up()
        return undone

    def extract_again(self, batch_id: str, extractor: Extractor) -> list[Gem]:
        """Extract the turns of a stored or undone batch anew; the new gems take the place of the old ones.

        Raises NotFound, BadRequest for a batch that was never stored or whose turns are forgotten, VendorAway and
        AnswerRefused.
        """
        read_at = self.truth.erasing.begun()
        found = self.batch(batch_id)
        row = found.row
        if row.state not in ("stored", "undone") or not found.turns:
            raise BadRequest(
                f"batch {row.batch_id[:8]} is {row.state} and holds {len(found.turns)} turns that can be read"
            )
        batch = Batch(row.batch_id, row.session, found.turns, "again", self.now(), trigger=Trigger(row.trigger))
        return self.distiller.again(batch, extractor, read_at) or []

    def retry_dead(self, batch_id: str) -> bool:
        """Put a dead batch back into the buffer and distil it in the background. False when there is no such batch."""
        revived = self.truth.revive(batch_id)
        self._distil_worker.wake()
        return revived

    def start_reembedding(self) -> bool:
        """Embed again, in the background, every gem whose vector another embedder made. False when it runs already."""
        self.away.answered(EMBEDDER, wrote=True)  # asked for by hand: what failed before is tried anew
        if self._reembed_worker:
            self._reembed_worker.wake()
            return False
        self._reembed_worker = worker = Worker("reembed", self._reembed, period=self.settings.retry_delay)
        self._workers.append(worker)
        worker.start()
        return True

    # --- background -------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        try:
            self.eraser.resume(lambda: self._forget_worker.stopping)
        finally:
            self._start_upkeep()

    def _distil(self) -> None:
        self.distiller.due(lambda: self._distil_worker.stopping)
        self.projection.catch_up()
        self._turns_worker.wake()

    def _follow_turns(self) -> None:
        """Words at once, vectors a few at a time with a rest between, so that a long history never takes a core."""
        if self.turn_projection.catch_up():
            self.turn_projection.embed_missing(lambda: self._turns_worker.stopping, self._turns_worker.pause)

    def _end_left_open(self) -> None:
        """What began and never ended is a turn, also where its conversation does not go on."""
        for turn in self.truth.begun():
            if self.now() - turn.at > _LONGEST_TURN:
                self.retain(turn)

    def _idle(self) -> None:
        self.parts.hooks.refresh()
        self.parts.hooks.each("idle", now=self.now(), memory=self)

    def _embed_gems(self) -> None:
        self.projection.embed_missing(lambda: self._tick_worker.stopping)

    def _infer_tags(self) -> None:
        until = time.monotonic() + _INFERRING
        while (began := time.monotonic()) < until and self.truth.tags.infer_some() and not self._tick_worker.stopping:
            self._tick_worker.pause(time.monotonic() - began)  # turns are written, and questions answered, in between

    def _notes_changed(self, files: int) -> None:
        """Give a few new notes their vectors now; a burst of them waits for the clock, and for its turn."""
        if files <= _FEW_FILES:
            self._tick_worker.wake()

    def _reflect(self) -> None:
        """Reflect over every workspace when `reflect_every` has passed; a new memory waits for its first time."""
        every = self.settings.reflect_every
        if not every:
            return
        last, now = self.truth.meta(_REFLECTED), self.now()
        if last and (now - datetime.fromisoformat(last)).total_seconds() < every:
            return
        since = max(WEEK, now - datetime.fromisoformat(last) + timedelta(days=1)) if last else WEEK
        for workspace in self.parts.workspaces.all() if last else ():
            if self._reflect_worker.stopping:
                return
            self._reflect_over(workspace, since)
        self.truth.set_meta(_REFLECTED, now.isoformat())

    def _reflect_over(self, workspace: Workspace, since: timedelta) -> None:
        try:
            if workspace.keeper and workspace.here:
                self.reflector.reflect(workspace, workspace.keeper, since=since)
        except NeuralStreamError as error:
            log.warning("reflect.refused", code=error.code, error=error.what)
            self._note(error)

    def _reembed(self) -> None:
        worker = self._reembed_worker
        self.projection.reembed(lambda: worker is not None and worker.stopping)
        if not self.truth.unembedded(self.parts.embedder.identity, limit=1):
            self.truth.set_meta(EMBEDDER_META, str(self.parts.embedder.identity))

    def _note(self, error: NeuralStreamError) -> None:
        self.damaged = self.damaged or isinstance(error, StateDamaged)

    @property
    def warming(self) -> bool:
        """Whether the models are being loaded still: until then gems are found by their words alone."""
        return self._warmer.is_alive() and not self._warmed.is_set()

    def _warm_parts(self) -> None:
        try:
            self.parts.warm()
        finally:
            self._warmed.set()

    def _warm_answer(self) -> None:
        """A question that nobody asked, of our own sources, and a block of our own: what only an answer loads is there for the first one."""
        from openclaw_neuralstream.plugins.examples import example  # loaded here, behind the start

        ours = [source for source in self.parts.sources if source.kind != PluggedSource.kind]
        nobody = Query(_FIRST_QUESTION, Scope("main"), self.now())
        recall(
            nobody,
            sources=ours,
            settings=self.settings,
            counter=self.parts.counter,
            vocabulary=self.parts.vocabulary,
        )
        self.parts.templates.shipped("gem_block", **example("gem_block"))

    def _warm(self) -> None:
        """Load the models, then look whether the indexes are whole; a model that is still loading at the end is let be."""
        steps = (
            self._warm_parts,
            self._intent.warm,
            self._warm_answer,
            self.standing.warm,
            self.projection.check,
            self.turn_projection.check,
        )
        for step in steps:
            if self._closing.is_set():
                return
            try:
                step()
            except NeuralStreamError as error:
                if self._closing.is_set():
                    return  # the stores are closed under it
                log.warning("warm.refused", code=error.code, error=error.what)
                self._note(error)


def _tagged(record: Record, names: Mapping[str, str]) -> Record:
    """The record with its tags by these names, once each."""
    tags = tuple(dict.fromkeys(names[tag] for tag in record.tags))
    return record if tags == record.tags else replace(record, tags=tags)
