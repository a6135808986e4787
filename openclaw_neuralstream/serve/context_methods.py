"""Methods that assemble a context for a prompt, for programs, commands and other agents."""

from __future__ import annotations

from typing import Any

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.model import OWNER, Assembled, Query, Scope
from openclaw_neuralstream.secrets import redact
from openclaw_neuralstream.serve.given import Method, Params

_LEAST, _MOST = 100, 100_000
_LAYERS = {True: "recent", False: "topic"}


def assemble(memory: Memory, params: Params) -> dict[str, Any]:
    """{"query", "agent"?, "user"?, "project"?, "budget"?, "limit"?, "dialogue"?} → the context, its records and numbers."""
    done = memory.assemble(_query(memory, params), _number(params, "budget", _LEAST, _MOST))
    return {**session_of(done), **_told(done)}


def session_of(done: Assembled) -> dict[str, Any]:
    """What `assemble_for_session` gives: {"context_block", "tokens", "message_count", "tags", "source"}."""
    return {
        "context_block": done.text,
        "tokens": done.tokens,
        "message_count": len(done.records),
        "tags": list(done.tags),
        "source": done.source,
    }


def _told(done: Assembled) -> dict[str, Any]:
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


METHODS: dict[str, Method] = {"context": assemble}
