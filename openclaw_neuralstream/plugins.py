"""Hooks from three places: the bundled ones in the manifest's order, the user's folder, installed packages.

Every call to others' code goes through `Hooks.each` or `Hooks.first`: one that raises is named, counted and skipped.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy
import structlog

from openclaw_neuralstream import hookspecs
from openclaw_neuralstream.errors import NeuralStreamError, StateError

log = structlog.get_logger(__name__)
ENTRY_POINTS = "neuralstream"


@dataclass(slots=True)
class Plugin:
    """One loaded source of hooks and how it has behaved."""

    name: str
    place: str  # "bundled" | "user" | "package"
    calls: int = 0
    failures: int = 0
    seconds: float = 0.0
    last_error: str = ""


@dataclass(slots=True)
class Hooks:
    """The loaded hooks, in order, and the only door to them."""

    manager: pluggy.PluginManager
    plugins: dict[str, Plugin] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)  # file or package → why it was not loaded

    def each(self, hook: str, **arguments: Any) -> list[Any]:
        """The results of all implementations that did not raise and did not return None, in the order of loading."""
        return [result for _, result in self._results(hook, arguments) if result is not None]

    def by_plugin(self, hook: str, **arguments: Any) -> dict[str, Any]:
        """The same, by the name of the plugin."""
        return {name: result for name, result in self._results(hook, arguments) if result is not None}

    def first(self, hook: str, **arguments: Any) -> Any:
        """The first result that is not None; None when there is none."""
        return next((result for _, result in self._results(hook, arguments) if result is not None), None)

    def _results(self, hook: str, arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        for implementation in getattr(self.manager.hook, hook).get_hookimpls():  # pluggy itself would go backwards
            plugin = self.plugins[implementation.plugin_name]
            started = time.perf_counter()
            try:
                result = implementation.function(*(arguments[name] for name in implementation.argnames))
            except StateError:  # a full disk is no hook's fault: whoever asked must know that nothing was kept
                raise
            except Exception as error:  # noqa: BLE001  border: others' code is named, counted, skipped
                plugin.failures += 1
                plugin.last_error = f"{hook}: {type(error).__name__}"
                log.warning("hook.failed", hook=hook, plugin=plugin.name, error=type(error).__name__)
                result = None
            finally:
                plugin.calls += 1
                plugin.seconds += time.perf_counter() - started
            yield plugin.name, result


def load(bundled: Path, order: list[str], own: Path | None = None) -> Hooks:
    """Load bundled hooks (all must load), then the user's files by name, then entry points; a bad one is refused by name.

    The user's folder belongs to the state directory, never to the agent's workspace: code that an agent can write must not run.
    """
    hooks = Hooks(pluggy.PluginManager(hookspecs.PROJECT))
    hooks.manager.add_hookspecs(hookspecs)
    for name in order:
        _register(hooks, _module(bundled / f"{name}.py", f"neuralstream_hooks.{name}"), name, "bundled")
    for path in sorted(own.glob("*.py")) if own and own.is_dir() else ():
        try:
            _register(hooks, _module(path, f"neuralstream_user_hooks.{path.stem}"), f"user:{path.stem}", "user")
        except Exception as error:  # noqa: BLE001  border: the user's code may raise anything on import
            _refuse(hooks, str(path), error)
    _load_packages(hooks)
    return hooks


def _load_packages(hooks: Hooks) -> None:
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINTS):
        try:
            _register(hooks, entry.load(), f"package:{entry.name}", "package")
        except Exception as error:  # noqa: BLE001  border: a package's code may raise anything on import
            _refuse(hooks, entry.value, error)


def _register(hooks: Hooks, module: Any, name: str, place: str) -> None:
    hooks.manager.register(module, name)
    try:
        hooks.manager.check_pending()
    except pluggy.PluginValidationError:
        hooks.manager.unregister(module)
        raise
    hooks.plugins[name] = Plugin(name, place)


def _refuse(hooks: Hooks, what: str, error: Exception) -> None:
    hooks.refused[what] = f"{type(error).__name__}: {error}"
    log.warning("hook.refused", place=what, error=type(error).__name__)


def _module(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise NeuralStreamError("not a Python file", where=str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
