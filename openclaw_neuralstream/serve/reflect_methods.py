"""Methods about reflection: run it, see what it proposes, decide."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.formats import instant
from openclaw_neuralstream.model import OWNER
from openclaw_neuralstream.reflect.proposals import Proposal
from openclaw_neuralstream.serve.given import Method, Params
from openclaw_neuralstream.workspaces import Workspace

_LONGEST = 100 * 366 * 86_400


def reflect(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?, "since_seconds"? (0 = ever), "dry_run"?} → {"reports": [one per workspace]}."""
    since = params.get("since_seconds", 7 * 86_400)
    if isinstance(since, bool) or not isinstance(since, int | float) or not 0 <= since <= _LONGEST:
        raise BadRequest("since_seconds must be seconds, 0 for ever", where="since_seconds")
    window = timedelta(seconds=since) if since else None
    dry_run = bool(params.get("dry_run"))
    reports = [
        memory.reflector.reflect(workspace, agent, since=window, dry_run=dry_run)
        for agent, workspace in _chosen(memory, params)
    ]
    return {"reports": [report.to_json() for report in reports]}


def tool_reflect(memory: Memory, params: Params) -> dict[str, Any]:
    """The agent's tool: {"agent"?} → {"text"}: what was refreshed and what waits for the owner's yes."""
    if params.get("user", OWNER) != OWNER:
        raise BadRequest("only the owner's memory has pages", where="user")
    (report,) = reflect(memory, {"agent": params.get("agent") or "main"})["reports"]
    lines = [
        f"{change['path']}: {change['outcome']}{', ' + change['why'] if change['why'] else ''}"
        for change in report["changes"]
        if change["outcome"] != "unchanged"
    ]
    return {"text": "\n".join(lines) or "Everything is up to date."}


def proposals_list(memory: Memory, params: Params) -> dict[str, Any]:
    """{"agent"?} → {"proposals"}: what waits for a decision, without the diffs."""
    return {
        "proposals": [
            _to_json(one, agent, diff=False)
            for agent, workspace in _chosen(memory, params)
            for one in memory.reflector.book(workspace).waiting()
        ]
    }


def proposals_show(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id", "agent"?} → the proposal with its unified diff."""
    agent, workspace = _holding(memory, params)
    return _to_json(memory.reflector.book(workspace).find(_id(params)), agent)


def proposals_accept(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id", "agent"?} → the proposal, made. Refused when the file has changed; it then waits anew."""
    agent, workspace = _holding(memory, params)
    return _to_json(memory.reflector.accept(workspace, _id(params)), agent)


def proposals_reject(memory: Memory, params: Params) -> dict[str, Any]:
    """{"id", "agent"?} → the proposal, put away for good."""
    agent, workspace = _holding(memory, params)
    return _to_json(memory.reflector.reject(workspace, _id(params)), agent)


def _to_json(one: Proposal, agent: str, *, diff: bool = True) -> dict[str, Any]:
    told = {
        "id": one.proposal_id,
        "agent": agent,
        "path": one.path,
        "part": one.part,
        "reason": one.reason,
        "made": instant(one.made),
    }
    return {**told, "diff": one.diff} if diff else told


def _id(params: Params) -> str:
    found = params.get("id")
    if not isinstance(found, str) or not found.strip():
        raise BadRequest("id must be a text", where="id")
    return found.strip()


def _chosen(memory: Memory, params: Params) -> list[tuple[str, Workspace]]:
    """The workspace of the agent, or every one, each with its keeper."""
    agent = str(params.get("agent") or "")
    if not agent:
        return [(w.keeper, w) for w in memory.parts.workspaces.all() if w.keeper and w.here]
    workspace = memory.parts.workspaces.for_agent(agent)
    if workspace is None:
        raise NotFound(
            f"no workspace of the agent {agent!r} is known",
            fix="neuralstream config set workspace /folder, or talk to the agent once: OpenClaw then names it",
        )
    return [(agent, workspace)]


def _holding(memory: Memory, params: Params) -> tuple[str, Workspace]:
    """The workspace whose proposal is meant. Raises NotFound."""
    chosen, wanted = _chosen(memory, params), _id(params)
    for agent, workspace in chosen:
        if any(one.proposal_id.startswith(wanted) for one in memory.reflector.book(workspace).waiting()):
            return agent, workspace
    raise NotFound(f"no proposal {wanted!r}", fix="neuralstream proposals list shows the ids")


METHODS: dict[str, Method] = {
    "reflect": reflect,
    "tool.reflect": tool_reflect,
    "proposals.list": proposals_list,
    "proposals.show": proposals_show,
    "proposals.accept": proposals_accept,
    "proposals.reject": proposals_reject,
}
