"""`neuralstream admin collections list|import`: memories that other layers left in a Qdrant server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from openclaw_neuralstream.cli.door import ask, opened, pass_state
from openclaw_neuralstream.cli.move import bar
from openclaw_neuralstream.cli.output import dim, good, json_option, one_line, say, show_json, show_table, warn
from openclaw_neuralstream.state import StateDir
from openclaw_neuralstream.transfer.exchange import unread

_SECONDS = 600.0
_url = click.option("--url", default="", help="Address of the Qdrant server; else the setting qdrant_url.")
_key = click.option("--api-key-env", default="", help="Name of the environment variable that holds the API key.")


@click.group()
def collections() -> None:
    """Memories that other layers left in Qdrant (kimi_memories, memories_tr, gems_tr, …): see them, import them."""


@collections.command("list")
@_url
@_key
@json_option
@pass_state
def list_(state: StateDir, *, url: str, api_key_env: str, as_json: bool) -> None:
    """The collections of the server.

    \b
    Example:
      neuralstream admin collections list --url http://127.0.0.1:6333
    """
    found = ask(state, "collections.list", {"url": url, "api_key_env": api_key_env})["collections"]
    if as_json:
        show_json(found)
    elif not found:
        dim("the server has no collection")
    else:
        rows = [
            (
                c["name"] + (" (ours)" if c["ours"] else ""),
                str(c["points"]),
                str(c["size"] or "-"),
                c["distance"] or "-",
            )
            for c in found
        ]
        show_table(("collection", "points", "vector size", "distance"), rows)


@collections.command("import")
@click.argument("name")
@_url
@_key
@click.option("--agent", default="main", help="Agent of memories that name none.")
@click.option("--user", default="", help="Whose memory all of it is; else as each point says.")
@click.option("--owner", "owners", multiple=True, help="A user id that is the owner (several times for several).")
@click.option(
    "--origin",
    type=click.Choice(["owner", "agent", "untrusted"]),
    default=None,
    help="Whose words all of it is; else as each point says.",
)
@click.option("--limit", type=click.IntRange(1), default=None, help="Read at most about so many points.")
@click.option("--dry-run", is_flag=True, help="Only show what the first points would become.")
@json_option
@pass_state
def import_(state: StateDir, /, *, name: str, dry_run: bool, as_json: bool, **given: Any) -> None:
    """Import a collection: secrets out, embedded again unless the present embedder made its vectors, origin marked.

    A point keeps its id: imported twice, it is one gem. Interrupted, the same command goes on; what is here is passed over.

    \b
    Example:
      neuralstream admin collections import memories_tr --owner rob --dry-run
      neuralstream admin collections import memories_tr --owner rob
    """
    params = {"name": name, **{key: value for key, value in given.items() if value and key != "limit"}}
    if dry_run:
        found = ask(state, "collections.import", {**params, "dry_run": True}, timeout=_SECONDS)
        _refuse_unread(name, found)
        show_json(found) if as_json else _planned(name, found)
        return
    done = _imported(state, params, given["limit"], quiet=as_json)
    if as_json:
        show_json(done)
        return
    vectors = f"; vectors {done['vectors']}" if done["vectors"] else ""
    good(f"{done['stored']} gems imported from {name}, {done['known']} were here or forgotten{vectors}")
    if done["unreadable"]:
        warn(f"{done['unreadable']} points hold no text that we find (docs/servers.md lists the fields)")


def _imported(state: StateDir, params: dict[str, Any], limit: int | None, *, quiet: bool) -> dict[str, Any]:
    total: Counter[str] = Counter()
    vectors: set[str] = set()
    fields: set[str] = set()
    after = None
    with opened(state, make=True) as door:
        size = door.call("collections.import", {**params, "dry_run": True, "limit": 1}, timeout=_SECONDS)["points"]
        with bar("importing", min(size, limit or size), quiet=quiet) as progress:
            while True:
                page = door.call("collections.import", {**params, "after": after}, timeout=_SECONDS)
                total.update({name: page[name] for name in ("read", "stored", "known", "unreadable")})
                vectors |= {page["vectors"]} - {""}
                fields.update(page["fields"])
                after = page["next"]
                progress(total["read"])
                if after is None or (limit and total["read"] >= limit):
                    _refuse_unread(params["name"], {**total, "fields": fields})
                    counts = {name: total[name] for name in ("read", "stored", "known", "unreadable")}
                    return {**counts, "vectors": " and ".join(sorted(vectors))}


def _refuse_unread(name: str, found: Mapping[str, Any]) -> None:
    """Raises BadRequest where there are points and none of them was read."""
    if found["read"] and found["unreadable"] == found["read"]:
        raise unread([dict.fromkeys(found["fields"])], f"any of {found['read']} points", name)


def _planned(name: str, found: dict[str, Any]) -> None:
    say(
        f"{name}: {found['points']} points; of the first {found['read']}, {found['unreadable']} hold no text; vectors are {found['vectors']}"
    )
    rows = [
        (g["created_at"][:10], g["user"], g["origin"], g["kind"], f"{g['importance']:g}", one_line(g["content"], 100))
        for g in found["sample"]
    ]
    show_table(("day", "user", "origin", "kind", "importance", "text"), rows)
    dim("nothing was stored")
