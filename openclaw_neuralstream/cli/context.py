"""`neuralstream context`: what a prompt would be given about something, within a budget of tokens."""

from __future__ import annotations

from typing import Any

import click

from openclaw_neuralstream.cli.door import ask_ready, pass_state, say_late
from openclaw_neuralstream.cli.output import dim, json_option, say, show_json, show_table
from openclaw_neuralstream.state import StateDir

_KEYS = ("context_block", "tokens", "message_count", "tags", "source")


@click.command()
@json_option
@click.option("--stats-only", is_flag=True, help="Only the numbers: records, tokens, layers, tags, source.")
@click.option(
    "--budget", type=click.IntRange(100, 100_000), default=None, help="Tokens at most; without it the setting."
)
@click.option("-k", "--limit", type=click.IntRange(1, 500), default=None, help="Most records; without it the setting.")
@click.option("--project", default="", help="Narrow to a project, and to what belongs to none.")
@click.option("--user", default="owner", show_default=True, help="Whose words: the owner's, or a sender's id.")
@click.option("--agent", default="main", show_default=True, help="Whose memory.")
@click.argument("words", nargs=-1, required=True)
@pass_state
def context(state: StateDir, /, *, as_json: bool, stats_only: bool, words: tuple[str, ...], **about: Any) -> None:
    """A context about WORDS for any prompt: what matches, then what is new, within a budget of tokens.

    The newest records have a quarter of the budget (context_recency), what matches has the rest; what one of the two
    does not need the other may use. Where nothing is remembered, the beginning of MEMORY.md.

    \b
    Example:
      neuralstream context "the state of the release" --budget 1500
      neuralstream context "что с релизом" --stats-only
      neuralstream context "release" --json
    """
    asked = {name: value for name, value in about.items() if value is not None}
    found, late = ask_ready(state, "context", {"query": " ".join(words), **asked})
    say_late(late)
    if as_json:
        shown = found if not stats_only else {**_numbers(found), "stage_ms": found["stage_ms"]}
        show_json(shown)
    elif stats_only:
        _show_numbers(_numbers(found))
    elif found["context_block"]:
        say(found["context_block"])
    else:
        dim("Nothing is remembered, and there is no MEMORY.md to fall back to.")


def _numbers(found: dict[str, Any]) -> dict[str, Any]:
    layers = [record["layer"] for record in found["records"]]
    return {
        **{key: found[key] for key in _KEYS if key != "context_block"},
        "topic": layers.count("topic"),
        "recent": layers.count("recent"),
        "dropped": len(found["dropped"]),
    }


def _show_numbers(numbers: dict[str, Any]) -> None:
    rows = [
        ("records", f"{numbers['message_count']}  ({numbers['topic']} match, {numbers['recent']} are new)"),
        ("tokens", str(numbers["tokens"])),
        ("query tags", ", ".join(numbers["tags"]) or "none"),
        ("source", numbers["source"] or "nothing"),
        ("left out", str(numbers["dropped"])),
    ]
    show_table(("what", "value"), rows)
