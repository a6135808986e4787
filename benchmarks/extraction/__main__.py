"""`python -m benchmarks.extraction`: how good the extractor is, on conversations with labels."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from benchmarks.extraction import labels, replay
from benchmarks.extraction.replay import Outcome
from benchmarks.extraction.report import report
from openclaw_neuralstream.cli.output import (
    complain,
    dim,
    good,
    json_option,
    on_terminal,
    say,
    show_json,
    show_table,
    warn,
)
from openclaw_neuralstream.errors import NeuralStreamError, VendorAway, unwritable
from openclaw_neuralstream.state import StateDir, state_dir

_COLUMNS = (
    "recall",
    "precision",
    "f1",
    "expected",
    "gems",
    "duplicates",
    "forbidden",
    "unsupported",
    "wrong_speaker",
    "secrets",
    "wrong_language",
)
_FAULTS = ("obeyed", "wrong_evidence", "false_dates", "stale", "wrongly_superseded", "refused")


@click.command()
@click.option(
    "--extractor",
    type=click.Choice(["rules", "ollama", "openai", "auto"]),
    default="rules",
    show_default=True,
    help="Who distils.",
)
@click.option(
    "--part",
    type=click.Choice(["dev", "heldout", "all"]),
    default="dev",
    show_default=True,
    help="dev to tune on; heldout to judge by, never to tune on.",
)
@click.option("--language", type=click.Choice(["en", "zh", "ru"]), help="Only conversations in this language.")
@click.option("--limit", type=click.IntRange(1), help="Only so many conversations of each language.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting for this run, such as gem_model=qwen3; your own settings of models are taken over.",
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the whole report, with each fault, as JSON."
)
@click.option(
    "--conversations",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder with labelled conversations of your own, in dev/ and heldout/; else those beside this module.",
)
@click.option("--show", is_flag=True, help="Name each fault: what was missed, needless, wrong.")
@json_option
def main(
    *,
    extractor: str,
    part: str,
    language: str | None,
    limit: int | None,
    changes: tuple[str, ...],
    out: Path | None,
    conversations: Path | None,
    show: bool,
    as_json: bool,
) -> None:
    """Score an extractor on labelled conversations in English, Chinese and Russian, through the real path.

    Each conversation runs from the host's events to the store, in a memory of its own in a temporary place; your
    memory is not touched. What comes out is compared with what ought to.

    \b
    Example:
      python -m benchmarks.extraction
      python -m benchmarks.extraction --part heldout --extractor ollama --set gem_model=qwen3 --out result.json
    """
    found = _picked(labels.load(part, where=conversations), language, limit)
    settings = {
        **_models(state_dir()),
        "embedder": "embedded",
        "model_attempts": 1,
        "extractor": extractor,
        **_parsed(changes),
    }
    start = found[0].turns[0].at
    outcomes: list[Outcome] = []
    stopped = ""
    with replay.stage(settings, start, environ=os.environ) as stage, _bar(len(found), quiet=as_json) as step:
        try:
            for outcome in replay.played(stage, found):
                outcomes.append(outcome)
                step(outcome)
        except VendorAway as error:
            if not outcomes:
                raise
            stopped = f"after {len(outcomes)} of {len(found)} conversations: {error.what}"
            warn(f"stopped {stopped}; what follows is about those")
    asked = {"part": part, "language": language or "all", "limit": limit, **settings}
    result = report(outcomes, {**asked, **({"stopped": stopped} if stopped else {})})
    if out:
        try:
            out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise unwritable("the report", out, error) from error
    if as_json:
        show_json(result)
        return
    _tables(result)
    if show:
        for note in result["notes"]:
            say(note)
    if out:
        good(f"written to {out}")


def _picked(found: list[Any], language: str | None, limit: int | None) -> list[Any]:
    kept: list[Any] = []
    for one in found:
        same = sum(other.language == one.language for other in kept)
        if language in (None, one.language) and (limit is None or same < limit):
            kept.append(one)
    if not kept:
        raise click.UsageError("no conversations of this part and language")
    return kept


def _models(state: StateDir) -> dict[str, Any]:
    """What the user has set of models: addresses, names, windows."""
    from openclaw_neuralstream.memory.wiring import load_settings

    loaded = load_settings(state)
    wanted = ("gem_", "model_", "ollama_", "openai_", "history_")
    return {name: getattr(loaded.settings, name) for name in loaded.sources if name.startswith(wanted)}


def _parsed(changes: tuple[str, ...]) -> dict[str, Any]:
    import tomllib

    values: dict[str, Any] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise click.UsageError(f"--set {change}: say NAME=VALUE")
        try:
            values[name] = tomllib.loads(f"x = {value}")["x"]
        except tomllib.TOMLDecodeError:
            values[name] = value
    return values


def _tables(result: dict[str, Any]) -> None:
    names = ("all", *(name for name in ("en", "zh", "ru") if result[name]["conversations"]))
    show_table(("", *_COLUMNS), [(name, *(_shown(result[name], column) for column in _COLUMNS)) for name in names])
    rows = [
        (name, *(str(one[k]) for k in ("conversations", "expected", "recall", "precision", "forbidden")))
        for name, one in result["categories"].items()
    ]
    if rows:
        show_table(("category", "conversations", "expected", "recall", "precision", "forbidden"), rows)
    total = result["all"]
    pairs = f"{total['superseded']} of {total['supersessions']} corrections retired what they corrected"
    dates = f"{total['right_dates']} of {total['dates']} days right"
    say(f"{pairs}; {dates}; " + ", ".join(f"{name.replace('_', ' ')} {total[name]}" for name in _FAULTS))
    say(f"{total['calls']} calls, {total['tokens']} tokens, {total['seconds']} s in the extractor")
    if on_terminal():
        dim("recall, precision and f1 with their 95 % intervals (bootstrap over conversations)")


def _shown(one: dict[str, Any], column: str) -> str:
    low_high = one["interval95"].get(column)
    return f"{one[column]} ({low_high[0]}–{low_high[1]})" if low_high else str(one[column])


@contextmanager
def _bar(total: int, *, quiet: bool) -> Iterator[Any]:
    """A progress bar on a terminal, nothing in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("conversations", total=total)

        def step(_: Outcome) -> None:
            progress.advance(task)

        yield step


if __name__ == "__main__":
    try:
        main()
    except NeuralStreamError as error:
        complain(error)
        sys.exit(1)
