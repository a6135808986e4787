"""The command group; each command lives in a module of its own and is imported when it is used."""

from __future__ import annotations

import importlib

import click

_COMMANDS = {
    # command → module of openclaw_neuralstream.cli that defines it under the same name
    "serve": "process",
}


class Lazy(click.Group):
    """Imports a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """The names, in the order of the table."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        """The command, or None."""
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"openclaw_neuralstream.cli.{_COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, cmd_name)
        return command


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Long-term memory for OpenClaw."""
