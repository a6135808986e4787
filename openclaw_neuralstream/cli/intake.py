"""`neuralstream admin intake`: what a list that another capture layer fills holds, and take it in now."""

from __future__ import annotations

from typing import Any

import click

from openclaw_neuralstream.cli.door import opened, pass_state
from openclaw_neuralstream.cli.output import good, json_option, say, show_json, show_table, waiting, warn
from openclaw_neuralstream.state import StateDir

_SECONDS = 3600.0


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what is there; nothing is kept, moved or marked.")
@json_option
@pass_state
def intake(state: StateDir, *, dry_run: bool, as_json: bool) -> None:
    """Read the list or stream of capture_list now. The memory process does the same every few seconds.

    \b
    Example:
      neuralstream config set capture_list mem:rob
      neuralstream admin intake --dry-run
      neuralstream admin intake
    """
    with waiting("reading the capture list …"), opened(state, make=not dry_run) as door:
        found = door.call("intake", {"dry_run": dry_run, "since_start": door.started}, timeout=_SECONDS)
    if as_json:
        show_json(found)
    elif dry_run:
        for one in found["lists"]:
            _tell(one)
    else:
        good(f"{found['new']} turns taken in, {found['seen']} were known, {found['skipped']} are not to be remembered")
        if found["aside"]:
            warn(
                f"{found['aside']} items of an unknown shape were set aside, and kept (docs/servers.md shows the shapes)"
            )


def _tell(one: dict[str, Any]) -> None:
    share = f"{one['of_the_owner']} of the owner, {one['turns'] - one['of_the_owner']} of others"
    rows = [
        ("items", f"{one['items']} (looked at {one['looked_at']})"),
        ("turns", f"{one['turns']}: {share}"),
        ("users", ", ".join(user or "-" for user in one["users"]) or "-"),
        ("unknown shape", str(one["unknown_shape"])),
    ]
    say(f"{one['key']} (mode {one['mode']})")
    show_table(("", ""), rows)
    if one["turns"] > one["of_the_owner"]:
        warn("the owner's own user ids belong into capture_list_owner: others are kept apart as third parties")
