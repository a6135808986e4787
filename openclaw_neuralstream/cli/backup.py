"""`neuralstream backup` and `restore`: everything in one archive, checked when it is made and before it is put back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from openclaw_neuralstream import root
from openclaw_neuralstream.cli.door import ask, pass_state
from openclaw_neuralstream.cli.output import dim, good, json_option, say, show_json, waiting, warn
from openclaw_neuralstream.clock import utc_now
from openclaw_neuralstream.errors import BadRequest, ProcessAway
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.transfer import archive


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option("--no-workspaces", is_flag=True, help="Leave out the Markdown files of the workspaces.")
@click.option(
    "--check",
    "only_check",
    is_flag=True,
    help="Read FILE (else the newest archive here) and say whether it is whole; make nothing.",
)
@json_option
@pass_state
def backup(state: StateDir, /, *, file: Path | None, no_workspaces: bool, only_check: bool, as_json: bool) -> None:
    """Write everything into one archive (.tar.gz, owner-only) while the memory works, and read it back to check it.

    In it: turns and gems with their vectors, settings, your hooks and templates, what waits in the spool, and the indexed
    Markdown of the workspaces. What can be made anew (search indexes) is not. Turns that wait in a Redis buffer are
    distilled first with `neuralstream admin flush`, or stay there.

    \b
    Example:
      neuralstream backup memory.tar.gz                 without a name: neuralstream-DATE-TIME.tar.gz
      neuralstream backup --check memory.tar.gz
    """
    if only_check:
        source = (file or _newest_here()).absolute()
        _tell("whole", source, archive.check(source), as_json=as_json)
        return
    target = (file or Path(f"neuralstream-{datetime.now().astimezone():%Y-%m-%d-%H%M%S}.tar.gz")).absolute()
    version = str(root.manifest()["plugin"]["version"])
    with waiting("copying"):
        files = {} if no_workspaces else _workspace_files(state)
        archive.write(state, target, version=version, now=utc_now(), workspaces=files)
        contents = archive.check(target)
    _tell("written and read back", target, contents, as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--files", "files_to", type=click.Path(path_type=Path, file_okay=False),
              help="A folder for the workspaces' Markdown; without it they are left in the archive.")  # fmt: skip
@click.option("--with-hooks/--without-hooks", default=None,
              help="Put the archive's hooks in place: code that runs at the next start. Else you are asked, and without a terminal they are left out.")  # fmt: skip
@click.option("-y", "--yes", is_flag=True, help="Do not ask; leaves new hooks out unless --with-hooks is given.")
@json_option
@pass_state
def restore(
    state: StateDir, /, *, file: Path, files_to: Path | None, with_hooks: bool | None, yes: bool, as_json: bool
) -> None:
    """Put an archive in place of the memory. It is checked first; what was there is moved aside, not deleted.

    Hooks in it are code. Those that are not in place already are listed, and left out unless you say so.

    \b
    Example:
      neuralstream restore memory.tar.gz --files ./markdown
      neuralstream restore memory.tar.gz --yes --with-hooks
    """
    if files_to and files_to.exists() and any(files_to.iterdir()):
        raise BadRequest("the folder for the files is not empty", where=str(files_to), fix="name a new one")
    before = archive.check(file)
    if state.database.exists() and not yes:
        click.confirm(f"Put {before.gems} gems in place of the memory in {state.path}?", abort=True, err=True)
    code = archive.new_code(before, state)
    hooks = _wanted(code, ask=not (yes or as_json)) if with_hooks is None else with_hooks
    client.stop(state)
    if client.find(state):
        raise ProcessAway("the memory process does not end", fix="neuralstream admin stop")
    contents, aside = archive.restore(file, state, files_to=files_to, now=utc_now(), with_hooks=hooks)
    left_out = [] if hooks else code
    _tell("restored", file, contents, as_json=as_json, aside=aside, left_out=left_out)
    if left_out:
        warn(
            f"code was left out: {', '.join(left_out)}; when you have read it: neuralstream restore {file} --with-hooks"
        )
    if contents.workspaces and not files_to and not as_json:
        dim("the workspaces' Markdown stayed in the archive; --files FOLDER takes it out")


def _wanted(code: list[str], *, ask: bool) -> bool:
    """Whether the archive's hooks are put in place: those that are there already, or when a person at a terminal says so."""
    if not code:
        return True
    if not ask or not _at_terminal():
        return False
    for name in code:
        say(f"  {name}")
    return click.confirm("The archive holds this code. Put it in place, to run at the next start?", err=True)


def _at_terminal() -> bool:
    return sys.stdin.isatty()


def _newest_here() -> Path:
    """The archive that was made last in this folder without a name of its own. Raises BadRequest where there is none."""
    found = sorted(Path().glob("neuralstream-*.tar.gz"))
    if not found:
        fix = "neuralstream backup --check FILE, with the archive that `neuralstream backup` wrote"
        raise BadRequest(
            "which archive? No neuralstream-DATE-TIME.tar.gz is here", where=str(Path().absolute()), fix=fix
        )
    return found[-1]


def _workspace_files(state: StateDir) -> dict[str, tuple[Path, list[Path]]]:
    told = ask(state, "archive.files")["workspaces"]
    found = {}
    for name, item in told.items():
        folder = Path(item["root"])
        there = [folder / path for path in item["files"]]
        found[name] = folder, [path for path in there if _readable(path)]
    return found


def _readable(path: Path) -> bool:
    with suppress(OSError), path.open("rb"):
        return True
    warn(f"{path} cannot be read and is left out")
    return False


def _tell(
    what: str, file: Path, contents: archive.Contents, *, as_json: bool, aside: str = "", left_out: Sequence[str] = ()
) -> None:
    told: dict[str, Any] = {key: value for key, value in asdict(contents).items() if key != "files"}
    notes = sum(name.startswith(archive.WORKSPACES) for name in contents.files)
    if as_json:
        show_json({"file": str(file), **told, "files": len(contents.files), "notes": notes, "moved_aside": aside,
                   "left_out": list(left_out)})  # fmt: skip
        return
    good(f"{file}: {what}")
    say(
        f"  {contents.gems} gems, {contents.turns} turns, {notes} Markdown files, made {contents.made_at} by {contents.version}"
    )
    if aside:
        say(f"  what was there is in {aside}")
