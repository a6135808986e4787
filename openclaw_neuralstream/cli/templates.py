"""`neuralstream admin templates`: the words put before a model; list them, show them, make them your own, try them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from openclaw_neuralstream import root, settings
from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import (
    coloured,
    dim,
    good,
    inert,
    json_option,
    on_terminal,
    say,
    show_json,
    show_table,
    warn,
)
from openclaw_neuralstream.errors import BadRequest, NeuralStreamError, NotFound
from openclaw_neuralstream.plugins.examples import example
from openclaw_neuralstream.plugins.templates import FAULTS, Templates
from openclaw_neuralstream.state import StateDir, host_config

_ENDING = ".md.j2"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the templates are: the shipped folder and the user's own."""

    shipped: Path
    own: Path

    def file(self, name: str) -> Path:
        """Where the user's own would be."""
        return self.own / f"{name}{_ENDING}"

    def source(self, name: str) -> Path:
        """The file that is used."""
        return self.file(name) if self.file(name).is_file() else self.shipped / f"{name}{_ENDING}"

    def fault(self, name: str) -> str:
        """What goes wrong when it is rendered with example values; "" when nothing does."""
        try:
            Templates(self.shipped, self.own).trial(name, example(name))
        except FAULTS as error:
            line = getattr(error, "lineno", None)
            return f"{f'line {line}: ' if line else ''}{type(error).__name__}: {error}"
        return ""


def _place(state: StateDir) -> Place:
    chosen = settings.load(state.path, host=host_config(state)).settings.templates_dir
    return Place(root.project_root() / "templates", Path(chosen) if chosen else state.templates)


def _known(name: str) -> str:
    name = name.removesuffix(_ENDING)
    names = root.manifest()["templates"]
    if name not in names:
        raise NotFound(f"no template {name!r}", fix=f"the names are {', '.join(names)}")
    return name


@click.group()
def templates() -> None:
    """The words that are put before a model, or written into your pages; each can be replaced by one of your own."""


@templates.command(name="list")
@json_option
@pass_state
def list_(state: StateDir, *, as_json: bool) -> None:
    """Every template, what it is for, and whether it is the shipped one, your own, or a broken one of your own.

    \b
    Example:
      neuralstream admin templates list
    """
    place = _place(state)
    rows = [_row(place, name) for name in root.manifest()["templates"]]
    if as_json:
        show_json(rows)
        return
    show_table(("name", "in use", "what it is for"), [(row["name"], row["in_use"], row["about"]) for row in rows])
    dim(f"your own: {place.own}")
    for row in rows:
        if row["fault"]:
            warn(f"{row['file']}: {row['fault']}; the shipped one is used")


def _row(place: Place, name: str) -> dict[str, Any]:
    own = place.file(name).is_file()
    fault = place.fault(name) if own else ""
    in_use = "shipped (yours is broken)" if fault else "yours" if own else "shipped"
    return {
        "name": name,
        "in_use": in_use,
        "about": _about(place, name),
        "file": str(place.source(name)),
        "fault": fault,
    }


def _about(place: Place, name: str) -> str:
    head = (place.shipped / f"{name}{_ENDING}").read_text(encoding="utf-8").partition("-#}")[0]
    return re.split(r"\n|(?<=\.) ", head.removeprefix("{#-").strip())[0]


@templates.command()
@click.argument("name")
@click.option("--shipped", is_flag=True, help="The shipped one, also where you have your own.")
@click.option("--rendered", is_flag=True, help="What it makes of example values, a hostile record among them.")
@json_option
@pass_state
def show(state: StateDir, /, *, name: str, shipped: bool, rendered: bool, as_json: bool) -> None:
    """The source of a template; its variables stand in the comment at its top.

    \b
    Example:
      neuralstream admin templates show gem_block
      neuralstream admin templates show gem_block --rendered
    """
    name, place = _known(name), _place(state)
    own = None if shipped else place.own
    path = place.shipped / f"{name}{_ENDING}" if shipped else place.source(name)
    try:
        plain = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(
            f"cannot be read: {error}", where=str(path), fix=f"neuralstream admin templates reset {name}"
        ) from error
    text = Templates(place.shipped, own).render(name, **example(name)) if rendered else plain
    if as_json:
        show_json({"name": name, "file": str(path), "rendered" if rendered else "source": text})
        return
    say(text.rstrip("\n"))


@templates.command()
@click.argument("name")
@json_option
@pass_state
def edit(state: StateDir, /, *, name: str, as_json: bool) -> None:
    """Make a template your own: copied into your folder when it is not there, opened in $EDITOR on a terminal, then tried.

    The memory process takes the change at once.

    \b
    Example:
      neuralstream admin templates edit gem_block
    """
    name, place = _known(name), _place(state)
    own = place.file(name)
    if not own.is_file():
        own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        own.write_text((place.shipped / own.name).read_text(encoding="utf-8"), encoding="utf-8")
        own.chmod(0o600)
        if not as_json:
            good(f"copied to {own}")
    if on_terminal() and not as_json:
        click.edit(filename=str(own))
    _report(place, [name], as_json=as_json)


@templates.command()
@click.argument("names", nargs=-1)
@json_option
@pass_state
def check(state: StateDir, /, *, names: tuple[str, ...], as_json: bool) -> None:
    """Render your own templates (or those named) with example values; exit code 1 when one fails.

    \b
    Example:
      neuralstream admin templates check
    """
    place = _place(state)
    wanted = [_known(name) for name in names]
    _report(
        place, wanted or [name for name in root.manifest()["templates"] if place.file(name).is_file()], as_json=as_json
    )


def _report(place: Place, names: list[str], *, as_json: bool) -> None:
    faults = {name: place.fault(name) for name in names}
    if as_json:
        show_json([{"name": name, "file": str(place.source(name)), "fault": fault} for name, fault in faults.items()])
    else:
        for name, fault in faults.items():
            if fault:
                click.echo(
                    click.style("✘ ", fg="red") + inert(f"{place.source(name)}: {fault}"), color=coloured(_stdout())
                )
            else:
                good(f"{name} renders ({place.source(name)})")
        if not faults:
            dim("no template of your own: the shipped ones are used")
    if any(faults.values()):
        raise NeuralStreamError(
            "a template fails; the shipped one is used in its place",
            where=str(place.own),
            fix="mend it, or neuralstream admin templates reset NAME",
        )


@templates.command()
@click.argument("name")
@json_option
@pass_state
def reset(state: StateDir, /, *, name: str, as_json: bool) -> None:
    """Go back to the shipped template; your own is kept beside it under the ending .old.

    \b
    Example:
      neuralstream admin templates reset gem_block
    """
    name, place = _known(name), _place(state)
    own = place.file(name)
    if not own.is_file():
        raise NotFound(f"there is no {name} of your own", where=str(place.own), fix="neuralstream admin templates list")
    kept = own.replace(own.with_name(f"{own.name}.old"))
    if as_json:
        show_json({"name": name, "kept": str(kept)})
    else:
        good(f"the shipped {name} is used again; yours is kept as {kept}")


def _stdout() -> Any:
    import sys

    return sys.stdout
