"""`neuralstream install`, `uninstall` and `admin canary`: into OpenClaw, out of it, and a live proof."""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from openclaw_neuralstream.cli import steps as watched
from openclaw_neuralstream.cli.config import change
from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import dim, good, inert, json_option, say, show_json
from openclaw_neuralstream.errors import NeuralStreamError, StateError
from openclaw_neuralstream.state import StateDir

if TYPE_CHECKING:
    from openclaw_neuralstream.cli.host.install import Leftover

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
    from openclaw_neuralstream.cli.host import plugin
    from openclaw_neuralstream.cli.host.canary import Canary
    from openclaw_neuralstream.cli.host.install import Installation, Steps
    from openclaw_neuralstream.cli.host.plugin import Slot
    from openclaw_neuralstream.memory.places import load_settings

    host = plugin.find(executable)
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
    good("NeuralStream remembers from now on" + ("" if canary else "; neuralstream admin canary proves it"))
    dim(f"data: {state.path}   status: neuralstream status   trouble: neuralstream doctor")


@click.command()
@openclaw_option
@click.option("--purge", is_flag=True, help="Also delete all that is remembered and the files listed; asks first.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@pass_state
def uninstall(state: StateDir, *, executable: str, purge: bool, yes: bool, as_json: bool) -> None:
    """Take it out of OpenClaw again: the plugin, its config entries, our part of MEMORY.md. What is remembered is kept.

    Files of ours that stay are listed with their size. --purge deletes these, never a note of yours.

    \b
    Example:
      neuralstream uninstall
      neuralstream uninstall --purge
    """
    from openclaw_neuralstream.cli.host import install as work
    from openclaw_neuralstream.cli.host import plugin
    from openclaw_neuralstream.cli.host.install import Steps, clear_memory_file, leftovers
    from openclaw_neuralstream.cli.host.plugin import Slot
    from openclaw_neuralstream.memory.places import load_settings, workspaces_of
    from openclaw_neuralstream.server import client

    roots = [one.root for one in workspaces_of(state, load_settings(state).settings).all() if one.root.is_dir()]
    if purge:
        _check_purge(state.path, roots)
        if not yes:
            for item in (*_of_state(state.path), *map(_told, (item for item in leftovers(roots) if not item.kept))):
                click.echo(_row(item), err=True)
            click.confirm("Delete all of this for good?", abort=True, err=True)
    host = plugin.find(executable)
    with watched.Watch(quiet=as_json) as watch:
        steps = Steps(watch)
        removed = work.uninstall(host, steps, Slot(host, state.memory_slot))
        ran = lambda ended: "" if ended else "none ran"  # noqa: E731
        steps.run("stop", "End the memory process", lambda: client.stop(state), ran, waits="its work to end")
        state.host_config.unlink(missing_ok=True)  # settings that stood in OpenClaw's config went with it
        cleared = steps.run(
            "memory-md",
            "Take our part out of MEMORY.md",
            lambda: [clear_memory_file(root) for root in roots],
            lambda done: ", ".join(str(path) for changed, _ in done for path in changed) or "none had one",
            waits="the disk",
        )
        ours, stay = leftovers(roots), [item for _, left in cleared for item in left]
        goes = [item for item in ours if purge and not item.kept]
        stay += [item for item in ours if item not in goes]
        deleted = [*map(_told, goes), *(_of_state(state.path) if purge else ())]
        if purge:
            steps.run("purge", "Delete the memory", lambda: _purge(state.path, goes), waits="the disk")
    left = [*_of_state(state.path), *map(_told, stay)]
    if as_json:
        changed = [str(path) for paths, _ in cleared for path in paths]
        done = watched.as_json(steps.ended)
        show_json(
            {"removed": removed, "purged": purge, "memory_md": changed, "left": left, "deleted": deleted, "steps": done}
        )
        return
    good("OpenClaw is without NeuralStream" if removed else "there was nothing to remove")
    dim("the memory is deleted" if purge else f"the memory is kept in {state.path}")
    if left:
        dim("files of ours that stay:" if purge else "files of ours that stay (--purge deletes them):")
    for item in left:
        say(_row(item))


def _told(item: Leftover) -> dict[str, Any]:
    """A file as it is shown and printed as JSON."""
    return {"path": str(item.place.file), "bytes": item.size, "what": item.what, "kept": item.kept}


def _of_state(folder: Path) -> list[dict[str, Any]]:
    """The state directory as one row; [] where there is none."""
    if not folder.is_dir():
        return []
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # the process still runs when the question is asked
            size += 0 if path.is_dir() else path.lstat().st_size
    return [{"path": str(folder), "bytes": size, "what": "state directory: the memory and its settings", "kept": ""}]


def _row(item: dict[str, Any]) -> str:
    kept = f" ({item['kept']}: take it out yourself)" if item["kept"] else ""
    return inert(f"  {item['path']}  {item['bytes']:,} bytes  {item['what']}{kept}")


def _show_plan(command: tuple[str, ...], plan: list[str], *, as_json: bool) -> None:
    if as_json:
        show_json({"openclaw": list(command), "plan": plan})
        return
    dim(f"openclaw is {' '.join(command)}; nothing is changed")
    for line in plan:
        say(line)


def _check_purge(folder: Path, roots: list[Path]) -> None:
    """Raise StateError where deleting this folder would take something that is not ours."""
    if folder.exists() and not (folder / "memory.sqlite").exists() and any(folder.iterdir()):
        fix = f"look into it, and delete it yourself if nothing else is in it: {folder}"
        raise StateError("this does not look like a state directory; it is left alone", where=str(folder), fix=fix)
    if inside := next((root for root in roots if root.is_relative_to(folder.resolve())), None):
        fix = f"move the workspace {inside} out of it first"
        raise StateError("a workspace lies in the state directory; it is left alone", where=str(folder), fix=fix)


def _purge(folder: Path, files: list[Leftover]) -> None:
    from openclaw_neuralstream.cli.host.install import delete

    for item in files:
        delete(item)
    if not folder.exists():
        return
    try:
        shutil.rmtree(folder)
    except OSError as error:
        fix = f"make it writable for you, or delete it yourself: {folder}"
        raise StateError(f"cannot be deleted: {error.strerror or error}", where=str(folder), fix=fix) from error


@click.command()
@openclaw_option
@click.option("--agent", default="main", show_default=True, help="The agent that is spoken to.")
@click.option("--local/--gateway", default=None, help="Run the turns in the command, or through the running gateway.")
@json_option
@pass_state
def canary(state: StateDir, *, executable: str, agent: str, local: bool | None, as_json: bool) -> None:
    """Prove it live: a marked sentence is said, captured, distilled, recalled, seen by the model, and forgotten.

    It uses two sessions of its own and makes two calls of your model. When a step breaks, it says which, and what
    to type.

    \b
    Example:
      neuralstream admin canary
    """
    from openclaw_neuralstream.cli.host import plugin
    from openclaw_neuralstream.cli.host.canary import Canary
    from openclaw_neuralstream.cli.host.install import Steps

    host = plugin.find(executable)
    with watched.Watch(quiet=as_json) as watch:
        steps = Steps(watch)
        try:
            Canary(host, state, steps, agent, local).fly()
        except NeuralStreamError:
            if as_json:
                show_json({"alive": False, "steps": watched.as_json(steps.ended)})
            raise
    if as_json:
        show_json({"alive": True, "steps": watched.as_json(steps.ended)})
    else:
        good("alive: memory writes, keeps, finds, and the model reads it")
