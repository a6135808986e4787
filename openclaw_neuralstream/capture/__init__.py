"""Host events to turns and queries: whose words they are, without what others put into them, without secrets."""

from __future__ import annotations

from openclaw_neuralstream.capture.event import (
    Skipped,
    asked_from,
    is_indirect,
    is_subagent,
    read_session,
    read_usage,
    resumes,
    strip_injected,
    turn_id_of_run,
    unwanted,
    voice_of,
)
from openclaw_neuralstream.capture.turn import announces, read_child, read_findings, read_query, read_rest, read_turn

__all__ = [
    "Skipped",
    "announces",
    "asked_from",
    "is_indirect",
    "is_subagent",
    "read_child",
    "read_findings",
    "read_query",
    "read_rest",
    "read_session",
    "read_turn",
    "read_usage",
    "resumes",
    "strip_injected",
    "turn_id_of_run",
    "unwanted",
    "voice_of",
]
