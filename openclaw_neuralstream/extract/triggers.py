"""When what waits for a session is due: enough turns, a full window, or silence. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from openclaw_neuralstream.model import Backlog, Trigger, Usage
from openclaw_neuralstream.settings import Settings


def decide(backlog: Backlog, *, usage: Usage | None, now: datetime, settings: Settings) -> Trigger | None:
    """Why this backlog is due now; None when it may wait. Turns that are claimed already do not count.

    context comes first: it takes all that waits, where batch takes full batches only.
    """
    if backlog.waiting <= 0:
        return None
    percent = usage.percent if usage else None
    if percent is not None and percent >= settings.context_threshold:
        return Trigger.CONTEXT
    if backlog.waiting >= settings.batch_size:
        return Trigger.BATCH
    if now - backlog.newest >= timedelta(seconds=settings.idle_timeout):
        return Trigger.IDLE
    return None
