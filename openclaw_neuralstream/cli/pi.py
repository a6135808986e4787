"""`neuralstream admin pi`: the same memory in the coding agent pi."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from openclaw_neuralstream import root
from openclaw_neuralstream.cli.output import dim, good, json_option, say, show_json
from openclaw_neuralstream.errors import NotFound, unwritable

_FOLDER = "PI_CODING_AGENT_DIR"


@click.group()
def pi() -> None:
    """The memory inside pi (@mariozechner/pi-coding-agent): what was said there is remembered, and the other way round."""


@pi.command()
@json_option
def path(*, as_json: bool) -> None:
    """Where the extension is, to try it for one session.

    \b
    Example:
      pi -e "$(neuralstream admin pi path)"
    """
    if as_json:
        show_json({"extension": str(_extension())})
    else:
        say(str(_extension()))


@pi.command()
@json_option
def install(*, as_json: bool) -> None:
    """Have pi load the extension in every session. `neuralstream admin pi uninstall` takes it out again.

    \b
    Example:
      neuralstream admin pi install
    """
    target = _installed()
    source = f"export {{ default }} from {json.dumps(_extension().as_uri())};\n"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source, encoding="utf-8")
    except OSError as error:
        raise unwritable("the extension", target, error) from error
    if as_json:
        show_json({"installed": str(target), "extension": str(_extension())})
        return
    good(f"pi loads it from now on ({target})")
    dim("It shares the memory of OpenClaw's agent main; NEURALSTREAM_AGENT names another.")


@pi.command()
@json_option
def uninstall(*, as_json: bool) -> None:
    """Take the extension out of pi; the memory is kept.

    \b
    Example:
      neuralstream admin pi uninstall
    """
    target = _installed()
    there = target.is_file()
    target.unlink(missing_ok=True)
    if as_json:
        show_json({"removed": there})
    else:
        good("removed") if there else dim("there was nothing to remove")


def _extension() -> Path:
    found = root.project_root() / "bridge" / "pi.js"
    if not found.is_file():
        raise NotFound("the extension is missing", where=str(found), fix="reinstall openclaw-neuralstream")
    return found


def _installed() -> Path:
    folder = os.environ.get(_FOLDER)
    return (Path(folder) if folder else Path.home() / ".pi" / "agent") / "extensions" / "neuralstream.ts"
