"""The state directory: is it ours, private, writable, with room left; do the files in it read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from openclaw_neuralstream.cli.checks.finding import Finding, broken, note, ok, warning
from openclaw_neuralstream.errors import SettingsError, StateError
from openclaw_neuralstream.root import manifest
from openclaw_neuralstream.state import StateDir, host_config

_LITTLE = 500 * 1024 * 1024
_TOO_LITTLE = 50 * 1024 * 1024
_MANY_SPOOLED = 1024 * 1024


def place(state: StateDir) -> Iterator[Finding]:
    """All checks that need no process."""
    yield from _folder(state.path)
    yield from _links(state)
    yield from _settings(state)
    yield from _room(state.path)
    yield from _spool(state.spool)
    yield from _templates(state)


def _folder(path: Path) -> Iterator[Finding]:
    if not path.exists():
        yield note("state", f"{path} does not exist yet", "nothing has been remembered", "neuralstream install")
        return
    why = "nothing can be remembered"
    if not path.is_dir() or not os.access(path, os.W_OK | os.X_OK):
        yield broken("state", f"{path} cannot be written", why, f"chmod u+rwx {path}, or set NEURALSTREAM_STATE_DIR")
        return
    if path.stat().st_uid != os.getuid():
        yield warning("state", f"{path} belongs to another user", "two users would share a memory", f"ls -ld {path}")
    if path.stat().st_mode & 0o077:
        yield warning("state", f"others can read {path}", "it holds what you said", f"chmod -R go-rwx {path}")
        return
    yield ok("state", f"{path} is yours alone")


def _links(state: StateDir) -> Iterator[Finding]:
    try:
        state.refuse_links()
    except StateError as error:
        yield broken("links", f"{error.where}: {error.what}", "the memory process does not start with it", error.fix)


def _settings(state: StateDir) -> Iterator[Finding]:
    from openclaw_neuralstream.settings import load

    try:
        loaded = load(state.path, host=host_config(state))
    except SettingsError as error:
        for problem in error.problems:
            yield broken("settings", problem, "the memory process does not start with it", f"edit {error.where}")
        return
    for told in loaded.warnings:
        yield warning("settings", told, "what is set there has no effect by that name", "neuralstream config list")
    yield ok("settings", f"{len(loaded.sources)} settings differ from the defaults, all valid")


def _room(path: Path) -> Iterator[Finding]:
    known = next(folder for folder in (path, *path.parents) if folder.exists())
    free = shutil.disk_usage(known).free
    said, why = f"{free / 1e9:.1f} GB free", "a full disk means that new turns cannot be kept"
    if free < _TOO_LITTLE:
        yield broken("disk", said, why, f"make room on the disk of {path}")
    elif free < _LITTLE:
        yield warning("disk", said, why, f"make room on the disk of {path}")
    else:
        yield ok("disk", said)


def _spool(folder: Path) -> Iterator[Finding]:
    waiting = sum(file.stat().st_size for file in folder.glob("*.jsonl")) if folder.is_dir() else 0
    refused = list(folder.glob("*.bad")) if folder.is_dir() else []
    if waiting > _MANY_SPOOLED:
        why = "the bridge could not reach the memory process for a while; nothing is lost, only not recalled yet"
        yield warning("spool", f"{waiting / 1e6:.1f} MB of turns wait in {folder}", why, "neuralstream admin flush")
    elif waiting:
        yield note("spool", f"{waiting} bytes of turns wait in {folder}; the process takes them in when it is asked")
    else:
        yield ok("spool", "no turn waits outside the memory")
    if refused:
        why = "these events were not of the documented form; they are kept there"
        yield warning("spool", f"refused events in {refused[0]}", why, f"look at it, then rm {refused[0]}")


def _templates(state: StateDir) -> Iterator[Finding]:
    known = set(manifest()["templates"].values())
    for folder in (state.templates, _setting(state, "templates_dir")):
        if folder and folder.is_dir():
            yield from _own_templates(folder, known)


def _own_templates(folder: Path, known: Collection[str]) -> Iterator[Finding]:
    from jinja2 import Environment, TemplateSyntaxError

    for file in sorted(folder.glob("*.j2")):
        if file.name not in known:
            why = f"it is never used; names are {', '.join(sorted(known))}"
            yield warning("templates", f"{file} has no known name", why, f"rename or remove {file}")
            continue
        try:
            Environment(autoescape=False).parse(file.read_text(encoding="utf-8"))  # noqa: S701  parsed, never rendered
        except (TemplateSyntaxError, OSError, UnicodeDecodeError) as error:
            why = "the shipped template is used in its place"
            yield broken("templates", f"{file} does not read: {error}", why, f"mend or remove {file}")
        else:
            yield ok("templates", f"your own {file.name} is used")


def _setting(state: StateDir, name: str) -> Path | None:
    from openclaw_neuralstream.settings import load

    try:
        value = getattr(load(state.path, host=host_config(state)).settings, name)
    except SettingsError:
        return None
    return Path(value) if value else None
