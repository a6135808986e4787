"""A turn has ended: keep it; the triggers decide when it is distilled."""

from openclaw_neuralstream import Memory, Turn, Usage, hookimpl


@hookimpl
def turn_end(turn: Turn, usage: Usage | None, memory: Memory) -> bool:
    """Append it to the buffer."""
    return memory.retain(turn, usage)
