"""Methods that say why: of a question, and of a turn of the past, asked again with the window that it had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from openclaw_neuralstream.clean import clean_record, clean_turn
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.injected import Shown
from openclaw_neuralstream.lexicon import content_terms
from openclaw_neuralstream.model import Block, Dropped, Gem, Query, Recall, Record
from openclaw_neuralstream.recall import record_of
from openclaw_neuralstream.recall.reference import referred
from openclaw_neuralstream.replay import Replay, found_session, last_session, learnt_later, replayed
from openclaw_neuralstream.serve.given import Method, Params
from openclaw_neuralstream.serve.told import record_to_json

LATER = "learnt-later"
STANDING = "standing"
REPLACED = "superseded"
_LOOKED_AT = 24  # gems that share words with the question, replaced ones included
_REPLACED_SHOWN = 10
_TRIES = 5  # what was learnt later is taken out and the question asked again, so often at most


def reasons(found: Recall) -> dict[str, Any]:
    """A recall with all that can be said of it: what was understood, every record's ranks and factors, each drop's reason."""
    return {
        "understood": found.understood,
        "records": [{**record_to_json(record), **_ranks(found, record)} for record in found.records],
        "dropped": [
            {"why": item.why, "of": item.of, **record_to_json(clean_record(item.record)), **_ranks(found, item.record)}
            for item in found.dropped
        ],
        "left_out": found.left_out,
        "stage_ms": {name: round(ms, 3) for name, ms in found.stage_ms.items()},
        "depth": found.depth,
    }


def explained(memory: Memory, query: Query) -> dict[str, Any]:
    """A question with every reason, and the block as the model would read it with its tokens: of one and the same recall."""
    told = memory.reminded(query, awaited=False, gated=not referred(query.text))
    found = told.found or memory.recall(query, seconds=memory.sources_seconds)
    found = _with_replaced(memory, query, _with_standing(found, told.standing))
    return {**reasons(found), "block": told.block.text, "block_tokens": told.block.tokens}


def _with_standing(found: Recall, standing: Sequence[Record]) -> Recall:
    """What stands is in the block, in a place of its own; recall was told so, and left it out."""
    stands = {record.id for record in standing}
    dropped = (replace(item, why=STANDING) if item.record.id in stands else item for item in found.dropped)
    return replace(found, dropped=tuple(dropped))


def _with_replaced(memory: Memory, query: Query, found: Recall) -> Recall:
    """With what recall does not even look at, since something newer replaced it.

    That is what a record that is shown replaced, and what shares at least half of the question's words.
    """
    gems = {gem.gem_id: gem for gem in _replaced(memory, query, found)}
    dropped = tuple(
        replace(item, of=gems[item.record.id].superseded_by)
        if item.why == REPLACED and item.record.id in gems
        else item
        for item in found.dropped
    )
    known = {record.id for record in found.records} | {item.record.id for item in dropped}
    more = [gem for gem in gems.values() if gem.gem_id not in known][:_REPLACED_SHOWN]
    return replace(found, dropped=(*dropped, *(Dropped(record_of(gem), REPLACED, gem.superseded_by) for gem in more)))


def _replaced(memory: Memory, query: Query, found: Recall) -> list[Gem]:
    truth, asked = memory.truth, list(dict.fromkeys(content_terms(query.text)))
    shown = [record.id for record in found.records]
    ids = [item.record.id for item in found.dropped if item.why == REPLACED]
    if not query.sources or "gems" in query.sources:
        ids += [gem.supersedes for gem in truth.gems(query.scope, gem_ids=shown, limit=len(shown)) if gem.supersedes]
        hits = truth.search_words(asked, query.scope, _LOOKED_AT, superseded=True) if asked else []
        ids += [hit.gem_id for hit in hits if 2 * len(set(hit.matched)) >= len(asked)]
    ids = list(dict.fromkeys(ids))
    gems = {g.gem_id: g for g in truth.gems(query.scope, gem_ids=ids, superseded=True, limit=len(ids))} if ids else {}
    return [gems[id_] for id_ in ids if id_ in gems and gems[id_].superseded_by]


def replay(memory: Memory, params: Params) -> dict[str, Any]:
    """{"session"?, "turn"?, "agent"?} → what the window of that turn held, what would be injected now, what was then.

    Without a session the one that spoke last, without a turn its last one.
    """
    name, agent, number = params.get("session") or "", params.get("agent") or "", params.get("turn") or 0
    if not isinstance(name, str) or not isinstance(agent, str):
        raise BadRequest("session and agent must be texts", where="session")
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise BadRequest("turn must be a whole number from 1", where="turn")
    owner, key = found_session(memory.truth, name, agent) if name else last_session(memory.truth, agent)
    turns = [clean_turn(turn) for turn in memory.truth.session_turns(owner, key)]
    again = replayed(turns, number, dialogue_turns=memory.settings.recall_dialogue_turns)
    brief = _brief_then(memory, again) if again.first else Block("")
    query = replace(again.query, exclude=frozenset(brief.records))
    found, later = _as_then(memory, again, query)
    later |= learnt_later(memory.truth, again, [gem.gem_id for gem in memory.standing.of(query.scope, query.now)], {})
    told = memory.reminded(replace(query, exclude=query.exclude | later), awaited=False)
    if told.found is not None:
        late = tuple(item for item in found.dropped if item.why == LATER)
        now = _with_standing(told.found, told.standing)
        found = replace(now, dropped=(*late, *(item for item in now.dropped if item.record.id not in later)))
    block = told.block
    noted = next((item for item in memory.injected.of(again.turn.session) if item.turn_id == again.turn.turn_id), None)
    return {
        **reasons(found),
        "block": "\n\n".join(text for text in (brief.text, block.text) if text),
        "block_tokens": brief.tokens + block.tokens,
        "turn": {
            "session": key,
            "agent": owner,
            "number": again.number,
            "epoch": again.turn.session.epoch,
            "at": instant(again.turn.at),
            "query": again.query.text,
        },
        "window": {
            "turns": [turn.index for turn in again.window],
            "dialogue": list(again.query.dialogue),
            "brief": list(brief.records),
        },
        "then": _told(memory, noted) if noted else None,
    }


def _brief_then(memory: Memory, again: Replay) -> Block:
    """The brief that this turn would begin with, without what was learnt after it."""
    query, block = again.query, Block("")
    for _ in range(_TRIES):
        block = memory.brief(again.turn.session, query)
        turns = memory.assembler.turns_behind(query) if block.records else {}
        later = learnt_later(memory.truth, again, block.records, {i: turns[i] for i in block.records if i in turns})
        if not later:
            return block
        query = replace(query, exclude=query.exclude | later)
    return Block("")


def _as_then(memory: Memory, again: Replay, query: Query) -> tuple[Recall, frozenset[str]]:
    """Recall without what was learnt after the turn, and the ids of that; those are named among the dropped."""
    later: dict[str, Record] = {}
    found = memory.recall(query)
    for _ in range(_TRIES):
        records = {record.id: record for record in (*found.records, *(item.record for item in found.dropped))}
        evidence = {
            id_: next(iter(turns)) for id_, turns in found.evidence.items() if records[id_].kind == "turn" and turns
        }
        fresh = learnt_later(memory.truth, again, list(records), evidence) - later.keys()
        if not fresh:
            break
        later |= {id_: records[id_] for id_ in fresh}
        found = memory.recall(replace(query, exclude=query.exclude | later.keys()))
    dropped = (
        *(Dropped(record, LATER) for record in later.values()),
        *(item for item in found.dropped if item.record.id not in later),
    )
    return replace(found, dropped=dropped), frozenset(later)


def _told(memory: Memory, noted: Shown) -> dict[str, Any]:
    """What was really injected; records that are gone since are named by their ids alone."""
    gems = {gem.gem_id: gem for gem in memory.truth.gems(gem_ids=list(noted.records), superseded=True, limit=500)}
    return {
        "records": [{"id": id_, "text": gems[id_].summary if id_ in gems else ""} for id_ in noted.records],
        "tokens": noted.tokens,
        "brief": noted.brief,
    }


def _ranks(found: Recall, record: Record) -> dict[str, Any]:
    return {"ranks": found.ranks.get(record.id, {})}


METHODS: dict[str, Method] = {"replay": replay}
