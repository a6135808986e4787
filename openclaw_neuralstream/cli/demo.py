"""`neuralstream demo`: a conversation, its gems, a new session that remembers; on a memory of its own."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from openclaw_neuralstream.cli import story
from openclaw_neuralstream.cli.output import (
    coloured,
    console,
    dim,
    good,
    inert,
    json_option,
    on_terminal,
    say,
    show_json,
)
from openclaw_neuralstream.cli.story import Stage, Story
from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.server import client
from openclaw_neuralstream.state import StateDir

_SETTINGS = 'embedder = "embedded"\n'


@click.command()
@click.option("--extractor", type=click.Choice(["rules", "auto"]), default="rules", show_default=True,
              help="rules needs nothing; auto uses Ollama where it has the model.")  # fmt: skip
@click.option("--keep", is_flag=True, help="Keep the demo's memory and say where it is.")
@json_option
def demo(*, extractor: str, keep: bool, as_json: bool) -> None:
    """A conversation in three languages, its gems, and a new session that remembers. Needs no OpenClaw and no model.

    It runs the real memory process in a temporary folder; your own memory is not touched.

    \b
    Example:
      neuralstream demo
    """
    started = time.monotonic()
    with _own_memory(extractor, keep=keep) as state:
        told = story.load()
        door = client.connect(state)
        try:
            outcome = _play(told, Stage(door, told), quiet=as_json)
        finally:
            door.close()
        outcome["secret_on_disk"] = story.holds(state.path, told.secret)
    outcome["seconds"] = round(time.monotonic() - started, 1)
    if as_json:
        show_json(outcome)
    else:
        _sum_up(outcome)
    if outcome["secret_on_disk"]:
        raise NeuralStreamError("the secret of the demo reached the disk", fix="report it, please")


def _play(told: Story, stage: Stage, *, quiet: bool) -> dict[str, Any]:
    show = _Silent() if quiet else _Screen(told.secret)
    gems: list[dict[str, Any]] = []
    show.heading("A conversation; after five turns the first gems are distilled")
    for number, (user, assistant) in enumerate(told.turns, 1):
        stage.turn(user, assistant)
        show.turn(user, assistant)
        if number % 5 == 0:
            stage.until_distilled()
            gems += show.gems(stage.new_gems())
    show.heading("/new: the context is gone, what was still waiting is distilled")
    stage.end_session()
    stage.until_distilled()
    gems += show.gems(stage.new_gems())
    answers: list[dict[str, Any]] = []
    for question in told.questions:
        block = stage.ask(question)
        if not answers:
            show.heading("A new session. This brief stands in every request of it")
            show.brief(block["brief"])
            show.heading("This is what the model reads beside each question, where the brief does not say it")
        answers.append({"question": question, **block})
        show.answer(question, block)
    return {"gems": gems, "answers": answers}


@contextmanager
def _own_memory(extractor: str, *, keep: bool) -> Iterator[StateDir]:
    """A state directory for the demo alone; its process is ended and the folder removed at the end."""
    for name in [name for name in os.environ if name.startswith("NEURALSTREAM_")]:
        del os.environ[name]  # the settings of the real memory do not hold here
    state = StateDir(Path(tempfile.mkdtemp(prefix="neuralstream-demo-"))).prepare()
    (state.path / "settings.toml").write_text(f'{_SETTINGS}extractor = "{extractor}"\n', encoding="utf-8")
    try:
        yield state
    finally:
        client.stop(state)
        if keep:
            dim(f"the demo's memory is kept: neuralstream --state-dir {state.path} gems list")
        else:
            shutil.rmtree(state.path, ignore_errors=True)


class _Silent:
    """Shows nothing."""

    def __init__(self, secret: str = "") -> None:
        self._secret = secret

    def heading(self, text: str) -> None:
        """A new act."""

    def turn(self, user: str, assistant: str) -> None:
        """What was said."""

    def gems(self, gems: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
        """What was distilled."""
        return list(gems)

    def brief(self, text: str) -> None:
        """What stands in every request."""

    def answer(self, question: str, block: dict[str, Any]) -> None:
        """A question, and what the model reads beside it."""


class _Screen(_Silent):
    """Shows all of it: boxes and colours on a terminal, plain lines in a pipe."""

    def heading(self, text: str) -> None:
        """A new act."""
        click.echo("\n" + click.style(text, bold=True), color=coloured(sys.stdout))

    def turn(self, user: str, assistant: str) -> None:
        """What was said; the secret is shown in part only."""
        shown = user.replace(self._secret, f"{self._secret[:8]}…")
        click.echo(f"  {click.style('you', fg='cyan')}    {inert(shown)}", color=coloured(sys.stdout))
        click.echo(f"  {click.style('agent', fg='magenta')}  {inert(assistant)}", color=coloured(sys.stdout))

    def gems(self, gems: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
        """What was distilled."""
        found = list(gems)
        for gem in found:
            mark = click.style("  ◆ gem  ", fg="green")
            kind = click.style(f"{gem['kind']}, {gem['importance']:g}", dim=True)
            click.echo(f"{mark}{inert(gem['content'])}  {kind}", color=coloured(sys.stdout))
        return found

    def brief(self, text: str) -> None:
        """What stands in every request."""
        self._framed(text or "(nothing is known yet)", "the brief")

    def answer(self, question: str, block: dict[str, Any]) -> None:
        """A question, and what the model reads beside it."""
        click.echo(f"  {click.style('you', fg='cyan')}    {inert(question)}", color=coloured(sys.stdout))
        text = block["text"] or "(nothing more: the brief says it, or nothing is known)"
        self._framed(text, f"{len(block['records'])} records, {block['tokens']} tokens, the brief included")

    def _framed(self, text: str, title: str) -> None:
        if not on_terminal():
            say(text)
            return
        from rich.panel import Panel
        from rich.text import Text

        console().print(Panel(Text(inert(text)), title=title, title_align="left", border_style="green"))


def _sum_up(outcome: dict[str, Any]) -> None:
    say()
    if not outcome["secret_on_disk"]:
        good("the token of the conversation is nowhere on the disk: it was redacted before it was written")
    good(f"{len(outcome['gems'])} gems in {outcome['seconds']} s. Put it into OpenClaw: {_command()} install")


def _command() -> str:
    """What a person types here to run us: the name where the shell finds it, else the way to it."""
    import shutil
    import sys

    if shutil.which("neuralstream"):
        return "neuralstream"
    own = sys.argv[0]
    return f"{sys.executable} -m openclaw_neuralstream" if own.endswith("__main__.py") else own
