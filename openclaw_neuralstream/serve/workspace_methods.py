"""Methods about workspaces: where they are, harvesting them, keeping a sentence in today's log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.model import OWNER, FactKind
from openclaw_neuralstream.serve.given import Method, Params
from openclaw_neuralstream.workspaces import Workspace
from openclaw_neuralstream.workspaces.retaining import Retained, Sentence
from openclaw_neuralstream.workspaces.telling import harvested_to_json

_LETTERS = {"w": FactKind.WORLD, "b": FactKind.EXPERIENCE, "o": FactKind.OPINION, "s": FactKind.OBSERVATION}


def workspaces(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """{} → {"workspaces"}: each with its folder, agents, index, how it is followed, and what is wrong."""
    return {"workspaces": memory.parts.workspaces.status()}


def harvest(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?, "paths"?, "force"?, "dry_run"?} → {"harvested": [one per workspace]}."""
    return {
        "harvested": [
            harvested_to_json(
                workspace,
                workspace.harvest(
                    set(map(str, params["paths"])) if params.get("paths") else None,
                    force=bool(params.get("force")),
                    dry_run=bool(params.get("dry_run")),
                ),
            )
            for workspace in _chosen(memory, str(params.get("agent") or ""))
        ]
    }


def retain(memory: Memory, params: Params) -> dict[str, Any]:
    """{"text", "agent"?, "kind"?, "confidence"?, "entities"?, "day"?, "dry_run"?} → where it stands now."""
    if params.get("user", OWNER) != OWNER:
        raise BadRequest("only the owner's words go into the owner's files", where="user")
    done = memory.parts.workspaces.retain(
        str(params.get("agent") or "main"), sentence_of(params), day=_day(params), dry_run=bool(params.get("dry_run"))
    )
    return {"text": _told(done), **retained_to_json(done)}


def sentence_of(params: Mapping[str, Any]) -> Sentence:
    """What is to be kept. Raises BadRequest."""
    text, entities, confidence = params.get("text"), params.get("entities") or [], params.get("confidence")
    if not isinstance(text, str) or not text.strip():
        raise BadRequest("text must be a sentence", where="text", fix="say what is to be kept")
    if not isinstance(entities, list | tuple) or not all(isinstance(name, str) for name in entities):
        raise BadRequest("entities must be a list of names", where="entities")
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if confidence is not None and not (number and 0 <= confidence <= 1):
        raise BadRequest("confidence must be 0 to 1", where="confidence")
    return Sentence(
        text, kind_of(params.get("kind")), None if confidence is None else float(confidence), tuple(entities)
    )


def kind_of(name: object) -> FactKind | None:
    """A kind by its name or letter. Raises BadRequest."""
    if name is None or name == "":
        return None
    try:
        return _LETTERS.get(str(name).lower()) or FactKind(str(name).lower())
    except ValueError as error:
        raise BadRequest(f"kind must be one of {', '.join(FactKind)}", where="kind") from error


def retained_to_json(done: Retained) -> dict[str, Any]:
    """As commands and tools show it."""
    return {
        "citation": done.citation,
        "path": done.path,
        "line": done.line,
        "bullet": done.bullet,
        "added": done.added,
        "redacted": done.redacted,
    }


def _told(done: Retained) -> str:
    verb = "Kept in" if done.added else "It stands already in"
    return f"{verb} {done.citation}: {done.bullet}"


def _day(params: Params) -> date | None:
    if not params.get("day"):
        return None
    try:
        return date.fromisoformat(str(params["day"]))
    except ValueError as error:
        raise BadRequest("day must be of the form 2026-11-21", where="day") from error


def _chosen(memory: Memory, agent: str) -> list[Workspace]:
    if not agent:
        return memory.parts.workspaces.all()
    workspace = memory.parts.workspaces.for_agent(agent)
    if workspace is None:
        raise NotFound(
            f"no workspace of the agent {agent!r} is known", fix="neuralstream admin harvest --json names them all"
        )
    return [workspace]


METHODS: dict[str, Method] = {
    "workspaces": workspaces,
    "harvest": harvest,
    "retain": retain,
    "tool.retain": retain,
}
