"""`neuralstream mcp`: the memory for editors and other agents, over the Model Context Protocol."""

from __future__ import annotations

import shutil
import sys

import click

from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import show_json
from openclaw_neuralstream.state import StateDir


@click.command()
@click.option("--agent", default="main", show_default=True, help="Whose memory.")
@click.option("--user", default="owner", show_default=True, help="Whose words: the owner's, or a sender's id.")
@click.option("--read-only", is_flag=True, help="Offer recall alone: nothing can be remembered or forgotten.")
@click.option(
    "--show-config", is_flag=True, help="Print the entry for the client's configuration, and do nothing else."
)
@pass_state
def mcp(state: StateDir, /, *, agent: str, user: str, read_only: bool, show_config: bool) -> None:
    """Serve recall, remember and forget over stdio, for clients of the Model Context Protocol.

    The client starts it; by hand only --show-config is of use. What is remembered this way carries the origin "agent".

    \b
    Example:
      neuralstream mcp --show-config
      claude mcp add neuralstream -- neuralstream mcp
    """
    if show_config:
        show_json({"mcpServers": {"neuralstream": _entry(state, agent, user, read_only=read_only)}})
        return
    from openclaw_neuralstream.doors import mcp_server

    mcp_server.server(state, agent=agent, user=user, read_only=read_only).run("stdio")


def _entry(state: StateDir, agent: str, user: str, *, read_only: bool) -> dict[str, object]:
    command = shutil.which("neuralstream") or sys.argv[0]
    arguments = ["--state-dir", str(state.path), "mcp", "--agent", agent, "--user", user]
    return {"command": command, "args": [*arguments, *(["--read-only"] if read_only else [])]}
