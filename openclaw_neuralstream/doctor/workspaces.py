"""The workspaces, judged by what the process says of them in `status`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from openclaw_neuralstream.doctor.finding import Finding, broken, note, ok, warning


def workspaces(known: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """All checks; one line each where all is well."""
    if not known:
        why = "files of the workspace are not part of the memory; OpenClaw names it with the first turn"
        yield note("workspace", "none is known yet", why, "neuralstream config set workspace /folder")
    for workspace in known:
        found = list(_wrong(workspace))
        yield from found
        if not found:
            yield ok("workspace", f"{_name(workspace)}: {workspace['files']} files indexed and {_how(workspace)}")


_NAMED = 3  # places of a workspace that are named one by one


def _wrong(workspace: Mapping[str, Any]) -> Iterator[Finding]:
    name = _name(workspace)
    if not workspace["here"]:
        why = f"{workspace['why']}; its notes are not recalled"
        fix = "bring it back, or name the right one: neuralstream config set workspace /folder"
        yield broken("workspace", f"{name} is not there", why, fix)
        return
    if workspace["error"]:
        yield broken(
            "workspace",
            f"{name}: {workspace['error']}",
            "new notes are not found",
            "neuralstream admin harvest --verbose",
        )
    if workspace["trouble"]:
        why = "what changes is found some seconds later, at the cost of looking at every file"
        yield warning("watch", f"{name}: {workspace['trouble']}", why, workspace["mend"])
    if workspace["network"]:
        why = "changes made on other machines are not told; files are looked at again and again"
        yield note("watch", f"{name} is on a network file system ({workspace['network']})", why)
    if workspace["watch"] == "off":
        why = "the setting watch is off; only neuralstream admin harvest indexes"
        yield note("watch", f"{name} is not followed", why, "neuralstream config set watch auto")
    if workspace["index_apart"]:
        why = f"it cannot be written; the index is in {workspace['index']}"
        yield note("workspace", f"{name} is read-only for us", why)
    for item in workspace["unread"][:_NAMED]:
        what = f"{workspace['root']}/{item['path']}, line {item['line']}: {item['what']}"
        yield note(
            "workspace",
            what,
            "it is indexed as text",
            "mend the file; neuralstream admin harvest --verbose names all of them",
        )
    if workspace["left_out_count"]:
        path, reason = next(iter(workspace["left_out"].items()))
        what = f"{name}: {workspace['left_out_count']} files are left out, such as {path} ({reason})"
        yield note("workspace", what, "they are not recalled", "neuralstream admin harvest --verbose names them all")


def _name(workspace: Mapping[str, Any]) -> str:
    return f"{workspace['root']} ({', '.join(workspace['agents'])})"


def _how(workspace: Mapping[str, Any]) -> str:
    return "followed" if workspace["watch"] == "events" else "looked at again and again"
