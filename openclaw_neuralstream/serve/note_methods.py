"""Methods about whom the workspace's notes name, and what is still starting."""

from __future__ import annotations

from typing import Any

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import NotFound
from openclaw_neuralstream.model import Scope
from openclaw_neuralstream.ports import NoteSearch
from openclaw_neuralstream.serve.given import Method, Params


def entities(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?, "limit"?} → {"entities": [{"name", "aliases", "page", "facts", "notes", "last_day"}]}."""
    limit = params.get("limit", 0)
    found = _notes(memory, params).entities(limit=limit if isinstance(limit, int) and limit > 0 else 0)
    return {
        "entities": [
            {
                "name": entity.name,
                "slug": entity.slug,
                "aliases": list(entity.aliases),
                "page": entity.page,
                "facts": entity.facts,
                "notes": entity.notes,
                "last_day": str(entity.last_day) if entity.last_day else "",
            }
            for entity in found
        ]
    }


def starting(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?} → {"starting": what is not there yet, in words}; for people who would rather wait than be told nothing."""
    workspace = memory.parts.workspaces.for_agent(str(params.get("agent") or "main"))
    said = []
    if workspace is not None and workspace.indexing:
        said.append("the workspace is being indexed")
    if memory.warming:
        said.append("the embedding model is loading")
    return {"starting": said}


def _notes(memory: Memory, params: Params) -> NoteSearch:
    agent = str(params.get("agent") or "main")
    found = memory.parts.workspaces.search(Scope(agent))
    if found is None:
        fix = "neuralstream config set workspace /folder, or let OpenClaw name it with its next turn"
        raise NotFound(f"agent {agent!r} has no workspace", fix=fix)
    return found


METHODS: dict[str, Method] = {"notes.entities": entities, "starting": starting}
