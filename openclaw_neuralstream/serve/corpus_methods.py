"""Methods for the host's own memory search: gems, facts and notes as one more corpus, each found thing readable again."""

from __future__ import annotations

from typing import Any

from openclaw_neuralstream.capture.session import asked_from, read_session, scope_of, voice_of
from openclaw_neuralstream.clean import clean_gem
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.model import OWNER, Query, Record, Scope
from openclaw_neuralstream.notes.blocks import BREAK
from openclaw_neuralstream.notes.decode import decoded
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.reflect.writing import FileRefused, Place, read
from openclaw_neuralstream.render import inert
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.serve import given
from openclaw_neuralstream.serve.given import Method, Params

CORPUS = "neuralstream"
GEMS = "gems/"
"""What the address of a gem begins with; everything else is a path of the workspace."""

_MOST = 50
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
        redact(query).text, _scope(memory, params), memory.now(), limit=min(limit, _MOST), token_budget=4_000
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


METHODS: dict[str, Method] = {"memory.search": search, "memory.get": get}
