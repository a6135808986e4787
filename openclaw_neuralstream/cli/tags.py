"""`neuralstream tags …`: what gems and notes are about, with counts; other names for a tag, and what stands below it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from openclaw_neuralstream.cli.door import ask, ask_ready, opened, pass_state, say_late
from openclaw_neuralstream.cli.output import (
    Bar,
    console,
    dim,
    good,
    inert,
    json_option,
    on_terminal,
    one_line,
    say,
    show_json,
    show_table,
    warn,
)
from openclaw_neuralstream.state import StateDir

_SLOW = 600.0
_agent = click.option("--agent", default="main", show_default=True, help="Whose gems and notes are counted.")
_dry = click.option("-n", "--dry-run", is_flag=True, help="Show what would change, change nothing.")


def _changing(command: Callable[..., None]) -> Callable[..., None]:
    """What every command takes that changes what is said of tags."""
    return _agent(_dry(json_option(pass_state(command))))


@click.group(invoke_without_command=True)
@_agent
@json_option
@click.pass_context
def tags(ctx: click.Context, /, *, agent: str, as_json: bool) -> None:
    """Tags of gems and notes. Letter case, hyphens and inflection make no other tag; without a command they are listed."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_, agent=agent, as_json=as_json)


@tags.command("list")
@_agent
@click.option("--tree", is_flag=True, help="Each tag below those it stands under.")
@click.option("--all", "everything", is_flag=True, help="Also the marks that say what kind of gem it is.")
@click.option("--text", default="", help="Whose name or alias contains this.")
@json_option
@pass_state
def list_(
    state: StateDir, /, *, agent: str, as_json: bool, tree: bool = False, everything: bool = False, text: str = ""
) -> None:
    """Every tag with how many gems and notes carry it, the most frequent first; "+ 3" are gems for which it was inferred.

    \b
    Example:
      neuralstream tags list --tree
      neuralstream tags --json | jq -r '.[].tag'
      neuralstream recall "the release" --tag infra
    """
    answer, late = ask_ready(state, "tags.list", {"agent": agent})
    say_late(late)
    held = [row for row in answer["tags"] if _holds(row, text)]
    rows = [row for row in held if everything or not row["mark"] or row["notes"]]
    if as_json:
        show_json(rows)
    elif held and not rows:
        _show(held, tree=tree)
        dim("These say what kind of gem it is. A tag of yours says what it is about: gems edit ID --tag NAME.")
    elif not rows:
        dim(
            "No tag yet: tags: [one, two] between --- at the head of a note, #one in its text, or gems edit ID --tag one."
        )
    else:
        _show(rows, tree=tree)
        if len(held) > len(rows) and on_terminal():  # a program gets the tags alone
            dim(f"{len(held) - len(rows)} more say what kind of gem it is; --all shows them")


def _show(rows: list[dict[str, Any]], *, tree: bool) -> None:
    if tree:
        _show_tree(rows)
    elif on_terminal():
        show_table(("tag", "gems", "notes", "also", "below"), [_row(row) for row in rows])
    else:
        show_table((), [(row["tag"], str(row["count"]), *_row(row)[1:]) for row in rows])


@tags.command()
@click.argument("name")
@_agent
@json_option
@pass_state
def show(state: StateDir, *, name: str, agent: str, as_json: bool) -> None:
    """One tag: its names, what it stands under, what stands below it, and its newest gems.

    \b
    Example:
      neuralstream tags show trading
    """
    found, late = ask_ready(state, "tags.show", {"name": name, "agent": agent})
    say_late(late)
    if as_json:
        show_json(found)
        return
    say(found["tag"])
    reached = found["records"]
    for title, words in (
        ("also", ", ".join(found["aliases"])),
        ("under", ", ".join(found["parents"])),
        ("gems", _gems(found)),
        ("notes", _notes(found)),
        ("with all below", f"{_gems(reached) or 0} gems, {reached['notes']} notes" if found["below"] else ""),
    ):
        if words:
            say(f"  {title}: {words}")
    for row in found["below"]:
        say(f"  {'  ' * row['steps']}{row['tag']} ({row['count']})")
    if found["newest"]:
        show_table(
            ("id", "date", "gem"), [(g["gem_id"][:8], g["date"], one_line(g["content"])) for g in found["newest"]]
        )


@tags.command()
@click.argument("name")
@click.argument("others", nargs=-1, required=True)
@_changing
def alias(state: StateDir, *, name: str, others: tuple[str, ...], agent: str, dry_run: bool, as_json: bool) -> None:
    """Other words for NAME: abbreviations, translations. Who asks by one of them means it.

    \b
    Example:
      neuralstream tags alias kubernetes k8s kube
      neuralstream tags alias options 期权 опционы
    """
    asked = {"action": "alias", "names": list(others), "other": name, "agent": agent, "dry_run": dry_run}
    _change(state, asked, as_json=as_json)


@tags.command()
@click.argument("alias_name", metavar="ALIAS")
@_changing
def unalias(state: StateDir, *, alias_name: str, agent: str, dry_run: bool, as_json: bool) -> None:
    """ALIAS is a tag of its own again.

    \b
    Example:
      neuralstream tags unalias kube
    """
    _change(state, {"action": "unalias", "name": alias_name, "agent": agent, "dry_run": dry_run}, as_json=as_json)


@tags.command()
@click.argument("name")
@click.argument("into")
@_changing
def merge(state: StateDir, *, name: str, into: str, agent: str, dry_run: bool, as_json: bool) -> None:
    """NAME is INTO from now on, with its aliases and what stands below it. The records keep what they say.

    \b
    Example:
      neuralstream tags merge k8s kubernetes --dry-run
      neuralstream tags merge k8s kubernetes
      neuralstream tags undo
    """
    asked = {"action": "merge", "name": name, "other": into, "agent": agent, "dry_run": dry_run}
    _change(state, asked, as_json=as_json)


@tags.command()
@click.argument("name")
@click.argument("to")
@_changing
def rename(state: StateDir, *, name: str, to: str, agent: str, dry_run: bool, as_json: bool) -> None:
    """NAME is called TO from now on; the old name remains an alias.

    \b
    Example:
      neuralstream tags rename k8s kubernetes
    """
    asked = {"action": "rename", "name": name, "other": to, "agent": agent, "dry_run": dry_run}
    _change(state, asked, as_json=as_json)


@tags.command()
@click.argument("child")
@click.argument("above")
@_changing
def parent(state: StateDir, *, child: str, above: str, agent: str, dry_run: bool, as_json: bool) -> None:
    """CHILD stands below ABOVE: a question about ABOVE reaches its records. A tag may stand below many, never below itself.

    \b
    Example:
      neuralstream tags parent options trading
      neuralstream tags parent spreads options
    """
    asked = {"action": "parent", "name": child, "other": above, "agent": agent, "dry_run": dry_run}
    _change(state, asked, as_json=as_json)


@tags.command()
@click.argument("child")
@click.argument("above")
@_changing
def unparent(state: StateDir, *, child: str, above: str, agent: str, dry_run: bool, as_json: bool) -> None:
    """CHILD no longer stands below ABOVE.

    \b
    Example:
      neuralstream tags unparent spreads options
    """
    asked = {"action": "unparent", "name": child, "other": above, "agent": agent, "dry_run": dry_run}
    _change(state, asked, as_json=as_json)


@tags.command()
@click.argument("name")
@_changing
def remove(state: StateDir, *, name: str, agent: str, dry_run: bool, as_json: bool) -> None:
    """Forget what was said of NAME: its aliases and its place, and the list of changes. Records keep their tags.

    \b
    Example:
      neuralstream tags remove old-project
    """
    _change(state, {"action": "remove", "name": name, "agent": agent, "dry_run": dry_run}, as_json=as_json)


@tags.command()
@_dry
@json_option
@pass_state
def undo(state: StateDir, *, dry_run: bool, as_json: bool) -> None:
    """Take the last change of tags back; again and again, as far as the list of changes goes.

    \b
    Example:
      neuralstream tags history
      neuralstream tags undo
    """
    taken = ask(state, "tags.undo", {"dry_run": dry_run})
    if as_json:
        show_json(taken)
    elif dry_run:
        dim(f"would be taken back: {taken['action']} {' '.join(taken['names'])}; nothing was changed")
    else:
        good(f"taken back: {taken['action']} {' '.join(taken['names'])}")


@tags.command()
@json_option
@pass_state
def history(state: StateDir, *, as_json: bool) -> None:
    """What was changed of tags, the newest first.

    \b
    Example:
      neuralstream tags history
    """
    changes = ask(state, "tags.history")["changes"]
    if as_json:
        show_json(changes)
    elif changes:
        show_table(("when", "what", "tags"), [(c["at"], c["action"], " ".join(c["names"])) for c in changes])
    else:
        dim("nothing was changed yet")


@tags.command()
@json_option
@pass_state
def infer(state: StateDir, *, as_json: bool) -> None:
    """Infer anew the tags of gems that have none of their own, by the tags known now (it is done by itself in the background).

    At most three a gem; a tag that a person gave is never touched.

    \b
    Example:
      neuralstream tags infer
    """
    with opened(state) as door:
        done = door.call("tags.infer", {"anew": True}, timeout=_SLOW)
        looked = done["looked"]
        with Bar("gems", looked + done["left"], quiet=as_json) as bar:
            while done["left"]:
                bar(looked)
                done = door.call("tags.infer", {}, timeout=_SLOW)
                looked += done["looked"]
    if as_json:
        show_json({"looked": looked})
    else:
        good(f"{looked} gems looked through")


def _change(state: StateDir, asked: dict[str, Any], *, as_json: bool) -> None:
    answer = ask(state, "tags.change", asked, timeout=_SLOW, make=not asked["dry_run"])
    if as_json:
        show_json(answer)
    else:
        _tell(answer)


def _tell(answer: dict[str, Any]) -> None:
    before = {row["tag"]: row for row in answer["before"]}
    rows = [(f"{name} now", _gems(row), str(row["notes"])) for name, row in before.items()]
    if answer["tag"]:
        rows.append((f"{answer['tag']['tag']} then", _gems(answer["tag"]), str(answer["tag"]["notes"])))
    if answer["dry_run"]:
        show_table(("tag", "gems", "notes"), rows)
        dim(f"{answer['text']}: nothing was changed")
        return
    good(
        answer["text"]
        + (f" ({_gems(answer['tag']) or 0} gems, {answer['tag']['notes']} notes)" if answer["tag"] else "")
    )
    for name in answer["new"]:
        warn(f"no gem or note carried the tag {name} before: see that it is spelt as you mean it")


def _row(row: dict[str, Any]) -> tuple[str, str, str, str, str]:
    return row["tag"], _gems(row), _notes(row), ", ".join(row["aliases"]), ", ".join(row["parents"])


def _notes(row: dict[str, Any]) -> str:
    inferred = f"+ {row['notes_inferred']}" if row["notes_inferred"] else ""
    return " ".join(part for part in (str(row["notes"] or ""), inferred) if part)


def _gems(row: dict[str, Any]) -> str:
    inferred = f"+ {row['inferred']}" if row["inferred"] else ""
    return " ".join(part for part in (str(row["gems"] or ""), inferred) if part)


def _holds(row: dict[str, Any], text: str) -> bool:
    return not text or any(text.casefold() in name.casefold() for name in (row["tag"], *row["aliases"]))


def _show_tree(rows: list[dict[str, Any]]) -> None:
    """Each tag under all that it stands below; a tag that is filtered out parts no tree."""
    known = {row["tag"]: row for row in rows}
    tops = [row for row in rows if not set(row["parents"]) & known.keys()]
    if not on_terminal():
        for row in tops:
            _say_branch(row, known, 0)
        return
    from rich.text import Text
    from rich.tree import Tree

    def grow(branch: Tree, row: dict[str, Any]) -> None:
        line = Text(inert(row["tag"]), style="bold" if row["children"] else "")
        line.append(f"  {row['count']}", style="dim")
        twig = branch.add(line)
        for child in row["children"]:
            if child in known:
                grow(twig, known[child])

    root = Tree("tags", hide_root=True, guide_style="dim")
    for row in tops:
        grow(root, row)
    console().print(root)


def _say_branch(row: dict[str, Any], known: dict[str, dict[str, Any]], depth: int) -> None:
    say(f"{'  ' * depth}{row['tag']}\t{row['count']}")
    for child in row["children"]:
        if child in known:
            _say_branch(known[child], known, depth + 1)
