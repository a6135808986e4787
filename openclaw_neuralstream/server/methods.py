"""What can be asked: method name → function. The socket, the CLI without a process and the tests use the same table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.memory import gemcraft
from openclaw_neuralstream.memory.engine import Memory
from openclaw_neuralstream.memory.forget_files import What
from openclaw_neuralstream.model import OWNER, Gem, Origin, Query, Recall, Record, Scope, Trigger
from openclaw_neuralstream.plugins.templates import inert
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.server import (
    asking_methods,
    capture_list,
    given,
    moments,
    spool,
    upkeep_methods,
    workspace_methods,
)
from openclaw_neuralstream.server.given import Method, Params, record_to_json
from openclaw_neuralstream.server.status import status
from openclaw_neuralstream.store.settling import Replaced
from openclaw_neuralstream.store.tags import key_of
from openclaw_neuralstream.text.lines import clean_foreign_gem, clean_gem, gem_from_json, gem_to_json

_WITH_WORDS = ("recall", "remember", "forget")
_USAGE = "/neuralstream status | recall WORDS | remember SENTENCE | forget ID or WORDS"
_MOST_LISTED = 10_000
_ALL_TOKENS = 1_000_000  # a person who narrows a question reads all of the answer
_ENOUGH_OF_AN_ID = 8  # characters that no other gem begins with by chance
_EDITABLE = ("content", "summary", "importance", "tags", "topics")


def _query(memory: Memory, params: Params) -> Query:
    dialogue = tuple(redact(text).text for text in given.texts(params, "dialogue")) if "dialogue" in params else ()
    return Query(
        text=redact(given.text(params, "query")).text,
        scope=given.scope(params),
        now=memory.now(),
        dialogue=dialogue,
        limit=given.whole(params, "limit", most=_MOST_LISTED),
        token_budget=given.whole(params, "budget", most=1_000_000) or (_ALL_TOKENS if given.narrowed(params) else 0),
        wanted=given.wanted_of(params, memory.now()),
        sources=given.sources_of(params),
        everything=given.narrowed(params),
    )


def recall(memory: Memory, params: Params) -> dict[str, Any]:
    """{"query", "agent"?, "user"?, "limit"?, "budget"?, "since"? … (see `serve.wanted`)} → {"records", "standing", "left_out"}.

    standing: rules and what can harm, where the question touches their matter, that are not among the records.
    """
    found, standing = _recalled(memory, _query(memory, params))
    return {
        "records": [record_to_json(record) for record in found.records],
        "standing": [record_to_json(record) for record in standing],
        "left_out": found.left_out,
    }


def _recalled(memory: Memory, query: Query) -> tuple[Recall, list[Record]]:
    """What is recalled, and beside it the rules and the facts about health that the question touches."""
    found = memory.recall(query)
    shown = {record.id for record in found.records}
    return found, [record for record in memory.stands(query) if record.id not in shown]


def explain(memory: Memory, params: Params) -> dict[str, Any]:
    """The same question with every rank, factor and reason, and the block as the model would read it."""
    return asking_methods.explained(memory, _query(memory, params))


def gems_list(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?, "text"?, "tag"?, "limit"?, "offset"?, "superseded"?} → {"gems", "total"}."""
    scope = given.scope(params) if "agent" in params else None
    gems = memory.truth.gems(
        scope,
        text=given.text(params, "text", ""),
        tag=given.text(params, "tag", ""),
        limit=given.whole(params, "limit", 50, most=_MOST_LISTED),
        offset=given.whole(params, "offset", most=100_000_000),
        superseded=bool(params.get("superseded", False)),
    )
    inferred = memory.truth.tags.inferred([gem.gem_id for gem in gems])
    told = [{**gem_to_json(clean_gem(gem)), "inferred_tags": list(inferred.get(gem.gem_id, ()))} for gem in gems]
    return {"gems": told, "total": memory.truth.gem_count(scope)}


def gems_show(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id"} → the gem, with the words of the turns that are its evidence."""
    gem = memory.gem(given.text(params, "id"))
    inferred = list(memory.truth.tags.inferred([gem.gem_id]).get(gem.gem_id, ()))
    return {
        "gem": {**gem_to_json(clean_gem(gem)), "inferred_tags": inferred},
        **upkeep_methods.provenance(memory, gem),
    }


def gems_edit(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id", "content"?, "summary"?, "importance"?, "tags"?, "topics"?, "add_tags"?, "remove_tags"?} → the gem as it is now.

    tags takes the place of all tags that there are; add_tags and remove_tags change these.
    """
    changes = {name: params[name] for name in _EDITABLE if params.get(name) is not None}
    if params.get("add_tags") or params.get("remove_tags"):
        changes["tags"] = _tags_after(memory, params)
    if not changes:
        raise BadRequest("nothing to change", fix=f"give one of {', '.join((*_EDITABLE, 'add_tags', 'remove_tags'))}")
    for name in ("content", "summary"):
        if name in changes:
            changes[name] = redact(given.text(params, name)).text
    for name in ("tags", "topics"):
        if name in changes:
            changes[name] = tuple(redact(text).text for text in given.texts(changes, name))
    importance = changes.get("importance", 0.5)
    if isinstance(importance, bool) or not isinstance(importance, int | float) or not 0 <= importance <= 1:
        raise BadRequest(f"importance must be 0 to 1 (got {importance!r})", where="importance")
    return {"gem": gem_to_json(memory.edit(given.text(params, "id"), **changes))}


def _tags_after(memory: Memory, params: Params) -> list[str]:
    """The gem's tags with these and without those; one spelling of a tag is as good as another."""
    had = given.texts(params, "tags") if params.get("tags") else memory.gem(given.text(params, "id")).tags
    more, less = (given.texts(params, name) if params.get(name) else () for name in ("add_tags", "remove_tags"))
    gone, known = {key_of(tag) for tag in less}, {key_of(tag): tag for tag in (*reversed(more), *had)}
    if missing := [tag for tag in less if key_of(tag) not in {key_of(tag) for tag in had}]:
        raise BadRequest(f"it has no tag {missing[0]!r}", fix=f"its tags: {', '.join(had) or 'none'}")
    return [known[key] for key in dict.fromkeys(map(key_of, (*had, *more))) if key not in gone]


def gems_forget(memory: Memory, params: Params) -> dict[str, Any]:
    """{"ids", "dry_run"?} → {"gems", "forgotten"}; with dry_run nothing is removed."""
    gems = [memory.gem(gem_id) for gem_id in given.texts(params, "ids")]
    forgotten = 0 if params.get("dry_run") else memory.forget([gem.gem_id for gem in gems])
    return {"gems": [gem_to_json(clean_gem(gem)) for gem in gems], "forgotten": forgotten}


def gems_import(memory: Memory, params: Params) -> dict[str, Any]:
    """{"gems": [gem, …]} → {"stored", "known"}."""
    items = params.get("gems")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadRequest("gems must be a list of gems", where="gems")
    gems = [clean_foreign_gem(gem_from_json(item)) for item in items]
    stored = memory.import_gems(gems)
    return {"stored": stored, "known": len(gems) - stored}


def gems_revise(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id", "content", "whole"?, "look"?}: a page says it in these words now → {"outcome": "edited" | "same" | "other" | "unknown"}.

    whole: the id is no beginning of one. look: change nothing; "other" is a gem that says something else.
    """
    content = redact(given.text(params, "content")).text
    asked = given.text(params, "id")
    try:
        gem = memory.gem(asked)
    except NotFound:
        return {"outcome": "unknown"}
    if gem.gem_id != asked:
        if params.get("whole"):
            return {"outcome": "unknown"}
        if len(asked) < _ENOUGH_OF_AN_ID:
            raise BadRequest(
                f"{asked!r} is too short to change a gem by", where="id", fix=f"{_ENOUGH_OF_AN_ID} characters of its id"
            )
    if " ".join(gem.content.split()) == " ".join(content.split()):
        return {"outcome": "same"}
    if params.get("look"):
        return {"outcome": "other"}
    memory.edit(gem.gem_id, content=content)
    return {"outcome": "edited"}


def flush(memory: Memory, params: Params) -> dict[str, Any]:
    """{"idle"?} → what was distilled; with idle only sessions that nobody speaks in any more."""
    done = memory.flush(Trigger.IDLE if params.get("idle") else Trigger.MANUAL)
    return {**asdict(done), "away": memory.away.names()}


def reembed(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """Start embedding again, in the background, what another embedder made; `status` shows how far it is."""
    pending = memory.truth.gem_count() - memory.truth.embedded_count(memory.parts.embedder.identity)
    return {"started": memory.start_reembedding(), "pending": pending}


def rebuild(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """Make the indexes of gems, of verbatim turns and of questions in their order anew from the truth.

    Vectors of turns follow in the background.
    """
    questions = memory.sequencer.rebuild() if memory.sequencer else 0
    return {"gems": memory.projection.rebuild(), "turns": memory.turn_projection.rebuild(), "questions": questions}


def check(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """Read the whole memory file; raises StateDamaged, and the next start of the process then mends it."""
    memory.truth.check()
    return {}


def count(memory: Memory, params: Params) -> dict[str, Any]:
    """{"counters": {name: n}}: what the bridge counted while nobody listened."""
    for name, by in given.mapping(params, "counters").items():
        if isinstance(by, int) and not isinstance(by, bool) and 0 < by < 1_000_000:
            memory.truth.count(str(name)[:80], by)
    return {}


def drain(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """Take in what the bridge spooled while nobody answered."""
    return asdict(spool.drain(memory, memory.parts.state.spool, DRAINABLE))


def tool_recall(memory: Memory, params: Params) -> dict[str, Any]:
    """The agent's tool: {"query", "limit"?} → {"text"}: the block, or a sentence that nothing was found."""
    query = _query(memory, {"limit": 8, **params})
    block = memory.remind(query, gated=False)
    memory.injected.showed(query.scope.agent, block.records)
    return {"text": block.text or "Nothing relevant is remembered.", "records": list(block.records)}


def remember(memory: Memory, params: Params) -> dict[str, Any]:
    """What a person asks for on a command line or in a chat: {"text", "session_key"?} → {"text", "gem_id", "replaced"}."""
    return _remembered(memory, params, Origin.OWNER)


def tool_remember(memory: Memory, params: Params) -> dict[str, Any]:
    """The agent's tool, the same form; its words are the agent's: a page that it read may have made it call."""
    return _remembered(memory, params, Origin.AGENT)


def _remembered(memory: Memory, params: Params, origin: Origin) -> dict[str, Any]:
    scope = given.scope(params)
    session = memory.session(scope.agent, given.text(params, "session_key", "by-hand") or "by-hand")
    vouched = origin if scope.user == OWNER else Origin.UNTRUSTED
    kept = memory.keep(given.text(params, "text"), scope, session, origin=vouched)
    lines = [f"Remembered as {kept.gem.gem_id[:8]}: {kept.gem.summary}"]
    for item in kept.replaced:
        lines.append(f"It replaces {item.gem.gem_id[:8]}: {_quoted(item.gem)}")
        if item.rest is not None:
            lines.append(f"Kept of that as {item.rest.gem_id[:8]}: {_quoted(item.rest)}")
        if lost := _left_out(item, kept.gem):
            lines.append(f"Not kept, as it may not hold any more: {inert('; '.join(lost))}")
    return {
        "text": "\n".join(lines),
        "gem_id": kept.gem.gem_id,
        "replaced": [_replaced(item, kept.gem) for item in kept.replaced],
    }


def _quoted(gem: Gem) -> str:
    """What it says, in one line without anything that a model could take for more than a quotation, and without secrets."""
    return inert(clean_gem(gem).content)


def _left_out(item: Replaced, correction: Gem) -> list[str]:
    rest = clean_gem(item.rest) if item.rest is not None else None
    return list(gemcraft.left_out(clean_gem(item.gem), clean_gem(correction), rest))


def _replaced(item: Replaced, correction: Gem) -> dict[str, Any]:
    rest = item.rest
    return {
        "gem_id": item.gem.gem_id,
        "content": clean_gem(item.gem).content,
        "why": item.why,
        "kept": {"gem_id": rest.gem_id, "content": clean_gem(rest).content} if rest is not None else None,
        "not_kept": _left_out(item, correction),
    }


def remember_undo(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id"} of a gem remembered by hand → {"removed", "restored", "kept"}: the gems that went, hold again, and stay all the same."""
    undone = memory.take_back(given.text(params, "id"))
    told = {"removed": undone.removed, "restored": undone.restored, "kept": undone.kept}
    return {name: [gem_to_json(clean_gem(gem)) for gem in gems] for name, gems in told.items()}


def tool_forget(memory: Memory, params: Params) -> dict[str, Any]:
    """The agent's tool: {"what"}: an id (at least eight characters) forgets; words list what could be meant."""
    what, scope = given.text(params, "what").strip(), given.scope(params)
    forgotten = _forgotten(memory, what, scope) if len(what) >= 8 and " " not in what else ""
    if forgotten:
        return {"text": f"Forgotten: {forgotten[:8]}", "forgotten": [forgotten]}
    asked = {**params, "query": what, "limit": 5, "sources": ["gems", "turns"]}  # files are the person's own to edit
    found = memory.recall(_query(memory, asked), filtered=False).records
    if not found:
        return {"text": "Nothing like that is remembered.", "forgotten": []}
    lines = [f"{record.id[:8]}  {record.summary}" for record in found]
    return {"text": "Call again with the id of what to forget:\n" + "\n".join(lines), "forgotten": []}


def _forgotten(memory: Memory, prefix: str, scope: Scope) -> str:
    """Forget the gem, or the turn, of this id; returns it, "" when the scope has none."""
    gem = memory.truth.gem(prefix)
    if gem and (gem.scope.agent, gem.scope.user) == (scope.agent, scope.user):
        memory.forget([gem.gem_id])
        return gem.gem_id
    said = memory.turn_projection.find(prefix)
    if said and (said.scope.agent, said.scope.user) == (scope.agent, scope.user):
        memory.eraser.forget(What(turns=(said.turn_id,)))
        return said.id
    return ""


def command(memory: Memory, params: Params) -> dict[str, Any]:
    """The slash command: "/neuralstream [status | recall WORDS | remember TEXT | forget ID]" → {"text"}."""
    verb, _, rest = given.text(params, "args", "").strip().partition(" ")
    if verb == "help" or (verb in _WITH_WORDS and not rest.strip()):
        return {"text": _USAGE}
    if verb in ("", "status"):
        now = status(memory)
        return {
            "text": f"NeuralStream {now['version']}: {now['gems']['total']} gems, {now['buffer']['waiting']} turns waiting, "
            f"extractor {now['extractor']['name']}, embedder {now['embedder']['name']}"
        }
    if verb == "remember":
        return remember(memory, {**params, "text": rest})
    if verb == "forget":
        return tool_forget(memory, {**params, "what": rest})
    query = rest if verb == "recall" else f"{verb} {rest}".strip()
    found, standing = _recalled(memory, _query(memory, {**params, "query": query, "limit": 8}))
    lines = [
        f"{record.at:%Y-%m-%d}  {record.id[:8]}  {f'{record.speaker}: ' if record.speaker != OWNER else ''}{record.text}"
        for record in found.records
    ]
    lines += [f"{record.at:%Y-%m-%d}  {record.id[:8]}  (in the brief) {record.text}" for record in standing]
    return {"text": "\n".join(lines) or "Nothing relevant is remembered."}


DRAINABLE: dict[str, Method] = {
    "turn_begin": moments.turn_begin,
    "turn_end": moments.turn_end,
    "before_compaction": moments.before_compaction,
    "after_compaction": moments.after_compaction,
    "session_end": moments.session_end,
    "gateway_stop": moments.gateway_stop,
    "count": count,
}
"""What may stand in a spool file: nothing that answers, nothing that only makes sense at its time."""

METHODS: dict[str, Method] = {
    **DRAINABLE,
    **upkeep_methods.METHODS,
    **capture_list.METHODS,
    **upkeep_methods.COLLECTIONS_METHODS,
    **workspace_methods.NOTE_METHODS,
    **workspace_methods.TAG_METHODS,
    **workspace_methods.METHODS,
    **upkeep_methods.ARCHIVE_METHODS,
    **upkeep_methods.AUDIT_METHODS,
    **upkeep_methods.MODEL_METHODS,
    **upkeep_methods.methods(DRAINABLE),
    **asking_methods.CORPUS_METHODS,
    **asking_methods.CONTEXT_METHODS,
    **asking_methods.METHODS,
    **upkeep_methods.FORGET_METHODS,
    **workspace_methods.REFLECT_METHODS,
    **upkeep_methods.BACKFILL_METHODS,
    **workspace_methods.SEQUENCE_METHODS,
    "prompt_build": moments.prompt_build,
    "ping": lambda memory, params: {},  # noqa: ARG005  one signature for all methods
    "status": lambda memory, params: status(memory),  # noqa: ARG005
    "recall": recall,
    "explain": explain,
    "gems.list": gems_list,
    "gems.show": gems_show,
    "gems.edit": gems_edit,
    "gems.forget": gems_forget,
    "gems.import": gems_import,
    "gems.revise": gems_revise,
    "flush": flush,
    "reembed": reembed,
    "rebuild": rebuild,
    "check": check,
    "drain": drain,
    "seen": moments.seen,
    "canary.arm": moments.arm,
    "canary.seen": moments.was_seen,
    "canary.captured": moments.captured,
    "sessions.forget": moments.forget_session,
    "tool.recall": tool_recall,
    "remember": remember,
    "remember.undo": remember_undo,
    "tool.remember": tool_remember,
    "tool.forget": tool_forget,
    "command": command,
}

INLINE = frozenset(
    {"turn_begin", "turn_end", "before_compaction", "after_compaction", "session_end", "gateway_stop", "ping", "count"}
)
"""Answered in the order in which they came on a connection; the others run beside each other."""


URGENT = INLINE | {"prompt_build", "recall", "tool.recall", "memory.search", "memory.get"}
"""Somebody waits for these, and they are quick: what works in the background rests meanwhile."""


def call(memory: Memory, method: str, params: Params) -> Any:
    """Answer one request. Raises BadRequest for an unknown method, and whatever the method raises."""
    if method not in METHODS:
        raise BadRequest(f"unknown method {method!r}", fix="this client and the process are of different versions")
    if not isinstance(params, Mapping):
        raise BadRequest("params must be an object", where=method)
    return METHODS[method](memory, params)
