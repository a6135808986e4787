"""`neuralstream install` and `uninstall`: into OpenClaw and out of it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from openclaw_neuralstream.cli import steps as watched
from openclaw_neuralstream.cli.config import change
from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import dim, good, json_option, say, show_json
from openclaw_neuralstream.errors import NeuralStreamError, StateError
from openclaw_neuralstream.state import StateDir

openclaw_option = click.option(
    "--openclaw", "executable", default="", help="OpenClaw's executable; else OPENCLAW_BIN, else on the path."
)


@click.command()
@openclaw_option
@click.option("--agent", default="main", show_default=True, help="The agent that the live test speaks to.")
@click.option("--canary/--no-canary", default=True, help="The live test at the end; it makes two calls of your model.")
@click.option(
    "--memory-slot/--no-memory-slot",
    default=None,
    help="Hold OpenClaw's memory slot in the place of its own memory plugin; else as the setting memory_slot says.",
)
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be done, change nothing.")
@json_option
@pass_state
def install(
    state: StateDir,
    *,
    executable: str,
    agent: str,
    canary: bool,
    memory_slot: bool | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Install into OpenClaw, verify, test it live; undo all of it when a step fails. Safe to repeat.

    \b
    Example:
      neuralstream install
      neuralstream install --openclaw ~/openclaw/openclaw.mjs --no-canary
      neuralstream install --memory-slot
    """
    from openclaw_neuralstream.host import executable as command
    from openclaw_neuralstream.host.canary import Canary
    from openclaw_neuralstream.host.install import Installation
    from openclaw_neuralstream.host.slot import Slot
    from openclaw_neuralstream.host.steps import Steps
    from openclaw_neuralstream.places import load_settings

    host = command.find(executable)
    hold = load_settings(state).settings.memory_slot if memory_slot is None else memory_slot
    with watched.Watch(quiet=as_json or dry_run) as watch:
        steps = Steps(watch)
        installation = Installation(host, sys.executable, steps, Slot(host, state.memory_slot), hold)
        if dry_run:
            _show_plan(host.command, installation.plan(), as_json=as_json)
            return
        steps.run("openclaw", "Find OpenClaw", host.version, lambda version: f"{version} ({' '.join(host.command)})")
        steps.run("state", "Prepare the state directory", state.prepare, lambda ready: str(ready.path))
        try:
            installation.run(Canary(host, state, steps, agent).fly if canary else None)
        except NeuralStreamError:
            if as_json:
                show_json({"installed": False, "steps": watched.as_json(steps.ended)})
            raise
    if memory_slot is not None:
        change(state, {"memory_slot": "true" if memory_slot else ""})  # the next install leaves it as it is
    if as_json:
        show_json({"installed": True, "memory_slot": hold, "steps": watched.as_json(steps.ended)})
        return
    good("NeuralStream remembers from now on" + ("" if canary else "; neuralstream canary proves it"))
    dim(f"data: {state.path}   status: neuralstream status   trouble: neuralstream doctor")


@click.command()
@openclaw_option
@click.option("--purge", is_flag=True, help="Also delete all that is remembered; asks first.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@pass_state
def uninstall(state: StateDir, *, executable: str, purge: bool, yes: bool, as_json: bool) -> None:
    """Take it out of OpenClaw again: the plugin and its config entries. What is remembered is kept.

    \b
    Example:
      neuralstream uninstall
      neuralstream uninstall --purge
    """
    from openclaw_neuralstream.host import executable as command
    from openclaw_neuralstream.host import install as work
    from openclaw_neuralstream.host.slot import Slot
    from openclaw_neuralstream.host.steps import Steps
    from openclaw_neuralstream.serve import client

    if purge and not yes:
        click.confirm(f"Delete all that is remembered in {state.path} for good?", abort=True, err=True)
    host = command.find(executable)
    with watched.Watch(quiet=as_json) as watch:
        steps = Steps(watch)
        removed = work.uninstall(host, steps, Slot(host, state.memory_slot))
        ran = lambda ended: "" if ended else "none ran"  # noqa: E731
        steps.run("stop", "End the memory process", lambda: client.stop(state), ran, waits="its work to end")
        state.host_config.unlink(missing_ok=True)  # settings that stood in OpenClaw's config went with it
        if purge:
            steps.run("purge", "Delete the memory", lambda: _purge(state.path), waits="the disk")
    if as_json:
        show_json({"removed": removed, "purged": purge, "steps": watched.as_json(steps.ended)})
    else:
        good("OpenClaw is without NeuralStream" if removed else "there was nothing to remove")
        dim("the memory is deleted" if purge else f"the memory is kept in {state.path}")


def _show_plan(command: tuple[str, ...], plan: list[str], *, as_json: bool) -> None:
    if as_json:
        show_json({"openclaw": list(command), "plan": plan})
        return
    dim(f"openclaw is {' '.join(command)}; nothing is changed")
    for line in plan:
        say(line)


def _purge(folder: Path) -> None:
    if not folder.exists():
        return
    if not (folder / "memory.sqlite").exists() and any(folder.iterdir()):
        fix = f"look into it, and delete it yourself if nothing else is in it: {folder}"
        raise StateError("this does not look like a state directory; it is left alone", where=str(folder), fix=fix)
    try:
        shutil.rmtree(folder)
    except OSError as error:
        fix = f"make it writable for you, or delete it yourself: {folder}"
        raise StateError(f"cannot be deleted: {error.strerror or error}", where=str(folder), fix=fix) from error
