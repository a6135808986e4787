"""The past over the socket, a handful of turns a request: the client reads, the memory keeps and says when it has enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openclaw_neuralstream.backfill import taking
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.serve.given import Params

_MOST = 200


def take(memory: Memory, params: Params) -> dict[str, Any]:
    """{"turns": [{"event", "stretch"}], "dry_run"?} → {"new", "known", "tokens", "skipped", "waiting", "away", "sizes"?}."""
    return taking.take(memory, _items(params), dry_run=bool(params.get("dry_run", False)))


def sample(memory: Memory, params: Params) -> dict[str, Any]:
    """{"turns"} → how long the extractor takes for the first five; nothing is kept."""
    return taking.sample(memory, _items(params))


def _items(params: Params) -> list[dict[str, Any]]:
    items = params.get("turns")
    if not isinstance(items, list) or len(items) > _MOST or not all(isinstance(item, dict) for item in items):
        raise BadRequest(f"turns must be a list of at most {_MOST} objects", where="backfill")
    return items


METHODS: dict[str, Callable[[Memory, Params], Any]] = {"backfill.take": take, "backfill.sample": sample}
