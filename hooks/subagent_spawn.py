"""A sub-agent's first request: give it what its task needs to know."""

from openclaw_neuralstream import Block, Child, Memory, Query, hookimpl


@hookimpl
def subagent_spawn(child: Child, query: Query, memory: Memory) -> Block:
    """Brief it for its task."""
    return memory.brief_child(child, query)
