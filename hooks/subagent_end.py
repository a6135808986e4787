"""A sub-agent has answered: what it found becomes part of its parent's conversation."""

from openclaw_neuralstream import Memory, Turn, hookimpl


@hookimpl
def subagent_end(findings: Turn, memory: Memory) -> bool:
    """Append it to the parent's turns; distilled like them, never as the user's words."""
    return memory.retain(findings)
