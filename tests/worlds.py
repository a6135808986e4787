"""Events as the bridge sends them, so that tests speak of turns and not of JSON."""

from __future__ import annotations

import itertools
from typing import Any

_numbers = itertools.count(1)


def said(text: str, **more: Any) -> dict[str, Any]:
    """A user message as the host stores it."""
    return {"role": "user", "content": [{"type": "text", "text": text}], **more}


def answered(text: str, **more: Any) -> dict[str, Any]:
    """What the assistant replied."""
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": "stop", **more}


def turn_event(user: str, assistant: str = "Noted.", *, run: str = "", agent: str = "main", key: str = "", **more: Any) -> dict[str, Any]:
    """A `turn_end` event; each has a run of its own unless one is given."""
    run = run or f"run-{next(_numbers)}"
    key = key or f"agent:{agent}:main"
    return {
        "run_id": run,
        "agent": agent,
        "session_key": key,
        "session_id": f"id-of-{key}",
        "messages": [said(user, idempotencyKey=f"{run}:user"), answered(assistant)],
        "trigger": "user",
        "sender": {"id": "gateway-client", "owner": True},
        "success": True,
        "usage": {"tokens": 10_000, "context_window": 128_000},
        **more,
    }


def prompt_event(prompt: str, *, agent: str = "main", key: str = "", **more: Any) -> dict[str, Any]:
    """A `prompt_build` event at the start of an empty window."""
    key = key or f"agent:{agent}:main"
    return {
        "run_id": f"run-{next(_numbers)}",
        "agent": agent,
        "session_key": key,
        "session_id": f"id-of-{key}",
        "prompt": prompt,
        "dialogue": [],
        "window_runs": [],
        "window_text": "",
        "trigger": "user",
        "sender": {"id": "gateway-client", "owner": True},
        **more,
    }


def end_event(reason: str = "new", *, agent: str = "main", key: str = "") -> dict[str, Any]:
    """A `session_end` event."""
    key = key or f"agent:{agent}:main"
    return {"agent": agent, "session_key": key, "session_id": f"id-of-{key}", "reason": reason}
