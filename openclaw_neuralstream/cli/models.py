"""`neuralstream models`: who distils and embeds, what it costs, and whether it answers."""

from __future__ import annotations

import sys
from typing import Any

import click

from openclaw_neuralstream.cli.door import ask, pass_state
from openclaw_neuralstream.cli.output import good, json_option, say, show_json, show_table, waiting, warn
from openclaw_neuralstream.state import StateDir

_HOUR = 3600.0


@click.command()
@click.option("--no-try", is_flag=True, help="Say what is chosen, without asking the model for anything.")
@json_option
@pass_state
def models(state: StateDir, *, no_try: bool, as_json: bool) -> None:
    """Say who distils and embeds, and try the model with one sentence: does it answer, and how fast.

    Nothing of the sentence is kept. Exit code 1 when the model does not answer.

    \b
    Example:
      neuralstream models
      neuralstream config set openai_url http://127.0.0.1:8080/v1 && neuralstream models
    """
    with waiting("asking the model …"):
        now = ask(state, "models", {"try": not no_try}, timeout=_HOUR)
    tried = now["tried"]
    if as_json:
        show_json(now)
    else:
        rows = [(part, now[part]["name"], now[part]["why"]) for part in ("extractor", "embedder")]
        show_table(("", "serves", "why"), [*rows, ("today", _cost(now["today"]), "UTC; model_daily_tokens is the cap")])
        if tried:
            _tell(tried)
    if tried and tried["error"]:
        sys.exit(1)


def _cost(today: dict[str, Any]) -> str:
    cap = f" of {today['cap']:,}" if today["cap"] else ""
    return f"{today['tokens']:,}{cap} tokens in {today['calls']} calls"


def _tell(tried: dict[str, Any]) -> None:
    who = " ".join(part for part in (tried["name"], tried["model"]) if part)
    if tried["error"]:
        warn(f"{who or 'the extractor'}: {tried['error']}")
        if tried["fix"]:
            say(f"  mend it: {tried['fix']}")
        return
    good(f"{who} answered in {tried['ms'] / 1000:.1f} s with {len(tried['gems'])} gems")
    for content in tried["gems"]:
        say(f"  {content}")
