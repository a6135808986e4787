"""What a model is told unasked: before a turn, for a whole window, when a sub-agent begins."""

from __future__ import annotations

import json
import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from openclaw_neuralstream.memory.assembly import Assembler, Blocks, Recalls, days_ago, short_day
from openclaw_neuralstream.memory.gemcraft import BY_HAND_TAG, HEARSAY
from openclaw_neuralstream.model import OWNER, Block, Child, Gem, Kind, Origin, Query, Recall, Record, Scope, Session
from openclaw_neuralstream.recall import Shape, Window, record_of
from openclaw_neuralstream.recall.fit import layered
from openclaw_neuralstream.settings import Settings
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.lexicon import (
    concerns_body,
    content_terms,
    harms_the_house,
    names_harm,
    off_record,
    tells_of_another,
)
from openclaw_neuralstream.text.lines import clean_record, instant

_ASKED = 200  # conversations whose last question is remembered
_HEARD = 1000  # conversations whose last speaker is remembered
_MESSAGES = 4  # of the dialogue before a question that are given with it

_Value = TypeVar("_Value")


class Conversations:
    """The last question and the last speaker of each conversation, of those heard lately. May be used from any thread."""

    def __init__(self) -> None:
        self._questions: dict[tuple[str, str], Query] = {}
        self._speakers: dict[tuple[str, str], str] = {}
        self._noting = threading.Lock()

    def ask(self, session: Session, query: Query) -> None:
        """What was asked last in a session; a sub-agent that it starts is briefed with it in mind."""
        with self._noting:
            _put(self._questions, session, query, most=_ASKED)

    def asked(self, session: Session, scope: Scope) -> tuple[str, ...]:
        """The last question there behind the messages before it; () where nobody of this scope has asked."""
        query = self._questions.get((session.agent, session.key))
        return (*query.dialogue[-_MESSAGES:], query.text) if query and query.scope == scope else ()

    def hear(self, session: Session, user: str) -> None:
        """Who spoke last in a conversation, or for whom a sub-agent works; what is done on his behalf is his."""
        with self._noting:
            _put(self._speakers, session, user, most=_HEARD)

    def heard(self, session: Session) -> str:
        """The user who spoke last there; "" when nobody was heard since this process began."""
        return self._speakers.get((session.agent, session.key), "")


def _put(kept: dict[tuple[str, str], _Value], session: Session, value: _Value, *, most: int) -> None:
    """Keep a conversation's value as the newest; the oldest go when there are more than `most`."""
    kept.pop((session.agent, session.key), None)
    kept[session.agent, session.key] = value
    while len(kept) > most:
        del kept[next(iter(kept))]


MOST_TURNS = 50
"""Turns of a session of which it is kept."""

_NAME, _BRIEF = "injected", "brief"
_OPEN = 200  # prompts whose turn has not ended yet


class Notes(Protocol):
    """Small named texts about a session that survive the process."""

    def session_note(self, session: Session, name: str) -> str: ...  # noqa: D102
    def note_session(self, session: Session, name: str, value: str, now: datetime) -> None: ...  # noqa: D102
    def drop_session_notes(self, name: str) -> None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Shown:
    """What one turn was given. brief: how many of the records were of the session's brief."""

    turn_id: str
    records: tuple[str, ...]
    tokens: int
    brief: int = 0


class Injected:
    """Noted in memory while a reply waits, written when its turn has ended."""

    def __init__(self, notes: Notes, clock: Callable[[], datetime]) -> None:
        self._notes = notes
        self._now = clock
        self._open: dict[str, Shown] = {}
        self._briefs: dict[tuple[Session, Scope], Block] = {}
        self._unwritten: set[Session] = set()
        self._generation = 0
        self._lately: deque[tuple[str, tuple[str, ...]]] = deque(maxlen=_OPEN)
        self._lock = threading.Lock()

    def lately(self, agent: str) -> list[str]:
        """Ids of the records that this process has put before an agent's model of late, the newest first."""
        with self._lock:
            return [id_ for owner, ids in reversed(self._lately) if owner == agent for id_ in ids]

    def showed(self, agent: str, records: tuple[str, ...]) -> None:
        """An agent's model was shown these beside its turns: short citations of them are known."""
        with self._lock:
            self._lately.append((agent, records))

    def note(self, turn_id: str, block: Block, *, agent: str = "", brief: int = 0) -> None:
        """This turn is given this block; costs no write."""
        with self._lock:
            self._lately.append((agent, block.records))
            self._open[turn_id] = Shown(turn_id, block.records, block.tokens, brief)
            while len(self._open) > _OPEN:
                del self._open[next(iter(self._open))]

    @property
    def generation(self) -> int:
        """Grows with every forgetting and every new window: a brief chosen before it does not stand after it."""
        return self._generation

    def brief(self, session: Session, scope: Scope) -> Block | None:
        """The brief of this window for who speaks, byte for byte as it was first given; None where none was yet."""
        with self._lock:
            if (session, scope) not in self._briefs and (known := self._noted(session).get(scope)) is not None:
                self._briefs[session, scope] = known
            return self._briefs.get((session, scope))

    def stand(self, session: Session, scope: Scope, brief: Block, *, since: int) -> None:
        """This brief stands for the window from now on; it is written when the turn has ended. since: the generation it is of."""
        with self._lock:
            if since != self._generation:
                return
            self._briefs[session, scope] = brief
            self._unwritten.add(session)
            while len(self._briefs) > _OPEN:
                del self._briefs[next(iter(self._briefs))]

    def new_window(self, session: Session) -> None:
        """What stood in the window is gone: the next request is briefed anew."""
        with self._lock:
            self._generation += 1
            for key in [key for key in self._briefs if key[0] == session]:
                del self._briefs[key]
            self._unwritten.discard(session)
            self._notes.note_session(session, _BRIEF, "", self._now())

    def drop_briefs(self) -> None:
        """Something that a brief may tell was forgotten or changed by hand: every window is briefed anew."""
        with self._lock:
            self._generation += 1
            self._briefs.clear()
            self._unwritten.clear()
            self._notes.drop_session_notes(_BRIEF)

    def _noted(self, session: Session) -> dict[Scope, Block]:
        """The briefs of this window that were written, by whom they are for."""
        try:
            rows = json.loads(self._notes.session_note(session, _BRIEF) or "[]")
            return {
                Scope(*row["scope"]): Block(str(row["text"]), tuple(map(str, row["records"])), int(row["tokens"]))
                for row in rows
                if row["epoch"] == session.epoch
            }
        except (ValueError, TypeError, KeyError, AttributeError):
            return {}

    def _write_briefs(self, session: Session) -> None:
        if session not in self._unwritten:
            return
        self._unwritten.discard(session)
        here = {scope: brief for (of, scope), brief in self._briefs.items() if of == session}
        rows = [
            {"epoch": session.epoch, "scope": astuple(scope), "text": b.text, "records": b.records, "tokens": b.tokens}
            for scope, b in (self._noted(session) | here).items()
        ]
        self._notes.note_session(session, _BRIEF, json.dumps(rows, ensure_ascii=False), self._now())

    def keep(self, session: Session, turn_id: str) -> None:
        """The turn has ended: write down what it was given, with the session's last ones, and the brief of its window."""
        with self._lock:
            shown = self._open.pop(turn_id, None)
            self._write_briefs(session)
        if shown is None:
            return
        kept = [item for item in self.of(session) if item.turn_id != turn_id]
        self._note(session, (*kept, shown)[-MOST_TURNS:])

    def of(self, session: Session) -> list[Shown]:
        """What the session's last turns were given, oldest first; [] where nothing was noted."""
        try:
            rows = json.loads(self._notes.session_note(session, _NAME) or "[]")
            return [_shown(row) for row in rows]
        except (ValueError, TypeError, KeyError, AttributeError):  # a note that somebody wrote by hand
            return []

    def drop(self, session: Session, turn_ids: Collection[str] | None = None) -> None:
        """These turns of the session are forgotten; None = all of it."""
        known = self.of(session)
        left = [item for item in known if item.turn_id not in turn_ids] if turn_ids is not None else []
        if left != known or not left:
            self._note(session, left)

    def _note(self, session: Session, shown: Sequence[Shown]) -> None:
        self._notes.note_session(session, _NAME, _rows(shown), self._now())


def _rows(shown: Sequence[Shown]) -> str:
    rows = [
        {"turn": item.turn_id, "records": list(item.records), "tokens": item.tokens, "brief": item.brief}
        for item in shown
    ]
    return json.dumps(rows) if rows else ""


def _shown(row: Mapping[str, Any]) -> Shown:
    records = tuple(str(record) for record in row["records"])
    return Shown(str(row["turn"]), records, int(row["tokens"]), int(row["brief"]))


KINDS = (Kind.INSTRUCTION, Kind.PREFERENCE)
_EVENTS = 500
_MOST = 2_000  # of each kind that are looked at when the process starts
_SAME = 0.8  # share of common terms at which two say the same: the newer one does
_ANSWERS = 100  # scopes whose answer is kept
_PATIENCE = 0.1  # seconds that a question waits while another thread reads the gems
_ASKING = (
    "suggest recommend propose answer reply respond write tell show give use using make plan ask explain "
    "предложи советуй посоветуй порекомендуй ответь отвечай пиши напиши скажи покажи используй сделай "
    "推荐 建议 回答 回复 告诉 使用 请用"
)
"""Words of how one asks: they are no topic that an instruction and a question share."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A gem that stands, and its content terms."""

    gem: Gem
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Content:
    """What is read in a gem's content: its terms, and whether it tells what can harm."""

    terms: frozenset[str]
    harm: bool


@lru_cache(maxsize=2 * len(KINDS) * _MOST)
def _read(content: str) -> _Content:
    """Read once, when a gem comes: a question before which thousands stand does not wait for it."""
    return _Content(frozenset(content_terms(content)), names_harm(content))


@dataclass(frozen=True, slots=True)
class _Answer:
    """What stands for a scope, at any moment after `after` and until `until`: then one expires. None = for ever."""

    gems: list[Gem]
    after: datetime | None
    until: datetime | None

    def holds(self, now: datetime) -> bool:
        at = instant(now)
        return (self.after is None or instant(self.after) < at) and (self.until is None or at <= instant(self.until))


class Standing:
    """Follows the gems by the numbers of their events, so that asking before each turn costs next to nothing.

    May be asked from any thread. What a scope was answered is kept until a gem that stands changes, or expires.
    """

    def __init__(self, truth: Truth) -> None:
        self._truth = truth
        self._held: dict[str, _Held] = {}
        self._answers: dict[Scope, _Answer] = {}
        self._seen: int | None = None
        self._following = threading.Lock()

    def warm(self) -> None:
        """Read the gems that stand now: the first question need not."""
        with self._following:
            self._follow()

    def of(self, scope: Scope, now: datetime) -> list[Gem]:
        """What stands for this scope, instructions first, the weightier and then the newer ones first.

        A reply may wait for it: while another thread reads the gems for the first time nothing stands yet, and while it
        reads what is new what stood before it does.
        """
        if not self._following.acquire(timeout=_PATIENCE):
            return [] if self._seen is None else list(_answer(self._held.values(), scope, now).gems)
        try:
            self._follow()
            answer = self._answers.get(scope)
            if answer is None or not answer.holds(now):
                answer = _answer(self._held.values(), scope, now)
                if len(self._answers) >= _ANSWERS:
                    self._answers.clear()
                self._answers[scope] = answer
            return list(answer.gems)
        finally:
            self._following.release()

    def _follow(self) -> None:
        if self._seen is None:
            seen = self._truth.last_event()
            for kind in KINDS:
                self._take(self._truth.gems(None, kind=kind, limit=_MOST))
            self._seen = seen
        while events := self._truth.events(self._seen, _EVENTS):
            ids = list(dict.fromkeys(event.gem_id for event in events))
            self._take(self._truth.gems(None, gem_ids=ids, limit=len(ids)), instead_of=ids)
            self._seen = events[-1].seq

    def _take(self, gems: Sequence[Gem], instead_of: Collection[str] = ()) -> None:
        """See these gems, and no more those that they are read anew for; in one step for who asks meanwhile."""
        fresh = {gem.gem_id: _Held(gem, _read(gem.content).terms) for gem in gems if _stands(gem)}
        if fresh or any(gem_id in self._held for gem_id in instead_of):
            gone = frozenset(instead_of)
            self._held = {gem_id: held for gem_id, held in self._held.items() if gem_id not in gone} | fresh
            self._answers.clear()


def touching(held: Sequence[Gem], asked: str) -> list[Gem]:
    """What of all that stands touches the matter of a question: what can harm first, then instructions; each in its order."""
    body, topic = concerns_body(asked), frozenset(content_terms(asked)) - _asking()
    harms: list[Gem] = []
    rules: list[Gem] = []
    for gem in held:
        read = _read(gem.content)
        shares = not topic.isdisjoint(read.terms)
        if read.harm and (body or shares):
            harms.append(gem)
        elif gem.kind is Kind.INSTRUCTION and shares:
            rules.append(gem)
    return [*harms, *rules]


def harms(gem: Gem) -> bool:
    """Whether a gem tells of what can harm its owner."""
    return _read(gem.content).harm


@lru_cache(maxsize=1)
def _asking() -> frozenset[str]:
    return frozenset(content_terms(_ASKING))


def _stands(gem: Gem) -> bool:
    """Only what the owner said of himself: what others or the agent said never holds by itself, nor do others' tastes."""
    said = gem.kind in KINDS and gem.origin is Origin.OWNER and gem.speaker == OWNER and not gem.superseded_by
    return said and not (gem.kind is Kind.PREFERENCE and of_another(gem.content))


def of_another(content: str) -> bool:
    """Whether it is another's taste or illness; an allergy of somebody near could harm them at the owner's table."""
    if names_harm(content):
        return not harms_the_house(content)
    return tells_of_another(content)


def _answer(gems: Iterable[_Held], scope: Scope, now: datetime) -> _Answer:
    seen = [item for item in gems if _sees(scope, item.gem.scope)]
    over = [item.gem.valid_to for item in seen if item.gem.valid_to and _over(item.gem, now)]
    held = [item for item in seen if not _over(item.gem, now)]
    ends = [item.gem.valid_to for item in held if item.gem.valid_to]
    held.sort(key=lambda item: (instant(item.gem.created_at), item.gem.gem_id), reverse=True)
    best = sorted(_newest(held), key=lambda gem: (KINDS.index(gem.kind), -gem.importance))
    return _Answer(best, max(over, key=instant, default=None), min(ends, key=instant, default=None))


def _over(gem: Gem, now: datetime) -> bool:
    return gem.valid_to is not None and instant(gem.valid_to) < instant(now)


def _sees(scope: Scope, of: Scope) -> bool:
    same = (scope.agent, scope.user) == (of.agent, of.user)
    return same and (not scope.project or of.project in ("", scope.project))


def _newest(held: Sequence[_Held]) -> list[Gem]:
    """Without those that a newer one says again. held: the newest first.

    Two that say the same share one of the few rarest terms of each, so only such pairs are compared (prefix filtering,
    Chaudhuri, Ganti and Kaushik 2006): a thousand preferences cost milliseconds, not seconds.
    """
    frequency = Counter(term for item in held for term in item.terms)
    kept: list[_Held] = []
    by_term: dict[str, list[_Held]] = {}
    for item in held:
        common = math.ceil(_SAME * len(item.terms) - 1e-9)
        rarest = sorted(item.terms, key=lambda term: (frequency[term], term))[: len(item.terms) - common + 1]
        if any(_says_again(other, item) for term in rarest for other in by_term.get(term, ())):
            continue
        kept.append(item)
        for term in rarest:
            by_term.setdefault(term, []).append(item)
    return [item.gem for item in kept]


def _says_again(newer: _Held, older: _Held) -> bool:
    """Whether the newer one does for both: of what can harm not a word may be lost."""
    if newer.terms >= older.terms and len(older.terms) >= _SAME * len(newer.terms):
        return True
    same = len(newer.terms & older.terms) >= _SAME * len(newer.terms | older.terms)
    return same and not _read(older.gem.content).harm


_SESSION_GEMS = 12
"""Most gems in the session block, a section."""

_CHILD_GEMS = 8
"""Records in a sub-agent's brief at most."""

STANDING_GEMS = 2
"""Most rules of the owner and facts about health that a turn is reminded of where it touches them, beside the brief."""

_REPLY_SHARE = 0.7  # of recall_deadline_ms is spent at most before what is left has to be rendered and sent
_ALWAYS = frozenset({Kind.INSTRUCTION, Kind.PREFERENCE})
_DIALOGUE = 4  # messages before the last one that tell what a question concerns
_LAST_GEMS = 200  # newest gems that a session's brief chooses from
_BRIEF_SHARES = {"rules": 0.35, "next": 0.2, "open": 0.2, "who": 0.25}
_NEXT_DAYS, _NEWS_DAYS = 14, 60  # how far ahead a brief looks, and how long what was decided or left open is news
_LASTING = frozenset({Kind.FACT, Kind.PREFERENCE})
_REMINDING_OPEN = frozenset({Kind.TODO, Kind.DECISION})

BRIEF_TOKENS = 60
"""What the frame and the headings of a session's brief cost in the shipped template."""


@dataclass(frozen=True, slots=True)
class Reminded:
    """A turn's block, the recall that it was made of (None: nothing is injected, so nothing was asked), and what stands."""

    block: Block
    found: Recall | None = None
    standing: tuple[Record, ...] = ()


class Reminder:
    """Chooses what is told and writes it as blocks.

    settings: as they are now. admitted: those that no hook filters out.
    """

    def __init__(
        self,
        truth: Truth,
        settings: Callable[[], Settings],
        recall: Recalls,
        admitted: Callable[[Sequence[Record], Query], list[Record]],
        *,
        standing: Standing,
        blocks: Blocks,
        assembler: Assembler,
        conversations: Conversations,
    ) -> None:
        self._truth = truth
        self._settings = settings
        self._recall = recall
        self._admitted = admitted
        self._standing = standing
        self._blocks = blocks
        self._assembler = assembler
        self._conversations = conversations

    @property
    def _knobs(self) -> Settings:
        return self._settings()

    def reminded(self, query: Query, *, awaited: bool = True, gated: bool = True) -> Reminded:
        """The block for a turn, what stands and what matters (empty when there is neither), with the recall that it was made of.

        awaited: whether a reply waits for it, so that what is left out of it counts. gated: nobody searches.
        """
        if not self._knobs.max_gems_injected:
            return Reminded(Block(""))
        standing = self.stands(query)
        beside = replace(query, exclude=query.exclude | {record.id for record in standing})
        found = self._recall(beside, patience=_REPLY_SHARE * self._knobs.recall_deadline_ms / 1000, gated=gated)
        if not found.needed:
            standing = []
        for name in found.left_out if awaited else ():
            self._truth.count(f"recall.left_out.{name}", at=query.now)
        everybody = self._knobs.inject_unconfirmed
        shown = [record for record in found.records if everybody or record.origin is not Origin.UNTRUSTED]
        dated = days_ago(query.now.date()) if found.dated or found.shape == Shape.TIMELINE else short_day
        block = self._blocks.write("gem_block", shown, standing=standing, shape=found.shape, dated=dated)
        block = replace(block, records=(*(record.id for record in standing), *block.records))
        return Reminded(block, found, tuple(standing))

    def brief(self, session: Session, query: Query) -> Block:
        """The block that stands for a session: rules, the coming days, what is open, and who the person is.

        Where there is nothing of it, the newest records of any session; where there are none, MEMORY.md.
        """
        knobs = self._knobs
        if not knobs.session_block:
            return Block("")
        gems = [gem for gem in self._truth.gems(query.scope, limit=_LAST_GEMS) if gem.gem_id not in query.exclude]
        holds = [gem for gem in self._standing.of(query.scope, query.now) if gem.gem_id not in query.exclude]
        known = {gem.gem_id: gem for gem in (*holds, *(gem for gem in gems if gem.kind not in _ALWAYS))}.values()
        last = max((gem.source.date for gem in gems if gem.session_key == session.key), default="")
        sections = self._sections(worth_a_brief(list(known), now=query.now), query)
        if not any(sections.values()):
            newest = self._newest(query)
            if not newest:
                return self._memory_md(query)
            sections = {"newest": newest}
        shown = [record for records in sections.values() for record in records]
        block = self._blocks.write("session_start", shown, sections=sections, last_seen=last)
        return replace(block, records=tuple(record.id for record in shown))

    def _sections(self, chosen: Mapping[str, Sequence[Gem]], query: Query) -> dict[str, list[Record]]:
        """Those of each section that fit: each has its share of the tokens, and what one does not need the next may use."""
        left = self._knobs.session_token_budget - BRIEF_TOKENS
        room, most = 0.0, _SESSION_GEMS
        sections: dict[str, list[Record]] = {}
        for name, share in _BRIEF_SHARES.items():
            room += share * left
            records = self._admitted([clean_record(record_of(gem)) for gem in chosen[name][:most]], query)
            sections[name] = self._blocks.within(records, int(room))[:most]
            room -= sum(map(self._blocks.cost, sections[name]))
            most -= len(sections[name])
        return sections

    def brief_child(self, child: Child, query: Query) -> Block:
        """The block for a sub-agent's first request: what always holds, then what is known about its task.

        What the parent was just asked is part of the question, when both are of one agent.
        """
        knobs = self._knobs
        if not knobs.subagent_brief or child.light:
            return Block("")
        held = self._standing.of(query.scope, query.now)
        rules = [*touching(held, query.text), *(gem for gem in held if gem.kind is Kind.INSTRUCTION)]
        unlike = self._admitted([clean_record(record_of(gem)) for gem in dict.fromkeys(rules)], query)
        standing = self._blocks.within(unlike, knobs.subagent_token_budget // 2)[: _CHILD_GEMS // 2]
        known = self._recall(
            replace(
                query,
                dialogue=(*self._conversations.asked(child.parent, query.scope), *query.dialogue),
                exclude=query.exclude | {record.id for record in standing},
                window_text="\n".join([query.window_text, *(record.text for record in standing)]),
                limit=max(1, _CHILD_GEMS - len(standing)),
                token_budget=knobs.subagent_token_budget // (2 if standing else 1),
            )
        ).records
        block = self._blocks.write("subagent_brief", known, standing=standing, task=child.task)
        return replace(block, records=(*(record.id for record in standing), *block.records))

    def stands(self, query: Query) -> list[Record]:
        """Rules of the owner and what can harm, where the question touches their matter and this request does not show them."""
        asked = "\n".join((query.text, *query.dialogue[-_DIALOGUE:])) if query.dialogue else query.text
        return self._fresh(touching(self._standing.of(query.scope, query.now), asked), query)[:STANDING_GEMS]

    def _fresh(self, gems: Sequence[Gem], query: Query) -> list[Record]:
        """Those that the window does not show, the brief included, and that no hook filters out."""
        window = Window(query)
        known = [(gem, clean_record(record_of(gem))) for gem in gems if gem.gem_id not in query.exclude]
        return self._admitted([r for gem, r in known if not window.shows(r, frozenset(gem.evidence))], query)

    def _newest(self, query: Query) -> list[Record]:
        """The newest records, nothing said twice and nothing unconfirmed, as far as a brief has room for them."""
        found = self._assembler.recent(query) if self._knobs.context_recency else []
        recent = [
            item for item in found if item.record.origin is Origin.OWNER and not off_record(item.record.text)
        ]  # unasked, only what the owner said or vouched for
        return list(
            layered(
                (),
                recent,
                budget=self._knobs.session_token_budget - BRIEF_TOKENS,
                share=1.0,
                cost=self._blocks.cost,
                limit=_SESSION_GEMS,
            ).recent
        )

    def _memory_md(self, query: Query) -> Block:
        return self._blocks.plain(
            self._assembler.memory_md(query, self._knobs.session_token_budget - BRIEF_TOKENS).text
        )


def worth_a_brief(gems: Sequence[Gem], *, now: datetime) -> dict[str, list[Gem]]:
    """What a session's brief chooses from, by section, best first: "rules", "next" (the coming days), "open" and "who".

    Superseded and expired gems, days that are over, and words that are not the owner's stay out.
    """
    live = [
        gem
        for gem in gems
        if not gem.superseded_by and not (gem.valid_to and instant(gem.valid_to) < instant(now))
        and gem.origin is Origin.OWNER and gem.speaker == OWNER and HEARSAY not in gem.tags
    ]  # fmt: skip
    found: dict[str, list[Gem]] = {"rules": [], "next": [], "open": [], "who": []}
    for gem in live:
        days = (gem.valid_from.date() - now.date()).days if gem.valid_from else None
        if gem.kind is Kind.INSTRUCTION or (harms(gem) and not of_another(gem.content)):
            found["rules"].append(gem)
        elif days is not None and 0 < days <= _NEXT_DAYS:
            found["next"].append(gem)
        elif gem.kind in _REMINDING_OPEN and (now.date() - gem.created_at.date()).days <= _NEWS_DAYS:
            found["open"].append(gem)
        elif gem.kind in _LASTING or BY_HAND_TAG in gem.tags:
            found["who"].append(gem)
    found["next"].sort(key=lambda gem: (instant(gem.valid_from or gem.created_at), gem.gem_id))
    found["open"].sort(key=lambda gem: instant(gem.created_at), reverse=True)
    for name in ("rules", "who"):
        found[name].sort(
            key=lambda gem: (not harms(gem), BY_HAND_TAG not in gem.tags, -gem.importance, instant(gem.created_at))
        )
    return found
