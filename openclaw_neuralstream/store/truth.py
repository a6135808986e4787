"""The truth: one SQLite file with verbatim turns, gems, their vectors and events; also the embedded turn buffer."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path

import structlog

from openclaw_neuralstream.clock import utc_now
from openclaw_neuralstream.errors import BadRequest, NotFound, StateError
from openclaw_neuralstream.model import (
    Backlog,
    Batch,
    EmbedderIdentity,
    ExtractorIdentity,
    Gem,
    Kind,
    Origin,
    Scope,
    Session,
    Trigger,
    Turn,
)
from openclaw_neuralstream.ports import Judge, Judgement, Vector
from openclaw_neuralstream.store import batches, forgetting, gems, labels, opening, schema, settling, tagging, turns
from openclaw_neuralstream.store.batches import BatchRow, DeadBatch, Made
from openclaw_neuralstream.store.database import Database
from openclaw_neuralstream.store.forgetting import Erasing
from openclaw_neuralstream.store.gems import Evidence, GemEvent, Link, Statement
from openclaw_neuralstream.store.labels import OfDay
from openclaw_neuralstream.store.schema import DEAD, EXTRACTED, WordHit
from openclaw_neuralstream.store.settling import BatchDetail, Kept, Remainder, Undone, Writer
from openclaw_neuralstream.store.turns import TurnRow
from openclaw_neuralstream.text.lines import instant

__all__ = ["BatchDetail", "BatchRow", "DeadBatch", "GemEvent", "Truth", "Undone", "WordHit"]

log = structlog.get_logger(__name__)


class Truth:
    """One memory file. Every verb may be called from any thread, and by several processes on one file.

    A verb is one transaction. Writers queue; readers see the last commit and wait for nobody (`Database`).
    Raises StateError (full, read-only), StateBusy (a writer elsewhere stayed too long) and StateDamaged.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.tags = tagging.TagStore(database)
        self.evidence = Evidence(database)
        self.erasing = Erasing(database)
        self._counts: dict[str, int] = {}
        self._moments: dict[str, str] = {}
        self._counting = threading.Lock()
        self._word_counts = schema.Counts()
        self._all_embedded: dict[tuple[EmbedderIdentity, bool], int] = {}

    @classmethod
    def open(cls, path: Path) -> Truth:
        """Open the file, made or brought to the present version where needed.

        A damaged file is moved aside and what can be read of it is kept; `meta("damaged")` then says what happened.
        Raises StateNewer (left untouched), StateDamaged (not even moving aside worked) and StateError.
        """
        database = opening.opened(path)
        try:
            with database.exclusive() as connection:
                turns.follow(connection)
            forgetting.finish(database)
        except StateError:
            database.close()
            raise
        return cls(database)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._database.path

    def check(self) -> None:
        """Read the whole file (about a second for 100,000 gems). Raises StateDamaged; the next start then mends it."""
        with self._database.exclusive() as connection:
            opening.check(connection, self.path)

    @property
    def store_id(self) -> str:
        """The name of this memory among others that share a server; made with the file, never changed."""
        with self._database.read() as connection:
            known = labels.get(connection, "store.id")
        if known:
            return known
        with self._database.write() as connection:
            return labels.put_once(connection, "store.id", secrets.token_hex(8))

    def close(self) -> None:
        """Write down the counters and release the file; a second call does nothing."""
        try:
            self._write_counts()
        except StateError as error:
            log.warning("counters.lost", error=error.what)
        self._database.close()

    # --- sessions ---------------------------------------------------------------------------------------------------

    def session(self, agent: str, key: str, host_id: str, now: datetime) -> Session:
        """The conversation in its present epoch, registered when it is new."""
        with self._database.read() as connection:
            known = turns.current(connection, agent, key)
        if known is not None and host_id in ("", known.host_id):
            return known
        with self._database.write() as connection:
            return turns.register(connection, agent, key, host_id, now)

    def briefed(self, session: Session) -> bool:
        """Whether the session block of this window has been shown."""
        with self._database.read() as connection:
            return turns.briefed(connection, session)

    def mark_briefed(self, session: Session) -> None:
        """It has been shown; costs no write when that is known."""
        if not self.briefed(session):
            with self._database.write() as connection:
                turns.mark_briefed(connection, session)

    def first_heard(self, session: Session, event_id: str, now: datetime) -> bool:
        """False when this was the last event heard of the session; True for an event without an id."""
        if not event_id:
            return True
        if self.session_note(session, "heard") == event_id:
            return False
        self.note_session(session, "heard", event_id, now)
        return True

    def session_note(self, session: Session, name: str) -> str:
        """What is noted of a session under this name; "" when nothing is."""
        with self._database.read() as connection:
            return turns.noted(connection, session, name)

    def note_session(self, session: Session, name: str, value: str, now: datetime) -> None:
        """Leave a note, "injected", "brief" or "heard"; an empty value removes it. Sessions that are long silent lose theirs."""
        with self._database.write() as connection:
            turns.note(connection, session, name, value, now)

    def drop_session_notes(self, name: str) -> None:
        """Remove the notes of this name about every session."""
        with self._database.write() as connection:
            turns.drop_notes(connection, name)

    def end_session(self, agent: str, key: str, reason: str, now: datetime) -> Session:
        """The session as it is from now on: in a new epoch for new, reset, idle, daily and deleted, else as before.

        The same end heard twice within a second, with nothing in between, opens one epoch.
        """
        with self._database.write() as connection:
            return turns.end(connection, agent, key, reason, now)

    def compacted(self, agent: str, key: str) -> None:
        """The host compacted: a new window of the same epoch."""
        with self._database.write() as connection:
            turns.new_window(connection, agent, key)

    def last_index(self, agent: str, key: str) -> int:
        """The number of the session's last turn; 0 = none yet. Another buffer goes on counting from here."""
        with self._database.read() as connection:
            return turns.last_number(connection, agent, key)

    def last_turn(self) -> datetime | None:
        """When the newest turn of this file was said; None when there is none."""
        with self._database.read() as connection:
            return turns.newest(connection)

    # --- the embedded turn buffer (ports.TurnBuffer) ----------------------------------------------------------------

    def append(self, turn: Turn) -> bool:
        """Keep a turn durably, numbered when it has no number. False when its id was accepted before."""
        with self._database.write() as connection:
            return turns.append(connection, turn)

    def claim(self, session: Session, *, limit: int, lease: timedelta, now: datetime, trigger: Trigger) -> Batch | None:
        """The oldest waiting turns of one epoch, at most `limit`, as a batch under a lease. None when nothing waits."""
        with self._database.write() as connection:
            return turns.claim(connection, session, limit=limit, lease=lease, now=now, trigger=trigger)

    def commit(self, batch: Batch) -> bool:
        """The batch is done: its turns wait no more. False when another claim took its place."""
        with self._database.write() as connection:
            state, token = batches.holder(connection, batch.batch_id)
            if token != batch.token or state == "released":
                return False
            if state == "claimed":
                turns.settle(connection, batch, EXTRACTED)
                batches.stored(connection, batch, 0, utc_now())
            return True

    def release(self, batch: Batch) -> bool:
        """Give the turns back, in their old order. False when the claim was lost meanwhile."""
        with self._database.write() as connection:
            if batches.holder(connection, batch.batch_id) != ("claimed", batch.token):
                return False
            batches.release(connection, batch.batch_id)
            return True

    def hand_over(self, batch: Batch) -> bool:
        """Let the batch's turns go to another buffer, forgotten here: they may come back. False: the claim was lost."""
        with self._database.write() as connection:
            if batches.holder(connection, batch.batch_id) != ("claimed", batch.token):
                return False
            turns.remove(connection, batch)
            return True

    def release_claims(self) -> int:
        """Give back every claim, whatever its lease; returns how many.

        Only for the one process that owns the file, before its work begins: whoever held a claim is gone.
        """
        with self._database.write() as connection:
            return batches.release_all(connection)

    def stats(self, now: datetime) -> list[Backlog]:
        """What waits for each session, oldest first."""
        with self._database.read() as connection:
            return turns.stats(connection, now)

    # --- turns that have not ended, or wait elsewhere -----------------------------------------------------------------

    def begin(self, turn: Turn) -> None:
        """Keep what is known of a turn whose end the host has not told yet; `append` completes it. Nothing when known."""
        with self._database.write() as connection:
            turns.begin(connection, turn)

    def begun(self, agent: str = "", key: str = "") -> list[Turn]:
        """The turns of a session that began and have not ended, oldest first; without a key those of every session."""
        with self._database.read() as connection:
            return turns.begun(connection, agent, key)

    def as_left(self, turn: Turn) -> Turn:
        """The turn without what was cut out of its beginning while it went on."""
        with self._database.read() as connection:
            return turns.as_left(connection, turn)

    def take_over(self) -> None:
        """Let the turns that wait in another buffer wait here: nobody serves that one any more."""
        with self._database.write() as connection:
            turns.take_over(connection)

    def queued(self, turn: Turn) -> bool:
        """Keep a copy of a turn that waits in another buffer: it is found, and forgotten, here too. False when known."""
        with self._database.write() as connection:
            return turns.queued(connection, turn)

    # --- batches and dead letters -----------------------------------------------------------------------------------

    def store(
        self,
        batch: Batch,
        embedded: Sequence[tuple[Gem, Vector | None]],
        *,
        embedder: EmbedderIdentity | None,
        at: datetime,
        judge: Judge | None = None,
        near: Mapping[str, Sequence[str]] | None = None,
        extractor: ExtractorIdentity | None = None,
        anew: bool = False,
        refused: Sequence[tuple[str, str]] = (),
        read_at: int | None = None,
    ) -> list[Gem] | None:
        """Turns become extracted, gems are judged and stored, in one transaction; returns the gems that are new.

        None, and nothing changed, when one of the turns is no work any more: another batch extracted it, or it was set
        aside or forgotten. Forgotten contents are skipped. The turns may come from another buffer.
        judge: merges, replaces and drops; without one only what is said word for word merges. near: ids of gems near
        each gem by vector. anew: the batch was stored before; all it said then is taken back in the same transaction.
        refused: (content, why) of drafts that became no gem; kept with the batch, to be looked at and forgotten with it.
        read_at: what `erasing.begun` said before the turns were read; None is returned, too, when a forgetting came since.
        """
        with self._database.write() as connection:
            if read_at is not None and forgetting.begun(connection) != read_at:
                return None
            taken = gems.take_back(connection, batch.batch_id) if anew else []
            if not anew and turns.final(connection, [turn.turn_id for turn in batch.turns]):
                return None
            turns.settle(connection, batch, EXTRACTED)
            writer = Writer(connection, self._word_counts, batch.batch_id, at, embedder, judge, near or {})
            said = {turn.turn_id: turn.at for turn in batch.turns}
            outcomes = []
            for place, (gem, vector) in enumerate(embedded):
                said_at = max((said[i] for i in gem.evidence if i in said), default=settling.at_of(gem))
                outcomes.append((gem, writer.write(gem, vector, said_at=said_at, place=place)))
            for place, (content, why) in enumerate(refused, len(embedded)):
                gems.drop(connection, batch.batch_id, place, content, why)
            settling.settle(connection, taken, at)
            new = [gem for gem, judged in outcomes if judged.outcome == "new"]
            batches.stored(connection, batch, len(new), at)
            made = _made(extractor or ExtractorIdentity("unknown", "0"), [judged for _, judged in outcomes])
            batches.note_made(connection, batch.batch_id, made)
            found = {"gems.merged": made.same, "gems.replaced": made.replaced, "gems.dropped": made.dropped}
            labels.add(connection, {name: number for name, number in found.items() if number})
            return new

    def batch(self, batch_id: str) -> BatchDetail | None:
        """All there is to say of the batch of this id, or of the only one whose id begins so; else None."""
        with self._database.read() as connection:
            return settling.detail(connection, batch_id)

    def statements(self, gem_id: str) -> list[Statement]:
        """Each time that a gem was said, earliest first."""
        with self._database.read() as connection:
            row = gems.row_of(connection, gem_id)
            return gems.of_gem(connection, row) if row is not None else []

    def links(self, gem_id: str) -> list[Link]:
        """The gems that it replaced or that replaced it, and why."""
        with self._database.read() as connection:
            return gems.links_of(connection, gem_id)

    def by_hand(self, gem_id: str) -> list[str]:
        """The fields that a person set."""
        with self._database.read() as connection:
            return sorted(gems.hand(connection, gem_id))

    def undo(self, batch_id: str, at: datetime, *, dry_run: bool = False) -> Undone | None:
        """Take back what a stored batch said: gems that only it supports go, what it replaced holds again.

        Edits by hand are kept. Its turns stay extracted: they do not come back by themselves. None when it was not
        stored. dry_run: tell what would happen, and change nothing.
        """
        if dry_run:
            with self._database.read() as connection:
                return settling.foreseen(connection, batch_id)
        with self._database.write() as connection:
            return settling.undo(connection, batch_id, at)

    def extracted(self, turn_ids: Sequence[str]) -> set[str]:
        """Those of the turns that are no work any more: extracted, dead, forgotten or unreadable."""
        with self._database.read() as connection:
            return turns.final(connection, turn_ids)

    def bury(self, batch: Batch, reason: str, at: datetime) -> None:
        """Set the batch aside as a dead letter; its turns are kept."""
        with self._database.write() as connection:
            turns.settle(connection, batch, DEAD)
            batches.buried(connection, batch, reason, at)

    def dead(self) -> list[DeadBatch]:
        """The dead letters, oldest first."""
        with self._database.read() as connection:
            return batches.dead(connection)

    def revive(self, batch_id: str) -> bool:
        """Put a dead letter's turns back: they wait in this file, whichever buffer they came from."""
        with self._database.write() as connection:
            return batches.revive(connection, batch_id)

    def attempts(self, batch_id: str) -> int:
        """How often an answer for this batch was refused."""
        with self._database.read() as connection:
            return batches.attempts(connection, batch_id)

    def fail(self, batch: Batch, reason: str) -> int:
        """Count a refused answer, durably; returns how many there were."""
        with self._database.write() as connection:
            return batches.refused(connection, batch, reason, utc_now())

    def batches(self, limit: int = 50) -> list[BatchRow]:
        """The newest batches first."""
        with self._database.read() as connection:
            return batches.latest(connection, limit)

    # --- turns ------------------------------------------------------------------------------------------------------

    def history(self, session: Session, before: Turn, limit: int) -> list[Turn]:
        """The last `limit` extracted turns of the same epoch before this one, oldest first."""
        with self._database.read() as connection:
            return turns.history(connection, session, before, limit)

    def turns(self, turn_ids: Sequence[str]) -> list[Turn]:
        """The turns of these ids, in this order; unknown and forgotten ones are left out."""
        with self._database.read() as connection:
            return turns.read(connection, turn_ids)

    def turns_after(self, seq: int, limit: int = 200) -> list[tuple[int, Turn]]:
        """The next turns behind this number, with their own numbers, in the order in which they came here; 0 = the first."""
        with self._database.read() as connection:
            return turns.after(connection, seq, limit)

    def waiting_turns(self, agent: str, limit: int) -> list[Turn]:
        """The last turns of an agent in any session that nothing was made from yet, newest first."""
        with self._database.read() as connection:
            return turns.waiting(connection, agent, limit)

    def session_turns(self, agent: str, key: str) -> list[Turn]:
        """All turns of a session that can be read, over its epochs, oldest first."""
        with self._database.read() as connection:
            return turns.of_session(connection, agent, key)

    def known_turns(self, turn_ids: Sequence[str]) -> set[str]:
        """Those of the turns that were ever accepted in this file, forgotten ones included."""
        with self._database.read() as connection:
            return turns.known(connection, turn_ids)

    def turns_around(self, session: Session, at: datetime, within: timedelta) -> list[Turn]:
        """The turns of the session, whatever its epoch, said at most so long before or after."""
        with self._database.read() as connection:
            return turns.around(connection, session, at, within)

    # --- gems -------------------------------------------------------------------------------------------------------

    def gem(self, gem_id: str) -> Gem | None:
        """The gem of this id, or the only one whose id begins so; None when there is none or more than one."""
        with self._database.read() as connection:
            return gems.find(connection, gem_id)

    def gems(
        self,
        scope: Scope | None = None,
        *,
        gem_ids: Sequence[str] | None = None,
        text: str = "",
        tag: str = "",
        superseded: bool = False,
        kind: Kind | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[Gem]:
        """The gems that pass every filter given, newest first.

        scope: agent and user equal; its project, when given, or none. text: in content or summary, in any letter case.
        tag: this one or one below it, under any of its names, inferred ones included.
        """
        with self._database.read() as connection:
            tagged = tagging.gems_with(connection, tag, scope) if tag else None
            wanted = gems.Filter(scope, gem_ids, text, tagged, superseded, kind.value if kind else "")
            return gems.select(connection, wanted, limit, offset)

    def gem_count(self, scope: Scope | None = None) -> int:
        """How many gems there are, superseded ones included; of the scope's agent and user when it is given."""
        with self._database.read() as connection:
            known = (scope.agent, scope.user) if scope else None
            return gems.count(connection, known)

    def edit(
        self,
        gem_id: str,
        *,
        content: str | None = None,
        summary: str | None = None,
        importance: float | None = None,
        tags: Sequence[str] | None = None,
        topics: Sequence[str] | None = None,
        vector: Vector | None = None,
        embedder: EmbedderIdentity | None = None,
        at: datetime,
    ) -> Gem:
        """Change a gem by hand and return it, marked as edited. Raises NotFound, and BadRequest for a bad importance.

        With a new content its old vectors are dropped; `vector` replaces them, made by `embedder` (else by the one
        that made the last vectors).
        """
        given = {"content": content, "summary": summary, "importance": importance, "tags": tags, "topics": topics}
        changes = {name: value for name, value in given.items() if value is not None}
        if importance is not None and not 0 <= importance <= 1:
            raise BadRequest(f"importance must be 0 to 1 (got {importance})")
        with self._database.write() as connection:
            changed = self._by_hand(connection, gem_id, changes, at)
            if content is not None or vector is not None:
                gems.replace(connection, gem_id, vector, embedder)
            return changed

    def confirm(self, gem_id: str, at: datetime) -> Gem:
        """The owner vouches for it: from now on it counts as the owner's own word. Raises NotFound."""
        with self._database.write() as connection:
            known = gems.get(connection, gem_id)
            tags = tuple(dict.fromkeys((*(known.tags if known else ()), "confirmed")))
            changes = {"origin": Origin.OWNER.value, "confidence": 1.0, "tags": tags}
            return self._by_hand(connection, gem_id, changes, at)

    def _by_hand(self, connection: sqlite3.Connection, gem_id: str, changes: Mapping[str, object], at: datetime) -> Gem:
        row = gems.row_of(connection, gem_id)
        if row is None:
            raise NotFound(f"no gem {gem_id!r}", fix="neuralstream gems list")
        gems.set_hand(connection, gem_id, changes)
        settling.settle(connection, [row], at, edited=True)
        changed = gems.get(connection, gem_id)
        if changed is None:
            raise NotFound(f"no gem {gem_id!r}", fix="neuralstream gems list")
        return changed

    def turn_rows(self) -> list[TurnRow]:
        """Every turn whose text is here, without the text, oldest first."""
        with self._database.read() as connection:
            return turns.rows(connection)

    def keys_of(self, session: str) -> set[tuple[str, str]]:
        """(agent, key) of the sessions of this key, or of this id of the host's."""
        with self._database.read() as connection:
            return turns.keys_of(connection, session)

    def is_buried(self, turn: Turn) -> bool:
        """Whether just this was said before and forgotten, whichever id it has now."""
        with self._database.read() as connection:
            return settling.is_turn_buried(connection, turn)

    def import_gems(
        self,
        embedded: Sequence[tuple[Gem, Vector | None]],
        embedder: EmbedderIdentity | None,
        at: datetime,
        *,
        judge: Judge | None = None,
    ) -> int:
        """Store gems that come from elsewhere, all or none; those here already or forgotten are left alone.

        judge: as for `store`; without one the links that the gems bring are taken as they are.
        """
        with self._database.write() as connection:
            writer = Writer(connection, self._word_counts, gems.BY_HAND, at, embedder, judge)
            added = 0
            for gem, vector in embedded:
                added += writer.write(gem, vector, said_at=settling.at_of(gem), place=0).outcome == "new"
            return added

    def remember(
        self,
        gem: Gem,
        vector: Vector | None,
        embedder: EmbedderIdentity | None,
        at: datetime,
        *,
        judge: Judge,
        remainder: Remainder = lambda *_: None,
    ) -> Kept:
        """Store a gem that a person asked for outright, whatever was forgotten before: the gem that now says it, and what it replaced.

        remainder: what an older gem says besides what this one corrects; it is kept as a gem of its own, with no vector yet.
        """
        with self._database.write() as connection:
            settling.lift(connection, gem)
            writer = Writer(connection, self._word_counts, gems.BY_HAND, at, embedder, judge)
            judged = writer.write(gem, vector, said_at=settling.at_of(gem), place=0)
            if judged.outcome == "dropped":  # asked for: kept nevertheless
                judged = replace(writer, judge=None).write(gem, vector, said_at=settling.at_of(gem), place=0)
            return settling.keep(writer, gem, judged, remainder)

    def take_back(self, gem_id: str, extractor: str, at: datetime) -> Undone | None:
        """Take back what was said of a gem by hand (`extractor` names it): what it replaced holds again; None where nothing was."""
        with self._database.write() as connection:
            return settling.take_back(connection, gem_id, extractor, at)

    def events(self, after: int, limit: int = 500) -> list[GemEvent]:
        """The gem events numbered above `after`, in order."""
        with self._database.read() as connection:
            return gems.events(connection, after, limit)

    def last_event(self) -> int:
        """The number of the last gem event; 0 = none yet."""
        with self._database.read() as connection:
            return gems.last_event(connection)

    # --- vectors and words ------------------------------------------------------------------------------------------

    def gems_of_days(
        self, scope: Scope, first: date | None, last: date | None, *, limit: int, superseded: bool = False
    ) -> list[OfDay]:
        """The most important gems of each day (of a long period, month) from first to last; None = open (`days.best`)."""
        with self._database.read() as connection:
            known = gems.known_scope(connection, scope)
            if known is None:
                return []
            return labels.best(connection, scope, known, (first, last), limit=limit, superseded=superseded)

    def vectors(self, gem_ids: Sequence[str], identity: EmbedderIdentity) -> dict[str, Vector]:
        """The vectors that these gems have of this embedder; gems without one are left out."""
        with self._database.read() as connection:
            return gems.vector_of(connection, gem_ids, identity)

    def set_vectors(self, made: Mapping[str, Vector], identity: EmbedderIdentity) -> None:
        """Set the vectors of these gems; gems that were forgotten meanwhile are passed over."""
        with self._database.write() as connection:
            gems.put_all(connection, made, identity)

    def unembedded(self, identity: EmbedderIdentity, limit: int, *, stale: bool = True) -> list[Gem]:
        """Gems without a vector of this embedder, oldest first; with stale=False only those without any vector."""
        with self._database.read() as connection:
            last, asked = gems.last_event(connection), (identity, stale)
            if self._all_embedded.get(asked) == last:
                return []  # asked every few seconds: nothing happened to any gem since there was nothing to do
            missing = gems.missing(connection, identity, limit, stale=stale)
            if not missing:
                self._all_embedded[asked] = last
            return [gem for gem_id in missing if (gem := gems.get(connection, gem_id)) is not None]

    def embedded_count(self, identity: EmbedderIdentity) -> int:
        """How many gems have a vector of this embedder."""
        with self._database.read() as connection:
            return gems.vector_count(connection, identity)

    def embedded_ids(self, identity: EmbedderIdentity, limit: int, offset: int) -> list[str]:
        """Ids of the gems that have a vector of this embedder, oldest first."""
        with self._database.read() as connection:
            return gems.ids(connection, identity, limit, offset)

    def embedders(self) -> list[EmbedderIdentity]:
        """Every embedder that made a vector of this file, first used first; [] for a new store."""
        with self._database.read() as connection:
            return gems.embedders(connection)

    def beginning(self, starts: Sequence[str], scope: Scope) -> list[str]:
        """The terms of the scope's gems that begin so, some thousands at most."""
        with self._database.read() as connection:
            known = gems.known_scope(connection, scope)
            return schema.beginning(connection, known, starts) if known is not None else []

    def search_words(
        self,
        terms: Sequence[str],
        scope: Scope,
        limit: int,
        *,
        superseded: bool = False,
        weights: Mapping[str, float] | None = None,
    ) -> list[WordHit]:
        """The best gems of the scope by BM25 over these terms (`lexicon.terms`), best first.

        weights: how much each term counts, 1 where it is not named.
        """
        with self._database.read() as connection:
            known = gems.known_scope(connection, scope)
            if known is None:
                return []
            return schema.search(
                connection,
                self._word_counts,
                terms,
                scope,
                known,
                limit=limit,
                superseded=superseded,
                weights=weights,
            )

    def frequencies(self, terms: Sequence[str], scope: Scope | None = None) -> dict[str, int]:
        """How many gems hold each term: of the scope's agent and user, or of all."""
        with self._database.read() as connection:
            known = gems.scope_ids(connection) if scope is None else [gems.known_scope(connection, scope)]
            found = Counter(dict.fromkeys(terms, 0))
            for scope_id in known:
                if scope_id is not None:
                    found.update(self._word_counts.of(connection, scope_id, terms))
            return dict(found)

    # --- counters and notes -----------------------------------------------------------------------------------------

    def count(self, name: str, by: int = 1, *, at: datetime | None = None) -> None:
        """Add to a counter. Kept in memory until the counters are read or the file is closed: it costs no write.

        at: the moment, where the last one is worth a note (`meta` of the same name).
        """
        with self._counting:
            self._counts[name] = self._counts.get(name, 0) + by
            if at is not None:
                self._moments[name] = instant(at)

    def counters(self) -> dict[str, int]:
        """Every counter by name."""
        self._write_counts()
        with self._database.read() as connection:
            return labels.counters(connection)

    def meta(self, key: str) -> str:
        """A note of the file itself; "" when there is none."""
        with self._database.read() as connection:
            return labels.get(connection, key)

    def set_meta(self, key: str, value: str) -> None:
        """Leave a note; an empty value removes it."""
        with self._database.write() as connection:
            labels.put(connection, key, value)

    def _write_counts(self) -> None:
        with self._counting:
            counts, self._counts = self._counts, {}
            moments, self._moments = self._moments, {}
        if counts:
            with self._database.write() as connection:
                labels.add(connection, counts)
                for name, at in moments.items():
                    labels.put(connection, name, at)


def _made(extractor: ExtractorIdentity, outcomes: Sequence[Judgement]) -> Made:
    number = Counter(judged.outcome for judged in outcomes)
    replaced = sum(bool(judged.replaces) for judged in outcomes)
    return Made(extractor, number["new"], number["same"], replaced, number["dropped"])
