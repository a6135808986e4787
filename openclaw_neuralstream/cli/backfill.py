"""`neuralstream backfill`: what was said before there was a memory, from the host's own sessions or from exported chats."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import click

from openclaw_neuralstream.cli.door import opened, pass_state
from openclaw_neuralstream.cli.output import Bar, dim, good, json_option, say, show_json, show_table, warn
from openclaw_neuralstream.cli.picking import Moment
from openclaw_neuralstream.errors import BadRequest, NotFound
from openclaw_neuralstream.server.client import Door
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.transfer import files, host
from openclaw_neuralstream.transfer.files import Told, Unread

_AT_ONCE = 20
_MOST_WAITING = 40
_POLL = 0.5
_TIMEOUT = 600.0
_CHECKED = 200
_MILLION = 1_000_000
_UNREAD = frozenset({"unreadable", "malformed conversation", "malformed line"})


@dataclass(slots=True)
class _Count:
    """What was found and what became of it."""

    source: str = ""
    sessions: int = 0
    turns: int = 0
    new: int = 0
    known: int = 0
    tokens: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    away: list[str] = field(default_factory=list)
    finished: bool = True
    estimate: dict[str, Any] = field(default_factory=dict)


@click.group()
def backfill() -> None:
    """Take in what was said before. The same turn is kept once, however often it is read and whoever heard it first."""


def _shared(command: Any) -> Any:
    options = (
        click.option("--dry-run", is_flag=True, help="Only count, and estimate time and cost; nothing is kept."),
        click.option(
            "--since",
            type=Moment(),
            default="",
            help='Leave out what was said before this day or moment: 2026-01-31, 6m, "last week".',
        ),
        click.option(
            "--price", type=float, default=0.0, help="Price of a million tokens of your model, for the estimate."
        ),
        json_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@backfill.command("host")
@click.option("--agent", default="", help="Only this agent; else all that have sessions.")
@click.option("--host-state", type=click.Path(path_type=Path, file_okay=False), help="OpenClaw's state directory.")
@_shared
@pass_state
def host_(
    state: StateDir, *, agent: str, host_state: Path | None, dry_run: bool, since: str, price: float, as_json: bool
) -> None:
    """Read OpenClaw's own session store, without changing it. What was captured live is known and not kept twice.

    \b
    Example:
      neuralstream backfill host --dry-run
      neuralstream backfill host --agent main --since 2026-01-01
    """
    folder = host_state or _host_state(state)
    names = [agent] if agent else host.agents(folder)
    if not names:
        raise NotFound("no session store of OpenClaw", where=str(folder), fix="name its state directory: --host-state")
    unread = Unread()
    told = [one for name in names for one in host.sessions(folder, name, unread)]
    count = _taken(state, told, since, dry_run=dry_run, price=price, quiet=as_json)
    count.source = "openclaw"
    count.skipped.update(unread.reasons)
    _tell(count, dry_run=dry_run, as_json=as_json)


@backfill.command("file")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--format", "wanted", type=click.Choice(files.FORMATS), default="auto", help="Else it is recognised.")
@click.option("--agent", default="main", help="The agent that shall remember it.")
@_shared
@pass_state
def file_(
    state: StateDir, *, path: Path, wanted: str, agent: str, dry_run: bool, since: str, price: float, as_json: bool
) -> None:
    """Read exported chats: ChatGPT or Claude (conversations.json, or the zip), Claude Code, OpenClaw, plain JSONL.

    \b
    Example:
      neuralstream backfill file ~/Downloads/chatgpt-export.zip --dry-run
      neuralstream backfill file ~/.claude/projects/x/3f9a.jsonl --agent work
    """
    unread = Unread()
    name, told = files.turns(path, agent, wanted, unread)
    count = _taken(state, told, since, dry_run=dry_run, price=price, quiet=as_json)
    count.source = name
    count.skipped.update(unread.reasons)
    _tell(count, dry_run=dry_run, as_json=as_json)


def _host_state(state: StateDir) -> Path:
    """The folder that the memory's own lies in, unless the environment names OpenClaw's."""
    return Path(os.environ.get("OPENCLAW_STATE_DIR") or state.path.parent).expanduser()


def _taken(state: StateDir, told: list[Told], since: str, *, dry_run: bool, price: float, quiet: bool) -> _Count:
    count = _Count(turns=len(told), sessions=len({str(one.event["session_key"]) for one in told}))
    start = _day(since)
    wanted = [one for one in told if one.at >= start]
    if len(told) > len(wanted):
        count.skipped["before --since"] = len(told) - len(wanted)
    with opened(state, make=not dry_run) as door, Bar("turns of the past", len(wanted), quiet=quiet) as bar:
        done = 0
        sizes: dict[str, int] = {}
        for few in _groups(wanted, _CHECKED if dry_run else _AT_ONCE):
            answer = door.call("backfill.take", {"turns": few, "dry_run": dry_run}, timeout=_TIMEOUT)
            _add(count, answer | _once(answer.get("sizes") or {}, answer, sizes))
            done += len(few)
            bar(done)
            if not dry_run and not _room(door, count):
                count.finished = done == len(wanted)
                break
        if dry_run and count.new:
            count.estimate = _estimate(door, wanted, count, price)
    return count


def _groups(told: Sequence[Told], size: int) -> Iterator[list[dict[str, Any]]]:
    rest = iter(told)
    while few := [{"event": one.event, "stretch": one.stretch} for one in islice(rest, size)]:
        yield few


def _add(count: _Count, answer: dict[str, Any]) -> None:
    count.new += answer["new"]
    count.known += answer["known"]
    count.tokens += answer["tokens"]
    count.skipped.update(answer["skipped"])
    count.waiting, count.away = answer["waiting"], answer["away"]


def _once(found: dict[str, int], answer: dict[str, Any], before: dict[str, int]) -> dict[str, int]:
    """A dry run keeps nothing, so a turn that comes again is new again: here it is known. `before` learns what is new."""
    again = [tokens for turn_id, tokens in found.items() if turn_id in before]
    before |= found
    return {
        "new": answer["new"] - len(again),
        "known": answer["known"] + len(again),
        "tokens": answer["tokens"] - sum(again),
    }


def _room(door: Door, count: _Count) -> bool:
    """Wait until few turns wait, so that live ones never stand behind many; False when nobody distils now."""
    pause = threading.Event()
    while count.waiting > _MOST_WAITING:
        if "extractor" in count.away:
            return False
        pause.wait(_POLL)
        _add(count, door.call("backfill.take", {"turns": []}, timeout=_TIMEOUT))
    return True


def _estimate(door: Door, wanted: list[Told], count: _Count, price: float) -> dict[str, Any]:
    """Time and cost of what is new, from the speed of this machine's extractor on a few of the turns."""
    middle = len(wanted) // 2
    few = next(_groups(wanted[middle : middle + 5] or wanted[:5], 5))
    measured = door.call("backfill.sample", {"turns": few}, timeout=_TIMEOUT)
    speed = measured["seconds"] / measured["turns"] if measured["turns"] else 0.0
    return {
        **measured,
        "seconds_for_all": round(speed * count.new, 1),
        "tokens_at_least": count.tokens,
        "cost_at_least": round(price * count.tokens / _MILLION, 4),
    }


def _day(since: str) -> float:
    if not since:
        return float("-inf")
    return datetime.fromisoformat(since).timestamp()


def _tell(count: _Count, *, dry_run: bool, as_json: bool) -> None:
    if count.skipped and not (count.new or count.known) and set(count.skipped) <= _UNREAD:
        found = ", ".join(f"{number} × {reason}" for reason, number in sorted(count.skipped.items()))
        fix = "update openclaw-neuralstream where the host is newer, or name the form of a file with --format"
        raise BadRequest(f"nothing of what was found reads: {found}", where=count.source, fix=fix)
    if as_json:
        show_json({name: getattr(count, name) for name in _Count.__dataclass_fields__})
    else:
        _say(count, dry_run=dry_run)
    if not count.finished:
        sys.exit(1)


def _say(count: _Count, *, dry_run: bool) -> None:
    skipped = [(f"skipped: {reason}", str(number)) for reason, number in sorted(count.skipped.items())]
    rows = [
        ("sessions", str(count.sessions)),
        ("turns", str(count.turns)),
        ("new", str(count.new)),
        ("already known", str(count.known)),
        *skipped,
        ("tokens of the new ones", str(count.tokens)),
    ]
    show_table(("", ""), rows)
    if dry_run:
        _say_estimate(count.estimate)
    elif count.finished:
        good(f"{count.new} turns taken in; {count.waiting} of all wait for their extraction (neuralstream status)")
    else:
        warn(
            f"stopped: {', '.join(count.away)} is away and {count.waiting} turns wait; run it again, nothing is kept twice"
        )


def _say_estimate(estimate: dict[str, Any]) -> None:
    if estimate:
        until = datetime.fromtimestamp(datetime.now(UTC).timestamp() + estimate["seconds_for_all"], UTC)
        who = " ".join(part for part in (estimate["extractor"], estimate.get("model")) if part)
        say(f"about {estimate['seconds_for_all']:g} s with {who} on this machine (until {until:%Y-%m-%d %H:%M} UTC)")
        say(f"at least {estimate['tokens_at_least']} tokens, {estimate['cost_at_least']:g} at your price")
    dim("nothing was kept: without --dry-run it is")
