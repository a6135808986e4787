"""`neuralstream qa …`: questions in their order, which answers are kept and why, what the user cares about."""

from __future__ import annotations

from typing import Any

import click

from openclaw_neuralstream.cli.door import ask, pass_state
from openclaw_neuralstream.cli.output import dim, good, json_option, one_line, say, show_json, show_table, waiting, warn
from openclaw_neuralstream.errors import NotFound
from openclaw_neuralstream.state import StateDir

_agent = click.option("--agent", default="main", show_default=True, help="Whose questions.")
_WIDTH = 100


@click.group()
def qa() -> None:
    """Questions in their order, with the answers that matter. A pair is named SESSION#SEQ."""


@qa.command("list")
@_agent
@click.option("--archived/--recent", default=None, help="Only what is put away, or only what is not; else both.")
@click.option("-n", "--limit", type=click.IntRange(1, 1_000), default=20, show_default=True, help="How many sessions.")
@json_option
@pass_state
def list_(state: StateDir, /, *, agent: str, archived: bool | None, limit: int, as_json: bool) -> None:
    """Sessions, the newest first: how many questions, and the last one.

    \b
    Example:
      neuralstream qa list
      neuralstream qa list --archived
    """
    found = ask(state, "qa.list", {"agent": agent, "archived": archived, "limit": limit})
    if as_json:
        show_json(found)
        return
    rows = [
        (item["session"], item["last"], str(item["pairs"]), "archived" if item["archived"] else "", _cut(item["last_question"]))
        for item in found["sessions"]
    ]  # fmt: skip
    if not rows:
        dim("No question was kept yet.")
        return
    show_table(("session", "last", "questions", "", "last question"), rows)
    total = found["total"]
    dim(f"{total['pairs']} questions in {total['sessions']} sessions, {total['answers']} answers kept")


@qa.command()
@click.argument("session")
@click.option("-n", "--last", type=click.IntRange(1), default=None, help="Only its last ones; all when not said.")
@json_option
@pass_state
def show(state: StateDir, /, *, session: str, last: int | None, as_json: bool) -> None:
    """One session in its order: questions, significance, and the answers that were kept.

    \b
    Example:
      neuralstream qa show discord-general-20260130
    """
    found = ask(state, "qa.show", {"session": session, "last": last or 0})
    if as_json:
        show_json(found)
        return
    rows = [
        (pair["pair"], pair["timestamp"], f"{pair['a_significance']:.2f}", _why(pair), _cut(pair["q"]), _cut(pair["a"] or ""))
        for pair in found["pairs"]
    ]  # fmt: skip
    show_table(("pair", "when", "significance", "kept for", "question", "answer"), rows)


@qa.command()
@click.argument("pair")
@click.option("--drop", is_flag=True, help="Never keep its answer, whatever the formula says.")
@json_option
@pass_state
def mark(state: StateDir, /, *, pair: str, drop: bool, as_json: bool) -> None:
    """Keep the answer of a pair from now on, by hand; with --drop never.

    \b
    Example:
      neuralstream qa mark discord-general-20260130#2
      neuralstream qa mark discord-general-20260130#3 --drop
    """
    _tell(ask(state, "qa.mark", {"pair": pair, "drop": drop})["pair"], as_json=as_json)


@qa.command()
@click.argument("pair")
@json_option
@pass_state
def unmark(state: StateDir, /, *, pair: str, as_json: bool) -> None:
    """Take a mark back: the formula and your topics decide again.

    \b
    Example:
      neuralstream qa unmark discord-general-20260130#2
    """
    _tell(ask(state, "qa.unmark", {"pair": pair})["pair"], as_json=as_json)


@qa.command()
@click.argument("action", type=click.Choice(["list", "add", "remove"]), default="list")
@click.argument("names", nargs=-1)
@_agent
@json_option
@pass_state
def topics(state: StateDir, /, *, action: str, names: tuple[str, ...], agent: str, as_json: bool) -> None:
    """What you care about (memory/topics.txt), and what was asked about most. Answers about your topics are kept.

    \b
    Example:
      neuralstream qa topics
      neuralstream qa topics add "machine learning" 数据库 отпуск
      neuralstream qa topics remove отпуск
    """
    if (action == "list") == bool(names):
        raise click.UsageError("name the topics to add or remove" if action != "list" else "list takes no names")
    params: dict[str, Any] = {"agent": agent, **({action: list(names)} if names else {})}
    found = ask(state, "qa.topics", params)
    if action != "list" and not found["changed"]:
        _refuse_topics(action, found)
    if as_json:
        show_json(found)
        return
    if action != "list":
        good(f"{found['file']}: {', '.join(found['interests']) or 'no topic'}")
        if unmoved := found["unknown"] or found["known"]:
            warn(f"{', '.join(unmoved)}: {'there before' if action == 'add' else 'not among your topics'}")
        return
    mine = {name.casefold() for name in found["interests"]}
    rows = [(name, "yours", "") for name in found["interests"]]
    rows += [(t["topic"], "", str(t["pairs"])) for t in found["topics"] if t["topic"] not in mine]
    if rows:
        show_table(("topic", "", "questions"), rows)
    else:
        dim('No topic yet: neuralstream qa topics add "machine learning"')


@qa.command()
@click.option(
    "--days", type=click.IntRange(0), default=None, help="Older than this; the setting qa_archive_days when not said."
)
@click.option("-n", "--dry-run", is_flag=True, help="Show which sessions would move, change nothing.")
@json_option
@pass_state
def archive(state: StateDir, /, *, days: int | None, dry_run: bool, as_json: bool) -> None:
    """Put old sessions away into memory/archive/ now; it happens by itself every hour. They stay findable.

    \b
    Example:
      neuralstream qa archive --days 7 --dry-run
    """
    found = ask(state, "qa.archive", {"dry_run": dry_run, **({} if days is None else {"days": days})})
    if as_json:
        show_json(found)
        return
    for name in found["sessions"]:
        say(f"  {name}")
    good(f"{len(found['sessions'])} sessions would move" if dry_run else f"{found['archived']} sessions put away")


@qa.command()
@json_option
@pass_state
def write(state: StateDir, /, *, as_json: bool) -> None:
    """Bring the files in the workspace up to date now, and put back what was edited or deleted in them.

    \b
    Example:
      neuralstream qa write
    """
    with waiting("writing"):
        found = ask(state, "qa.write")
    if as_json:
        show_json(found)
    elif not found["on"]:
        dim("the setting qa_files is false: nothing is written into the workspace")
    else:
        good(f"{found['written']} files written")


def _refuse_topics(action: str, found: dict[str, Any]) -> None:
    """Raises NotFound where nothing was there to remove; says it where all was there before."""
    if action == "remove":
        mine = ", ".join(found["interests"]) or "none"
        raise NotFound(
            f"not among your topics: {', '.join(found['unknown'])}",
            where=found["file"],
            fix=f"yours are: {mine} (neuralstream qa topics)",
        )


def _tell(pair: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(pair)
    elif pair["a"]:
        good(f"{pair['pair']}: its answer is kept ({_why(pair)}): {_cut(pair['a'])}")
    else:
        good(f"{pair['pair']}: its answer is not kept" + (f" ({_why(pair)})" if _why(pair) else ""))


def _why(pair: dict[str, Any]) -> str:
    if pair.get("mark") == "drop":
        return "dropped by hand"
    return str(pair.get("kept_for", ""))


def _cut(text: str) -> str:
    return one_line(text, _WIDTH)
