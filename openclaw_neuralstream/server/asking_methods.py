"""Methods that ask the memory: explain, context, the host's own search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from openclaw_neuralstream.capture.event import asked_from, read_session, scope_of, voice_of
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.memory.assembly import Replay, found_session, last_session, learnt_later, replayed
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.reminding import Shown
from openclaw_neuralstream.model import OWNER, Assembled, Block, Dropped, Gem, Query, Recall, Record, Scope
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.plugins.templates import inert
from openclaw_neuralstream.recall import record_of
from openclaw_neuralstream.recall.query import referred
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.server import given
from openclaw_neuralstream.server.given import Method, Params, record_to_json
from openclaw_neuralstream.text.lexicon import content_terms
from openclaw_neuralstream.text.lines import clean_gem, clean_record, clean_turn, instant
from openclaw_neuralstream.workspace.markdown import decoded
from openclaw_neuralstream.workspace.parse import BREAK
from openclaw_neuralstream.workspace.writing import FileRefused, Place, read

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


_LEAST, _MOST = 100, 100_000
_LAYERS = {True: "recent", False: "topic"}


def assemble(memory: Memory, params: Params) -> dict[str, Any]:
    """{"query", "agent"?, "user"?, "project"?, "budget"?, "limit"?, "dialogue"?} → the context, its records and numbers."""
    done = memory.assemble(_query(memory, params), _number(params, "budget", _LEAST, _MOST))
    return {**session_of(done), **_told_context(done)}


def session_of(done: Assembled) -> dict[str, Any]:
    """What `assemble_for_session` gives: {"context_block", "tokens", "message_count", "tags", "source"}."""
    return {
        "context_block": done.text,
        "tokens": done.tokens,
        "message_count": len(done.records),
        "tags": list(done.tags),
        "source": done.source,
    }


def _told_context(done: Assembled) -> dict[str, Any]:
    return {
        "records": [
            {
                "id": record.id,
                "layer": _LAYERS[record.id in done.recent],
                "kind": record.kind,
                "at": instant(record.at),
                "tokens": record.tokens,
                "score": round(record.score, 4),
                "text": record.text,
                "tags": list(record.tags),
                "citation": record.citation,
            }
            for record in done.records
        ],
        "dropped": [{"id": item.record.id, "why": item.why, "of": item.of} for item in done.dropped],
        "stage_ms": done.stage_ms,
    }


def _query(memory: Memory, params: Params) -> Query:
    text, dialogue = params.get("query"), params.get("dialogue", [])
    if not isinstance(text, str) or not text.strip():
        raise BadRequest(
            "query must be a text, and not an empty one", where="query", fix="say in words what the context is about"
        )
    if not isinstance(dialogue, list) or not all(isinstance(item, str) for item in dialogue):
        raise BadRequest("dialogue must be a list of texts", where="dialogue")
    names = (params.get("agent") or "main", params.get("user") or OWNER, params.get("project") or "")
    if not all(isinstance(name, str) for name in names):
        raise BadRequest("agent, user and project must be texts", where="agent")
    return Query(
        redact(text).text,
        Scope(*names),
        memory.now(),
        dialogue=tuple(redact(item).text for item in dialogue),
        limit=_number(params, "limit", 1, 500),
    )


def _number(params: Params, name: str, least: int, most: int) -> int:
    value = params.get(name) or 0
    if isinstance(value, bool) or not isinstance(value, int) or (value and not least <= value <= most):
        raise BadRequest(f"{name} must be a whole number from {least} to {most}", where=name)
    return value


CONTEXT_METHODS: dict[str, Method] = {"context": assemble}


CORPUS = "neuralstream"
GEMS = "gems/"
"""What the address of a gem begins with; everything else is a path of the workspace."""

_MOST_FOUND = 50
_SNIPPET = 700  # characters, as the host's own results have them
_CONTENT = 20_000
_CITED = lazy(r"(?P<path>.+)#L(?P<first>\d+)(?:-L(?P<last>\d+))?")


def search(memory: Memory, params: Params) -> dict[str, Any]:
    """{"query", "limit"?, "agent", "session_key", "channel"?, "sender"?, "sandboxed"?} → {"results"}, best first.

    The scope is that of whoever speaks in the session; a sandboxed session does not see files.
    """
    query = params.get("query")
    if not isinstance(query, str) or not query.strip():
        raise BadRequest("query must be a text", where="query")
    limit = params.get("limit", 10)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise BadRequest("limit must be a whole number from 1", where="limit")
    wanted = Query(
        redact(query).text, _scope(memory, params), memory.now(), limit=min(limit, _MOST_FOUND), token_budget=4_000
    )
    found = [_result(record) for record in memory.recall(wanted).records]
    return {"results": [item for item in found if not (params.get("sandboxed") and item["sourceType"] == "file")]}


def get(memory: Memory, params: Params) -> dict[str, Any]:
    """{"lookup", "from_line"?, "line_count"?, …as search} → {"found": the text, or null}."""
    lookup = params.get("lookup")
    if not isinstance(lookup, str):
        raise BadRequest("lookup must be a text", where="lookup")
    lookup, scope = lookup.strip(), _scope(memory, params)
    cited = _CITED.fullmatch(lookup)
    path = cited["path"] if cited else lookup
    first = given.whole(params, "from_line") or (int(cited["first"]) if cited else 1)
    count = given.whole(params, "line_count")
    if cited and not count and not params.get("from_line"):
        count = int(cited["last"] or cited["first"]) - int(cited["first"]) + 1
    if path.startswith(GEMS):
        return {"found": _gem(memory, path.removeprefix(GEMS), scope)}
    return {"found": None if params.get("sandboxed") else _file(memory, path, scope, first, count)}


def _result(record: Record) -> dict[str, Any]:
    cited = _CITED.fullmatch(record.citation)
    told: dict[str, Any] = {
        "corpus": CORPUS,
        "path": cited["path"] if cited else f"{GEMS}{record.id[:8]}",
        "title": inert(record.summary)[:120],
        "kind": record.kind,
        "score": round(min(1.0, max(0.0, record.score)), 4),  # as the host's own
        "snippet": inert(record.text)[:_SNIPPET],
        "id": record.id,
        "citation": record.citation if cited else f"{GEMS}{record.id[:8]} ({record.citation})",
        "source": CORPUS,
        "provenanceLabel": f"said by {inert(record.speaker)}, {record.origin.value}",
        "sourceType": "file" if cited else "gem",
        "updatedAt": instant(record.at),
    }
    if cited:
        first = int(cited["first"])
        told |= {"startLine": first, "endLine": int(cited["last"] or first), "sourcePath": cited["path"]}
    return told


def _gem(memory: Memory, prefix: str, scope: Scope) -> dict[str, Any] | None:
    gem = memory.truth.gem(prefix) if len(prefix) >= 8 else None
    if gem is None or (gem.scope.agent, gem.scope.user) != (scope.agent, scope.user):
        return None
    gem = clean_gem(gem)  # an older version of the rules may have let something in
    lines = [inert(gem.content), f"Kind: {gem.kind.value}. Said by {inert(gem.speaker)} ({gem.origin.value})."]
    lines.append(
        f"Source: session {gem.source.session_id or 'by hand'}, turns {gem.source.turn_range}, {gem.source.date}."
    )
    return {
        "corpus": CORPUS,
        "path": f"{GEMS}{gem.gem_id[:8]}",
        "title": inert(gem.summary)[:120],
        "kind": gem.kind.value,
        "content": "\n".join(lines),
        "fromLine": 1,
        "lineCount": len(lines),
        "id": gem.gem_id,
        "sourceType": "gem",
        "updatedAt": instant(gem.created_at),
    }


def _file(memory: Memory, path: str, scope: Scope, first: int, count: int) -> dict[str, Any] | None:
    """Lines of an indexed file of the owner's workspace; nothing else is ever read."""
    workspace = memory.parts.workspaces.for_agent(scope.agent) if scope.user == OWNER else None
    index = workspace.index if workspace else None
    if workspace is None or index is None or path not in index.known():
        return None
    try:
        data = read(Place(workspace.root, path)) or b""
    except FileRefused:
        return None
    text, _ = decoded(data)
    if text is None:
        return None
    lines = BREAK.split(redact(text, keep_lines=True).text)  # the lines that citations count
    if lines[-1] == "":
        lines.pop()
    shown = lines[first - 1 : first - 1 + count] if count else lines[first - 1 :]
    return {
        "corpus": CORPUS,
        "path": path,
        "title": path,
        "content": "\n".join(shown)[:_CONTENT],
        "fromLine": first,
        "lineCount": len(shown),
        "sourceType": "file",
        "sourcePath": path,
    }


def _scope(memory: Memory, params: Params) -> Scope:
    """Whoever speaks in the session. Raises BadRequest where none is named: nobody knows then whose memory may be read."""
    event = {**params, "agent": params.get("agent") or "main"}
    session = read_session(event)
    return scope_of(
        event, session, voice_of(event, session, memory.conversations.heard(asked_from(event, session))).user
    )


CORPUS_METHODS: dict[str, Method] = {"memory.search": search, "memory.get": get}
