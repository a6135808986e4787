"""Hooks from three places: the bundled ones in the manifest's order, the user's folder, installed packages.

Every call to others' code goes through `Hooks.each` or `Hooks.first`: one that raises, returns what it must not, or takes
too long is named, counted and skipped.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import time
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy
import structlog

from openclaw_neuralstream.errors import NeuralStreamError, StateError
from openclaw_neuralstream.model import Block, Draft, Record
from openclaw_neuralstream.plugins import hookspecs
from openclaw_neuralstream.worker import Lane, TooSlow

log = structlog.get_logger(__name__)
ENTRY_POINTS = "neuralstream"
_IMPORT_SECONDS = 5.0

_RETURNS: Mapping[str, type | tuple[type, ...]] = {
    "session_start": Block,
    "prompt_build": Block,
    "turn_end": bool,
    "subagent_spawn": Block,
    "subagent_end": bool,
    "extract": list,
    "filter_gem": bool,
    "score_gem": (int, float),
    "find_records": list,
    "filter_record": bool,
    "render": str,
    "commands": list,
}
"""What an implementation may return beside None."""

_ITEMS: Mapping[str, type] = {"extract": Draft, "find_records": Record}
"""What the lists that they return may hold."""

_VERBS: Mapping[str, tuple[str, ...]] = {
    "turn_buffer": ("append", "claim", "commit", "release", "release_claims", "stats", "close"),
    "gem_index": ("upsert", "delete", "search", "count", "position", "advance", "clear", "close"),
}
"""What a store must be able to do (see `ports`)."""


Stamp = tuple[int, int]
"""When a file was changed, and its size."""


@dataclass(slots=True)
class Plugin:
    """One loaded source of hooks and how it has behaved."""

    name: str
    place: str  # "bundled" | "user" | "package"
    file: str = ""  # the file, or the package's entry
    implements: tuple[str, ...] = ()  # the hooks it has, by name
    calls: int = 0
    failures: int = 0
    slow: int = 0  # calls given up, and calls skipped while one of them was still running
    seconds: float = 0.0
    last_error: str = ""


@dataclass(slots=True)
class Hooks:
    """The loaded hooks, in order, and the only door to them."""

    manager: pluggy.PluginManager
    plugins: dict[str, Plugin] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)  # file or package → why it was not loaded
    patience: Callable[[str], float] = lambda _: float(
        "inf"
    )  # seconds that a hook of the user's or a package's may take
    lanes: dict[str, Lane] = field(default_factory=dict)
    own: Path | None = None  # the user's folder
    files: dict[Path, Stamp] = field(default_factory=dict)  # what lay there when it was loaded

    def refresh(self) -> bool:
        """Take up what was added, changed or removed in the user's folder; False when nothing was. One thread at a time.

        What is unchanged stays as it is, with its counts. The new set takes the place of the old one in one step: no
        call ever meets half of it.
        """
        files = _files(self.own)
        if files == self.files:
            return False
        fresh = Hooks(_manager(), patience=self.patience, own=self.own, files=files)
        for name in [name for name, plugin in self.plugins.items() if plugin.place == "bundled"]:
            _keep(fresh, self, name)
        for path, stamp in files.items():
            name = f"user:{path.stem}"
            if self.files.get(path) != stamp:
                _load_own(fresh, path)
            elif name in self.plugins:
                _keep(fresh, self, name)
            else:
                fresh.refused[str(path)] = self.refused[str(path)]
        for name in [name for name, plugin in self.plugins.items() if plugin.place == "package"]:
            _keep(fresh, self, name)
        packages = {what: why for what, why in self.refused.items() if Path(what) not in self.files}
        self.refused = {**fresh.refused, **packages}
        self.lanes = fresh.lanes
        self.plugins = {**self.plugins, **fresh.plugins}  # a call that runs meanwhile finds its plugin
        self.manager = fresh.manager
        self.plugins = fresh.plugins
        self.files = files
        log.info("hooks.reloaded", loaded=len(self.plugins), refused=len(self.refused))
        return True

    def blame(self, name: str, what: str) -> None:
        """Count a failure that shows only in what a plugin's hook led to."""
        if plugin := self.plugins.get(name):
            plugin.failures += 1
            plugin.last_error = what

    def each(self, hook: str, **arguments: Any) -> list[Any]:
        """The results of all implementations that did not raise and did not return None, in the order of loading."""
        return [result for _, result in self._results(hook, arguments) if result is not None]

    def by_plugin(self, hook: str, **arguments: Any) -> dict[str, Any]:
        """The same, by the name of the plugin."""
        return {name: result for name, result in self._results(hook, arguments) if result is not None}

    def first(self, hook: str, **arguments: Any) -> Any:
        """The first result that is not None; None when there is none."""
        return next((result for _, result in self._results(hook, arguments) if result is not None), None)

    def has(self, hook: str) -> bool:
        """Whether anybody implements it."""
        return bool(getattr(self.manager.hook, hook).get_hookimpls())

    def _results(self, hook: str, arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        for implementation in getattr(self.manager.hook, hook).get_hookimpls():  # pluggy itself would go backwards
            plugin = self.plugins.get(implementation.plugin_name)
            if plugin is None:
                continue  # taken away a moment ago
            started = time.perf_counter()
            try:
                result = self._call(plugin, hook, implementation, arguments)
            except StateError:  # a full disk is no bundled hook's fault: whoever asked must know that nothing was kept
                if plugin.place == "bundled":
                    raise
                plugin.failures += 1
                plugin.last_error = f"{hook}: StateError"
                result = None
            except TooSlow:
                plugin.slow += 1
                plugin.last_error = f"{hook}: slow"
                log.warning("hook.slow", hook=hook, plugin=plugin.name)
                result = None
            except Exception as error:  # noqa: BLE001  border: others' code is named, counted, skipped
                plugin.failures += 1
                plugin.last_error = f"{hook}: {type(error).__name__}"
                log.warning("hook.failed", hook=hook, plugin=plugin.name, error=type(error).__name__)
                result = None
            finally:
                plugin.calls += 1
                plugin.seconds += time.perf_counter() - started
            yield plugin.name, result

    def _call(self, plugin: Plugin, hook: str, implementation: Any, arguments: dict[str, Any]) -> Any:
        wanted = [arguments[name] for name in implementation.argnames]
        seconds = self.patience(hook)
        if plugin.place == "bundled" or seconds == float("inf"):
            result = implementation.function(*wanted)
        else:
            lane = self.lanes.setdefault(plugin.name, Lane(f"hook {plugin.name}"))
            result = lane.call(lambda: implementation.function(*wanted), seconds)
        if result is not None:
            _check(hook, result)
        return result


def _check(hook: str, result: Any) -> None:
    """Raises TypeError when it is not what this hook may return, or holds what it may not hold."""
    expected = _RETURNS.get(hook)
    if expected and not isinstance(result, expected):
        raise TypeError(f"{hook} returned {type(result).__name__}")
    if isinstance(result, list) and hook in _ITEMS and not all(_whole(item, _ITEMS[hook]) for item in result):
        raise TypeError(f"{hook} returned a list with something else in it")
    if isinstance(result, Block) and not _whole(result, Block):
        raise TypeError(f"{hook} returned a block that is none")
    missing = [verb for verb in _VERBS.get(hook, ()) if not callable(getattr(result, verb, None))]
    if missing:
        raise TypeError(f"{hook} returned something without {', '.join(missing)}")


def _whole(value: Any, kind: type) -> bool:
    """Whether it is one of these, with every field there, texts where texts belong."""
    if not isinstance(value, kind):
        return False
    if not dataclasses.is_dataclass(value):
        return True
    return all(
        hasattr(value, field.name) and (field.type != "str" or isinstance(getattr(value, field.name), str))
        for field in dataclasses.fields(value)
    )


def load(
    bundled: Path,
    order: list[str],
    own: Path | None = None,
    *,
    patience: Callable[[str], float] = lambda _: float("inf"),
) -> Hooks:
    """Load bundled hooks (all must load), then the user's files by name, then entry points; a bad one is refused by name.

    The user's folder belongs to the state directory, never to the agent's workspace: code that an agent can write must not run.
    patience: hook → seconds that an implementation of the user's or a package's may take; bundled ones are trusted.
    """
    hooks = Hooks(_manager(), patience=patience, own=own, files=_files(own))
    for name in order:
        _register(
            hooks,
            _module(bundled / f"{name}.py", f"neuralstream_hooks.{name}"),
            name,
            "bundled",
            str(bundled / f"{name}.py"),
        )
    for path in hooks.files:
        _load_own(hooks, path)
    _load_packages(hooks)
    return hooks


def _manager() -> pluggy.PluginManager:
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def _files(own: Path | None) -> dict[Path, Stamp]:
    """The user's files by name, each with its stamp; a folder that is not there has none."""
    found: dict[Path, Stamp] = {}
    for path in sorted(own.glob("*.py")) if own else ():
        with suppress(OSError):  # gone again
            known = path.stat()
            found[path] = (known.st_mtime_ns, known.st_size)
    return found


def _load_own(hooks: Hooks, path: Path) -> None:
    name = f"user:{path.stem}"
    hooks.lanes[name] = lane = Lane(f"hook {name}")
    try:
        module = lane.call(partial(_own_module, path, f"neuralstream_user_hooks.{path.stem}"), _IMPORT_SECONDS)
        _register(hooks, module, name, "user", str(path))
    except Exception as error:  # noqa: BLE001  border: the user's code may raise anything on import
        _refuse(hooks, str(path), error)


def _keep(fresh: Hooks, old: Hooks, name: str) -> None:
    """The same plugin in the new set, with its counts."""
    fresh.manager.register(old.manager.get_plugin(name), name)
    fresh.plugins[name] = old.plugins[name]
    if name in old.lanes:
        fresh.lanes[name] = old.lanes[name]


def there_are_some(own: Path) -> bool:
    """Whether there is any hook beside the bundled ones; costs no import of one."""
    from importlib.metadata import entry_points

    return (own.is_dir() and any(own.glob("*.py"))) or bool(entry_points(group=ENTRY_POINTS))


def _load_packages(hooks: Hooks) -> None:
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINTS):
        try:
            loaded = Lane(f"package {entry.name}").call(entry.load, _IMPORT_SECONDS)
            _register(hooks, loaded, f"package:{entry.name}", "package", entry.value)
        except Exception as error:  # noqa: BLE001  border: a package's code may raise anything on import
            _refuse(hooks, entry.value, error)


def _register(hooks: Hooks, module: Any, name: str, place: str, file: str) -> None:
    hooks.manager.register(module, name)
    try:
        hooks.manager.check_pending()
    except pluggy.PluginValidationError:
        hooks.manager.unregister(module)
        raise
    callers = hooks.manager.get_hookcallers(module) or []
    hooks.plugins[name] = Plugin(name, place, file, tuple(sorted(caller.name for caller in callers)))


def _refuse(hooks: Hooks, what: str, error: Exception) -> None:
    hooks.refused[what] = f"{type(error).__name__}: {error}"
    log.warning("hook.refused", place=what, error=type(error).__name__)


def _own_module(path: Path, name: str) -> ModuleType:
    """From its text as it is now: Python's own cache takes two changes within a second for one."""
    module = types.ModuleType(name)
    module.__file__ = str(path)
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # noqa: S102  the owner's own hooks
    return module


def _module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise NeuralStreamError("not a Python file", where=str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
