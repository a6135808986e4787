"""A context for any prompt in two layers; a past turn with its window rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Protocol

import structlog

from openclaw_neuralstream.errors import NeuralStreamError, NotFound
from openclaw_neuralstream.memory import reflector
from openclaw_neuralstream.memory.gemcraft import one_line
from openclaw_neuralstream.memory.parts import Parts
from openclaw_neuralstream.model import OWNER, Assembled, Block, Fact, Note, Origin, Query, Recall, Record, Turn, Wanted
from openclaw_neuralstream.plugins.templates import framed
from openclaw_neuralstream.ports import Passage
from openclaw_neuralstream.recall import Found, record_of
from openclaw_neuralstream.recall.fit import Layers, Window, layered, newest, worth
from openclaw_neuralstream.recall.notes import record_of_note
from openclaw_neuralstream.recall.query import reference
from openclaw_neuralstream.recall.source import Shape
from openclaw_neuralstream.recall.turns import KIND
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.store.passage_rows import passages_of
from openclaw_neuralstream.store.truth import Truth
from openclaw_neuralstream.text.lexicon import content_terms, terms
from openclaw_neuralstream.text.lines import clean_record
from openclaw_neuralstream.workspace.markdown import decoded
from openclaw_neuralstream.workspace.writing import FileRefused, Place, read

log = structlog.get_logger(__name__)

LINE_TOKENS = 15
"""What a template puts around a record: its day and its short citation."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_RENDER_SECONDS = 0.1  # what the loops of a template of the user's may take on the reply path
_CHARS_A_TOKEN, _TIMES_BUDGET, _LEAST_CHARS = 5, 4, 4_000  # how long a block of a hook or a user's template may be


class Blocks:
    """Writes blocks: a hook's words, else the user's template, else ours."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def cost(self, record: Record) -> int:
        """Tokens of a record in a block."""
        return self._parts.counter.count(record.text) + LINE_TOKENS

    def within(self, records: Iterable[Record], budget: int) -> list[Record]:
        """Those that fit into so many tokens, in their order; shorter ones still go in after one that does not."""
        kept: list[Record] = []
        for record in records:
            cost = self.cost(record)
            if cost <= budget:
                kept.append(record)
                budget -= cost
        return kept

    def write(self, template: str, records: Sequence[Record], **variables: Any) -> Block:
        """The block of these records; empty where there are none and nothing stands.

        standing (variable): records with a place of their own; a template that knows no such place gets them first.
        A text that is too long is nobody's: it is counted, its author named, and the shipped template used.
        """
        if not records and not variables.get("standing"):
            return Block("")
        shown = [*variables.get("standing", ()), *records]
        by, own = next(iter(self._parts.hooks.by_plugin("render", template=template, records=shown).items()), ("", ""))
        given = {"records": records, "dated": short_day, "cited": reference, **variables}
        templates = self._parts.templates
        asked = given if templates.takes(template, "standing") else {**given, "records": shown}
        text = own or templates.render(template, seconds=_RENDER_SECONDS, **asked)
        if len(text) > (most := self._most_chars(template)):
            self._too_long(len(text), template=template, most=most)
            why = f"it writes {len(text):,} characters, at most {most:,} are shown"
            if by:
                self._parts.hooks.blame(by, f"render: {why}")
            else:
                templates.fault(template, why)
            text = templates.shipped(template, **given)
        return replace(self.plain(text), records=tuple(record.id for record in records))

    def plain(self, text: str) -> Block:
        """A text of ours in the frame that is never captured again; empty for a blank one."""
        text = framed(text) if text.strip() else ""
        return Block(text, (), self._parts.counter.count(text))

    def fits(self, block: Block) -> bool:
        """Whether a hook's own block is not too long to be shown; one that is too long is counted."""
        most = max(map(self._most_chars, ("gem_block", "session_start", "subagent_brief")))
        if len(block.text) <= most:
            return True
        self._too_long(len(block.text), most=most)
        return False

    def _too_long(self, chars: int, **told: Any) -> None:
        log.warning("block.too_long", chars=chars, **told)
        self._parts.truth.count("block.too_long")

    def _most_chars(self, template: str) -> int:
        """What a block may weigh that somebody else has written: a few times its budget, and always room for a page."""
        knobs = self._parts.settings
        budgets = {"session_start": knobs.session_token_budget, "subagent_brief": knobs.subagent_token_budget}
        return _LEAST_CHARS + _TIMES_BUDGET * _CHARS_A_TOKEN * budgets.get(template, knobs.recall_token_budget)


def day(record: Record) -> str:
    """The day, or the days, of a record: "2026-11-21"."""
    if not record.when and "#L" in record.citation:
        return "undated"
    return record.when.replace("/", " – ") or f"{record.at:%Y-%m-%d}"


def short_day(record: Record) -> str:
    """The same in fewer tokens: "21 Nov 2026"; "" where none is known, or where the citation names it."""
    if not record.when and "#L" in record.citation:
        return ""
    first, _, last = (record.when or f"{record.at:%Y-%m-%d}").partition("/")
    return " – ".join(filter(None, (_in_words(first), _in_words(last))))


def days_ago(today: date) -> Callable[[Record], str]:
    """A record's day with how long ago that was, so that nobody has to reckon."""

    def dated(record: Record) -> str:
        named = short_day(record)
        if not named or " – " in named:
            return named
        try:
            ago = (today - date.fromisoformat((record.when or f"{record.at:%Y-%m-%d}")[:10])).days
        except ValueError:
            return named
        return f"{named}, {ago} {'day' if ago == 1 else 'days'} ago" if ago > 0 else named

    return dated


def _in_words(day: str) -> str:
    """A day "2026-11-21" as "21 Nov 2026", which has fewer tokens; what is no whole day stays."""
    try:
        known = date.fromisoformat(day)
    except ValueError:
        return day
    return f"{known.day} {_MONTHS[known.month - 1]} {known.year}"


_MOST_RECORDS = 40
"""Records of an assembled context at most."""

_HALF_LIFE = 7 * 86_400.0
"""Seconds in which a record loses half of its weight among the newest."""

MEMORY = "memory"
"""The source of an assembled context that holds records."""

_NEWEST = 60  # records of each kind that the recency layer looks at
_ENTRY_TOKENS = 14  # what the shipped template puts around a record: heading, "Tags", "Source"
_HEAD_TOKENS = 40  # and before the first one
_TELLING = 3  # content terms below which a message is small talk
_LONGEST = 1_200  # characters of a turn that nothing was made from yet
_BLOCK_SECONDS = 0.1  # what the loops of a template of the user's may take
_NAMED = 3  # entities in a record's title


class Recalls(Protocol):
    """How the engine recalls: what hooks keep back is not among the records."""

    def __call__(self, query: Query, *, patience: float = 0.0, gated: bool = False) -> Recall:
        """The records. patience: seconds in which a reranker may answer, 0 = the setting. gated: nobody searches."""


class Assembler:
    """Contexts out of one memory. admitted: those that no hook filters out."""

    def __init__(
        self,
        parts: Parts,
        recall: Recalls,
        admitted: Callable[[Sequence[Record], Query], list[Record]],
    ) -> None:
        self._parts = parts
        self._knobs = parts.settings
        self._recall = recall
        self._admitted = admitted

    def assemble(self, query: Query, budget: int = 0) -> Assembled:
        """The context for a question in at most `budget` tokens (0 = the setting): topic layer, then recency layer.

        Where the memory has nothing for it, the beginning of MEMORY.md; where there is none, an empty text.
        """
        budget = budget or self._knobs.context_token_budget
        most = _MOST_RECORDS
        found = self._recall(replace(query, limit=query.limit or most, token_budget=100 * budget))
        topic = [Found(r, found.evidence.get(r.id, frozenset())) for r in _best_first(found) if self._vouched(r)]
        layers = layered(
            topic,
            self.recent(query) if self._knobs.context_recency else [],
            budget=budget - _HEAD_TOKENS,
            share=self._knobs.context_recency / 100,
            cost=self._cost,
            limit=query.limit or most,
        )
        tags = _tags_of(query, found)
        if not layers.topic and not layers.recent:
            return self.memory_md(query, budget, tags)
        return replace(self._rendered(layers, found, tags, budget), stage_ms=found.stage_ms)

    def recent(self, query: Query) -> list[Found]:
        """The newest records of the scope, of all sessions and sources, the most salient first; not what the window shows."""
        found = {
            item.record.id: item for item in (*self._new_turns(query), *self._new_gems(query), *self._new_notes(query))
        }
        window = Window(query)
        records = [
            clean_record(item.record)
            for item in found.values()
            if self._vouched(item.record) and not window.shows(item.record, item.evidence)
        ]
        ordered = newest(self._admitted(records, query), query.now, _HALF_LIFE)
        return [replace(found[record.id], record=record) for record in ordered]

    def turns_behind(self, query: Query) -> dict[str, str]:
        """The turns of those of the newest records that are words of a turn: record id → turn id."""
        return {item.record.id: turn for item in self._new_turns(query) for turn in item.evidence}

    def memory_md(self, query: Query, budget: int, tags: Sequence[str] = ()) -> Assembled:
        """The first lines of the workspace's MEMORY.md that fit; nothing for anybody but the owner."""
        workspace = self._parts.workspaces.for_agent(query.scope.agent) if query.scope.user == OWNER else None
        if workspace is None or not workspace.here:
            return Assembled("", tags=tuple(tags))
        name = reflector.path_of(workspace.root)
        try:
            text, _ = decoded(read(Place(workspace.root, name)) or b"")
        except FileRefused as error:
            log.warning("context.no_memory_file", code=error.code)
            return Assembled("", tags=tuple(tags))
        lines = [line for line in redact(text or "", keep_lines=True).text.splitlines() if _shown(line)]
        room = budget - _HEAD_TOKENS
        kept: list[str] = []
        for line, cost in zip(lines, self._parts.counter.count_all(lines), strict=True):
            if cost + 1 > room:
                break
            kept.append(line)
            room -= cost + 1
        if not kept:
            return Assembled("", tags=tuple(tags))
        rendered = self._written((), tags, file=name, lines=kept)
        return Assembled(rendered, tokens=self._parts.counter.count(rendered), tags=tuple(tags), source=name)

    # --- the newest of each kind --------------------------------------------------------------------------------------

    def _new_gems(self, query: Query) -> Iterable[Found]:
        for gem in self._parts.truth.gems(query.scope, limit=_NEWEST):
            if not (gem.valid_to and gem.valid_to < query.now):
                yield Found(record_of(gem), frozenset(gem.evidence))

    def _new_turns(self, query: Query) -> Iterable[Found]:
        """What people told and is not distilled yet: nothing else tells of it. Questions and small talk are no news."""
        scope = query.scope
        for turn in self._parts.truth.waiting_turns(scope.agent, _NEWEST):
            theirs = (turn.scope.user, turn.scope.project) if scope.project else (turn.scope.user, "")
            if theirs in ((scope.user, scope.project), (scope.user, "")):
                yield from (_spoken(passage) for passage in passages_of(turn) if _tells(passage))

    def _new_notes(self, query: Query) -> Iterable[Found]:
        """What the files say of the last days; what has no day is not new."""
        search = self._parts.workspaces.search(query.scope)
        if search is None:
            return
        try:
            wanted = Wanted(generated=False)
            entries = search.fetch(search.newest(wanted, limit=_NEWEST))
            outdated = search.outdated(list(entries), wanted)
        except NeuralStreamError as error:
            log.warning("context.notes_left_out", code=error.code)
            return
        for id_, entry in entries.items():
            if id_ not in outdated and (day := _day_of(entry)):
                record = record_of_note(entry, query)
                noon = datetime.combine(day, time(12), UTC)
                if noon <= query.now + timedelta(days=1):  # what is planned is not what is new
                    yield Found(replace(record, at=noon))

    # --- rendering ----------------------------------------------------------------------------------------------------

    def _rendered(self, layers: Layers, found: Recall, tags: Sequence[str], budget: int) -> Assembled:
        """The text, with less in it until it keeps the budget, however much a template of the user's puts around it."""
        records = [*_arranged(layers.topic, found), *layers.recent]
        while records:
            recent = frozenset(record.id for record in layers.recent) & {record.id for record in records}
            text = self._written(records, tags, recent=recent)
            tokens = self._parts.counter.count(text)
            if tokens <= budget:
                return Assembled(text, tuple(records), tokens, tuple(tags), MEMORY, recent, layers.dropped)
            records.pop()
        return Assembled("", tags=tuple(tags), dropped=layers.dropped)

    def _written(
        self,
        records: Sequence[Record],
        tags: Sequence[str],
        *,
        recent: Collection[str] = (),
        file: str = "",
        lines: Sequence[str] = (),
    ) -> str:
        given: dict[str, Any] = {
            "records": list(records),
            "recent": recent,
            "tags": list(tags),
            "dated": day,
            "titled": titled,
            "file": file,
            "lines": list(lines),
        }
        render = self._parts.templates.render
        draft = render("context", seconds=_BLOCK_SECONDS, tokens=0, **given)
        return render("context", seconds=_BLOCK_SECONDS, tokens=self._parts.counter.count(draft), **given)

    def _cost(self, record: Record) -> int:
        pieces = (record.text, titled(record), ", ".join(record.tags), record.citation)
        return _ENTRY_TOKENS + sum(self._parts.counter.count_all(pieces))

    def _vouched(self, record: Record) -> bool:
        return self._knobs.inject_unconfirmed or record.origin is not Origin.UNTRUSTED


def _best_first(found: Recall) -> Sequence[Record]:
    """As they are to be packed: what answers least goes first, also of a timeline."""
    if found.shape != Shape.TIMELINE:
        return found.records
    return sorted(found.records, key=lambda record: -record.score)


def _arranged(topic: Sequence[Record], found: Recall) -> list[Record]:
    """The topic layer as recall put it: a timeline in the order in which things happened."""
    places = {record.id: place for place, record in enumerate(found.records)}
    return sorted(topic, key=lambda record: places[record.id])


def titled(record: Record) -> str:
    """What a record is, in a few words: "Decision: MaxRisk"; a note by its heading."""
    kind = record.kind.capitalize()
    if record.kind == "note" and ": " in record.text[:120]:
        return record.text.partition(": ")[0]
    named = ", ".join(record.entities[:_NAMED]) or (record.speaker if record.speaker != OWNER else "")
    return f"{kind}: {named}" if named else kind


def _tells(passage: Passage) -> bool:
    said = passage.text
    return passage.origin is not Origin.AGENT and worth(said) >= 1 and len(set(content_terms(said))) >= _TELLING


def _spoken(passage: Passage) -> Found:
    """What somebody said, as a record; the beginning of what is long."""
    record = Record(
        id=passage.id,
        kind=KIND,
        text=passage.text[:_LONGEST],
        summary=one_line(passage.text),
        score=0.0,
        at=passage.at,
        citation=f"{passage.session}{f'#{passage.number}' if passage.number else ''}, {passage.at:%Y-%m-%d}",
        origin=passage.origin,
        speaker=passage.who if passage.speaker == "third-party" else passage.speaker,
        agent=passage.scope.agent,
        session_id=passage.session,
    )
    return Found(record, frozenset({passage.turn_id}), "", frozenset(terms(passage.who)), verbatim=True)


def _tags_of(query: Query, found: Recall) -> tuple[str, ...]:
    """The question's tags: those understood, else those of the found records that it names."""
    if understood := found.understood.get("tags"):
        return tuple(understood)
    asked = set(terms(query.text))
    carried = dict.fromkeys(tag for record in found.records for tag in record.tags)
    return tuple(tag for tag in carried if (words := terms(tag)) and asked.issuperset(words))


def _day_of(entry: Note | Fact) -> Any:
    return (entry.valid_from if isinstance(entry, Fact) else None) or entry.day


def _shown(line: str) -> bool:
    """Blank lines cost tokens, and comments are markers of ours and of others."""
    return bool(line.strip()) and not line.strip().startswith("<!--")


_SPEAKERS = ("owner", "third-party", "agent")
_ASKING = ("owner", "third-party")
_WINDOW_CHARS = 65_536
_DIALOGUE_CHARS = 8_000
_BEFORE = timedelta(microseconds=1)  # the turn itself was not there yet when it was asked


@dataclass(frozen=True, slots=True)
class Replay:
    """A turn and its question. window: the turns before it in its window. first: whether it opened the window's epoch."""

    turn: Turn
    query: Query
    window: tuple[Turn, ...]
    number: int

    @property
    def first(self) -> bool:
        """Whether nothing was said before it in this epoch: a session's brief was due then."""
        return not self.window


def last_session(truth: Truth, agent: str = "") -> tuple[str, str]:
    """(agent, key) of the session that spoke last. Raises NotFound when nothing was ever said."""
    rows = [row for row in truth.turn_rows() if not agent or row.agent == agent]
    if not rows:
        raise NotFound("no turn is stored", fix="talk to the agent once, then try again")
    newest = max(rows, key=lambda row: row.at)
    return newest.agent, newest.key


def found_session(truth: Truth, name: str, agent: str = "") -> tuple[str, str]:
    """(agent, key) of the session of this key, host's id, or of the only key that holds the name. Raises NotFound."""
    exact = {pair for pair in truth.keys_of(name) if not agent or pair[0] == agent}
    if not exact:
        rows = {(row.agent, row.key) for row in truth.turn_rows()}
        exact = {pair for pair in rows if name in pair[1] and (not agent or pair[0] == agent)}
    if len(exact) != 1:
        said = "no session" if not exact else f"{len(exact)} sessions"
        raise NotFound(f"{said} called {name!r}", fix="neuralstream explain --last shows the key of the last one")
    return next(iter(exact))


def replayed(turns: Sequence[Turn], number: int, *, dialogue_turns: int) -> Replay:
    """The turn of this number (0 = the last one in which somebody asked) with its window rebuilt. Raises NotFound."""
    asking = [turn for turn in turns if turn.text_of(*_ASKING).strip()]
    chosen = next((turn for turn in asking if turn.index == number), None) if number else next(reversed(asking), None)
    if chosen is None:
        known = f"{asking[0].index} to {asking[-1].index}" if asking else "none"
        raise NotFound(
            f"the session has no turn {number or ''} in which somebody asks".replace("  ", " "),
            fix=f"its turns: {known}",
        )
    before = tuple(t for t in turns if t.session.epoch == chosen.session.epoch and t.index < chosen.index)
    said = [u.text[:_DIALOGUE_CHARS] for turn in before for u in turn.utterances if u.speaker in _SPEAKERS]
    query = Query(
        text=chosen.text_of(*_ASKING),
        scope=chosen.scope,
        now=chosen.at - _BEFORE,
        dialogue=tuple(said[-dialogue_turns:]) if dialogue_turns else (),
        window_turns=frozenset(turn.turn_id for turn in before),
        window_text="\n".join(said)[-_WINDOW_CHARS:],
    )
    return Replay(chosen, query, before, chosen.index)


def learnt_later(truth: Truth, replay: Replay, ids: Sequence[str], turns_of: dict[str, str]) -> set[str]:
    """Those of the records that were not there yet: gems made after the turn, and words of the turn itself or later ones."""
    gems = truth.gems(replay.query.scope, gem_ids=list(ids), superseded=True, limit=max(1, len(ids)))
    later = {gem.gem_id for gem in gems if gem.created_at > replay.turn.at}
    spoken = {turn.turn_id: turn.at for turn in truth.turns(list(set(turns_of.values())))}
    return later | {id_ for id_, turn_id in turns_of.items() if spoken.get(turn_id, replay.turn.at) >= replay.turn.at}
