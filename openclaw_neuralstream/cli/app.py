"""The command group; each command lives in a module of its own and is imported when it is used."""

from __future__ import annotations

import difflib
import importlib
import sys
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import click

from openclaw_neuralstream.errors import NeuralStreamError

_Table = dict[str, tuple[str, str]]
"""Command → module of openclaw_neuralstream.cli that defines it under the same name, and one line for --help."""

_SECTIONS: dict[str, _Table] = {
    "First steps": {
        "demo": ("demo", "A conversation, its gems, and a new session that remembers, in ten seconds."),
        "install": ("install", "Install into OpenClaw, verify, test it live; undo all of it when a step fails."),
        "uninstall": ("install", "Take it out of OpenClaw again; the memory is kept."),
        "status": ("status", "Is it on, where is my data, which parts serve."),
        "doctor": ("doctor", "Find what is wrong and say which command mends it."),
    },
    "Ask": {
        "recall": ("ask", "What is remembered about something."),
        "explain": ("explain", "The same, with every reason: scores, what was dropped, what the model would read."),
        "context": ("context", "A context about something for any prompt, within a budget of tokens."),
        "qa": ("qa", "Questions in their order: list, show, mark answers, your topics, archive."),
    },
    "Remember and forget": {
        "remember": ("gems", "Keep a sentence by hand."),
        "retain": ("workspace", "Keep a fact in today's log of the workspace, in the right form."),
        "forget": ("forget", "Forget by gem, session, person, entity or time: shown first, then gone for good."),
        "gems": ("gems", "List, show, edit, forget, export and import what is remembered."),
        "tags": ("tags", "What gems and notes are about: list, show, alias, merge, put one tag below another."),
        "entities": ("workspace", "Whom and what the workspace's notes name."),
    },
    "Files and archives": {
        "reflect": ("reflect", "Refresh entity pages, opinions and MEMORY.md from what was learnt."),
        "proposals": ("reflect", "Changes to your own files that wait for a yes: list, show, accept, reject."),
        "backfill": ("backfill", "Take in what was said before: from OpenClaw's own sessions, from exported chats."),
        "backup": ("backup", "Everything in one archive, read back to check it."),
        "restore": ("backup", "Put an archive in place of the memory; what was there is moved aside."),
    },
    "Settings and operation": {
        "config": ("config", "Show and change settings."),
        "models": ("models", "Who distils and embeds, what it costs, and whether it answers."),
        "admin": (
            "app",
            "Operators' work: distil now, logs, batches, stores, templates, hooks (neuralstream admin --help).",
        ),
    },
}
_ADMIN: dict[str, _Table] = {
    "The process": {
        "flush": ("upkeep", "Distil now what waits."),
        "canary": ("install", "Prove it live: write, capture, distil, recall, seen by the model, forgotten."),
        "logs": ("process", "What the memory process has been doing."),
        "stop": ("process", "End the memory process; the next use starts it again."),
    },
    "What was distilled, and from where": {
        "harvest": ("workspace", "Index the workspace's Markdown that changed: by hand or by cron."),
        "intake": ("intake", "Read the capture list that another layer fills."),
        "batches": ("batches", "What was distilled when, by whom; take it back, or do it again with another model."),
        "dead": ("batches", "Batches that no model could read: list them, try them again."),
        "audit": ("audit", "Junk meter: how much of what is remembered is no good, and what mends it."),
        "scrub": ("scrub", "Take out of what is stored the secrets that newer rules know."),
    },
    "Stores": {
        "reembed": ("upkeep", "Embed everything again after a change of the embedding model."),
        "rebuild": ("upkeep", "Make the search index anew from the memory file."),
        "move": ("move", "Move the index to Qdrant or the buffer to Redis, and back."),
        "collections": ("collections", "Import memories that other layers left in Qdrant."),
    },
    "Your own": {
        "templates": ("templates", "The words put before a model: list, show, make your own, try, go back."),
        "plugins": ("plugins", "Whose hooks are loaded, from where, and how they have behaved."),
        "pi": ("pi", "The same memory in the coding agent pi: install, uninstall, path."),
    },
}
_HIDDEN: _Table = {
    # started by OpenClaw and by editors, whose configuration names them
    "serve": ("process", "Run the memory process (OpenClaw does this by itself)."),
    "mcp": ("process", "Serve the memory to editors and other agents (Model Context Protocol)."),
}


_STATE_DIR = "--state-dir"


class Lazy(click.Group):
    """Sections of commands, each imported when it is asked for."""

    sections: ClassVar[dict[str, _Table]] = _ADMIN
    hidden_commands: ClassVar[_Table] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """The names, in the order of the table."""
        return list(self._table())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        """The command, or None."""
        if cmd_name not in (table := self._table()):
            return None
        module = importlib.import_module(f"openclaw_neuralstream.cli.{table[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  click's
        """The tables of commands, without importing one of them."""
        width = max(map(len, self._table()))
        for title, table in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in table.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a guess where the name is unknown."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if close := next(iter(difflib.get_close_matches(args[0], self._table(), n=1)), ""):
                raise click.UsageError(f"{error.message} Did you mean {close}?", ctx) from error
            raise

    def _table(self) -> _Table:
        return {name: row for table in (*self.sections.values(), self.hidden_commands) for name, row in table.items()}


class Top(Lazy):
    """The whole command line: commands of plugins too, and errors said in one place."""

    sections: ClassVar[dict[str, _Table]] = _SECTIONS
    hidden_commands: ClassVar[_Table] = _HIDDEN

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; --state-dir may stand behind the command as well as before it."""
        return super().parse_args(ctx, _state_dir_first(args))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, of ours or of a plugin, or None. A command that has moved below `admin` says so."""
        if found := super().get_command(ctx, cmd_name) or _plugged(ctx).get(cmd_name):
            return found
        if any(cmd_name in table for table in _ADMIN.values()):
            raise click.UsageError(f"{cmd_name!r} is now: neuralstream admin {cmd_name}", ctx)
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The tables of commands, and those of plugins."""
        super().format_commands(ctx, formatter)
        if own := _plugged(ctx):
            with formatter.section("Commands of plugins"):
                formatter.write_dl([(name, command.get_short_help_str(100)) for name, command in sorted(own.items())])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of ours ends as one line on stderr, with --json as JSON on stdout; exit code 1."""
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except NeuralStreamError as error:
            from openclaw_neuralstream.cli.output import JSON_SHOWN, complain, show_json

            complain(error)
            if as_json and not ctx.meta.get(JSON_SHOWN):  # one document, whatever happens
                told = {"code": error.code, "what": error.what, "where": error.where, "fix": error.fix}
                show_json({"error": told})
            ctx.exit(1)


def _state_dir_first(args: list[str]) -> list[str]:
    """The same arguments with --state-dir in front, wherever it stood; behind a "--" all are words."""
    end = args.index("--") if "--" in args else len(args)
    first: list[str] = []
    rest: list[str] = []
    options = iter(args[:end])
    for argument in options:
        if argument == _STATE_DIR:
            first += [argument, *islice(options, 1)]
        else:
            (first if argument.startswith(f"{_STATE_DIR}=") else rest).append(argument)
    if first and first[-1] == _STATE_DIR:
        raise click.UsageError(f"{_STATE_DIR} needs a directory behind it.")
    return [*first, *rest, *args[end:]]


def _plugged(ctx: click.Context) -> dict[str, click.Command]:
    """The commands that hooks bring, by name; {} when none does, which costs no import of them."""
    from openclaw_neuralstream import settings
    from openclaw_neuralstream.plugins import manager
    from openclaw_neuralstream.state import StateDir, host_config, state_dir

    named = ctx.params.get("folder")
    state = StateDir(named.absolute()) if named else state_dir()
    try:
        chosen = settings.load(state.path, host=host_config(state)).settings.hooks_dir
    except NeuralStreamError:
        chosen = ""
    own = Path(chosen) if chosen else state.hooks
    if not manager.there_are_some(own):
        return {}
    hooks = manager.load(own, [], own)
    found = (command for commands in hooks.each("commands") for command in commands)
    return {command.name: command for command in found if isinstance(command, click.Command) and command.name}


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001  click's signature
    if wanted:
        from openclaw_neuralstream.root import manifest

        click.echo(f"neuralstream {manifest()['plugin']['version']}")
        ctx.exit()


@click.group(cls=Top, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    _STATE_DIR,
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the memory is, before or behind the command; else NEURALSTREAM_STATE_DIR, else in OpenClaw's state directory.",
)
@click.option("--version", is_flag=True, callback=_version, is_eager=True, expose_value=False, help="Say the version.")
@click.pass_context
def main(ctx: click.Context, folder: Path | None) -> None:
    """Long-term memory for OpenClaw: what was said is distilled into gems, and the few that matter come back.

    \b
    First steps:
      neuralstream demo                     see it work, nothing is installed
      neuralstream install                  put it into OpenClaw
      neuralstream status                   is it on, where is my data
      neuralstream recall "the staging db"  what is remembered about it
      neuralstream doctor                   something is wrong: what, and what to type
    """
    from openclaw_neuralstream.state import StateDir, state_dir

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # any text of a user can be shown
    ctx.obj = StateDir(folder.absolute(), named=True) if folder else state_dir()


@click.group(cls=Lazy)
def admin() -> None:
    """Operators' work: what the memory process does by itself, asked for by hand; stores, templates, hooks."""
