"""Settings and workspaces of a state directory: what a command needs that opens no memory, and so starts fast."""

from __future__ import annotations

from collections.abc import Mapping

from openclaw_neuralstream import settings
from openclaw_neuralstream.clock import Clock, utc_now
from openclaw_neuralstream.settings import Loaded, Settings
from openclaw_neuralstream.state import StateDir, host_config
from openclaw_neuralstream.workspace.book import Workspaces
from openclaw_neuralstream.workspace.where import Tools


def load_settings(state: StateDir, environ: Mapping[str, str] | None = None) -> Loaded:
    """Defaults < settings.toml < environment < what the host last gave. Raises SettingsError."""
    return settings.load(state.path, environ=environ, host=host_config(state))


def workspaces_of(
    state: StateDir, knobs: Settings, *, clock: Clock = utc_now, environ: Mapping[str, str] | None = None
) -> Workspaces:
    """The workspaces of a state directory; any process may open them, only the memory process follows them."""
    from openclaw_neuralstream.workspace.harvest import MOST_BYTES
    from openclaw_neuralstream.workspace.index import NoteIndex
    from openclaw_neuralstream.workspace.parse import parse

    tools = Tools(
        parse=lambda path, data: parse(path, data, longest=MOST_BYTES),
        open_index=NoteIndex.open,
        clock=clock,
        spare=state.path / "notes",
    )
    return Workspaces(state, knobs, tools, environ=environ)
