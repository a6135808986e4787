"""What a command says: plain text in a pipe, colour and bars on a terminal, JSON when asked."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Self

import click

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.text import lines

if TYPE_CHECKING:
    from rich.console import Console

JSON_SHOWN = "neuralstream.json_shown"
"""Noted in click's context once the command has printed its one JSON document."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
"""What every command takes."""

_NARROW = 80  # columns of a terminal below which a table folds its words apart
_FIT_ANYWHERE = 2  # columns of a table that are readable on any terminal
_KEPT_CONTROLS = frozenset("\n\t")
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def show_json(value: Any) -> None:
    """One JSON document on stdout; readable as UTF-8 where the terminal takes it."""
    plain = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    click.echo(json.dumps(value, ensure_ascii=plain, indent=2))
    if context := click.get_current_context(silent=True):
        context.meta[JSON_SHOWN] = True


def inert(text: str) -> str:
    """Remembered text without terminal control sequences: what others said must not move the cursor or hide lines."""
    return "".join(char for char in text if char in _KEPT_CONTROLS or not _steers(char))


def one_line(text: str, width: int = 0) -> str:
    """The text on one line, cut to `width` characters where that is not 0."""
    flat = inert(text)
    return lines.one_line(flat, width or len(flat))


def say(text: str = "") -> None:
    """A line of plain text on stdout."""
    click.echo(inert(text))


def good(text: str) -> None:
    """Something that worked."""
    click.echo(click.style("✔ ", fg="green") + inert(text), color=coloured(sys.stdout))


def dim(text: str) -> None:
    """An aside."""
    click.echo(click.style(inert(text), dim=True), color=coloured(sys.stdout))


def warn(text: str) -> None:
    """An aside that matters; stderr, so that it never mixes with results."""
    click.echo(click.style("! ", fg="yellow") + inert(text), err=True, color=coloured(sys.stderr))


def complain(error: NeuralStreamError) -> None:
    """What · where · how to mend it, on stderr."""
    parts = [inert(part) for part in (error.what, error.where) if part]
    click.echo(click.style("✘ ", fg="red") + " · ".join(parts), err=True, color=coloured(sys.stderr))
    if error.fix:
        click.echo("  " + click.style("mend it: ", bold=True) + inert(error.fix), err=True, color=coloured(sys.stderr))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on a terminal, blocks where it is too narrow for one; tab-separated lines, no header, in a pipe."""
    if not on_terminal():
        for row in rows:
            click.echo("\t".join(" ".join(inert(cell).split()) for cell in row))
        return
    if console().width < _NARROW and len(columns) > _FIT_ANYWHERE:
        _show_blocks(columns, rows)
        return
    from rich.box import SIMPLE
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(inert(cell)) for cell in row))
    console().print(table)


def _show_blocks(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    for row in rows:
        block = Table.grid(padding=(0, 2))
        for column, cell in zip(columns, row, strict=True):
            if cell:
                block.add_row(Text(column, style="dim"), Text(inert(cell)))
        console().print(block, Text(""))


def console() -> Console:
    """Rich's console on stdout; it honours NO_COLOR and pipes by itself."""
    from rich.console import Console

    return Console(highlight=False, markup=False)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """A spinner on a terminal while something takes its time; nothing in a pipe."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True, highlight=False, markup=False).status(text):
        yield


def on_terminal() -> bool:
    """True when a person looks at stdout."""
    return sys.stdout.isatty()


def coloured(stream: IO[str]) -> bool:
    """True when this stream may carry colours: not in a pipe, not with NO_COLOR (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _steers(char: str) -> bool:
    return char in _REORDERING or unicodedata.category(char) == "Cc"


class Bar:
    """Use as a context manager; call it with what is done, and with the total where that changes."""

    def __init__(self, label: str, total: float | None = None, *, quiet: bool = False) -> None:
        self._bar: Any = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task(label, total=total)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def __call__(self, done: float, total: float | None = None) -> None:
        """So much is done."""
        if self._bar:
            self._bar.update(self._task, completed=done, **({"total": total} if total is not None else {}))
