"""Methods for an archive of everything: which files of the workspaces belong into it."""

from __future__ import annotations

from typing import Any

from openclaw_neuralstream.engine import Memory
from openclaw_neuralstream.sequences import interests
from openclaw_neuralstream.serve.given import Method, Params


def workspace_files(memory: Memory, params: Params) -> dict[str, Any]:  # noqa: ARG001  one signature for all methods
    """{} → {"workspaces": {name: {"root", "files"}}}: the indexed Markdown and the user's topics, by path in the workspace.

    The files of sequences are not: they are written anew from the memory.
    """
    found: dict[str, dict[str, Any]] = {}
    for workspace in memory.parts.workspaces.all():
        index = workspace.index
        topics = [interests.PATH] if (workspace.root / interests.PATH).is_file() else []
        name = workspace.root.name if workspace.root.name not in found else str(len(found))
        found[name] = {"root": str(workspace.root), "files": [*sorted(index.known() if index else ()), *topics]}
    return {"workspaces": found}


METHODS: dict[str, Method] = {"archive.files": workspace_files}
