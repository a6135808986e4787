"""A context assembled for a prompt: what matches a question, what is new in any session, else the user's MEMORY.md."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any, Protocol

import structlog

from openclaw_neuralstream import blocks
from openclaw_neuralstream.clean import clean_record
from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.gemcraft import one_line
from openclaw_neuralstream.lexicon import content_terms, terms
from openclaw_neuralstream.model import (
    OWNER,
    Assembled,
    Fact,
    Note,
    Origin,
    Query,
    Recall,
    Record,
    Wanted,
)
from openclaw_neuralstream.notes.decode import decoded
from openclaw_neuralstream.parts import Parts
from openclaw_neuralstream.ports import Passage
from openclaw_neuralstream.recall import Found, record_of
from openclaw_neuralstream.recall.excerpt import worth
from openclaw_neuralstream.recall.layers import Layers, layered, newest
from openclaw_neuralstream.recall.notes import record_of_note
from openclaw_neuralstream.recall.source import Shape
from openclaw_neuralstream.recall.turns import KIND
from openclaw_neuralstream.recall.window import Window
from openclaw_neuralstream.reflect.writing import FileRefused, Place, read
from openclaw_neuralstream.reflection import memory_file
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.store.passage_rows import passages_of

_MOST_RECORDS = 40
"""Records of an assembled context at most."""

_HALF_LIFE = 7 * 86_400.0
"""Seconds in which a record loses half of its weight among the newest."""

log = structlog.get_logger(__name__)

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
        name = memory_file.path_of(workspace.root)
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
            "dated": blocks.day,
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
