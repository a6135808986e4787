"""The story of forgetting: choose, remove in one transaction, then every other place, then the bytes; resumed after a kill.

What is left after the transaction is done in steps, each noted when it is done, beside all other work: extraction goes on
and is given nothing of what is being forgotten (`spare`). Whoever takes in waiting lines holds `intake` for one line at a time.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog

from openclaw_neuralstream import capture
from openclaw_neuralstream.errors import BadRequest, VendorAway, crash
from openclaw_neuralstream.memory import forget_files
from openclaw_neuralstream.memory.forget_files import (
    HOST,
    Chosen,
    Journal,
    Left,
    Reached,
    Receipt,
    What,
    choose,
    in_place,
    pieces_of,
)
from openclaw_neuralstream.memory.parts import Parts
from openclaw_neuralstream.memory.projection import Projection, TurnProjection
from openclaw_neuralstream.memory.reminding import Injected
from openclaw_neuralstream.memory.sequencer import Sequencer
from openclaw_neuralstream.model import Gem, Session, Turn
from openclaw_neuralstream.store.forgetting import Said, cut
from openclaw_neuralstream.store.schema import turn_from_bytes, turn_to_bytes
from openclaw_neuralstream.store.tags import key_of
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.lexicon import sentences
from openclaw_neuralstream.text.lines import instant
from openclaw_neuralstream.text.traces import held, mentions, other_forms, said_in, worth
from openclaw_neuralstream.worker import FairLock

log = structlog.get_logger(__name__)

_RECEIPTS, _ASKED = "forget.receipts", "forget.asked"
_KEPT = 10
_ALL = 100_000_000
_FILES = 100  # of a workspace that are looked through in one step
_FORMS = 20  # other endings that a preview names


class Eraser:
    """Forgets, one step at a time. May be used from any thread."""

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
        self._lock = FairLock()  # of one step; who holds it may ask for `intake`, never the other way round
        self._asking = threading.RLock()
        self.intake = FairLock()
        """Held while a waiting line is taken in, and while something goes from the memory file and the lines that wait:
        no line slips from one to the other in between."""
        self.spools_changed = 0
        """Grows when lines that wait were changed: who has read them reads them again."""
        self._pending: list[Journal] = []
        self._look()
        self._due = bool(self._pending or self._truth.meta("forget.pending"))

    def foresee(self, what: What) -> tuple[Chosen, Receipt]:
        """What would go and what could not; nothing is changed. Raises BadRequest without a criterion."""
        chosen = self._chosen(what)
        after: list[Turn] = []
        said = self._erased(what, chosen, rehearse=after.extend)
        receipt = self._begun(what, said)
        journal = Journal(what, said, receipt)
        reached = self._losing(said.reached, after)
        reached += self._buffers(journal, dry_run=True)
        spooled = forget_files.look_through(self._parts.state.spool, self._meant(journal), write=False)
        receipt.add("spooled events", len(spooled))
        receipt.add("tags", len(self._named(what)))
        for one in self._parts.workspaces.all():
            forget_files.own_lines(one, what.named, receipt)
        receipt.left += self._beyond(what)
        return replace(chosen, reached=(*reached, *spooled), forms=self._forms(what)), receipt

    def forget(self, what: What) -> Receipt:
        """Do it. The receipt is not finished while a service is away: it is tried again until it answers."""
        with self._lock:
            self._begin(what)
            left: dict[tuple[int, str], Left] = {}
            while self._step(left):
                continue
            return self._finish(left)[-1]

    def ask(self, what: What) -> None:
        """Have it forgotten in the background, soon, and also if the process ends before."""
        with self._asking:
            asked = json.loads(self._truth.meta(_ASKED) or "[]")
            now = instant(self._parts.clock())
            self._truth.set_meta(_ASKED, json.dumps([*asked, {**what.to_json(), "at": now}]))
            self._look()
            self._due = True

    def resume(self, stopping: Callable[[], bool] = lambda: False) -> None:
        """Do what was asked for, or what an earlier process, or a service that was away, left undone; costs nothing when nothing was.

        Between two steps others get in who forget, and the work ends when `stopping` says so: all that is done is noted.
        """
        if not self._due:
            return
        while not stopping() and (asked := json.loads(self._truth.meta(_ASKED) or "[]")):
            with self._lock:
                self._begin(What.from_json(asked[0]))
                with self._asking:
                    asked = json.loads(self._truth.meta(_ASKED) or "[]")[1:]
                    self._truth.set_meta(_ASKED, json.dumps(asked) if asked else "")
        left: dict[tuple[int, str], Left] = {}
        while not stopping() and self._step(left):
            continue
        if not stopping():
            self._finish(left)

    @property
    def due(self) -> bool:
        """Whether something is left to be done."""
        return self._due

    def clear_spool(self) -> None:
        """Take what is being forgotten out of the lines that wait, before one of them is taken in."""
        if self._due:
            self._step({}, only="spool")

    def spare(self, turns: Sequence[Turn]) -> list[Turn]:
        """What of these waiting turns may become gems while a forgetting is pending; all of a turn is refused where nothing may."""
        kept = list(turns)
        for journal in self._pending:
            places, words = self._places(journal.what), worth(journal.trace().words)
            meant = {turn.turn_id for turn in kept if turn.at <= journal.until}
            left = [(turn, _left_of(turn, journal, words, places) if turn.turn_id in meant else turn) for turn in kept]
            if gone := [turn for turn, rest in left if rest is None]:
                self._truth.erasing.refuse(gone, self._parts.clock())
            kept = [rest for _, rest in left if rest is not None]
        return kept

    def _look(self) -> None:
        """See what is not done: begun ones, oldest first, then those that were only asked for."""
        with self._asking:
            asked = json.loads(self._truth.meta(_ASKED) or "[]")
            now = instant(self._parts.clock())
            only_asked = [Journal(What.from_json(one), Said(), Receipt(at=one.get("at", now))) for one in asked]
            self._pending = [*map(Journal.read, self._truth.erasing.unfinished()), *only_asked]

    def _begin(self, what: What) -> None:
        """Take it out of the memory file and the lines that wait, in one go for whoever takes in lines."""
        with self.intake:
            self._due = True
            self._erased(what, self._chosen(what))
            self._look()
            self._step({}, only="spool")

    def _chosen(self, what: What) -> Chosen:
        if not what.asks:
            raise BadRequest(
                "nothing says what to forget", fix="name gems, turns, words, a session, a person, an entity or a time"
            )
        places = self._places(what)
        gems = self._truth.gems(superseded=True, limit=_ALL, gem_ids=what.gems or None)
        return choose(what, gems, self._truth.turn_rows(), places, self._truth.turns)

    def _erased(
        self, what: What, chosen: Chosen, *, rehearse: Callable[[Sequence[Turn]], object] | None = None
    ) -> Said:
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

    def _step(self, left: dict[tuple[int, str], Left], *, only: str = "") -> bool:
        """Do the first step that is not done, of the oldest forgetting that has one, and note it; False when there is none.

        left: the steps that must wait for a service, by the place of their forgetting; they are passed over and added to.
        only: the name of the step that alone is wanted, of all forgettings.
        """
        with self._lock:
            journals = [Journal.read(one) for one in self._truth.erasing.unfinished()]
            due = [
                (at, name, step)
                for at, journal in enumerate(journals)
                for name, step in self._steps().items()
                if name not in journal.done and (at, name) not in left and only in ("", name)
            ]
            for at, name, step in due if only else due[:1]:
                try:
                    ended = step(journals[at])
                except VendorAway as error:
                    left[at, name] = Left("waiting turns", error.what, "it is tried again until the service answers")
                    continue
                except OSError as error:  # one bad file keeps nothing else from being forgotten
                    left[at, name] = Left(
                        name, f"{error.strerror} ({error.filename})", "it is tried again until it can"
                    )
                    continue
                except (
                    Exception
                ) as error:  # border: whatever fails in one step, the others and the next forgetting go on
                    log.exception("forget.step_failed", step=name)
                    left[at, name] = Left(
                        name, crash(error), "it is tried again; neuralstream admin logs --level error"
                    )
                    continue
                if ended is not False:
                    journals[at].done.append(name)
                    journals[at].reached.pop(name, None)
                self._truth.erasing.note([journal.to_json() for journal in journals])
            self._look()
        return bool(due)

    def _finish(self, left: Mapping[tuple[int, str], Left]) -> list[Receipt]:
        """End every forgetting of which all is done, down to the bytes of its note; returns the receipts of all, the oldest first."""
        with self._lock:
            journals = [Journal.read(one) for one in self._truth.erasing.unfinished()]
            followed = bool(journals) and self._followed()
            steps = set(self._steps())
            ended = [journal for journal in journals if followed and steps <= set(journal.done)]
            for journal in ended:
                journal.receipt.left += self._beyond(journal.what)
                journal.receipt.finished = True
            unfinished = [journal.to_json() for journal in journals if not journal.receipt.finished]
            if ended:
                receipts = [*(journal.receipt.to_json() for journal in ended[::-1]), *last_receipts(self._truth)]
                self._truth.erasing.finish(_RECEIPTS, json.dumps(receipts[:_KEPT]), unfinished)
            else:
                self._truth.erasing.wipe()
            for journal in ended:
                counts = {name.replace(" ", "_"): count for name, count in journal.receipt.removed.items()}
                log.info("forgotten", by=journal.receipt.by, left=len(journal.receipt.left), **counts)
            self._look()
            self._due = bool(self._pending or self._truth.meta("forget.pending"))
            return [
                replace(
                    journal.receipt, left=[*journal.receipt.left, *(one for (of, _), one in left.items() if of == at)]
                )
                for at, journal in enumerate(journals)
            ]

    def _steps(self) -> Mapping[str, Callable[[Journal], object]]:
        """Each may be done twice. One that returns False is to be called again: it has come as far as its journal says."""
        state = self._parts.state
        return {
            "spool": self._spool,
            "tags": self._tags,
            "buffers": self._buffers,
            "injected": self._given,
            "log": lambda journal: forget_files.own_log(state, journal.trace(), journal.receipt),
            "reflections": lambda journal: forget_files.reflections(state, journal.trace(), journal.receipt),
            "set aside": lambda journal: forget_files.set_aside(state, journal.trace(), journal.receipt),
            "pages": self._pages,
            "sequences": self._sequences,
        }

    def _followed(self) -> bool:
        """Whether the indexes have forgotten it, too."""
        found = self._projection.catch_up()
        wiped = self._sequencer is None or self._sequencer.index.wipe()
        return self._turns.catch_up() and found and wiped

    def _spool(self, journal: Journal) -> None:
        with self.intake:
            found = forget_files.look_through(self._parts.state.spool, self._meant(journal))
            self.spools_changed += bool(found)
        journal.receipt.add("spooled events", len(found))

    def _meant(self, journal: Journal) -> forget_files.Meant:
        def read(params: Mapping[str, Any], now: datetime) -> Turn | None:
            try:
                turn = capture.read_turn(params, now=now, settings=self._parts.settings)
            except BadRequest:
                return None
            return turn if isinstance(turn, Turn) else None

        return forget_files.Meant(journal.what, journal.trace(), journal.until, self._places(journal.what), read)

    def _losing(self, turn_ids: Sequence[str], after: Sequence[Turn]) -> list[Reached]:
        """These turns with what they lose. after: what is left of them."""
        rest = {turn.turn_id: turn for turn in after}
        return [_lost("memory", turn, rest.get(turn.turn_id)) for turn in self._truth.turns(turn_ids)]

    def _forms(self, what: What) -> dict[str, int]:
        """Other endings of what is asked for, and in how many gems and turns they stand: they are not meant."""
        found: Counter[str] = Counter()
        if what.gems or not what.words:
            return {}
        gems = self._truth.gems(superseded=True, limit=_ALL)
        said = [f"{gem.content}\n{gem.summary}" for gem in gems]
        turns = self._truth.turns([row.turn_id for row in self._truth.turn_rows()])
        said += ["\n".join(one.text for one in turn.utterances) for turn in turns]
        for text in said:
            found.update(other_forms(text, what.words))
        return dict(found.most_common(_FORMS))

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

    def _pages(self, journal: Journal) -> bool:
        """A few files of the workspaces; False while there are more."""
        root, _, after = journal.reached.get("pages", "").partition("\n")
        for one in self._parts.workspaces.all():
            here = str(one.root)
            if here < root:
                continue
            reached = forget_files.workspace(
                one,
                journal.trace(),
                journal.receipt,
                journal.what.named,
                after=after if here == root else "",
                most=_FILES,
            )
            if reached:
                journal.reached["pages"] = f"{here}\n{reached}"
                return False
        return True

    def _sequences(self, journal: Journal) -> bool:
        """Questions and answers say what their turns say now, and so do their files; the user's own topics are cited.

        A few at a time; False while there are more. They are counted as turns already: here is nothing that is not said there.
        """
        if self._sequencer is None:
            return True
        if after := self._sequencer.reconcile_some(int(journal.reached.get("sequences", 0))):
            journal.reached["sequences"] = str(after)
            return False
        trace, what = journal.trace(), journal.what
        asked = [words for words in (what.words, what.person, what.entity) if words]
        cites = lambda line: trace.in_line(line) or any(mentions(line, words) for words in asked)  # noqa: E731
        for place in self._sequencer.forget_in_files(trace.in_text, cites):
            journal.receipt.left.append(
                Left(place, "a topic of your own says it", "neuralstream qa topics remove, or edit the file")
            )
        return True

    def _places(self, what: What) -> set[tuple[str, str]]:
        return self._truth.keys_of(what.session) | {(what.agent, what.session)} if what.session else set()

    def _buffers(self, journal: Journal, *, dry_run: bool = False) -> list[Reached]:
        """Turns that wait outside of the memory file: those that lose something. Raises VendorAway."""
        what, receipt = journal.what, journal.receipt
        places = self._places(what)
        words = worth(journal.trace().words)
        reached: list[Reached] = []
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
                if after != body:
                    changed.append(turn.turn_id)
                    reached.append(_lost("buffer", turn, left if left and left.utterances else None))
                return body if dry_run else after

            revise(change)
            receipt.add("waiting turns", len(changed))
            if refused and not dry_run:
                self._truth.erasing.refuse(refused, self._parts.clock())
        return reached

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
        pieces += held("\0".join(said.text for said in turn.utterances), words)
        pieces += [piece for said in turn.utterances for piece in said_in(said.text, journal.said.contents)]
    if here and (what.words or what.person or what.entity) and not what.gems:
        pieces += pieces_of(what, turn)
    return cut(turn, pieces) if pieces else turn


def _lost(where: str, turn: Turn, left: Turn | None) -> Reached:
    """What a turn loses. left: what is left of it; None = nothing."""
    rest = [said.text for said in left.utterances] if left else []
    gone = [
        sentence
        for number, said in enumerate(turn.utterances)
        for sentence in ([said.text] if left is None else sentences(said.text))
        if left is None or sentence not in rest[number]
    ]
    return Reached(where, turn.turn_id, turn.session.key, instant(turn.at), tuple(gone), left is None)


def _entities(gems: Sequence[Gem]) -> list[str]:
    return sorted({entity for gem in gems for entity in gem.entities})
