"""`neuralstream forget`: shown first, then gone for good, with a receipt of what went and what could not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from openclaw_neuralstream.cli.door import opened, pass_state
from openclaw_neuralstream.cli.output import dim, good, json_option, one_line, show_json, show_table, waiting, warn
from openclaw_neuralstream.cli.picking import Moment
from openclaw_neuralstream.state import StateDir

_SLOW = 600.0


@click.command()
@click.argument("what", nargs=-1)
@click.option("--gem", "gems", multiple=True, help="A gem, by the start of its id; may be given several times.")
@click.option("--turn", "turns", multiple=True, help="A verbatim turn, by the start of the id that recall shows.")
@click.option("--session", default="", help="All that was said in this session (the host's key or id).")
@click.option("--person", default="", help="What this person said, and what names the person.")
@click.option("--entity", default="", help="What names this person, thing or place.")
@click.option(
    "--since",
    type=Moment(),
    default="",
    help='Said on or after this day or moment (UTC): 2026-11-20, 7d, 2w, "last week", "上周", "в мае".',
)
@click.option("--until", type=Moment(), default="", help="Said before the beginning of this; the same forms.")
@click.option("--agent", default="", help="Of this agent.")
@click.option("--user", default="", help="Of this user.")
@click.option("-n", "--dry-run", is_flag=True, help="Show what would go and what could not; change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@pass_state
def forget(
    state: StateDir,
    /,
    *,
    what: tuple[str, ...],
    gems: tuple[str, ...],
    turns: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Forget what meets all of the criteria, wherever it lies. WHAT: words that were said.

    A session, a time or an agent alone takes all that was said there. With words, a person or an entity, the gems go that
    say so, and these sentences of the turns.

    \b
    Example:
      neuralstream forget --session agent:main:telegram:42 --dry-run
      neuralstream forget --person "Ann Li" --since "last week"
      neuralstream forget salary of Peter
    """
    named = {"words": " ".join(what), "gems": list(gems), "turns": list(turns)}
    params = {**named, **asked}
    if not any(params.values()):
        raise click.UsageError(
            "say what to forget: words, --gem, --turn, --session, --person, --entity, --since or --until"
        )
    with opened(state) as door:
        found = door.call("forget.plan", params, timeout=_SLOW)
        receipt = found["receipt"]
        if not as_json:
            _foretell(found, asked)
        done = not dry_run and bool(receipt["removed"])
        if done:
            if not yes:
                click.confirm("Forget this for good?", abort=True, err=True)
            with waiting("forgetting"):
                receipt = door.call("forget.run", params, timeout=_SLOW)["receipt"]
    if as_json:
        show_json({**found, "receipt": receipt, "forgotten": done})
    else:
        _tell(receipt, done=done, dry_run=dry_run)
    if done and not receipt["finished"]:
        sys.exit(1)


def _foretell(found: dict[str, Any], asked: dict[str, Any]) -> None:
    """What would go, and what the days were taken for: "last week" may be meant otherwise."""
    days = [(word, asked[name]) for name, word in (("since", "from"), ("until", "before")) if asked[name]]
    if days:
        dim(f"what was said {' and '.join(f'{word} {_shown(moment)}' for word, moment in days)}")
    if found["gems"]:
        rows = [(gem["gem_id"][:8], gem["source"]["date"], one_line(gem["content"])) for gem in found["gems"]]
        show_table(("id", "date", "gem"), rows)
    if found["turns"]:
        lines = [
            (
                one["at"][:10] or one["where"],
                one["session"] or one["id"],
                "all" if one["whole"] else "part",
                one_line(" ".join(one["texts"])),
            )
            for one in found["turns"]
        ]
        show_table(("date", "turn", "goes", "what goes"), lines)
    if found["forms"]:
        forms = ", ".join(f"{form} ({count})" for form, count in found["forms"].items())
        dim(f"other forms stand in memory and are kept; forget them by name: {forms}")
    if found["receipt"]["removed"]:
        show_table(("what", "how many"), [(name, str(count)) for name, count in found["receipt"]["removed"].items()])


def _shown(moment: str) -> str:
    return f"{moment[:16].replace('T', ' ')} UTC"


def _tell(receipt: dict[str, Any], *, done: bool, dry_run: bool) -> None:
    removed = ", ".join(f"{count} {name}" for name, count in receipt["removed"].items())
    if not removed:
        own = [left for left in receipt["left"] if "#L" in left["where"]]
        dim("nothing like that is remembered" + (" beside what stands in your own files" if own else ""))
        _tell_left(own)
        return
    if done:
        good(f"forgotten: {removed}")
    elif dry_run:
        dim("nothing was changed; files and generated pages are looked through when it is done")
    _tell_left(receipt["left"])


def _tell_left(things: Sequence[dict[str, Any]]) -> None:
    for left in things:
        warn(f"{left['where']}: {left['what']}" + (f"; {left['fix']}" if left["fix"] else ""))
