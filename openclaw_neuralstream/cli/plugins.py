"""`neuralstream admin plugins`: whose hooks are loaded, from where, how long each took, and which were refused."""

from __future__ import annotations

from typing import Any

import click

from openclaw_neuralstream.cli.door import ask, pass_state
from openclaw_neuralstream.cli.output import dim, json_option, show_json, show_table, warn
from openclaw_neuralstream.state import StateDir


@click.command()
@json_option
@pass_state
def plugins(state: StateDir, *, as_json: bool) -> None:
    """The loaded hooks in the order in which they run, with calls, failures and time; and what was refused.

    \b
    Example:
      neuralstream admin plugins
    """
    now = ask(state, "status")
    if as_json:
        show_json({"plugins": now["hooks"], "refused": now["hooks_refused"]})
        return
    show_table(("name", "from", "hooks", "calls", "failed", "slow", "ms a call"), [_row(item) for item in now["hooks"]])
    dim(f"your own: {now['hooks_dir']} (changes are taken up within seconds)")
    for item in now["hooks"]:
        if item["last_error"]:
            warn(f"{item['name']} failed last in {item['last_error']}: its part was skipped")
    for what, why in now["hooks_refused"].items():
        warn(f"{what} was not loaded: {why}")


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    each = f"{item['ms'] / item['calls']:.1f}" if item["calls"] else ""
    place = item["place"] if item["place"] == "bundled" else f"{item['place']}: {item['file']}"
    return (
        item["name"],
        place,
        ", ".join(item["implements"]),
        str(item["calls"]),
        str(item["failures"]),
        str(item["slow"]),
        each,
    )
