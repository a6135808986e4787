"""`neuralstream reflect` and `proposals …`: pages from what was learnt, and what waits for a yes."""

from __future__ import annotations

import re
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
    say,
    show_json,
    show_table,
    waiting,
    warn,
)
from openclaw_neuralstream.state import StateDir

_SLOW = 3_600.0  # seconds; a model may write fifty summaries
_MARKS = {
    "created": "green",
    "updated": "green",
    "proposed": "yellow",
    "waits": "yellow",
    "left alone": "yellow",
    "failed": "red",
}
_UNITS = {"h": 3_600, "d": 86_400, "w": 7 * 86_400, "m": 30 * 86_400, "y": 365 * 86_400}


def _span(_context: click.Context, _parameter: click.Parameter, text: str) -> int:
    """'7d', '12h', '2w' in seconds; 0 for 'ever'."""
    match = re.fullmatch(r"(\d{1,5})\s*([hdwmy])", text.strip().lower())
    if text.strip().lower() in ("ever", "all"):
        return 0
    if not match or not int(match[1]):
        raise click.BadParameter(f"{text!r} is not of the form 7d, 12h, 2w, 6m, 1y or ever")
    return int(match[1]) * _UNITS[match[2]]


agent_option = click.option("--agent", default="", help="Whose workspace; without it every one.")


@click.command()
@click.option(
    "--since",
    default="7d",
    show_default=True,
    callback=_span,
    help="Pages of whoever was written about since: 7d, 12h, ever.",
)
@agent_option
@click.option("-n", "--dry-run", is_flag=True, help="Show what would change, write nothing.")
@click.option("-v", "--verbose", is_flag=True, help="Also what stays as it is.")
@json_option
@pass_state
def reflect(state: StateDir, *, since: int, agent: str, dry_run: bool, verbose: bool, as_json: bool) -> None:
    """Refresh entity pages, opinions and MEMORY.md from recent facts and gems; propose what only you may change.

    \b
    Example:
      neuralstream reflect --since 7d
      neuralstream reflect --since ever --dry-run
    """
    params = {"agent": agent, "since_seconds": since, "dry_run": dry_run}
    with waiting("Reflecting …"):
        reports = ask(state, "reflect", params, timeout=_SLOW, make=not dry_run)["reports"]
    if as_json:
        show_json(reports)
        return
    if not reports:
        dim("no workspace is known; neuralstream config set workspace /folder names one")
    for report in reports:
        _tell(report, verbose=verbose)
    if any(change["proposal"] for report in reports for change in report["changes"]) and not dry_run:
        dim("neuralstream proposals list shows what waits for you")


def _tell(report: dict[str, Any], *, verbose: bool) -> None:
    dim(
        f"{report['root']}: {report['facts']} facts, {report['gems']} gems, {report['opinions']} opinions; "
        f"written by {report['writer']}" + ("; a dry run" if report["dry_run"] else "")
    )
    shown = [change for change in report["changes"] if verbose or change["outcome"] != "unchanged"]
    for change in shown:
        outcome = click.style(f"{change['outcome']:>10}", fg=_MARKS.get(change["outcome"]))
        why = click.style(f"  {inert(change['why'])}", dim=True) if change["why"] else ""
        click.echo(f"{outcome}  {inert(change['path'])}{why}", color=coloured(sys.stdout))
        if report["dry_run"] and change["diff"]:
            show_diff(change["diff"])
    if not shown:
        good("everything is up to date")
    if report["dropped"]:
        warn(f"{report['dropped']} texts that pose as orders were left out")


@click.group()
def proposals() -> None:
    """Changes to your own files that wait for a yes: list, show, accept, reject."""


@proposals.command("list")
@agent_option
@json_option
@pass_state
def list_(state: StateDir, *, agent: str, as_json: bool) -> None:
    """What waits for a decision.

    \b
    Example:
      neuralstream proposals list
    """
    found = ask(state, "proposals.list", {"agent": agent})["proposals"]
    if as_json:
        show_json(found)
    elif found:
        rows = [(one["id"], one["path"], one["part"], one["made"][:10], one["reason"]) for one in found]
        show_table(("id", "file", "part", "made", "why"), rows)
    else:
        dim("nothing waits")


@proposals.command()
@click.argument("proposal_id")
@agent_option
@json_option
@pass_state
def show(state: StateDir, *, proposal_id: str, agent: str, as_json: bool) -> None:
    """One proposal as a unified diff.

    \b
    Example:
      neuralstream proposals show 3fa9
    """
    one = ask(state, "proposals.show", {"id": proposal_id, "agent": agent})
    if as_json:
        show_json(one)
        return
    dim(f"{one['path']}: {one['reason']}")
    show_diff(one["diff"])


@proposals.command()
@click.argument("proposal_ids", nargs=-1, required=True)
@agent_option
@json_option
@pass_state
def accept(state: StateDir, *, proposal_ids: tuple[str, ...], agent: str, as_json: bool) -> None:
    """Make the change, if the file still is as it was; else the proposal is planned anew.

    \b
    Example:
      neuralstream proposals accept 3fa9
    """
    done = [ask(state, "proposals.accept", {"id": one, "agent": agent}) for one in proposal_ids]
    if as_json:
        show_json(done)
        return
    for one in done:
        good(f"{one['path']} changed")


@proposals.command()
@click.argument("proposal_ids", nargs=-1, required=True)
@agent_option
@json_option
@pass_state
def reject(state: StateDir, *, proposal_ids: tuple[str, ...], agent: str, as_json: bool) -> None:
    """Put it away; the same text is not proposed again.

    \b
    Example:
      neuralstream proposals reject 3fa9
    """
    done = [ask(state, "proposals.reject", {"id": one, "agent": agent}) for one in proposal_ids]
    if as_json:
        show_json(done)
        return
    for one in done:
        good(f"{one['path']}: put away")


def show_diff(diff: str) -> None:
    """A unified diff, coloured on a terminal."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in diff.splitlines():
        heading = line.startswith(("+++", "---"))
        styled = click.style(inert(line), fg=None if heading else colours.get(line[:1]), bold=heading)
        click.echo(styled, color=coloured(sys.stdout))
    say()
