"""The memory's side: turns of the past are read, compared with what is known, kept as live turns are, and waited for."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from openclaw_neuralstream import capture
from openclaw_neuralstream.capture.session import Skipped
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Batch, Session, Turn
from openclaw_neuralstream.ports import Reading

_SAME_WORDS = timedelta(hours=1)  # the same words in the same session within so long are one turn
_SAMPLE = 5


@dataclass(slots=True)
class Taken:
    """What became of a handful of turns."""

    new: int = 0
    known: int = 0
    tokens: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


def take(memory: Memory, items: Sequence[Mapping[str, Any]], *, dry_run: bool) -> dict[str, Any]:
    """Keep these turns, or with dry_run only say what they are; and how many turns wait for their extraction."""
    taken = Taken()
    for turn in _turns(memory, items, taken):
        if _known(memory, turn):
            taken.known += 1
            continue
        if not dry_run and not memory.retain(turn):
            taken.known += 1  # it waits in a buffer beside the memory file
            continue
        taken.new += 1
        taken.tokens += memory.parts.counter.count(turn.text_of("owner", "third-party", "agent", "tool", "system"))
    if not dry_run and taken.new:
        memory.truth.count("backfill.turns", taken.new)
    return {
        "new": taken.new,
        "known": taken.known,
        "tokens": taken.tokens,
        "skipped": dict(taken.skipped),
        "waiting": sum(backlog.waiting + backlog.claimed for _, backlog in memory.distiller.backlogs()),
        "away": memory.away.names(),
    }


def sample(memory: Memory, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How long the extractor takes for a few of them; nothing is kept."""
    turns = [turn for turn in _turns(memory, items[:_SAMPLE], Taken()) if turn.text_of("owner")]
    if not turns:
        return {"turns": 0, "seconds": 0.0, "extractor": memory.parts.choose_extractor().identity.name}
    extractor = memory.parts.choose_extractor()
    first = turns[0].session
    same = tuple(turn for turn in turns if turn.session == first)
    batch = Batch("sample", first, same, "sample", memory.now())
    began = time.perf_counter()
    extractor.extract(Reading(batch, (), ()))
    identity = extractor.identity
    return {
        "turns": len(same),
        "seconds": round(time.perf_counter() - began, 4),
        "extractor": identity.name,
        "model": identity.model,
    }


def _turns(memory: Memory, items: Sequence[Mapping[str, Any]], taken: Taken) -> list[Turn]:
    """The items as turns; a window of the past has a number below that of every live one, so that they never mix."""
    read = []
    for item in items:
        event, stretch = item.get("event"), item.get("stretch", 0)
        if not isinstance(event, Mapping) or not isinstance(stretch, int) or isinstance(stretch, bool) or stretch < 0:
            raise BadRequest("a turn of the past is {event, stretch}", where="backfill")
        turn = _read(memory, event)
        if isinstance(turn, Skipped):
            taken.skipped[turn.reason] += 1
            continue
        read.append(replace(turn, session=replace(turn.session, epoch=-1 - stretch)))
    return read


def _read(memory: Memory, event: Mapping[str, Any]) -> Turn | Skipped:
    try:
        return capture.read_turn(event, now=memory.now(), settings=memory.settings)
    except BadRequest:
        return Skipped("unreadable")


def _known(memory: Memory, turn: Turn) -> bool:
    if memory.truth.known_turns([turn.turn_id]):
        return True
    around = memory.truth.turns_around(Session(turn.session.agent, turn.session.key, ""), turn.at, _SAME_WORDS)
    said = turn.text_of("owner", "third-party", "system")
    return any(other.text_of("owner", "third-party", "system") == said for other in around)
