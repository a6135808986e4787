"""What a harvest did, as commands and methods show it."""

from __future__ import annotations

from typing import Any

from openclaw_neuralstream.notes.harvest import Harvested
from openclaw_neuralstream.notes.scan import shown
from openclaw_neuralstream.workspaces.workspace import Workspace


def memory_file(path: str) -> str:
    """The id of a file's records: indexing it again replaces them instead of adding to them."""
    return f"memory-file:{shown(path)}"


def harvested_to_json(workspace: Workspace, done: Harvested) -> dict[str, Any]:
    """One workspace's harvest, as plain JSON."""
    unread = workspace.unread()
    return {
        "root": str(workspace.root),
        "agents": sorted(workspace.agents),
        "index": str(workspace.index_file),
        "indexed": [memory_file(path) for path in done.indexed],
        "removed": [memory_file(path) for path in done.removed],
        "same": done.same,
        "problems": max(done.problems, len(unread)),
        "unread": unread,
        "left_out": dict(sorted(done.left_out.items())),
        "seconds": round(done.seconds, 4),
        "stopped": done.stopped,
    }
