"""Before each turn: remind the model of the few records that matter."""

from openclaw_neuralstream import Block, Memory, Query, hookimpl


@hookimpl
def prompt_build(query: Query, memory: Memory) -> Block:
    """Recall and render."""
    return memory.remind(query)
