"""`neuralstream admin audit`: how much of what is remembered is junk, and what to type about it."""

from __future__ import annotations

import sys
from typing import Any

import click

from openclaw_neuralstream.cli.door import ask, pass_state
from openclaw_neuralstream.cli.output import (
    coloured,
    dim,
    good,
    inert,
    json_option,
    one_line,
    say,
    show_json,
    show_table,
    waiting,
)
from openclaw_neuralstream.state import StateDir

_SLOW = 1_800.0
_EXAMPLES = 3


@click.command()
@click.option(
    "--sample",
    type=click.IntRange(0),
    default=500,
    show_default=True,
    help="How many gems to look at, picked by chance; 0 = all.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Another number looks at other gems; the same at the same.",
)
@click.option("--agent", default="", help="Only this agent's memory.")
@click.option(
    "--examples",
    type=click.IntRange(0),
    default=_EXAMPLES,
    show_default=True,
    help="How many examples of each sort to show.",
)
@json_option
@pass_state
def audit(state: StateDir, *, sample: int, seed: int, agent: str, examples: int, as_json: bool) -> None:
    """Junk meter: looks at a sample of what is remembered and says how much of it is no good. Changes nothing.

    Junk, duplicates, what is stale, what its turns do not support, whose words were mistaken, secrets: a rate of each
    with its 95 % interval, examples, and the command that mends each.

    \b
    Example:
      neuralstream admin audit
      neuralstream admin audit --sample 0 --json
    """
    with waiting("looking …"):
        found = ask(state, "audit", {"sample": sample, "seed": seed, "agent": agent}, timeout=_SLOW)
    if as_json:
        show_json(found)
        return
    if not found["looked_at"]:
        dim("nothing is remembered yet")
        return
    show_table(("what", "gems", "share", "95 %"), [_row(sort, rate) for sort, rate in found["rates"].items()])
    _show_examples(found["findings"], examples)
    dim(
        f"{found['looked_at']} of {found['population']} gems looked at; {found['unverifiable']} stand on no stored turn"
    )
    if not found["findings"]:
        good("nothing wrong was found")


def _row(sort: str, rate: dict[str, Any]) -> tuple[str, ...]:
    return (
        sort,
        str(rate["count"]),
        f"{100 * rate['share']:.1f} %",
        f"{100 * rate['low']:.1f}–{100 * rate['high']:.1f} %",
    )


def _show_examples(findings: list[dict[str, Any]], most: int) -> None:
    shown: dict[str, int] = {}
    for one in findings:
        shown[one["sort"]] = shown.get(one["sort"], 0) + 1
        if shown[one["sort"]] > most:
            continue
        if shown[one["sort"]] == 1:
            click.echo(click.style(inert(one["sort"]), bold=True), color=coloured(sys.stdout))
        other = f" ({one['other'][:8]})" if one["other"] else ""
        say(f"  {one['gem_id'][:8]}  {one_line(one['why'], 60)}{other}: {one_line(one['quote'])}")
        say(f"    {one['fix']}")
