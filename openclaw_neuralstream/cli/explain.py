"""`neuralstream explain`: why just these records, for a question, or for a turn of the past asked again."""

from __future__ import annotations

import sys
from typing import Any

import click

from openclaw_neuralstream.cli.ask import options, question, row, say_left_out
from openclaw_neuralstream.cli.door import ask_ready, pass_state, say_late
from openclaw_neuralstream.cli.output import coloured, dim, one_line, say, show_json, show_table
from openclaw_neuralstream.state import StateDir

WHY = {
    "filtered": "a hook of yours left it out",
    "not-needed": "the message needs nothing from memory",
    "below-threshold": "not relevant enough (recall_threshold)",
    "far-worse": "far worse than the best",
    "off-record": "its author asked that it be not kept",
    "in-window": "the window or the brief shows it already",
    "over-limit": "more than max_gems_injected",
    "over-budget": "more than recall_token_budget",
    "duplicate": "says the same as another",
    "rejected": "the reranking model found that it does not help",
    "superseded": "superseded by a newer one",
    "expired": "no longer valid",
    "standing": "the block or the brief has it all the same: a rule that touches this message",
    "learnt-later": "was not known at that turn",
}
RULE = (
    "Whether anything is looked up is decided for the message: thanks, small talk and a bare command bring nothing. Once it is, the "
    "best records go in, up to max_gems_injected and recall_token_budget, and only what is far worse than the best is cut. "
    "recall_threshold, 0 by default, is compared with the relevance and is for who wants more silence."
)
"""What decides, in three sentences: the documentation tells the same."""

_FACTORS_SHOWN = 6
_NARROWING = ("since", "until", "as_of", "entity", "kind", "tag", "replaced", "only_files", "project")


@click.command()
@options
@click.option(
    "--session", "session", default="", metavar="KEY", help="Ask a turn of this session again, as it was asked then."
)
@click.option("--turn", type=click.IntRange(1), default=None, help="Which turn of it; without it the last one.")
@click.option("--last", is_flag=True, help="Ask the last turn of the last session again.")
@click.argument("words", nargs=-1)
@pass_state
def explain(
    state: StateDir,
    /,
    *,
    as_json: bool,
    words: tuple[str, ...],
    session: str,
    turn: int | None,
    last: bool,
    **about: Any,
) -> None:
    """The same as recall, with every reason: scores, what was dropped and why, what the model would read.

    With --session or --last a turn of the past is asked again: the window is rebuilt from the stored turns, what was
    learnt later is left out, and what was really injected then stands beside what would be injected now.

    \b
    Example:
      neuralstream explain "which port does the staging database use"
      neuralstream explain --last
      neuralstream explain --session agent:main:main --turn 12 --json
    """
    replaying = bool(session or last or turn)
    if replaying == bool(words):
        raise click.UsageError("give the words of a question, or --session KEY or --last, one of the two")
    if replaying:
        if given := [name for name in _NARROWING if about[name]]:
            raise click.UsageError(
                f"a turn is asked again as it was: --{given[0].replace('_', '-')} does not go with it"
            )
        agent = about["agent"] if _given("agent") else ""
        found, late = ask_ready(state, "replay", {"session": session, "turn": turn or 0, "agent": agent})
    else:
        found, late = ask_ready(state, "explain", question(words, about))
    say_late(late)
    if as_json:
        show_json(found)
        return
    if replaying:
        _show_turn(found)
    _show_understood(found["understood"])
    _show_recalled(found)
    _show_dropped(found)
    say_left_out(found["left_out"])
    if found["depth"]:
        dim(f"depth: {found['depth']}")
    _heading("What the model would read")
    say(found["block"] or "nothing: the turn goes on as if there were no memory")
    if found["block"]:
        dim(f"{found['block_tokens']} tokens")
    dim("took " + ", ".join(f"{stage} {ms:.1f} ms" for stage, ms in found["stage_ms"].items()))
    if replaying:
        _show_then(found)


def _given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _show_turn(found: dict[str, Any]) -> None:
    turn, window = found["turn"], found["window"]
    _heading(f"Turn {turn['number']} of {turn['session']}")
    held = (
        f"turns {window['turns'][0]} to {window['turns'][-1]}" if window["turns"] else "nothing: it opened the window"
    )
    rows = [
        ("asked", one_line(turn["query"], 160)),
        ("at", turn["at"]),
        ("agent", turn["agent"]),
        ("the window held", held),
        ("of the dialogue", f"{len(window['dialogue'])} messages are part of the question"),
    ]
    show_table(("what", "value"), rows)


def _show_understood(understood: dict[str, Any]) -> None:
    if not understood:
        return
    _heading("Understood")
    rows = [(name, _said(value)) for name, value in understood.items()]
    show_table(("what", "value"), rows)


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes"
    return one_line(", ".join(value) if isinstance(value, list) else str(value), 200)


def _show_recalled(found: dict[str, Any]) -> None:
    _heading("Recalled")
    rows = [
        (*row(record), _relevance(record), _ranks(record["ranks"]), _factors(record["factors"]))
        for record in found["records"]
    ]
    if rows:
        show_table(("id", "date", "score", "text", "relevance", "found by", "because"), rows)
    else:
        dim("nothing")


def _show_dropped(found: dict[str, Any]) -> None:
    _heading("Dropped")
    rows = [(*_row(item), _relevance(item), _ranks(item["ranks"]), _why(item)) for item in found["dropped"]]
    if rows:
        show_table(("id", "date", "score", "text", "relevance", "found by", "why"), rows)
    else:
        dim("nothing")
    dim(RULE)


def _row(item: dict[str, Any]) -> tuple[str, str, str, str]:
    """As it is shown among the records; what recall never looked at has no score."""
    id_, day, score, text = row(item)
    return id_, day, score if item["ranks"] else "", text


def _show_then(found: dict[str, Any]) -> None:
    _heading("What was injected then")
    then = found["then"]
    if then is None:
        dim("it was not noted: only the last turns of a session are")
        return
    rows = [(item["id"][:8], one_line(item["text"], 120) or "a turn or a passage, or gone") for item in then["records"]]
    if rows:
        show_table(("id", "text"), rows)
    brief = f", {then['brief']} of them in the session's brief" if then["brief"] else ""
    dim(f"{len(rows)} records{brief}, {then['tokens']} tokens" if rows else "nothing")


def _why(item: dict[str, Any]) -> str:
    of = f" ({item['of'][:8]})" if item["of"] else ""
    return f"{item['why']}: {WHY.get(item['why'], item['why'])}{of}"


def _ranks(ranks: dict[str, int]) -> str:
    return " ".join(f"{source}#{place}" for source, place in sorted(ranks.items(), key=lambda item: item[1]))


def _relevance(record: dict[str, Any]) -> str:
    found = record.get("factors", {}).get("relevance")
    return "" if found is None else f"{found:.2f}"


def _factors(factors: dict[str, float]) -> str:
    strongest = sorted(factors.items(), key=lambda item: -abs(item[1]))[:_FACTORS_SHOWN]
    return " ".join(f"{name}={value:.2f}" for name, value in strongest)


def _heading(text: str) -> None:
    click.echo("\n" + click.style(text, bold=True), color=coloured(sys.stdout))
