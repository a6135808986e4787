"""Scrubbing over the socket: a step a request, so that a client sees how far it is and nothing waits for all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_neuralstream import scrub
from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.errors import BadRequest, NeuralStreamError
from openclaw_neuralstream.serve import spool
from openclaw_neuralstream.serve.given import Method, Params


def methods(drainable: Mapping[str, Method]) -> dict[str, Method]:
    """The methods; `drainable`: what may stand in a spool file, which is taken in before it is looked through."""

    def step(memory: Memory, params: Params) -> dict[str, Any]:
        """{"dry_run"?, "receipt"?} → the receipt so far, with "total"."""
        given, dry_run = params.get("receipt"), params.get("dry_run", False)
        if not isinstance(dry_run, bool) or not isinstance(given, dict | None):
            raise BadRequest("dry_run must be true or false, receipt an object", where="scrub.step")
        if not given and not dry_run:
            _drained(memory)
        return {**scrub.step(memory, given, dry_run=dry_run), "total": scrub.total(memory)}

    def _drained(memory: Memory) -> None:
        try:
            spool.drain(memory, memory.parts.state.spool, drainable)
        except (NeuralStreamError, OSError):
            return  # it stays, and is rewritten where it is

    return {"scrub.step": step}
