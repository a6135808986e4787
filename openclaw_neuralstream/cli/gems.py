"""`neuralstream gems …` and `remember`: see, mend, forget, carry away what is remembered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from openclaw_neuralstream.cli import gemfile
from openclaw_neuralstream.cli.door import ask, opened, pass_state
from openclaw_neuralstream.cli.output import (
    Bar,
    coloured,
    dim,
    good,
    json_option,
    one_line,
    say,
    show_json,
    show_table,
    warn,
)
from openclaw_neuralstream.cli.picking import Pick, picked, picking
from openclaw_neuralstream.errors import BadRequest
from openclaw_neuralstream.model import Origin
from openclaw_neuralstream.server.client import Door
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.transfer import exchange

_SLOW = 600.0
_STDOUT = Path("-")


@click.command()
@click.option("--agent", default="main", show_default=True, help="Whose memory.")
@click.option("--project", default="", help="The project it belongs to; none = all.")
@click.option("--importance", type=click.FloatRange(0, 1), help="0 to 1; 0.8 when not said.")
@click.option(
    "--undo", default="", metavar="ID", help="Take back what was remembered by hand; what it replaced holds again."
)
@click.argument("words", nargs=-1)
@json_option
@pass_state
def remember(
    state: StateDir,
    *,
    words: tuple[str, ...],
    agent: str,
    project: str,
    importance: float | None,
    undo: str,
    as_json: bool,
) -> None:
    """Keep a sentence by hand, at once; the same sentence twice is one gem.

    Where it corrects what is remembered, it says which gem it replaced, and what else that gem said is kept as a gem of
    its own; words of it of which that is not plain are named as not kept.

    \b
    Example:
      neuralstream remember "The staging database listens on port 5433."
      neuralstream remember "Staging is on port 6000 now, not 5433."
      neuralstream remember --undo 1f3a9c20
    """
    if bool(words) == bool(undo):
        raise click.UsageError("give the words to keep, or --undo ID, one of the two")
    if undo:
        return _take_back(state, undo, as_json=as_json)
    params: dict[str, Any] = {"text": " ".join(words), "agent": agent, "project": project, "session_key": "cli"}
    with opened(state, make=True) as door:
        kept = door.call("remember", params)
        if importance is not None:
            door.call("gems.edit", {"id": kept["gem_id"], "importance": importance})
    undoing = f"neuralstream remember --undo {kept['gem_id'][:8]}"
    if as_json:
        show_json({"gem_id": kept["gem_id"], "replaced": kept["replaced"], "undo": undoing})
        return None
    first, *more = kept["text"].splitlines()
    good(first)
    for line in more:
        say(f"  {one_line(line, 200)}")
    if kept["replaced"]:
        dim(f"  not what you meant? {undoing}")
    if "[redacted:" in first:
        warn("a secret in it was not kept; what is remembered holds a mark in its place")
    return None


def _take_back(state: StateDir, gem_id: str, *, as_json: bool) -> None:
    undone = ask(state, "remember.undo", {"id": gem_id})
    if as_json:
        show_json(undone)
        return
    told = {"removed": "taken back", "restored": "holds again", "kept": "stays, for more than that stands behind it"}
    for name, words in told.items():
        for gem in undone[name]:
            good(f"{gem['gem_id'][:8]} {words}: {one_line(gem['content'])}")


@click.group()
def gems() -> None:
    """List, show, edit, forget, export and import what is remembered. A gem is named by the start of its id."""


@gems.command("list")
@picking
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many, newest first.")
@json_option
@pass_state
def list_(state: StateDir, *, pick: Pick, limit: int, as_json: bool) -> None:
    """What is remembered, newest first.

    \b
    Example:
      neuralstream gems list --tag decision
      neuralstream gems list --text docker --since 2026-11-01
    """
    with opened(state) as door:
        found = picked(door, pick, limit=limit)
    if as_json:
        show_json(found)
        return
    rows = [_row(gem) for gem in found]
    if rows:
        show_table(("id", "date", "importance", "tags", "what"), rows)
    else:
        dim("nothing")


@gems.command()
@click.argument("gem_id")
@json_option
@pass_state
def show(state: StateDir, *, gem_id: str, as_json: bool) -> None:
    """One gem with its source: the very words it was made from.

    \b
    Example:
      neuralstream gems show 1f3a9c20
    """
    found = ask(state, "gems.show", {"id": gem_id})
    if as_json:
        show_json(found)
        return
    gem, source = found["gem"], found["gem"]["source"]
    _head(one_line(gem["content"]))
    turns = f", turns {source['turn_range']}" if source["turn_range"] else ""
    lines = {
        "id": gem["gem_id"],
        "kind": f"{gem['kind']} ({', '.join(_tags(gem))})",
        "importance": f"{gem['importance']:g}" + (f" ({gem['importance_reason']})" if gem["importance_reason"] else ""),
        "said by": f"{gem['speaker']} ({gem['origin']})",
        "source": f"{source['date']}, session {gem['session_key'] or source['session_id']}{turns}",
        "scope": " / ".join(part for part in (gem["agent"], gem["user"], gem["project"]) if part),
        "made by": " ".join(part for part in (gem["extractor"]["name"], gem["extractor"]["model"]) if part),
        "batch": gem["batch"],
        "holds": _holds(gem),
        "edited by hand": ", ".join(found["by_hand"]),
        "said": f"{len(found['statements'])} times" if len(found["statements"]) > 1 else "",
    }
    for name, words in lines.items():
        if words:
            say(f"  {name}: {one_line(words)}")
    _links(found)
    for turn in found["evidence"]:
        _head(f"turn {turn['index']}, {turn['at']}")
        for said in turn["said"]:
            say(f"  {said['name'] or said['speaker']}: {said['text']}")
    if not found["evidence"]:
        dim("  no turns stand behind it (said by hand, or imported)")


@gems.command()
@click.argument("gem_id")
@json_option
@pass_state
def confirm(state: StateDir, *, gem_id: str, as_json: bool) -> None:
    """Vouch for what somebody else, a web page or a tool said: from now on it counts as a fact.

    \b
    Example:
      neuralstream gems confirm 1f3a9c20
    """
    gem = ask(state, "gems.confirm", {"id": gem_id})["gem"]
    if as_json:
        show_json(gem)
    else:
        good(f"{gem['gem_id'][:8]} is confirmed: {one_line(gem['content'])}")


@gems.command()
@click.argument("gem_id")
@click.option("--content", help="What it says; without any option an editor opens with it.")
@click.option("--summary", help="The line for lists.")
@click.option("--importance", type=click.FloatRange(0, 1), help="0 to 1; less than min_importance keeps a gem, too.")
@click.option("--tag", "add_tags", multiple=True, help="A tag that it gets beside those it has; repeatable.")
@click.option("--untag", "remove_tags", multiple=True, help="A tag that it loses; repeatable.")
@click.option(
    "--topic", "topics", multiple=True, help="Its topics from now on, in the place of those it has; repeatable."
)
@json_option
@pass_state
def edit(state: StateDir, /, *, gem_id: str, as_json: bool, **changes: Any) -> None:
    """Mend a gem by hand; recall finds it by its new words at once.

    \b
    Example:
      neuralstream gems edit 1f3a9c20 --content "The staging database listens on port 5433."
      neuralstream gems edit 1f3a9c20 --importance 0.9
      neuralstream gems edit 1f3a9c20 --tag infra --untag home
    """
    if not sys.stdin.isatty() and not any(value not in (None, ()) for value in changes.values()):
        raise click.UsageError("say what to change: --content, --summary, --importance, --tag, --untag or --topic")
    with opened(state) as door:
        wanted = {name: list(v) if isinstance(v, tuple) else v for name, v in changes.items() if v not in (None, ())}
        if not wanted:
            wanted = {"content": _edited(door.call("gems.show", {"id": gem_id})["gem"]["content"])}
        gem = door.call("gems.edit", {"id": gem_id, **wanted})["gem"]
    if as_json:
        show_json(gem)
    else:
        good(f"{gem['gem_id'][:8]} now says: {one_line(gem['content'])}")
        if {"add_tags", "remove_tags"} & wanted.keys():
            dim(f"  tags now: {', '.join(gem['tags']) or 'none'}")
        if "topics" in wanted:
            dim(f"  topics now: {', '.join(gem['topics']) or 'none'}")


@gems.command()
@click.argument("gem_ids", nargs=-1)
@picking
@click.option("--all", "everything", is_flag=True, help="Everything that the filters pick, or all there is.")
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be forgotten, change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@pass_state
def forget(
    state: StateDir,
    *,
    gem_ids: tuple[str, ...],
    pick: Pick,
    everything: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Forget gems for good, with their vectors and the turns that only they stood on. They do not come back.

    Name them by id, or pick them: by text, tag, session, batch, or time. A session alone takes all of its turns
    along, also those that became no gem.

    \b
    Example:
      neuralstream gems forget 1f3a9c20
      neuralstream gems forget --session agent:main:telegram:42 --dry-run
      neuralstream gems forget --since 2026-11-20 --text salary
    """
    if not gem_ids and pick == Pick() and not everything:
        raise click.UsageError("name gems, pick them with a filter, or say --all")
    if gem_ids and (pick != Pick() or everything):
        raise click.UsageError("name gems or pick them, not both")
    with opened(state) as door:
        named = {"ids": list(gem_ids), "dry_run": True}
        chosen = door.call("gems.forget", named)["gems"] if gem_ids else picked(door, pick)
        if not as_json:
            show_table(("id", "date", "importance", "tags", "what"), [_row(gem) for gem in chosen])
        if chosen and not dry_run:
            if not yes:
                click.confirm(f"Forget {len(chosen)} for good?", abort=True, err=True)
            door.call("gems.forget", {"ids": [gem["gem_id"] for gem in chosen]}, timeout=_SLOW)
        turns = 0 if dry_run else _forget_turns(door, pick, asked=bool(chosen) or yes)
    forgotten = 0 if dry_run else len(chosen)
    if as_json:
        show_json({"gems": chosen, "forgotten": forgotten, "turns": turns})
    elif dry_run:
        dim(f"{len(chosen)} would be forgotten; nothing was changed")
    else:
        good(f"{forgotten} forgotten" + (f", and {turns} more turns of the session" if turns else ""))


@gems.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), default="-")
@click.option("--markdown", "as_markdown", is_flag=True, help="A page of bullets, a section a day.")
@picking
@json_option
@pass_state
def export(state: StateDir, *, file: Path, pick: Pick, as_markdown: bool, as_json: bool) -> None:
    """Write gems as JSON lines, one gem a line, to FILE or stdout; --json writes one JSON array, --markdown a page.

    Replaced gems are exported, too, so that an import brings back all there is.

    \b
    Example:
      neuralstream gems export backup.jsonl
      neuralstream gems export --tag decision | jq -r .content
      neuralstream gems export --markdown gems.md       a page to read; a bullet changed there changes its gem
    """
    with opened(state) as door:
        found = picked(door, pick.with_superseded())
    title = f"What is remembered{f' for {pick.agent}' if pick.agent else ''}"
    as_text = gemfile.to_array(found) if as_json else gemfile.to_lines(found)
    text = gemfile.to_markdown(found, title) if as_markdown else as_text
    if file == _STDOUT:
        click.echo(text, nl=False)
        return
    gemfile.write(file, text)
    good(f"{len(found)} gems written to {file}")


@gems.command("import")
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--format", "form", type=click.Choice(exchange.FORMATS), default="auto", show_default=True,
              help="What wrote it; auto looks at the name and the beginning.")  # fmt: skip
@click.option("--agent", default="main", show_default=True, help="Whose memory, where the file does not say.")
@click.option("--origin", type=click.Choice(["owner", "agent", "untrusted"]),
              help="Whose words all of it is; else as the file says, and the agent's where it does not.")  # fmt: skip
@click.option(
    "--user", default="", help="Whose memory what others kept is; else as it says, the owner's where it names one user."
)
@click.option("--mine", "user", flag_value="owner", help="All of it is the owner's, whomever it names.")
@click.option("-n", "--dry-run", is_flag=True, help="Show what was found, change nothing.")
@json_option
@pass_state
def import_(
    state: StateDir, *, path: Path, form: str, agent: str, origin: str | None, user: str, dry_run: bool, as_json: bool
) -> None:
    """Read gems from a file or a folder: our own exports, mem0's JSON, Claude Code's memory, Markdown, any JSON of texts.

    Known and forgotten ones are left alone; the same file twice changes nothing. A changed bullet of a Markdown export
    changes its gem. - is stdin.

    \b
    Example:
      neuralstream gems import backup.jsonl
      neuralstream gems import mem0-export.json --dry-run
      neuralstream gems import ~/.claude/projects/site/memory --format claude-code
    """
    skipped: list[str] = []
    words = Origin(origin) if origin else None
    marks = exchange.Marks()
    found = gemfile.read(path, form=form, agent=agent, origin=words, user=user, skipped=skipped, marks=marks)
    if origin or user:
        for anew in [anew for anew, one in marks.named.items() if one.changed]:
            del marks.named[anew]  # who says whose words all of it is says it of the changed ones, too
    if marks.lost:
        warn(
            f"{marks.lost} of the {marks.there} gems that the page marks were not read: their lines are no bullets any more"
        )
    stored = 0
    if dry_run:
        return _previewed(found, marks, as_json=as_json)
    with opened(state, make=True) as door, Bar("gems", len(found), quiet=as_json) as bar:
        told = {anew: _revised(door, one) for anew, one in marks.named.items()}
        edited = sum(outcome == "edited" for outcome in told.values())
        lost = sum(outcome == "other" and marks.named[anew].changed is None for anew, outcome in told.items())
        found = [gem for gem in found if told.get(gem["gem_id"], "unknown") == "unknown"]
        for start in range(0, len(found), gemfile.CHUNK):
            chunk = found[start : start + gemfile.CHUNK]
            stored += door.call("gems.import", {"gems": chunk}, timeout=_SLOW)["stored"]
            bar(start + len(chunk))
    if as_json:
        counts = {"stored": stored, "known": len(found) - stored}
        more = {"edited": edited, "skipped": len(skipped), "lost": marks.lost + lost}
        show_json({**counts, **{name: count for name, count in more.items() if count}})
    else:
        whose = ", ".join(sorted({gem["user"] for gem in found}))
        for_whom = "" if whose in ("", "owner") else f" as the memory of {whose}"
        good(f"{stored} gems stored{for_whom}, {len(found) - stored} known or forgotten before")
        if edited:
            good(f"{edited} gems changed to what the page says now")
        if skipped:
            dim(f"{len(skipped)} entries without a text were skipped, the first at {skipped[0]}")
    if lost:
        warn(
            f"{lost} gems say something else than their bullets, and were left as they are: the end of the page is lost, which "
            "says whether a bullet was changed; neuralstream gems edit changes one"
        )
    return None


def _revised(door: Door, one: exchange.Named) -> str:
    """What became of the gem that a bullet names: "edited", "same" words, "other" words that stay, or "unknown"."""
    asked = {"id": one.gem_id, "content": one.words, "whole": one.whole, "look": not one.changed}
    return str(door.call("gems.revise", asked)["outcome"])


def _previewed(found: list[dict[str, Any]], marks: exchange.Marks, *, as_json: bool) -> None:
    if as_json:
        edits = [{"gem_id": one.gem_id, "content": one.words} for one in marks.edits]
        show_json(
            {"found": found, **({"edits": edits} if edits else {}), **({"lost": marks.lost} if marks.lost else {})}
        )
        return
    show_table(("date", "origin", "what"), [(g["created_at"][:10], g["origin"], one_line(g["content"])) for g in found])
    for one in marks.edits:
        say(f"changes {one.gem_id[:8]}, where it is known: {one_line(one.words)}")
    dim(f"{len(found)} would be stored, less those that are known; nothing was changed")


def _forget_turns(door: Door, pick: Pick, *, asked: bool) -> int:
    """A whole session is meant: its turns go, too, also where no gem was made of them."""
    if not asked or not pick.session or pick != Pick(agent=pick.agent, session=pick.session):
        return 0
    place = {"agent": pick.agent, "session": pick.session}
    removed = door.call("forget.run", place, timeout=_SLOW)["receipt"]["removed"]
    return int(removed.get("turns", 0) + removed.get("waiting turns", 0))


def _links(found: dict[str, Any]) -> None:
    """What it replaced and what replaced it, and other words in which it was said."""
    for end, name in (("replaced_by", "replaced by"), ("replaces", "replaces")):
        for other in found[end]:
            why = f" ({other['why']})" if other["why"] else ""
            say(f"  {name}: {other['gem_id'][:8]} {one_line(other['content'])}{why}")
    for statement in found["statements"]:
        if statement["content"] != found["gem"]["content"]:
            say(f"  said on {statement['at'][:10]} as: {one_line(statement['content'])}")


def _holds(gem: dict[str, Any]) -> str:
    """Since when, until when."""
    since, until = (gem["valid_from"] or "")[:10], (gem["valid_to"] or "")[:10]
    if until:
        return f"{since or '…'} to {until}"
    return f"since {since}" if since else ""


def _row(gem: dict[str, Any]) -> tuple[str, str, str, str, str]:
    mark = " (replaced)" if gem["superseded_by"] else ""
    tags = ",".join(_tags(gem)) + mark
    return gem["gem_id"][:8], gem["source"]["date"], f"{gem['importance']:g}", tags, one_line(gem["content"])


def _tags(gem: dict[str, Any]) -> list[str]:
    """Its own tags, and those that were inferred with a question mark."""
    return [*gem["tags"], *(f"{tag}?" for tag in gem.get("inferred_tags", ()))]


def _head(text: str) -> None:
    import sys

    click.echo(click.style(text, bold=True), color=coloured(sys.stdout))


def _edited(content: str) -> str:
    changed = click.edit(content)
    if changed is None or changed.strip() == content.strip():
        raise BadRequest("nothing was changed", fix="change the text in the editor, or give --content")
    return changed.strip()
