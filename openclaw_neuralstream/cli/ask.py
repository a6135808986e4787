"""`neuralstream recall`: what is remembered about something. Its options are those of `explain`, too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import click

from openclaw_neuralstream.cli.door import ask_ready, pass_state, say_late
from openclaw_neuralstream.cli.output import (
    console,
    dim,
    inert,
    json_option,
    on_terminal,
    one_line,
    show_json,
    show_table,
)
from openclaw_neuralstream.model import OWNER, RECORD_KINDS
from openclaw_neuralstream.state import StateDir


def options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that narrow a question."""
    for option in (
        json_option,
        click.option("--budget", type=click.IntRange(0, 1_000_000), default=0, help="Tokens at most; 0 = the setting."),
        click.option(
            "-k",
            "--k",
            "--limit",
            "limit",
            type=click.IntRange(0, 10_000),
            default=0,
            help="Most records; 0 = the setting.",
        ),
        click.option("--since", default="", help='From when on: 30d, 2w, 6m, 1y, 2025-11-27, "last week".'),
        click.option("--until", default="", help="Until when, in the same words; that day included."),
        click.option("--as-of", default="", help="What held then: 2025-11, 2025-11-27, 2025."),
        click.option("--entity", multiple=True, help="Only about this person or thing, aliases included; repeatable."),
        click.option(
            "--kind",
            multiple=True,
            type=click.Choice(RECORD_KINDS, case_sensitive=False),
            metavar="KIND",
            help=f"Only {', '.join(RECORD_KINDS)}; repeatable.",
        ),
        click.option("--tag", multiple=True, help="Only with this tag; repeatable."),
        click.option("--replaced", is_flag=True, help="Also what something newer replaced."),
        click.option("--files/--gems", "only_files", default=None, help="Only the workspace's files, or only gems."),
        click.option("--project", default="", help="Narrow to a project, and to what belongs to none."),
        click.option("--user", default="owner", show_default=True, help="Whose words: the owner's, or a sender's id."),
        click.option("--agent", default="main", show_default=True, help="Whose memory."),
    ):
        command = option(command)
    return command


@click.command()
@options
@click.argument("words", nargs=-1, required=True)
@pass_state
def recall(state: StateDir, /, *, as_json: bool, words: tuple[str, ...], **about: Any) -> None:
    """What is remembered about WORDS, best first.

    Asks the gems and the workspace's Markdown files; a file's answer cites its lines. A question may name its days
    itself ("what happened around 27 November", "с прошлой недели", "上周以来"). What stands in the brief of every session
    and shares words with the question is shown last, and says so; with --json it is "standing".

    \b
    Example:
      neuralstream recall "which port does the staging database use"
      neuralstream recall -k 3 какой хостинг мы выбрали
      neuralstream recall "what does Peter prefer?" --kind opinion --as-of 2025-11
      neuralstream recall "the release" --since 30d --files --json
    """
    found, late = ask_ready(state, "recall", question(words, about))
    say_late(late)
    if as_json:
        show_json(found)
        return
    shown = [*found["records"], *({**record, "standing": True} for record in found.get("standing", ()))]
    if not shown:
        dim("Nothing relevant is remembered.")
    elif on_terminal():
        for record in shown:
            _pretty(record)
    else:
        show_table(("id", "date", "score", "text"), [row(record) for record in shown])
    if on_terminal():
        say_order([record["score"] for record in found["records"]])
    say_left_out(found["left_out"])


def say_order(scores: list[float]) -> None:
    """Why records stand as they do, and what their numbers say."""
    if not scores:
        return
    if any(later > earlier for earlier, later in pairwise(scores)):
        dim(
            "Not by score: in the order of time, or so that the next one says something new; the score says how well each fits."
        )
    dim(
        "The score only orders: neuralstream explain tells what a message like this would bring before the model, and why."
    )


def question(words: tuple[str, ...], about: dict[str, Any]) -> dict[str, Any]:
    """What the process is asked."""
    only_files = about.pop("only_files")
    asked = {name: list(value) if isinstance(value, tuple) else value for name, value in about.items()}
    sources = [] if only_files is None else ["notes"] if only_files else ["gems", "turns", "sequences"]
    return {"query": " ".join(words), **asked, "sources": sources}


def row(record: dict[str, Any]) -> tuple[str, str, str, str]:
    """Id, day, score and text of a record."""
    return (
        _short(record["id"]),
        _day(record),
        f"{record['score']:.2f}",
        f"{_state(record)}{_by(record)}{one_line(record['text'])}{_cited(record)}",
    )


def _short(id_: str) -> str:
    """The beginning by which commands take it; what names a place ("qa:12:1:2") means nothing when it is cut."""
    return id_ if id_.startswith("qa:") else id_[:8]


def _day(record: dict[str, Any]) -> str:
    return str(record.get("timestamp", record["at"][:10]))


_NO_MORE = {"superseded": "replaced", "expired": "over"}


def _state(record: dict[str, Any]) -> str:
    """In front of what holds no more, or stands whatever is asked."""
    if record.get("standing"):
        return "(in the brief) "
    outdated = record.get("outdated", "")
    return f"({_NO_MORE.get(outdated, outdated)}) " if outdated else ""


def _by(record: dict[str, Any]) -> str:
    """Whose words they are, unless they are the owner's."""
    return "" if record.get("speaker", OWNER) == OWNER else f"{record['speaker']}: "


def _cited(record: dict[str, Any]) -> str:
    """The file and its lines, where the answer comes from one."""
    return f"  [{record['citation']}]" if "#L" in record["citation"] else ""


def _pretty(record: dict[str, Any]) -> None:
    from rich.text import Text

    head = Text(f"{_short(record['id'])}  ", style="cyan")
    head.append(f"{_day(record)}  {record['kind']}  ", style="dim")
    head.append(f"{record['score']:.2f}", style="green")
    if record["kind"] == "opinion":
        head.append(f"  held with {record['confidence']:.2f}", style="dim")
    if state := _state(record):
        head.append(f"  {state.strip()}", style="yellow")
    console().print(head)
    console().print(Text("  " + inert(_by(record) + record["text"]), style="dim" if record.get("outdated") else ""))
    console().print(Text(f"  {inert(record['citation'])}", style="dim"))
    for word, sources in (("for", record.get("evidence")), ("against", record.get("against"))):
        if sources:
            console().print(Text(f"  {word}: {inert(', '.join(sources))}", style="dim"))


def say_left_out(left_out: dict[str, str]) -> None:
    """Which sources did not answer, a line for each reason."""
    for reason in dict.fromkeys(left_out.values()):
        names = ", ".join(name for name, why in left_out.items() if why == reason)
        dim(f"{names} could not be asked: {reason}")
