"""The first request of a session, or of its new epoch: say what stood at the end of the last one."""

from openclaw_neuralstream import Block, Memory, Query, Session, hookimpl


@hookimpl
def session_start(session: Session, query: Query, memory: Memory) -> Block:
    """Brief the model."""
    return memory.brief(session, query)
