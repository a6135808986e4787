"""`neuralstream config …`: settings and where they come from; settings.toml is changed with its comments kept."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import good, json_option, on_terminal, say, show_json, show_table, warn
from openclaw_neuralstream.errors import BadRequest, NotFound, SettingsError, unwritable
from openclaw_neuralstream.patterns import lazy
from openclaw_neuralstream.state import StateDir, host_config, write_private

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

    from openclaw_neuralstream.settings import Loaded

_NEGATIVE = lazy(r"-\.?\d")


@click.group()
def config() -> None:
    """Show and change settings.

    Later wins: defaults, settings.toml, environment (NEURALSTREAM_BATCH_SIZE), OpenClaw's own config
    (plugins.entries.neuralstream.config.batch_size).
    """


@config.command("list")
@click.option("--changed", is_flag=True, help="Only those that are not the default.")
@json_option
@pass_state
def list_(state: StateDir, *, changed: bool, as_json: bool) -> None:
    """All settings: value, where it comes from, what is allowed, what it means.

    \b
    Example:
      neuralstream config list --changed
    """
    from openclaw_neuralstream.settings import allowed, schemas, shown, value_of

    loaded = _loaded(state)
    for warning in loaded.warnings:
        warn(warning)
    found = [
        {
            "name": name,
            "value": shown(_plain(value_of(loaded.settings, name))),
            "source": _source(loaded, name),
            "allowed": allowed(name),
            "default": schema["default"],
            "meaning": schema["description"],
        }
        for name, schema in schemas().items()
        if not changed or (name in loaded.sources and "." not in name)
    ]
    if as_json:
        show_json(found)
        return
    rows = [(str(s["name"]), _shown(s["value"]), str(s["source"]), str(s["allowed"]), str(s["meaning"])) for s in found]
    show_table(("setting", "value", "from", "allowed", "meaning"), rows)


@config.command("get")
@click.argument("name")
@json_option
@pass_state
def get(state: StateDir, *, name: str, as_json: bool) -> None:
    """The value of one setting that is in force.

    \b
    Example:
      neuralstream config get batch_size
    """
    from openclaw_neuralstream.settings import shown, value_of

    value = shown(_plain(value_of(_loaded(state).settings, _known(name))))
    if as_json:
        show_json(value)
    else:
        say(_shown(value))


class _Valued(click.Command):
    """A command whose words may begin with a minus: "-5" is a value, not an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, with what looks like a negative number behind the options."""
        numbers = [] if "--" in args else [word for word in args if _NEGATIVE.match(word)]
        rest = [word for word in args if word not in numbers]
        return super().parse_args(ctx, [*rest, "--", *numbers] if numbers else args)


@config.command("set", cls=_Valued)
@click.argument("name")
@click.argument("value")
@json_option
@pass_state
def set_(state: StateDir, *, name: str, value: str, as_json: bool) -> None:
    """Write one setting into settings.toml; a value out of range is refused with the range.

    \b
    Example:
      neuralstream config set batch_size 8
      neuralstream config set idle_timeout 10m
      neuralstream config set redis_url redis://127.0.0.1:6379/0
      neuralstream config set redis.socket_timeout 5s
    """
    _known(name)
    if name == "workspace" and value:
        _look_at(value)
    document = _document(state)
    _put(document, name, _checked(state, document, name, value))
    _write(state, document)
    _told(state, name, as_json=as_json)


@config.command()
@click.argument("name")
@json_option
@pass_state
def unset(state: StateDir, *, name: str, as_json: bool) -> None:
    """Take one setting out of settings.toml: its default holds again.

    \b
    Example:
      neuralstream config unset batch_size
    """
    document = _document(state)
    table, _, option = name.partition(".")
    place: Any = document.get(table) if option else document
    if not isinstance(place, dict) or (option or name) not in place:
        raise NotFound(f"{name} is not set", where=str(_path(state)), fix="neuralstream config list --changed")
    del place[option or name]
    _write(state, document)
    _told(state, name, as_json=as_json)


@config.command()
@json_option
@pass_state
def path(state: StateDir, *, as_json: bool) -> None:
    """Where settings.toml is.

    \b
    Example:
      $EDITOR "$(neuralstream config path)"
    """
    if as_json:
        show_json({"path": str(_path(state))})
    else:
        say(str(_path(state)))


def _path(state: StateDir) -> Path:
    from openclaw_neuralstream.settings import FILE_NAME

    return state.path / FILE_NAME


def _loaded(state: StateDir) -> Loaded:
    from openclaw_neuralstream.settings import load

    return load(state.path, host=host_config(state))


def _known(name: str) -> str:
    from openclaw_neuralstream.settings import RETIRED, nearest, retired, schemas

    if name in RETIRED:
        raise NotFound(retired(name), fix="neuralstream config list")
    if name not in schemas():
        raise NotFound(f"no setting {name!r}{nearest(name)}", fix="neuralstream config list")
    return name


def _put(place: MutableMapping[str, Any], name: str, value: Any) -> None:
    """Write a setting, or one option of a table."""
    table, _, option = name.partition(".")
    if not option:
        place[name] = value
    elif isinstance(place.get(table), dict):
        place[table][option] = value
    else:
        place[table] = {option: value}


def _plain(value: Any) -> Any:
    """A table of options as what is set of it."""
    from openclaw_neuralstream.settings import Options

    return value.model_dump(exclude_unset=True) if isinstance(value, Options) else value


def _source(loaded: Loaded, name: str) -> str:
    table, _, option = name.partition(".")
    if option and option not in getattr(loaded.settings, table).model_fields_set:
        return "default"
    return loaded.sources.get(table, "default")


def _document(state: StateDir) -> TOMLDocument:
    """The file as it is, comments and all. Raises SettingsError when it is not TOML."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    file = _path(state)
    try:
        return tomlkit.parse(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return tomlkit.document()
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        raise SettingsError([f"cannot be read: {error}"], where=str(file), fix="mend or delete the file") from error


def _checked(state: StateDir, document: TOMLDocument, name: str, value: str) -> Any:
    """The value as it will stand in the file. Raises SettingsError when the file with it would be refused."""
    from openclaw_neuralstream.settings import current, validate, value_of

    given = current(document.unwrap())
    _put(given, name, value)
    source = {name.partition(".")[0]: "command line"}
    checked = _plain(value_of(validate(given, source, where=str(_path(state))), name))
    return int(checked) if isinstance(checked, float) and checked.is_integer() else checked


def _write(state: StateDir, document: TOMLDocument) -> None:
    import tomlkit

    state.prepare()
    try:
        write_private(_path(state), tomlkit.dumps(document))
    except OSError as error:
        raise unwritable("the file of settings", _path(state), error) from error


def change(state: StateDir, changes: Mapping[str, str]) -> None:
    """Write several settings at once; an empty value takes a setting out. Raises SettingsError, nothing written then."""
    document = _document(state)
    for name, value in changes.items():
        if value:
            document[name] = _checked(state, document, name, value)
        elif name in document:
            document.remove(name)
    _write(state, document)


def _told(state: StateDir, name: str, *, as_json: bool) -> None:
    """Put it into force: the process, where one runs, starts anew at its next use."""
    from openclaw_neuralstream.server import client
    from openclaw_neuralstream.settings import value_of

    loaded = _loaded(state)
    value, source = _plain(value_of(loaded.settings, name)), _source(loaded, name)
    restarted = client.stop(state)
    if as_json:
        show_json({"name": name, "value": value, "source": source, "restarted": restarted})
        return
    good(f"{name} = {_shown(value) or 'nothing'}" + (" (the memory process starts anew with it)" if restarted else ""))
    if source not in ("default", str(_path(state))):
        warn(f"{name} comes from the {source}, which wins over settings.toml: {_remedy(name, source)}")


def _look_at(folder: str) -> None:
    """Raises BadRequest for a folder that another process would find elsewhere; warns of one that is not there."""
    whole = Path(folder).expanduser()
    if not whole.is_absolute():
        fix = f"neuralstream config set workspace {shlex.quote(str(whole.absolute()))}"
        raise BadRequest("the workspace must be named from the root on", where=folder, fix=fix)
    if not whole.is_dir():
        warn(f"{whole} is no folder yet: nothing is indexed until it is there")


def _remedy(name: str, source: str) -> str:
    if source == "environment":
        return f"unset NEURALSTREAM_{name.upper()}"
    return f"openclaw config unset plugins.entries.neuralstream.config.{name}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if value != "" or not on_terminal() else "-"
