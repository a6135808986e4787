"""The words put before a model: Jinja templates, the user's folder in front of the shipped one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import structlog
from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.render.inert import inert

log = structlog.get_logger(__name__)


class Templates:
    """Renders by name ("gem_block"). A user's broken template falls back to the shipped one and is remembered in `broken`."""

    def __init__(self, shipped: Path, own: Path | None = None) -> None:
        self.broken: dict[str, str] = {}
        self._shipped_dir = shipped
        base = FileSystemLoader(shipped)
        self._shipped = self._environment(ChoiceLoader([base, PrefixLoader({"default": base}, delimiter=":")]))
        folders = [FileSystemLoader(own)] if own and own.is_dir() else []
        self._own = self._environment(ChoiceLoader([*folders, base, PrefixLoader({"default": base}, delimiter=":")]))

    def render(self, name: str, **variables: Any) -> str:
        """The rendered text, without blank lines at its ends. Raises NeuralStreamError when the shipped one fails too."""
        file = f"{name}.md.j2"
        try:
            text = self._own.get_template(file).render(variables)
            self.broken.pop(name, None)
        except (
            TemplateError,
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
            RecursionError,
            MemoryError,
        ) as error:
            if name not in self.broken:
                log.warning("template.broken", template=name, error=type(error).__name__)
            self.broken[name] = f"{type(error).__name__}: {error}"
            text = self._fallback(file, variables)
        return text.strip("\n")

    def digest(self, *names: str) -> str:
        """A short id of the sources in use, so that a gem tells which prompt made it."""
        loader = self._own.loader
        sources = [loader.get_source(self._own, f"{name}.md.j2")[0] for name in names] if loader else []
        return digest(*sources, size=6)

    def _fallback(self, file: str, variables: dict[str, Any]) -> str:
        try:
            return self._shipped.get_template(file).render(variables)
        except TemplateError as error:
            raise NeuralStreamError(
                f"the template fails: {error}", where=str(self._shipped_dir / file), fix="reinstall the package"
            ) from error

    @staticmethod
    def _environment(loader: ChoiceLoader) -> ImmutableSandboxedEnvironment:
        environment = ImmutableSandboxedEnvironment(
            loader=loader,
            undefined=StrictUndefined,
            autoescape=False,  # the output is a prompt, not HTML; remembered text goes through `inert`
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            auto_reload=True,
        )
        environment.filters["inert"] = inert
        return environment
