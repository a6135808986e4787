"""`neuralstream admin batches …` and `dead …`: what was distilled when and by whom; take it back, do it again."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import click

from openclaw_neuralstream.cli.door import ask, opened, pass_state
from openclaw_neuralstream.cli.output import (
    coloured,
    dim,
    good,
    json_option,
    on_terminal,
    one_line,
    say,
    show_json,
    show_table,
    waiting,
    warn,
)
from openclaw_neuralstream.cli.picking import Day
from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.server.client import Door
from openclaw_neuralstream.state import StateDir

_SLOW = 3_600.0
_ALL = 100_000
_EXTRACTORS = click.Choice(["auto", "rules", "ollama", "openai", "host"])


@click.group()
def batches() -> None:
    """What was distilled when, from which turns, by which extractor. A batch is named by the start of its id."""


@batches.command("list")
@click.option("--session", default="", help="Only of this session.")
@click.option("--since", type=Day(), default="", help='Only from this day on: 2026-11-20, 7d, "last week".')
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many, newest first.")
@json_option
@pass_state
def list_(state: StateDir, *, session: str, since: str, limit: int, as_json: bool) -> None:
    """When, of which session, how many turns became how many gems, by whom, and why then.

    \b
    Example:
      neuralstream admin batches list
    """
    found = ask(state, "batches.list", {"session": session, "since": _day(since), "limit": limit})["batches"]
    if as_json:
        show_json(found)
    elif not found:
        dim("nothing was distilled yet")
    else:
        columns = (
            "batch",
            "at",
            "session",
            "state",
            "turns",
            "gems",
            "same",
            "replaced",
            "dropped",
            "refused",
            "by",
            "trigger",
        )
        if on_terminal():
            show_table(("batch", "at", "turns", "gems", "by", "trigger", "session"), [_brief(batch) for batch in found])
        else:
            show_table(columns, [_row(batch) for batch in found])


@batches.command()
@click.argument("batch_id")
@json_option
@pass_state
def show(state: StateDir, *, batch_id: str, as_json: bool) -> None:
    """The turns as they were said, and what became of each gem and why.

    \b
    Example:
      neuralstream admin batches show 3f9a
    """
    found = ask(state, "batches.show", {"id": batch_id})
    if as_json:
        show_json(found)
        return
    _head(f"batch {found['batch_id']}")
    say(f"  {found['at']}, session {found['session_key']}, {found['state']}, {found['trigger']}, by {_by(found)}")
    for refusal in found["refusals"]:
        say(f"  refused at {refusal['at']}: {one_line(refusal['reason'])}")
    _turns(found["said"])
    for statement in found["statements"]:
        gem = statement["gem"] or {"gem_id": "?", "superseded_by": ""}
        _head(f"{statement['became']}: {one_line(statement['content'])}")
        say(f"  gem {gem['gem_id'][:8]}: {one_line(statement['why'])}")
        if gem["superseded_by"]:
            say(f"  replaced since by {gem['superseded_by'][:8]}")
    for other in found["replaced_gems"]:
        if other["superseded_by"]:
            say(
                f"  {other['gem_id'][:8]} → {other['superseded_by'][:8]}: {one_line(other['content'])} ({other['why']})"
            )
    for dropped in found["dropped_gems"]:
        _head(f"dropped: {one_line(dropped['content'])}")
        say(f"  {dropped['why']}")


@batches.command()
@click.argument("batch_id")
@click.option("-n", "--dry-run", is_flag=True, help="Show what would change, change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@pass_state
def undo(state: StateDir, *, batch_id: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Take back what a batch said: gems that only it supports go, what it replaced holds again.

    Edits by hand are kept. The turns stay and do not come back by themselves: batches again distils them anew.

    \b
    Example:
      neuralstream admin batches undo 3f9a --dry-run
      neuralstream admin batches undo 3f9a
    """
    with opened(state) as door:
        plan = door.call("batches.undo", {"id": batch_id, "dry_run": True})
        if not as_json:
            show_table(("what", "id", "gem"), [row for name in _UNDOING for row in _undone(name, plan)])
        if not dry_run:
            if not yes:
                click.confirm(f"Take back batch {plan['batch_id'][:8]}?", abort=True, err=True)
            plan = door.call("batches.undo", {"id": plan["batch_id"]}, timeout=_SLOW)
    if as_json:
        show_json({**plan, "dry_run": dry_run})
    elif dry_run:
        dim("nothing was changed")
    else:
        good(f"{len(plan['removed'])} gems removed, {len(plan['restored'])} hold again")


@batches.command()
@click.argument("batch_id", default="")
@click.option("--extractor", type=_EXTRACTORS, help="Who distils; the setting extractor when not said.")
@click.option("--session", default="", help="All batches of this session.")
@click.option("--since", type=Day(), default="", help='All batches from this day on: 2026-11-20, 7d, "last week".')
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be distilled again, change nothing.")
@json_option
@pass_state
def again(
    state: StateDir, *, batch_id: str, extractor: str | None, session: str, since: str, dry_run: bool, as_json: bool
) -> None:
    """Distil the same turns again; the new gems take the place of the old ones, edits by hand are kept.

    Of many batches those are skipped that this extractor, model and prompt made already: interrupted, the same command
    goes on with what is left.

    \b
    Example:
      neuralstream admin batches again 3f9a --extractor ollama
      neuralstream admin batches again --since 2026-11-01 --extractor openai --dry-run
    """
    if bool(batch_id) == bool(session or since):
        raise click.UsageError("name one batch, or pick several with --session or --since")
    with opened(state) as door:
        done = _all_again(
            door,
            [batch_id] if batch_id else _picked(door, session, _day(since)),
            {"extractor": extractor or "", "unless_same": not batch_id, "dry_run": dry_run},
            quiet=as_json,
        )
    if as_json:
        show_json({"batches": done, "dry_run": dry_run})
        return
    fresh = [item for item in done if not item["skipped"]]
    turns, gems = sum(item["turns"] for item in fresh), sum(len(item["gems"]) for item in fresh)
    skipped = len(done) - len(fresh)
    if dry_run:
        dim(f"{len(fresh)} batches with {turns} turns would be distilled again, {skipped} are so already")
    else:
        good(f"{len(fresh)} batches distilled again: {gems} gems" + (f"; {skipped} were so already" if skipped else ""))


@click.group()
def dead() -> None:
    """Batches whose answers were refused model_attempts times. Their turns are kept."""


@dead.command("list")
@json_option
@pass_state
def dead_list(state: StateDir, *, as_json: bool) -> None:
    """What was set aside, and why.

    \b
    Example:
      neuralstream admin dead list
    """
    found = ask(state, "dead.list")["batches"]
    if as_json:
        show_json(found)
    elif not found:
        dim("nothing was set aside")
    else:
        rows = [(b["batch_id"], b["at"], str(b["turns"]), b["session_key"], one_line(b["reason"])) for b in found]
        show_table(("batch", "at", "turns", "session", "why"), rows)


@dead.command("show")
@click.argument("batch_id")
@json_option
@pass_state
def dead_show(state: StateDir, *, batch_id: str, as_json: bool) -> None:
    """Its turns as they were said, and why each answer was refused.

    \b
    Example:
      neuralstream admin dead show 3f9a
    """
    found = ask(state, "dead.show", {"id": batch_id})
    if as_json:
        show_json(found)
        return
    _head(f"batch {found['batch_id']}, session {found['session_key']}")
    for refusal in found["refusals"] or [{"at": found["at"], "reason": found["reason"]}]:
        say(f"  refused at {refusal['at']}: {one_line(refusal['reason'])}")
    _turns(found["turns"])


@dead.command()
@click.argument("batch_id", default="")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before all are tried again.")
@json_option
@pass_state
def retry(state: StateDir, *, batch_id: str, yes: bool, as_json: bool) -> None:
    """Put a batch, or all of them, back into the buffer; they are distilled in the background.

    \b
    Example:
      neuralstream admin dead retry
      neuralstream admin dead retry 3f9a
    """
    with opened(state) as door:
        if not batch_id and not as_json and not _agreed(door, yes=yes):
            return
        revived = door.call("dead.retry", {"batch_id": batch_id})["revived"]
    if as_json:
        show_json({"revived": revived})
    else:
        good(f"{_counted(len(revived))} tried again")


def _agreed(door: Door, *, yes: bool) -> bool:
    """Whether all dead letters shall be tried again: said with --yes, or asked where somebody can answer."""
    dead = len(door.call("dead.list", {})["batches"])
    if not dead:
        dim("nothing was set aside")
        return False
    if not yes and sys.stdin.isatty():
        click.confirm(f"{_counted(dead)} set aside; try all again?", abort=True, err=True)
    return True


def _counted(batches: int) -> str:
    return "1 batch is" if batches == 1 else f"{batches} batches are"


_UNDOING = ("removed", "restored", "changed", "kept")


def _undone(name: str, plan: dict[str, Any]) -> list[tuple[str, str, str]]:
    words = {"removed": "goes", "restored": "holds again", "changed": "loses evidence", "kept": "stays, edited by hand"}
    return [(words[name], gem["gem_id"][:8], one_line(gem["content"])) for gem in plan[name]]


def _picked(door: Door, session: str, since: str) -> list[str]:
    found = door.call("batches.list", {"session": session, "since": since, "limit": _ALL})["batches"]
    return [batch["batch_id"] for batch in reversed(found) if batch["state"] in ("stored", "undone")]


def _all_again(door: Door, ids: list[str], params: dict[str, Any], *, quiet: bool) -> list[dict[str, Any]]:
    """One batch after the other, oldest first. Raises what stops it, after saying how far it came."""
    done: list[dict[str, Any]] = []
    for place, batch_id in enumerate(ids, 1):
        try:
            with waiting(f"distilling batch {place} of {len(ids)} …"):
                done.append(door.call("batches.again", {"id": batch_id, **params}, timeout=_SLOW))
        except NeuralStreamError as error:
            if len(ids) == 1 or error.code == "vendor-away":
                if done:
                    warn(f"{len(done)} of {len(ids)} batches are done; the same command goes on from there")
                raise
            warn(f"batch {batch_id[:8]}: {error.what}")
            continue
        if not quiet and not sys.stderr.isatty() and place % 20 == 0:
            with suppress(OSError):
                warn(f"{place} of {len(ids)} batches")
    return done


def _row(batch: dict[str, Any]) -> tuple[str, ...]:
    numbers = (str(batch[name]) for name in ("turns", "gems", "same", "replaced", "dropped", "refused"))
    return (
        batch["batch_id"][:8],
        batch["at"],
        batch["session_key"],
        batch["state"],
        *numbers,
        _by(batch),
        batch["trigger"],
    )


def _brief(batch: dict[str, Any]) -> tuple[str, ...]:
    """As it fits on a terminal: what became of the gems in words, the state where it is not the usual one."""
    became = [f"{batch[name]} {name}" for name in ("same", "replaced", "dropped", "refused") if batch[name]]
    gems = f"{batch['gems']} ({', '.join(became)})" if became else str(batch["gems"])
    trigger = batch["trigger"] if batch["state"] == "stored" else f"{batch['trigger']}, {batch['state']}"
    return (
        batch["batch_id"][:8],
        batch["at"][:16].replace("T", " "),
        str(batch["turns"]),
        gems,
        _by(batch),
        trigger,
        batch["session_key"],
    )


def _by(batch: dict[str, Any]) -> str:
    made = batch["extractor"]
    return " ".join(part for part in (made["name"], made["model"]) if part) if made else "–"


def _turns(turns: list[dict[str, Any]]) -> None:
    for turn in turns:
        _head(f"turn {turn['index']}, {turn['at']}")
        for said in turn["said"]:
            say(f"  {said['name'] or said['speaker']}: {said['text']}")
    if not turns:
        dim("  its turns are forgotten")


def _head(text: str) -> None:
    click.echo(click.style(text, bold=True), color=coloured(sys.stdout))


def _day(since: str) -> str:
    return f"{since}T00:00:00Z" if since else ""
