"""`neuralstream admin harvest`: bring the index up to what the Markdown says, by hand or by cron."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import dim, good, json_option, one_line, say, show_json, warn
from openclaw_neuralstream.errors import NotFound, not_there
from openclaw_neuralstream.state import StateDir, host_config

if TYPE_CHECKING:
    from openclaw_neuralstream.notes.harvest import Progress
    from openclaw_neuralstream.workspaces import Workspace, Workspaces

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
    from openclaw_neuralstream.workspaces.telling import harvested_to_json

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
    from openclaw_neuralstream.places import workspaces_of

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
