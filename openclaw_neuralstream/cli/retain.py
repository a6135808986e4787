"""`neuralstream retain`: one sentence into today's log, in the right form."""

from __future__ import annotations

import re
import sys
from datetime import datetime

import click

from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import dim, good, json_option, one_line, show_json, warn
from openclaw_neuralstream.state import StateDir

_KINDS = ("world", "experience", "opinion", "observation", "W", "B", "O", "S")


class _Bulleted(click.Command):
    """A command whose words may begin as a bullet does: "- W @Bob: …" is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without the dash of a bullet, which says nothing more here."""
        return super().parse_args(ctx, [re.sub(r"^\s*-\s+(?=\S)", "", arg) for arg in args])


@click.command(cls=_Bulleted)
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--kind", type=click.Choice(_KINDS, case_sensitive=False), help="What it is; else read from the text, or guessed."
)
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure an opinion is, 0 to 1.")
@click.option("--entity", "entities", multiple=True, help="Whom or what it is about (may be repeated).")
@click.option("--agent", default="main", show_default=True, help="Whose workspace.")
@click.option("--day", type=click.DateTime(["%Y-%m-%d"]), help="The log of another day than today.")
@click.option("--dry-run", is_flag=True, help="Show the bullet and where it would stand.")
@json_option
@pass_state
def retain(
    state: StateDir,
    *,
    text: tuple[str, ...],
    kind: str | None,
    confidence: float | None,
    entities: tuple[str, ...],
    agent: str,
    day: datetime | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Append a fact to today's log in the workspace, under its Retain heading; it can be recalled at once.

    The text is a bullet of its own (W world, B what the agent did, O opinion, S summary) or a plain sentence, in any
    language; "-" reads it from stdin. Secrets are taken out.

    \b
    Example:
      neuralstream retain "O(c=0.9) @Peter: Prefers short replies on WhatsApp"
      neuralstream retain --entity Anna "Анна переехала в Казань"
      neuralstream retain "我喜欢安静的咖啡馆"
    """
    from openclaw_neuralstream.cli.harvest import opened
    from openclaw_neuralstream.serve.workspace_methods import retained_to_json, sentence_of

    said = sys.stdin.read() if text == ("-",) else " ".join(text)
    sentence = sentence_of({"text": said, "kind": kind, "confidence": confidence, "entities": entities})
    known = opened(state.found() if dry_run else state)
    try:
        done = known.retain(agent, sentence, day=day.date() if day else None, dry_run=dry_run)
    finally:
        known.close()
    if as_json:
        show_json({**retained_to_json(done), "dry_run": dry_run})
        return
    if not done.added:
        dim(f"it stands already in {done.citation}: {one_line(done.bullet)}")
        return
    good(f"{done.citation}{' (not written)' if dry_run else ''}: {one_line(done.bullet)}")
    if done.redacted:
        warn("a secret was taken out of it")
