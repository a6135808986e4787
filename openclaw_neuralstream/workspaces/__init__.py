"""Workspaces: whose Markdown lies where, each followed by a watcher and kept in an index of its own."""

from __future__ import annotations

from openclaw_neuralstream.workspaces.book import Workspaces
from openclaw_neuralstream.workspaces.tools import Tools
from openclaw_neuralstream.workspaces.where import Found, folders
from openclaw_neuralstream.workspaces.workspace import Workspace

__all__ = ["Found", "Tools", "Workspace", "Workspaces", "folders"]
