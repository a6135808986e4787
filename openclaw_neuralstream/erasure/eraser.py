"""The story of forgetting: choose, remove in one transaction, then every other place, then the bytes; resumed after a kill."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import structlog

from openclaw_neuralstream.erasure import files, pages
from openclaw_neuralstream.erasure.choosing import choose, in_place, pieces_of
from openclaw_neuralstream.erasure.journal import Journal
from openclaw_neuralstream.erasure.values import HOST, Chosen, Left, Receipt, What
from openclaw_neuralstream.errors import BadRequest, VendorAway
from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.injected import Injected
from openclaw_neuralstream.model import Gem, Session, Turn
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.projection import Projection
from openclaw_neuralstream.sequencing import Sequencer
from openclaw_neuralstream.store.codec import turn_from_bytes, turn_to_bytes
from openclaw_neuralstream.store.cutting import cut
from openclaw_neuralstream.store.erasing import ERASING
from openclaw_neuralstream.store.forgetting import Said
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.tags import key_of
from openclaw_neuralstream.traces import holds, names, said_in, worth
from openclaw_neuralstream.turn_projection import TurnProjection

log = structlog.get_logger(__name__)

_RECEIPTS, _ASKED = "forget.receipts", "forget.asked"
_KEPT = 10
_ALL = 100_000_000


class Eraser:
    """Forgets, one request at a time. May be used from any thread."""

    def __init__(
        self,
        parts: Parts,
        projection: Projection,
        turns: TurnProjection,
        injected: Injected,
        sequencer: Sequencer | None = None,
    ) -> None:
        self._parts = parts
        self._injected = injected
        self._sequencer = sequencer
        self._truth = parts.truth
        self._projection = projection
        self._turns = turns
        self._lock = threading.RLock()
        self._due = bool(self._truth.meta(ERASING) or self._truth.meta(_ASKED))

    def foresee(self, what: What) -> tuple[Chosen, Receipt]:
        """What would go and what could not; nothing is changed. Raises BadRequest without a criterion."""
        with self._lock:
            chosen = self._chosen(what)
            said = self._erased(what, chosen, rehearse=True)
            receipt = self._begun(what, said)
            self._buffers(Journal(what, said, receipt), dry_run=True)
            receipt.add("tags", len(self._named(what)))
            for one in self._parts.workspaces.all():
                pages.own_lines(one, what.named, receipt)
            receipt.left += self._beyond(what)
            return chosen, receipt

    def forget(self, what: What) -> Receipt:
        """Do it. The receipt is not finished while a service is away: it is tried again until it answers."""
        with self._lock:
            self.resume()
            chosen = self._chosen(what)
            self._due = True
            self._erased(what, chosen)
            return self._go_on()[-1]

    def ask(self, what: What) -> None:
        """Have it forgotten in the background, soon, and also if the process ends before."""
        with self._lock:
            asked = json.loads(self._truth.meta(_ASKED) or "[]")
            self._truth.set_meta(_ASKED, json.dumps([*asked, what.to_json()]))
            self._due = True

    def resume(self) -> None:
        """Do what an earlier process, or a service that was away, left undone; costs nothing when nothing was."""
        if not self._due:
            return
        with self._lock:
            asked = json.loads(self._truth.meta(_ASKED) or "[]")
            while asked:
                what = What.from_json(asked.pop(0))
                self._erased(what, self._chosen(what))
                self._truth.set_meta(_ASKED, json.dumps(asked) if asked else "")
            self._go_on()

    def _chosen(self, what: What) -> Chosen:
        if not what.asks:
            raise BadRequest(
                "nothing says what to forget", fix="name gems, turns, words, a session, a person, an entity or a time"
            )
        places = self._places(what)
        gems = self._truth.gems(superseded=True, limit=_ALL, gem_ids=what.gems or None)
        return choose(what, gems, self._truth.turn_rows(), places, self._truth.turns)

    def _erased(self, what: What, chosen: Chosen, *, rehearse: bool = False) -> Said:
        ids = [gem.gem_id for gem in chosen.gems]
        entities = _entities(chosen.gems)

        def journal(said: Said) -> dict[str, Any]:
            return Journal(what, said, self._begun(what, said), entities).to_json()

        now = self._parts.clock()
        return self._truth.erasing.erase(ids, chosen.turns, chosen.cuts, now, journal=journal, rehearse=rehearse)

    def _begun(self, what: What, said: Said) -> Receipt:
        receipt = Receipt(at=instant(self._parts.clock()), by=what.by, asked=what.asks)
        found = {
            "gems": len(said.gem_ids), "vectors": said.vectors, "statements": said.statements, "turns": said.turns,
            "turns in part": said.cut, "other texts": said.elsewhere, "dead letters": said.dead,
        }  # fmt: skip
        for name, count in found.items():
            receipt.add(name, count)
        return receipt

    def _go_on(self) -> list[Receipt]:
        """Do what is left of every forgetting that was begun, the oldest first; returns their receipts.

        One that a service keeps from its end stays noted with what is left of it, whatever is forgotten meanwhile.
        """
        kept = self._truth.erasing.unfinished()
        journals = [Journal.read(one) for one in kept]
        waiting = [self._done(journal) for journal in journals]
        followed = bool(journals) and self._followed()
        ended = [journal for journal, left in zip(journals, waiting, strict=True) if followed and not left]
        for journal in ended:
            journal.receipt.left += self._beyond(journal.what)
            journal.receipt.finished = True
        unfinished = [journal.to_json() for journal in journals if not journal.receipt.finished]
        if ended:
            receipts = [*(journal.receipt.to_json() for journal in ended[::-1]), *last_receipts(self._truth)]
            self._truth.erasing.finish(_RECEIPTS, json.dumps(receipts[:_KEPT]), unfinished)
        elif unfinished != kept:
            self._truth.erasing.note(unfinished)
        for journal in ended:
            counts = {name.replace(" ", "_"): count for name, count in journal.receipt.removed.items()}
            log.info("forgotten", by=journal.receipt.by, left=len(journal.receipt.left), **counts)
        self._due = bool(unfinished)
        return [
            replace(journal.receipt, left=[*journal.receipt.left, *left])
            for journal, left in zip(journals, waiting, strict=True)
        ]

    def _done(self, journal: Journal) -> list[Left]:
        """Do the steps that are not done yet, each of which may be done twice; returns what must wait for a service."""
        waiting: list[Left] = []
        for name, step in self._steps().items():
            if name in journal.done:
                continue
            try:
                step(journal)
            except VendorAway as error:
                waiting.append(Left("waiting turns", error.what, "it is tried again until the service answers"))
            else:
                journal.done.append(name)
        return waiting

    def _steps(self) -> Mapping[str, Callable[[Journal], None]]:
        state = self._parts.state
        return {
            "tags": self._tags,
            "buffers": self._buffers,
            "injected": self._given,
            "spool": lambda journal: files.spool_and_log(state, journal.trace(), journal.receipt),
            "reflections": lambda journal: files.reflections(state, journal.trace(), journal.receipt),
            "set aside": lambda journal: files.set_aside(state, journal.trace(), journal.receipt),
            "pages": self._pages,
            "sequences": self._sequences,
        }

    def _followed(self) -> bool:
        """Whether the indexes have forgotten it, too."""
        found = self._projection.catch_up()
        return self._turns.catch_up() and found

    def _tags(self, journal: Journal) -> None:
        for name in self._named(journal.what):
            with suppress(BadRequest):  # it went with another of its names
                self._truth.tags.remove(name)
            journal.receipt.add("tags", 1)

    def _named(self, what: What) -> list[str]:
        """The tags and aliases that a person made of just this name: they would tell of it still."""
        graph = self._truth.tags.graph()
        asked = (what.words, what.person, what.entity)
        return sorted({graph.names[key] for name in asked if (key := key_of(name)) in graph.names})

    def _given(self, journal: Journal) -> None:
        """What the turns of a session were given goes with them; what stands in a window is chosen anew."""
        what = journal.what
        self._injected.drop_briefs()
        for agent, key in self._places(what) if what.whole else ():
            session = Session(agent, key, "")
            noted = [shown.turn_id for shown in self._injected.of(session)]
            if what.agent not in ("", agent) or not noted:
                continue
            if what.epoch is not None or what.since or what.until or what.turns:
                here = {turn.turn_id for turn in self._truth.turns(noted)}
                self._injected.drop(session, self._truth.known_turns(noted) - here)
            else:
                self._injected.drop(session)

    def _pages(self, journal: Journal) -> None:
        for one in self._parts.workspaces.all():
            pages.workspace(one, journal.trace(), journal.receipt, journal.what.named)

    def _sequences(self, journal: Journal) -> None:
        """Questions and answers say what their turns say now, and so do their files; the user's own topics are cited.

        They are counted as turns already: here is nothing that is not said there.
        """
        if self._sequencer is None:
            return
        self._sequencer.reconcile()
        trace, what = journal.trace(), journal.what
        asked = [words for words in (what.words, what.person, what.entity) if words]
        cites = lambda line: trace.in_line(line) or any(names(line, words) for words in asked)  # noqa: E731
        for place in self._sequencer.forget_in_files(trace.in_text, cites):
            journal.receipt.left.append(
                Left(place, "a topic of your own says it", "neuralstream qa topics remove, or edit the file")
            )

    def _places(self, what: What) -> set[tuple[str, str]]:
        return self._truth.keys_of(what.session) | {(what.agent, what.session)} if what.session else set()

    def _buffers(self, journal: Journal, *, dry_run: bool = False) -> None:
        """Turns that wait outside of the memory file. Raises VendorAway."""
        what, receipt = journal.what, journal.receipt
        places = self._places(what)
        words = worth(journal.trace().words)
        for buffer in self._parts.buffers[:-1]:
            revise = getattr(buffer, "revise", None)
            if revise is None:
                receipt.left.append(Left(type(buffer).__name__, "a plugin's buffer cannot be looked through"))
                continue
            refused: list[Turn] = []
            changed: list[str] = []

            def change(body: bytes, refused: list[Turn] = refused, changed: list[str] = changed) -> bytes:
                try:
                    turn = turn_from_bytes(body)
                except BadRequest:
                    return body
                left = _left_of(turn, journal, words, places) if turn.utterances else turn
                if left is turn and turn.utterances:
                    return body
                if left is None or not left.utterances:  # emptied by an earlier try: its id is noted all the same
                    refused.append(turn)
                after = turn_to_bytes(left or replace(turn, utterances=()))
                changed += [turn.turn_id] if after != body else []
                return body if dry_run else after

            revise(change)
            receipt.add("waiting turns", len(changed))
            if refused and not dry_run:
                self._truth.erasing.refuse(refused, self._parts.clock())

    def _beyond(self, what: What) -> list[Left]:
        """Where we do not reach, and what to do there."""
        left = [
            Left(
                "backups",
                "archives that you made hold what was remembered then",
                "delete them, and make a new one: neuralstream backup",
            ),
        ]
        if what.by != HOST:
            left.append(
                Left(
                    "OpenClaw's transcripts",
                    "they are the host's own, and nothing comes back from them",
                    "delete the session in OpenClaw",
                )
            )
        if self._parts.choices["buffer"].name == "redis":
            left.append(
                Left("Redis", "its append-only file keeps old commands until it is rewritten", "redis-cli BGREWRITEAOF")
            )
        if self._parts.choices["index"].name == "qdrant":
            left.append(Left("Qdrant", "it drops deleted points when it next optimises its segments, by itself"))
        return left


def last_receipts(truth: Truth) -> list[dict[str, Any]]:
    """The last receipts, newest first: counts and places, no words."""
    found = json.loads(truth.meta(_RECEIPTS) or "[]")
    return found if isinstance(found, list) else []


def _left_of(turn: Turn, journal: Journal, words: Sequence[str], places: set[tuple[str, str]]) -> Turn | None:
    """A waiting turn without what is forgotten; as it is when nothing of it is meant; None when all of it goes."""
    what, session = journal.what, turn.session
    here = in_place(what, (session.agent, session.key), session.epoch, turn.at, places)
    here = here and (not what.turns or turn.turn_id in what.turns)
    if what.whole:
        return None if here else turn
    pieces: list[str] = []
    if turn.scope.agent in journal.said.agents:
        pieces += [piece for piece in words if any(holds(said.text, [piece]) for said in turn.utterances)]
        pieces += [piece for said in turn.utterances for piece in said_in(said.text, journal.said.contents)]
    if here and (what.words or what.person or what.entity) and not what.gems:
        pieces += pieces_of(what, turn)
    return cut(turn, pieces) if pieces else turn


def _entities(gems: Sequence[Gem]) -> list[str]:
    return sorted({entity for gem in gems for entity in gem.entities})
