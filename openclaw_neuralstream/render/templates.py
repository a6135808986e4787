"""The words put before a model: Jinja templates, the user's folder in front of the shipped one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import structlog
from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, TemplateError

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.render.sandbox import Sandbox

log = structlog.get_logger(__name__)

_SECONDS = 10.0

FAULTS = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    RecursionError,
    MemoryError,
    OSError,
)
"""What a template can raise: its own mistakes, and those of its expressions."""


class Templates:
    """Renders by name ("gem_block"). A user's broken template falls back to the shipped one and is remembered in `broken`."""

    def __init__(self, shipped: Path, own: Path | None = None) -> None:
        self.broken: dict[str, str] = {}
        self._shipped_dir = shipped
        self._folder = own
        base = FileSystemLoader(shipped)
        original = PrefixLoader({"default": base}, delimiter=":")
        folders = [FileSystemLoader(own)] if own else []  # looked at each time: it may be made while we run
        self._shipped = Sandbox(loader=ChoiceLoader([base, original]))
        self._own = Sandbox(loader=ChoiceLoader([*folders, base, original]))

    def render(self, name: str, *, seconds: float = _SECONDS, **variables: Any) -> str:
        """The rendered text, without blank lines at its ends. Raises NeuralStreamError when the shipped one fails too.

        seconds: what the loops of a template of the user's may take; beyond that the shipped one is used.
        """
        file = f"{name}.md.j2"
        if not self.replaced(name):
            self.broken.pop(name, None)
            return self._fallback(file, variables).strip("\n")
        try:
            text = self._own.written(file, variables, seconds=seconds)
            self.broken.pop(name, None)
        except FAULTS as error:
            if name not in self.broken:
                log.warning("template.broken", template=name, error=type(error).__name__)
            self.broken[name] = f"{type(error).__name__}: {error}"
            text = self._fallback(file, variables)
        return text.strip("\n")

    def fault(self, name: str, why: str) -> None:
        """What the user's template wrote is of no use; until it renders otherwise it counts as broken."""
        if self.replaced(name):
            self.broken[name] = why

    def shipped(self, name: str, **variables: Any) -> str:
        """The shipped template rendered, whatever the user has in its place. Raises NeuralStreamError."""
        return self._fallback(f"{name}.md.j2", variables).strip("\n")

    def replaced(self, name: str) -> bool:
        """Whether the user has a file of their own in place of the shipped one."""
        return self._folder is not None and (self._folder / f"{name}.md.j2").is_file()

    def takes(self, name: str, variable: str) -> bool:
        """Whether the template in use knows this variable; a user's of an older form may not."""
        loader = self._own.loader
        if not self.replaced(name) or not loader:
            return True
        try:
            source = loader.get_source(self._own, f"{name}.md.j2")[0]
        except FAULTS:
            return True  # it cannot be read: the shipped one serves
        return re.search(rf"\b{variable}\b|default:", source) is not None

    def trial(self, name: str, variables: dict[str, Any]) -> str:
        """The user's template (or the shipped one where there is none) rendered, with no fall back. Raises FAULTS."""
        return self._own.written(f"{name}.md.j2", variables, seconds=_SECONDS).strip("\n")

    def digest(self, *names: str) -> str:
        """A short id of the sources in use, so that a gem tells which prompt made it."""
        loader = self._own.loader
        sources = [loader.get_source(self._own, f"{name}.md.j2")[0] for name in names] if loader else []
        return digest(*sources, size=6)

    def version(self, name: str) -> str:
        """What the template in use calls itself ("version 2" in its first comment), "" when it does not."""
        loader = self._own.loader
        source = loader.get_source(self._own, f"{name}.md.j2")[0] if loader else ""
        found = re.search(r"^\s*version *(\S+)", source.partition("-#}")[0], re.MULTILINE)
        return found[1] if found else ""

    def _fallback(self, file: str, variables: dict[str, Any]) -> str:
        try:
            return self._shipped.written(file, variables)
        except TemplateError as error:
            raise NeuralStreamError(
                f"the template fails: {error}", where=str(self._shipped_dir / file), fix="reinstall the package"
            ) from error
