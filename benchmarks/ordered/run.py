"""The whole pipeline on the conversations: turns captured, distilled by rules, projected, and the block before each question."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from itertools import combinations
from typing import Any
from unittest.mock import patch

from benchmarks.extraction.replay import Stage, stage
from benchmarks.ordered.conversations import HALVES, KINDS, LANGUAGES, Conversation, Question, Said, shown_at
from benchmarks.recall.metrics import difference
from benchmarks.report import percentiles
from openclaw_neuralstream.capture import Skipped, read_query
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.model import Block
from openclaw_neuralstream.recall import Shape
from openclaw_neuralstream.recall import query as understanding
from openclaw_neuralstream.server import moments

OURS = "neuralstream"
PLAIN = "the best records alone, no timeline and no breadth"
SYSTEMS = (OURS, PLAIN)

MEASURES = {
    "order": ("evidence in the block", "pairs in order, of those shown", "pairs in order, of all"),
    "summary": ("evidence in the block",),
    "standing": ("stands", "falsely there"),
}
_SETTINGS = (
    "extractor", "max_gems_injected", "recall_threshold", "recall_token_budget",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One question, one system: its measures (0 to 1), what was shown of what is asked for, and the block."""

    system: str
    conversation: str
    half: str
    language: str
    kind: str
    question: str
    measures: dict[str, float]
    shown: tuple[str, ...]
    missing: tuple[str, ...]
    wrong: tuple[str, ...]
    tokens: int
    block: str

    def told(self) -> dict[str, Any]:
        """All of it, for a line of JSON."""
        return asdict(self)


def run(conversations: Sequence[Conversation], progress: Callable[[str], None]) -> tuple[list[Row], dict[str, Any]]:
    """The rows of all questions by every system, and the settings under which they came about."""
    rows: list[Row] = []
    settings: dict[str, Any] = {}
    for conversation in conversations:
        progress(f"{conversation.name}: {len(conversation.turns)} turns")
        with stage({"extractor": "rules"}, conversation.turns[0].at, environ=os.environ) as on:
            _say(on, conversation)
            settings = {name: getattr(on.memory.settings, name) for name in _SETTINGS}
            for number, question in enumerate(conversation.questions, 1):
                progress(f"{conversation.name}: question {number} of {len(conversation.questions)}")
                rows += [
                    _row(system, conversation, question, _block(on, conversation, question, system))
                    for system in SYSTEMS
                ]
    return rows, settings


def _say(on: Stage, conversation: Conversation) -> None:
    """Every turn as the bridge sends it; distilled when a session is over."""
    last = conversation.turns[0]
    for number, turn in enumerate(conversation.turns):
        if turn.session != last.session:
            on.memory.flush()
        on.clock.now = turn.at
        moments.turn_end(on.memory, _event(conversation, number, turn))
        last = turn
    on.clock.now = last.at + timedelta(hours=1)
    on.memory.flush()
    _settle(on.memory)
    on.clock.now = conversation.asked_at


def _settle(memory: Memory) -> None:
    """What workers do in the seconds after a turn: the vectors of the turns, the pairs of questions and answers."""
    memory.turn_projection.embed_missing()
    if memory.sequencer is not None:
        memory.sequencer.catch_up()


def _event(conversation: Conversation, number: int, turn: Said) -> dict[str, Any]:
    at = int(turn.at.timestamp() * 1_000)
    said: dict[str, Any] = {"role": "user", "content": turn.text, "timestamp": at}
    if turn.guest:
        said["__openclaw"] = {"senderIsOwner": False}
    return {
        "run_id": f"{conversation.name}-{number}",
        "agent": "main",
        "session_key": f"agent:main:s{turn.session}",
        "session_id": f"s{turn.session}",
        "messages": [said, {"role": "assistant", "content": turn.answer, "timestamp": at + 5_000}],
        "sender": {"id": "owner", "owner": True},
        "trigger": "user",
        "at": at,
    }


def _block(on: Stage, conversation: Conversation, question: Question, system: str) -> Block:
    prompt = {
        "agent": "main",
        "session_key": "agent:main:asking",
        "session_id": "asking",
        "prompt": question.text,
        "sender": {"id": "owner", "owner": True},
    }
    query = read_query(prompt, now=conversation.asked_at, settings=on.memory.settings)
    if isinstance(query, Skipped):
        raise SystemExit(f"{conversation.name}: capture skipped {question.text}")
    with as_system(system):
        brief = on.memory.brief(on.memory.session("main", "agent:main:asking"), query)
        beside = on.memory.remind(replace(query, exclude=frozenset(brief.records)))
        text = f"{brief.text}\n{beside.text}" if question.kind == "standing" else beside.text
        return Block(text, (*brief.records, *beside.records), brief.tokens + beside.tokens)


@contextmanager
def as_system(system: str) -> Iterator[None]:
    """The same memory with one thing taken away."""
    if system == PLAIN:
        with patch.object(understanding, "shape_of", lambda _: Shape.PLAIN):
            yield
    else:
        yield


def _row(system: str, conversation: Conversation, question: Question, block: Block) -> Row:
    places = {name: shown_at(block.text, conversation.evidence[name]) for name in question.needed}
    wrong = tuple(n for n in question.forbidden if shown_at(block.text, conversation.evidence[n]) >= 0)
    return Row(
        system,
        conversation.name,
        conversation.half,
        conversation.language,
        question.kind,
        question.text,
        measured(question, places, wrong),
        tuple(name for name, place in places.items() if place >= 0),
        tuple(name for name, place in places.items() if place < 0),
        wrong,
        block.tokens,
        block.text,
    )


def measured(question: Question, places: dict[str, int], wrong: Sequence[str]) -> dict[str, float]:
    """The measures of one question. places: where the block shows each piece of evidence, in their order; -1 = nowhere.

    Pairs of those shown are left out where fewer than two are; what is wrongly there counts by its share of all that must not be.
    """
    shown = [place for place in places.values() if place >= 0]
    share = len(shown) / len(places)
    if question.kind == "standing":
        return (
            {"stands": share, "falsely there": len(wrong) / len(question.forbidden)}
            if question.forbidden
            else {"stands": share}
        )
    if question.kind == "summary":
        return {"evidence in the block": share}
    right = sum(first < second for first, second in combinations(shown, 2))
    pairs = len(places) * (len(places) - 1) / 2
    found = {"evidence in the block": share, "pairs in order, of all": right / pairs}
    if len(shown) > 1:
        found["pairs in order, of those shown"] = right / (len(shown) * (len(shown) - 1) / 2)
    return found


def report(rows: Sequence[Row], settings: dict[str, Any]) -> dict[str, Any]:
    """The table: half × kind × measure × system, with 95 % bootstrap intervals over questions."""
    return {
        "questions": len(rows) // len(SYSTEMS),
        "settings": settings,
        "percent": {
            half: {kind: _kind([row for row in rows if row.kind == kind and half in (row.half, "all")], kind) for kind in KINDS}
            for half in ("all", *HALVES)
            if half == "all" or any(row.half == half for row in rows)
        },
        "tokens of the block": {
            system: {kind: percentiles([r.tokens for r in rows if (r.system, r.kind) == (system, kind)]) for kind in KINDS}
            for system in SYSTEMS
        },
    }  # fmt: skip


def _kind(rows: Sequence[Row], kind: str) -> dict[str, Any]:
    return {
        measure: {
            where: _systems([row for row in rows if where in ("all", row.language)], measure)
            for where in ("all", *LANGUAGES)
            if any(where in ("all", row.language) for row in rows)
        }
        for measure in MEASURES[kind]
    }


def _systems(rows: Sequence[Row], measure: str) -> dict[str, Any]:
    by: dict[str, dict[tuple[str, str], float]] = defaultdict(dict)
    for row in rows:
        if measure in row.measures:
            by[row.system][row.conversation, row.question] = row.measures[measure]
    found: dict[str, Any] = {system: _interval(list(by[system].values())) for system in SYSTEMS}
    for system in SYSTEMS[1:]:
        both = [key for key in by[OURS] if key in by[system]]
        if both:
            found[f"difference to: {system}"] = difference([by[OURS][k] for k in both], [by[system][k] for k in both])
    return found


def _interval(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {"n": 0}
    return {**difference(values, [0.0] * len(values)), "n": len(values)}
