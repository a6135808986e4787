"""A context for a prompt in one call, from any Python program: the memory process is found, or started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openclaw_neuralstream.model import OWNER
from openclaw_neuralstream.serve import client
from openclaw_neuralstream.state import StateDir, state_dir

_KEYS = ("context_block", "tokens", "message_count", "tags", "source")


def assemble_context(
    query: str,
    token_budget: int = 2000,
    *,
    agent: str = "main",
    user: str = OWNER,
    project: str = "",
    state: Path | None = None,
) -> str:
    """The context for a question in at most `token_budget` tokens, as Markdown; "" when nothing is remembered.

    state: the state directory; None = NEURALSTREAM_STATE_DIR, else the usual one. Raises NeuralStreamError and its kin.
    """
    found: str = _asked(query, token_budget, {"agent": agent, "user": user, "project": project}, state)["context_block"]
    return found


def assemble_for_session(
    query: str,
    token_budget: int = 0,
    *,
    agent: str = "main",
    user: str = OWNER,
    project: str = "",
    state: Path | None = None,
) -> dict[str, Any]:
    """The same with its numbers: {"context_block", "tokens", "message_count", "tags", "source"}.

    token_budget: 0 = the setting context_token_budget. source: "memory", the name of the file it fell back to, or "".
    """
    found = _asked(query, token_budget, {"agent": agent, "user": user, "project": project}, state)
    return {key: found[key] for key in _KEYS}


def _asked(query: str, budget: int, scope: dict[str, str], state: Path | None) -> dict[str, Any]:
    door = client.connect(StateDir(state) if state else state_dir())
    try:
        found: dict[str, Any] = door.call("context", {"query": query, "budget": budget, **scope})
        return found
    finally:
        door.close()
