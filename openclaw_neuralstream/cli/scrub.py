"""`neuralstream admin scrub`: newer rules of secrets applied to everything that is stored."""

from __future__ import annotations

import sys
from typing import Any

import click

from openclaw_neuralstream.cli.door import opened, pass_state
from openclaw_neuralstream.cli.output import Bar, dim, good, json_option, show_json, show_table, warn
from openclaw_neuralstream.server.client import Door
from openclaw_neuralstream.state import StateDir

_STEP_SECONDS = 600.0


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be taken out where; nothing is changed.")
@json_option
@pass_state
def scrub(state: StateDir, *, dry_run: bool, as_json: bool) -> None:
    """Look through turns, gems, queues, spool and log with the present rules, and take out what is secret.

    The old bytes are overwritten. It may be interrupted at any point: the next run goes on where it was.

    \b
    Example:
      neuralstream config set secret_patterns 'badge: BADGE-\\d{6}'
      neuralstream admin scrub --dry-run
      neuralstream admin scrub
    """
    with opened(state) as door, Bar("looking through the memory", quiet=as_json) as bar:
        receipt = _all_steps(door, bar, dry_run=dry_run)
    if as_json:
        show_json(receipt)
    else:
        _tell(receipt, dry_run=dry_run)
    if receipt["left"]:
        sys.exit(1)


def _all_steps(door: Door, bar: Bar, *, dry_run: bool) -> dict[str, Any]:
    receipt: dict[str, Any] = {}
    while not receipt.get("finished"):
        receipt = door.call("scrub.step", {"dry_run": dry_run, "receipt": receipt or None}, timeout=_STEP_SECONDS)
        bar(receipt["looked"], receipt["total"])
    return receipt


def _tell(receipt: dict[str, Any], *, dry_run: bool) -> None:
    rows = [
        (place, detector, str(count))
        for place, found in receipt["found"].items()
        for detector, count in sorted(found.items())
    ]
    changed = sum(receipt["changed"].values())
    if not changed:
        good(f"nothing to take out ({receipt['looked']} places looked at, rules {receipt['version']})")
    else:
        show_table(("where", "what", "times"), rows)
        if dry_run:
            dim(f"{changed} places would be rewritten; nothing was changed")
        else:
            good(f"{changed} places rewritten; the old bytes are overwritten (rules {receipt['version']})")
    for left in receipt["left"]:
        warn(f"not reached: {left}; neuralstream admin scrub again when it answers")
    for kept in receipt["kept"]:
        warn(kept)
