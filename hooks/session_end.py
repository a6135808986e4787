"""A session's context is gone (new, reset, idle, daily, deleted, shutdown): distil the rest of it."""

from openclaw_neuralstream import Memory, Session, Trigger, hookimpl


@hookimpl
def session_end(session: Session, reason: str, memory: Memory) -> None:
    """Ask for a distillation; it runs in the background. What goes with its session is not read any more."""
    if reason == "deleted" and memory.settings.forget_with_host:
        return
    memory.ask_to_distil(session, Trigger.BOUNDARY)
