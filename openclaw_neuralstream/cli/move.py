"""`neuralstream admin move index|buffer`: a local store to a server and back; the setting is written when all of it is there."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from openclaw_neuralstream.cli.door import pass_state
from openclaw_neuralstream.cli.output import dim, good, json_option, say, show_json
from openclaw_neuralstream.errors import BadRequest, NotFound, SettingsError, StateBusy, StateError
from openclaw_neuralstream.state import StateDir

if TYPE_CHECKING:
    from openclaw_neuralstream.ports import GemIndex
    from openclaw_neuralstream.settings import Settings
    from openclaw_neuralstream.store.truth import Truth
    from openclaw_neuralstream.transfer.archive import Checked, IndexMove

_dry_run = click.option("--dry-run", is_flag=True, help="Only say what would be moved.")


@click.group()
def move() -> None:
    """Move the index or the buffer between this machine and a server. What is there now is kept until --drop-old."""


@move.command()
@click.option("--to", "to", type=click.Choice(["qdrant", "embedded"]), required=True, help="Where the index shall be.")
@click.option("--url", default="", help="Address of the Qdrant server; else the setting qdrant_url.")
@click.option("--collection", default="", help="Name of the collection; else the setting collection.")
@click.option("--api-key-env", default="", help="Name of the environment variable that holds the API key.")
@click.option("--drop-old", is_flag=True, help="Empty the old place once the new one is checked and in use.")
@_dry_run
@json_option
@pass_state
def index(
    state: StateDir,
    *,
    to: str,
    url: str,
    collection: str,
    api_key_env: str,
    drop_old: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Move the gem index to a Qdrant server, or back. Vectors are kept; an interrupted move goes on where it was.

    The memory serves from the old place while gems are copied; at the end the process starts anew with the new one.

    \b
    Example:
      neuralstream admin move index --to qdrant --url http://127.0.0.1:6333 --dry-run
      neuralstream admin move index --to qdrant --url https://my.cloud.qdrant.io:6333 --api-key-env QDRANT_API_KEY
      neuralstream admin move index --to embedded --drop-old
    """
    given = {"qdrant_url": url, "collection": collection, "qdrant_api_key_env": api_key_env}
    now, wanted = _settings(state, "qdrant_url", {name: value for name, value in given.items() if value})
    there = "qdrant" if now.qdrant_url else "embedded"
    _elsewhere(wanted.qdrant_url, to, "index")
    _needs(wanted.qdrant_url, "--url", "qdrant_url")
    from openclaw_neuralstream.transfer.archive import IndexMove

    with _opened(state.found() if dry_run else state) as truth:
        source, target = _indexes(state, truth, now=now, wanted=wanted, to=to)
        try:
            job = IndexMove(truth, target, f"{to} {wanted.qdrant_url} {wanted.collection}" if to == "qdrant" else to)
            if dry_run:
                _planned(job, there=there, to=to, as_json=as_json)
                return
            if there != to:
                with bar("copying", job.total, quiet=as_json) as progress:
                    job.copy(progress)
            with _alone(state):
                job.follow()
                checked = _checked(job)
                changes = given if to == "qdrant" else {"qdrant_url": ""}
                _write(state, changes, "qdrant_url", wanted.qdrant_url if to == "qdrant" else "")
                if drop_old:
                    _drop(source)
        finally:
            source.close()
            target.close()
    _told(as_json, checked, to=to, there=there, dropped=drop_old)


@move.command()
@click.option("--to", "to", type=click.Choice(["redis", "embedded"]), required=True, help="Where turns shall wait.")
@click.option("--url", default="", help="Address of the Redis or Valkey server; else the setting redis_url.")
@click.option("--password-env", default="", help="Name of the environment variable that holds the password.")
@_dry_run
@json_option
@pass_state
def buffer(state: StateDir, *, to: str, url: str, password_env: str, dry_run: bool, as_json: bool) -> None:
    """Move the turns that wait to Redis or Valkey, or back; the bridge keeps new ones in its spool meanwhile.

    \b
    Example:
      neuralstream admin move buffer --to redis --url redis://127.0.0.1:6379/0
      neuralstream admin move buffer --to embedded
    """
    from openclaw_neuralstream.clock import utc_now
    from openclaw_neuralstream.memory import wiring
    from openclaw_neuralstream.transfer.archive import move_turns, waiting

    given = {"redis_url": url, "redis_password_env": password_env}
    _, wanted = _settings(state, "redis_url", {name: value for name, value in given.items() if value})
    _elsewhere(wanted.redis_url, to, "buffer")
    _needs(wanted.redis_url, "--url", "redis_url")
    with _opened(state.found() if dry_run else state) as truth:
        there = wiring.redis_buffer(wanted, truth)
        source, target = (truth, there) if to == "redis" else (there, truth)
        try:
            if dry_run:
                found = {"waiting": waiting(source, utc_now()), "at_the_target": waiting(target, utc_now()), "to": to}
                show_json(found) if as_json else say(
                    f"{found['waiting']} turns would be moved to {to}; nothing was changed"
                )
                return
            risks = there.risks() if to == "redis" else []
            with _alone(state), bar("moving", waiting(source, utc_now()), quiet=as_json) as progress:
                moved = move_turns(source, target, now=utc_now(), progress=progress)
                _write(
                    state,
                    given if to == "redis" else {"redis_url": ""},
                    "redis_url",
                    wanted.redis_url if to == "redis" else "",
                )
        finally:
            there.close()
    if as_json:
        show_json({**asdict(moved), "to": to, "risks": [asdict(risk) for risk in risks]})
        return
    good(
        f"{moved.turns} waiting turns moved to {to}, none is left behind; redis_url is {'set' if to == 'redis' else 'not set'} from now on"
    )
    for risk in risks:
        click.echo(f"! {risk.what}\n  mend it: {risk.mend}", err=True)


# --- where from, where to -----------------------------------------------------------------------------------------------


def _settings(state: StateDir, name: str, given: dict[str, str]) -> tuple[Settings, Settings]:
    """The settings in force, and with what was given. Raises SettingsError where settings.toml has no say."""
    from openclaw_neuralstream import settings
    from openclaw_neuralstream.state import host_config

    loaded = settings.load(state.path, host=host_config(state))
    source = loaded.sources.get(name, "default")
    if source in ("environment", "host config"):
        raise SettingsError(
            [f"{name} comes from the {source}, which wins over settings.toml"], fix=f"set {name} only in settings.toml"
        )
    return loaded.settings, settings.validate(
        {**loaded.settings.model_dump(), **given}, dict.fromkeys(given, "command line")
    )


def _elsewhere(address: str, to: str, what: str) -> None:
    """Refuse to bring home what is at home; with --url it may lie at a server that the settings no longer name."""
    if to == "embedded" and not address:
        raise BadRequest(
            f"the {what} is embedded already: there is nothing to move",
            where="--to embedded",
            fix="neuralstream status shows it; with --url it is fetched from a server that the settings do not name",
        )


def _needs(address: str, option: str, setting: str) -> None:
    if not address:
        raise SettingsError([f"{setting}: no server is named"], fix=f"give {option}")


def _indexes(state: StateDir, truth: Truth, *, now: Settings, wanted: Settings, to: str) -> tuple[GemIndex, GemIndex]:
    """Where the index is and where it shall be."""
    from openclaw_neuralstream.memory import wiring
    from openclaw_neuralstream.memory.engine import EMBEDDER_META
    from openclaw_neuralstream.model import EmbedderIdentity

    name, _, size = truth.meta(EMBEDDER_META).rpartition("/")
    if not size.isdigit():
        raise NotFound(
            "nothing is remembered here yet: there is nothing to move",
            fix=f"neuralstream config set qdrant_url {wanted.qdrant_url}",
        )
    identity = EmbedderIdentity(name, int(size))
    flat = wiring.flat_index(state, identity)
    if to == "qdrant":
        return flat, wiring.qdrant_index(wanted, identity, truth.store_id)
    return wiring.qdrant_index(now if now.qdrant_url else wanted, identity, truth.store_id), flat


def _planned(job: IndexMove, *, there: str, to: str, as_json: bool) -> None:
    plan = {"gems": job.total, "copied_already": job.done, "from": there, "to": to}
    if as_json:
        show_json(plan)
    elif there == to:
        say(f"the index is at {to} already")
    else:
        say(
            f"{plan['gems']} gems would be copied to {to} ({plan['copied_already']} are there from an interrupted move)"
        )
        dim("nothing was changed")


def _checked(job: IndexMove) -> Checked:
    checked = job.check()
    if not checked.well:
        raise StateError(
            f"the new index holds {checked.found} of {checked.expected} gems, and {checked.wrong} of {checked.sampled} sampled "
            "ones are not found by their own vector",
            fix="the setting was not changed; run the same command again",
        )
    return checked


def _drop(old: GemIndex) -> None:
    drop: Callable[[], None] = getattr(old, "drop", old.clear)
    drop()


def _write(state: StateDir, changes: dict[str, str], name: str, value: str) -> None:
    from openclaw_neuralstream.cli.config import change

    change(state, {**{key: given for key, given in changes.items() if given}, name: value})


def _told(as_json: bool, checked: Checked, *, to: str, there: str, dropped: bool) -> None:  # noqa: FBT001
    if as_json:
        show_json({**asdict(checked), "from": there, "to": to, "dropped_old": dropped})
        return
    good(f"the index is at {to}: {checked.found} gems counted, {checked.sampled} of them found by their own vectors")
    if there != to:
        dim("the old one is emptied" if dropped else "the old one is kept; the same command with --drop-old empties it")


# --- the state directory ------------------------------------------------------------------------------------------------


@contextmanager
def _opened(state: StateDir) -> Iterator[Truth]:
    from openclaw_neuralstream.store.truth import Truth

    state.prepare()
    truth = Truth.open(state.database)
    try:
        yield truth
    finally:
        truth.close()


@contextmanager
def _alone(state: StateDir) -> Iterator[None]:
    """The process ended and kept from starting; it starts anew at its next use. Raises StateBusy."""
    from filelock import FileLock, Timeout

    from openclaw_neuralstream.server import client

    client.stop(state)
    lock = FileLock(state.lock, mode=0o600)
    try:
        lock.acquire(timeout=20)
    except Timeout as error:
        raise StateBusy(
            "the memory process does not end", where=str(state.path), fix="neuralstream admin stop, then again"
        ) from error
    with lock:
        yield


@contextmanager
def bar(words: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal, nothing in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as shown:
        task: Any = shown.add_task(words, total=total)
        yield lambda done: shown.update(task, completed=done)
