"""`neuralstream entities`: whom and what the workspace's notes name."""

from __future__ import annotations

from typing import Any

import click

from openclaw_neuralstream.cli.door import ask_ready, pass_state, say_late
from openclaw_neuralstream.cli.output import dim, json_option, show_json, show_table
from openclaw_neuralstream.state import StateDir

_agent = click.option("--agent", default="main", show_default=True, help="Whose workspace.")


@click.command()
@_agent
@click.option("-k", "--limit", type=click.IntRange(0, 100_000), default=0, help="Most of them; 0 = all.")
@json_option
@pass_state
def entities(state: StateDir, /, *, as_json: bool, agent: str, limit: int) -> None:
    """Whom and what the workspace's notes name, the most frequent first, with aliases and page.

    \b
    Example:
      neuralstream entities -k 20
      neuralstream recall "what does Peter prefer?" --entity Peter
    """
    answer, late = ask_ready(state, "notes.entities", {"agent": agent, "limit": limit})
    found: list[dict[str, Any]] = answer["entities"]
    say_late(late)
    if as_json:
        show_json(found)
    elif found:
        rows = [
            (
                item["name"],
                ", ".join(item["aliases"]),
                str(item["facts"]),
                str(item["notes"]),
                item["last_day"],
                item["page"],
            )
            for item in found
        ]
        show_table(("name", "also", "facts", "notes", "last", "page"), rows)
    else:
        dim("Nobody is named yet: write @Name in a note, or make a page bank/entities/Name.md.")
