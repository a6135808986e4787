"""Long-term memory for OpenClaw: the surface for programs and for hooks of your own."""

from typing import TYPE_CHECKING, Any

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.model import (
    Block,
    Child,
    Draft,
    Gem,
    Kind,
    Origin,
    Query,
    Recall,
    Record,
    Scope,
    Session,
    Trigger,
    Turn,
    Usage,
    Utterance,
)
from openclaw_neuralstream.plugins.hookspecs import hookimpl
from openclaw_neuralstream.ports import GemIndex, Hit, IndexEntry, Reading, TurnBuffer

if TYPE_CHECKING:
    from openclaw_neuralstream.memory.engine import Memory
    from openclaw_neuralstream.memory.wiring import open_memory
    from openclaw_neuralstream.server.mcp import assemble_context, assemble_for_session

__all__ = [
    "Block",
    "Child",
    "Draft",
    "Gem",
    "GemIndex",
    "Hit",
    "IndexEntry",
    "Kind",
    "Memory",
    "NeuralStreamError",
    "Origin",
    "Query",
    "Reading",
    "Recall",
    "Record",
    "Scope",
    "Session",
    "Trigger",
    "Turn",
    "TurnBuffer",
    "Usage",
    "Utterance",
    "assemble_context",
    "assemble_for_session",
    "hookimpl",
    "open_memory",
]

_LAZY = {
    "Memory": "openclaw_neuralstream.memory.engine",
    "open_memory": "openclaw_neuralstream.memory.wiring",
    "assemble_context": "openclaw_neuralstream.server.mcp",
    "assemble_for_session": "openclaw_neuralstream.server.mcp",
}


def __getattr__(name: str) -> Any:
    """Load the engine only when it is asked for: importing the package costs nothing."""
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
