"""What concerns a workspace's Markdown: `admin harvest`, `retain`, `entities`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from openclaw_neuralstream.cli.door import ask_ready, pass_state, say_late
from openclaw_neuralstream.cli.output import dim, good, json_option, one_line, say, show_json, show_table, warn
from openclaw_neuralstream.errors import NotFound, not_there
from openclaw_neuralstream.state import StateDir, host_config

if TYPE_CHECKING:
    from openclaw_neuralstream.workspace.book import Workspaces
    from openclaw_neuralstream.workspace.harvest import Progress
    from openclaw_neuralstream.workspace.workspace import Workspace

_FIX = "neuralstream config set workspace /folder, or talk to the agent once: OpenClaw then names it"


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done and do nothing.")
@click.option("--verbose", is_flag=True, help="Name every file: indexed, removed, left out and why.")
@click.option("--force", is_flag=True, help="Index every file anew, changed or not.")
@click.option("--agent", default="", help="Only the workspace of this agent; else all that are known.")
@click.option(
    "--path",
    "paths",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Only this file or folder (may be repeated).",
)
@json_option
@pass_state
def harvest(
    state: StateDir, *, dry_run: bool, verbose: bool, force: bool, agent: str, paths: tuple[Path, ...], as_json: bool
) -> None:
    """Index the Markdown that changed since the last harvest; nothing is read twice, nothing is stored twice.

    The memory process does this by itself within moments; harvest is for where it does not run. In a pipe it is silent
    when nothing is wrong. Exit code 1: a workspace could not be harvested (the others were).

    \b
    Example:
      neuralstream admin harvest
      neuralstream admin harvest --dry-run --verbose
      */10 * * * * neuralstream admin harvest      (in a crontab, where nothing else runs)
    """
    from openclaw_neuralstream.errors import NeuralStreamError
    from openclaw_neuralstream.workspace.workspace import harvested_to_json

    known = opened(state.found() if dry_run else state)
    done: list[dict[str, Any]] = []
    wrong: list[NeuralStreamError] = []
    try:
        for workspace in _chosen(known, agent, paths):
            try:
                with _progress(workspace) as tell:
                    found = workspace.harvest(_inside(workspace, paths), force=force, dry_run=dry_run, progress=tell)
            except NeuralStreamError as error:
                wrong.append(error)
            else:
                done.append(harvested_to_json(workspace, found))
    finally:
        known.close()
    if as_json:
        problems = [{"what": error.what, "where": error.where, "fix": error.fix} for error in wrong]
        show_json({"harvested": done, "refused": problems, "dry_run": dry_run})
    else:
        _tell(done, dry_run=dry_run, verbose=verbose)
        _complain(wrong)
    if wrong:
        sys.exit(1)


def opened(state: StateDir) -> Workspaces:
    """The workspaces that are known, without the memory process: the index may be written by several processes."""
    from openclaw_neuralstream import logs, secrets, settings
    from openclaw_neuralstream.memory.places import workspaces_of

    logs.quiet()
    knobs = settings.load(state.path, host=host_config(state)).settings
    secrets.learn(knobs.secret_patterns)
    state.prepare()
    return workspaces_of(state, knobs)


def _chosen(known: Workspaces, agent: str, paths: tuple[Path, ...]) -> list[Workspace]:
    """Raises NotFound when there is none."""
    if agent:
        workspace = known.for_agent(agent)
        if workspace is None:
            raise NotFound(f"no workspace of the agent {agent!r} is known", fix=_FIX)
        found = [workspace]
    else:
        found = known.all()
        if not found:
            raise NotFound("no workspace is known", fix=_FIX)
    holding = [workspace for workspace in found if not paths or _inside(workspace, paths)]
    if not holding:
        if missing := [path for path in paths if not path.exists()]:
            raise not_there(missing[0])
        where = ", ".join(str(workspace.root) for workspace in found)
        raise NotFound("these paths lie in no workspace that is known", where=where, fix=_FIX)
    return holding


def _inside(workspace: Workspace, paths: tuple[Path, ...]) -> set[str] | None:
    """The paths as the workspace names them; None = everything, empty = none of them lies in it."""
    if not paths:
        return None
    found = set()
    for path in paths:
        for whole in ((path.parent.resolve() / path.name), workspace.root / path):
            if whole.is_relative_to(workspace.root):
                relative = whole.relative_to(workspace.root).as_posix()
                found.add("" if relative == "." else relative)
                break
    return found


@contextmanager
def _progress(workspace: Workspace) -> Iterator[Callable[[Progress], None]]:
    """A bar on a terminal for what takes longer than a moment; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(one_line(workspace.root.name, 30), total=None)
        yield lambda step: bar.update(task, completed=step.done, total=step.planned)


def _tell(done: list[dict[str, Any]], *, dry_run: bool, verbose: bool) -> None:
    quiet = not sys.stdout.isatty() and not verbose and not dry_run
    for item in done:
        if verbose:
            for verb, name in (("+", "indexed"), ("-", "removed")):
                for path in item[name]:
                    say(f"{verb} {one_line(path.removeprefix('memory-file:'))}")
            for path, why in item["left_out"].items():
                say(f"! {one_line(path)}: {why}")
            for found in item["unread"]:
                say(f"? {one_line(found['path'])}, line {found['line']}: {one_line(found['what'])}")
        if quiet:
            continue
        would = "would be " if dry_run else ""
        good(
            f"{item['root']}: {len(item['indexed'])} files {would}indexed, {len(item['removed'])} {would}removed, "
            f"{item['same']} unchanged ({item['seconds']:.2f} s)"
        )
        if item["left_out"] and not verbose:
            dim(f"{len(item['left_out'])} are left out: --verbose says why")
        if item["problems"]:
            told = "" if verbose else ": --verbose names them"
            warn(f"{item['problems']} places could not be read as they were meant; they are indexed as text{told}")


def _complain(wrong: list[Any]) -> None:
    from openclaw_neuralstream.cli.output import complain

    for error in wrong:
        complain(error)


_KINDS = ("world", "experience", "opinion", "observation", "W", "B", "O", "S")


class _Bulleted(click.Command):
    """A command whose words may begin as a bullet does: "- W @Bob: …" is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without the dash of a bullet, which says nothing more here."""
        return super().parse_args(ctx, [re.sub(r"^\s*-\s+(?=\S)", "", arg) for arg in args])


@click.command(cls=_Bulleted)
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--kind", type=click.Choice(_KINDS, case_sensitive=False), help="What it is; else read from the text, or guessed."
)
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure an opinion is, 0 to 1.")
@click.option("--entity", "entities", multiple=True, help="Whom or what it is about (may be repeated).")
@click.option("--agent", default="main", show_default=True, help="Whose workspace.")
@click.option("--day", type=click.DateTime(["%Y-%m-%d"]), help="The log of another day than today.")
@click.option("--dry-run", is_flag=True, help="Show the bullet and where it would stand.")
@json_option
@pass_state
def retain(
    state: StateDir,
    *,
    text: tuple[str, ...],
    kind: str | None,
    confidence: float | None,
    entities: tuple[str, ...],
    agent: str,
    day: datetime | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Append a fact to today's log in the workspace, under its Retain heading; it can be recalled at once.

    The text is a bullet of its own (W world, B what the agent did, O opinion, S summary) or a plain sentence, in any
    language; "-" reads it from stdin. Secrets are taken out.

    \b
    Example:
      neuralstream retain "O(c=0.9) @Peter: Prefers short replies on WhatsApp"
      neuralstream retain --entity Anna "Анна переехала в Казань"
      neuralstream retain "我喜欢安静的咖啡馆"
    """
    from openclaw_neuralstream.cli.workspace import opened
    from openclaw_neuralstream.server.workspace_methods import retained_to_json, sentence_of

    said = sys.stdin.read() if text == ("-",) else " ".join(text)
    sentence = sentence_of({"text": said, "kind": kind, "confidence": confidence, "entities": entities})
    known = opened(state.found() if dry_run else state)
    try:
        done = known.retain(agent, sentence, day=day.date() if day else None, dry_run=dry_run)
    finally:
        known.close()
    if as_json:
        show_json({**retained_to_json(done), "dry_run": dry_run})
        return
    if not done.added:
        dim(f"it stands already in {done.citation}: {one_line(done.bullet)}")
        return
    good(f"{done.citation}{' (not written)' if dry_run else ''}: {one_line(done.bullet)}")
    if done.redacted:
        warn("a secret was taken out of it")


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
