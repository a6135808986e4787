"""The host is about to summarise its window: distil what is buffered before the words are gone."""

from openclaw_neuralstream import Memory, Session, Trigger, hookimpl


@hookimpl
def before_compaction(session: Session, memory: Memory) -> None:
    """Ask for a distillation; it runs in the background."""
    memory.ask_to_distil(session, Trigger.COMPACTION)
