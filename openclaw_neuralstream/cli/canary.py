"""`neuralstream admin canary`: a live proof, step by step."""

from __future__ import annotations

import click

from openclaw_neuralstream.cli import steps as watched
from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.install import openclaw_option
from openclaw_neuralstream.cli.output import good, json_option, show_json
from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.state import StateDir


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
    from openclaw_neuralstream.host import executable as command
    from openclaw_neuralstream.host.canary import Canary
    from openclaw_neuralstream.host.steps import Steps

    host = command.find(executable)
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
