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

_SAME_WORDS = timedelta(hours=1)  # of a turn without an id and one that was captured live
_SAMPLE = 5


@dataclass(slots=True)
class Taken:
    """What became of a handful of turns; `sizes`: the tokens of each new one by its id."""

    new: int = 0
    known: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    sizes: dict[str, int] = field(default_factory=dict)


def take(memory: Memory, items: Sequence[Mapping[str, Any]], *, dry_run: bool) -> dict[str, Any]:
    """Keep these turns, or with dry_run only say what they are; and how many turns wait for their extraction.

    With dry_run "sizes" has the id and the tokens of each new one: whoever reads on knows it when it comes again.
    """
    taken = Taken()
    for turn in _turns(memory, items, taken):
        if turn.turn_id in taken.sizes or _known(memory, turn):
            taken.known += 1
            continue
        if not dry_run and not memory.retain(turn):
            taken.known += 1  # it waits in a buffer beside the memory file
            continue
        taken.new += 1
        spoken = turn.text_of("owner", "third-party", "agent", "tool", "system")
        taken.sizes[turn.turn_id] = memory.parts.counter.count(spoken)
    if not dry_run and taken.new:
        memory.truth.count("backfill.turns", taken.new)
    return {
        "new": taken.new,
        "known": taken.known,
        "tokens": sum(taken.sizes.values()),
        "skipped": dict(taken.skipped),
        "waiting": sum(backlog.waiting + backlog.claimed for _, backlog in memory.distiller.backlogs()),
        "away": memory.away.names(),
        **({"sizes": taken.sizes} if dry_run else {}),
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
    """By its id; where one of the two has none, by the same words near in time to a turn that was captured live."""
    if memory.truth.known_turns([turn.turn_id]):
        return True
    around = memory.truth.turns_around(Session(turn.session.agent, turn.session.key, ""), turn.at, _SAME_WORDS)
    live = [other for other in around if other.session.epoch >= 0 and not (turn.run_id and other.run_id)]
    said = turn.text_of("owner", "third-party", "system")
    return any(other.text_of("owner", "third-party", "system") == said for other in live)
