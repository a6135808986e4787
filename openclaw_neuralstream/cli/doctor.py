"""`neuralstream doctor`: what is wrong, why it matters, what to type."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.install import openclaw_option
from openclaw_neuralstream.cli.output import coloured, dim, good, inert, json_option, show_json, waiting
from openclaw_neuralstream.state import StateDir

if TYPE_CHECKING:
    from openclaw_neuralstream.cli.checks.finding import Finding

_MARKS = {"ok": ("✔", "green"), "note": ("i", "blue"), "warning": ("!", "yellow"), "broken": ("✘", "red")}


@click.command()
@openclaw_option
@click.option("--no-host", is_flag=True, help="Leave OpenClaw out: takes a second in place of ten.")
@json_option
@pass_state
def doctor(state: StateDir, *, executable: str, no_host: bool, as_json: bool) -> None:
    """Find what is wrong and say which command mends it. Exit code 1 when something is broken.

    \b
    Example:
      neuralstream doctor
      neuralstream doctor --no-host --json
    """
    from openclaw_neuralstream.cli.checks.examine import examine
    from openclaw_neuralstream.cli.checks.finding import worst

    with waiting("looking …"):
        findings = list(examine(state, openclaw=executable, with_host=not no_host))
    grade = worst(findings).value
    if as_json:
        show_json({"worst": grade, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            _show(finding)
        _sum_up(findings, nothing_there=state.named and not state.is_memory)
    if grade == "broken":
        sys.exit(1)


def _show(finding: Finding) -> None:
    mark, colour = _MARKS[finding.grade.value]
    colours = coloured(sys.stdout)
    head = click.style(mark, fg=colour) + " " + click.style(finding.check, bold=True)
    click.echo(f"{head}: {inert(finding.what)}", color=colours)
    if finding.why:
        click.echo(f"    {inert(finding.why)}")
    if finding.fix:
        click.echo("    " + click.style("mend it: ", bold=True) + inert(finding.fix), color=colours)


def _sum_up(findings: list[Finding], *, nothing_there: bool) -> None:
    bad = sum(finding.grade.value == "broken" for finding in findings)
    odd = sum(finding.grade.value == "warning" for finding in findings)
    if bad or odd:
        dim(f"{bad} broken, {odd} to look at; neuralstream admin canary tests it live")
    elif not nothing_there:
        good("nothing is wrong; neuralstream admin canary tests it live")
