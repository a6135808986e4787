"""Gems in a file: JSON lines or one JSON array in the specification's format, Markdown, and the files of others."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from openclaw_neuralstream.clock import utc_now
from openclaw_neuralstream.errors import BadRequest, NotFound, not_there, unwritable
from openclaw_neuralstream.model import Gem, Origin
from openclaw_neuralstream.state import write_private
from openclaw_neuralstream.text.lines import gem_from_json, gem_to_json
from openclaw_neuralstream.transfer import exchange
from openclaw_neuralstream.transfer.files import recognised

CHUNK = 200
"""Gems that travel to the process at once."""


def to_lines(gems: list[dict[str, Any]]) -> str:
    """One gem a line. Lone surrogates stay escaped: any text of a user can be exported."""
    return "".join(json.dumps(gem, ensure_ascii=_lone(gem)) + "\n" for gem in gems)


def to_array(gems: list[dict[str, Any]]) -> str:
    """One JSON array."""
    return json.dumps(gems, ensure_ascii=_lone(gems), indent=1) + "\n"


def write(path: Path, text: str) -> None:
    """An owner-only file, whole or not at all. Raises StateError."""
    try:
        write_private(path.absolute(), text)
    except OSError as error:
        raise unwritable("the file", path, error) from error


def to_markdown(gems: list[dict[str, Any]], title: str) -> str:
    """A page of bullets; what a reader does not need stands in comments."""
    return exchange.to_markdown([gem_from_json(gem) for gem in gems], title=title)


def read(
    path: Path,
    *,
    form: str,
    agent: str,
    origin: Origin | None,
    user: str,
    skipped: list[str],
    marks: exchange.Marks,
) -> list[dict[str, Any]]:
    """The gems of a file or of all files in a folder, "-" is stdin. Raises NotFound, or BadRequest that says where.

    skipped: where the places of entries without a text are noted. marks: what pages of ours say of their gems.
    """
    found: list[Gem] = []
    empty: list[Path] = []
    for file in _files(path, form):
        text = _text(file)
        kind = exchange.format_of(file.name, text) if form == "auto" else form
        if form == "auto" and kind == "json":
            _refuse_chats(file, text)
        if kind in ("markdown", "claude-code"):
            at = _when(file)
            made = exchange.from_markdown(text, name=file.name, agent=agent, now=at, origin=origin, marks=marks)
            found += made
            if not made and any(
                line.strip() and not line.lstrip().startswith(("#", "<!--")) for line in text.splitlines()
            ):
                empty.append(file)
        else:
            name = "mem0" if kind == "mem0" else file.stem
            found += exchange.from_json(
                text,
                name=name,
                agent=agent,
                now=_when(file),
                origin=origin,
                where=str(file),
                user=user,
                skipped=skipped,
            )
    if empty and not found:
        what = f"no bullet and no paragraph was found in {len(empty)} Markdown files"
        raise BadRequest(
            what, where=str(empty[0]), fix="write each thing as a bullet; --format json for a file of JSON"
        )
    return [gem_to_json(gem) for gem in {gem.gem_id: gem for gem in found}.values()]


def _refuse_chats(file: Path, text: str) -> None:
    """Raises BadRequest for exported chats: a message is no gem, and was not said today."""
    if name := recognised(text):
        where = "-" if str(file) == "-" else str(file)
        named = "FILE, once it is kept in a file" if where == "-" else where
        raise BadRequest(
            f"these are conversations ({name}), no gems",
            where=where,
            fix=f"neuralstream backfill file {named} distils them; --format json takes each message as a gem",
        )


def _files(path: Path, form: str) -> list[Path]:
    if str(path) == "-" or not path.is_dir():
        return [path]
    endings = (".md",) if form in ("markdown", "claude-code") else (".md", ".json", ".jsonl")
    found = sorted(file for file in path.rglob("*") if file.suffix.lower() in endings and file.is_file())
    if not found:
        raise NotFound(f"no {' or '.join(endings)} file in it", where=str(path), fix="name the file, or another folder")
    return found


def _when(file: Path) -> datetime:
    """When what has no date of its own was written: the file's time."""
    try:
        return datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except OSError:
        return utc_now()


def _text(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise not_there(path) from error
    except OSError as error:
        what = f"cannot be read: {error.strerror or error}"
        raise BadRequest(what, where=str(path), fix="make it readable for you") from error
    except UnicodeDecodeError as error:
        what = f"not a text in UTF-8: {error.reason}"
        raise BadRequest(
            what, where=str(path), fix="save it as UTF-8; a zip of chats: neuralstream backfill file"
        ) from error


def _lone(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
