"""`neuralstream admin flush`, `reembed`, `rebuild`: work that is due, asked for by hand or by cron."""

from __future__ import annotations

import sys
import threading

import click

from openclaw_neuralstream.cli.door import ask, opened, pass_state
from openclaw_neuralstream.cli.output import Bar, good, json_option, show_json, waiting, warn
from openclaw_neuralstream.server.client import Door
from openclaw_neuralstream.state import StateDir

_HOURS = 4 * 3600.0
_POLL = 0.5


@click.command()
@click.option("--idle", is_flag=True, help="Only sessions that nobody has spoken in for idle_timeout: fit for cron.")
@json_option
@pass_state
def flush(state: StateDir, *, idle: bool, as_json: bool) -> None:
    """Distil now what waits, without waiting for five turns or fifteen minutes.

    \b
    Example:
      neuralstream admin flush
      */5 * * * * neuralstream admin flush --idle      (in a crontab, where nothing else runs)
    """
    with waiting("distilling …"):
        done = ask(state, "flush", {"idle": idle}, timeout=_HOURS)
    if as_json:
        show_json(done)
        return
    failed = bool(done["refused"] or done["waiting"])
    if done["turns"] or not failed:
        good(f"{done['turns']} turns distilled into {done['gems']} gems")
    if done["refused"]:
        warn(f"{done['refused']} answers of the model were refused; tried again later (neuralstream admin dead list)")
    if done["waiting"] or done["away"]:
        failed_ones = f", {', '.join(done['away'])} failed" if done["away"] else ""
        warn(f"{done['waiting']} turns wait for another try{failed_ones}: neuralstream doctor")


@click.command()
@click.option("--wait", is_flag=True, help="Stay until all is done, and show how far it is.")
@json_option
@pass_state
def reembed(state: StateDir, *, wait: bool, as_json: bool) -> None:
    """Embed again, in the background, what another embedding model made. Recall by words works meanwhile.

    \b
    Example:
      neuralstream config set embedder ollama
      neuralstream admin reembed --wait
    """
    with opened(state) as door:
        started = door.call("reembed")
        left = started["pending"]
        if wait:
            left = _until_done(door, started["pending"], quiet=as_json)
    if as_json:
        show_json({"pending": started["pending"], "left": left})
    elif not started["pending"]:
        good("every gem has a vector of the present embedder")
    elif wait and not left:
        good(f"{started['pending']} gems embedded")
    elif wait:
        warn(f"{left} gems are left; the embedder does not answer: neuralstream doctor")
        sys.exit(1)
    else:
        good(f"{started['pending']} gems are being embedded; neuralstream status shows how many are left")


@click.command()
@json_option
@pass_state
def rebuild(state: StateDir, *, as_json: bool) -> None:
    """Make the search indexes, of gems and of verbatim turns, anew from the memory file; that itself is not touched.

    Words are searched at once; vectors of verbatim turns follow in the background (`neuralstream status` shows how many).

    \b
    Example:
      neuralstream admin rebuild
    """
    with waiting("rebuilding the index …"):
        done = ask(state, "rebuild", timeout=_HOURS)
    if as_json:
        show_json(done)
    else:
        good(f"the indexes hold {done['gems']} gems and {done['turns']} verbatim turns")


def _until_done(door: Door, pending: int, *, quiet: bool) -> int:
    """Poll until nothing is left or the embedder is away; returns what is left."""
    pause = threading.Event()
    with Bar("embedding", pending, quiet=quiet) as progress:
        while True:
            now = door.call("status")
            left = int(now["embedder"]["unembedded"])
            progress(pending - left)
            if not left or "embedder" in now["away"]:
                return left
            pause.wait(_POLL)
