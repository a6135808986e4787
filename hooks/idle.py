"""Our own clock: sessions that nobody speaks in any more are distilled."""

from openclaw_neuralstream import Memory, hookimpl


@hookimpl
def idle(memory: Memory) -> None:
    """Let the triggers look at every backlog."""
    memory.look_for_idle()
