"""The words put before a model: Jinja templates, sandboxed, over inert records."""

from __future__ import annotations

import math
import re
import time
import unicodedata
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import structlog
from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader, StrictUndefined, TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from openclaw_neuralstream.errors import NeuralStreamError
from openclaw_neuralstream.model import digest
from openclaw_neuralstream.patterns import lazy

_SPACE = lazy(r"\s+")
_MARKERS = lazy(
    r"<{2,}|>{2,}|`{3,}|~{3,}|\[/?INST\]|<\|[^|>]{0,40}\|>|^\s*(?:system|assistant|user|human)\s*:", re.IGNORECASE
)
_OPENS = lazy(r"^(?:#{1,6}(?=\s|$)|[-+*](?=\s|$)|(?:[-_*=]\s*){2,}$)")
_LOOK_ALIKES = str.maketrans({"#": "＃", "-": "–", "+": "＋", "*": "∗", "_": "＿", "=": "＝"})
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs", "Cn"})
_JOINERS = frozenset("‌‍")  # needed by Persian, Hindi and emoji


def inert(text: str) -> str:
    """One line in which nothing opens or closes a tag, a fence, a role or a host's marker.

    Angle brackets become their look-alikes ‹ and ›, so that a quoted block can never end ours. Idempotent.
    """
    flat = _SPACE.sub(" ", text)
    if not flat.isprintable():
        flat = _SPACE.sub(" ", "".join(char if _shows(char) else " " for char in flat))
    flat = flat.strip()
    quiet = _MARKERS.sub(lambda match: match[0].replace(":", "∶").replace("`", "'").replace("~", "-"), flat)
    quiet = re.sub(r"\[(/?)(INST)\]", r"(\1\2)", quiet, flags=re.IGNORECASE)
    return quiet.replace("<", "‹").replace(">", "›")


def paragraph(text: str) -> str:
    """`inert` for a line of its own in Markdown: it opens no heading, list, quote or rule."""
    return _OPENS.sub(lambda match: match[0].translate(_LOOK_ALIKES), inert(text))


def _shows(char: str) -> bool:
    return char in "\n\t\r" or char in _JOINERS or unicodedata.category(char) not in _INVISIBLE


def framed(text: str) -> str:
    """A block that somebody else has written, inside our outer tag: it is recognised and never captured again."""
    inside = text.strip()
    if inside.startswith("<neuralstream-memory") and inside.endswith("</neuralstream-memory>"):
        return inside
    return f"<neuralstream-memory>\n{inside.replace('<neuralstream-memory', '‹neuralstream-memory').replace('</neuralstream-memory', '‹/neuralstream-memory')}\n</neuralstream-memory>"


MOST_CHARS = 4_000_000
"""The most that one rendering may write: four times what the longest context window takes."""

_RANGE = 1_000
_MOST_ITEMS = 20_000
_GREATEST = 1e18
_DEEPEST = 3
_TEXT_METHODS = frozenset(
    ("capitalize", "casefold", "count", "endswith", "find", "isalnum", "isalpha", "isdecimal", "isdigit", "islower",
     "isnumeric", "isspace", "istitle", "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix",
     "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "swapcase", "title", "upper")
)  # fmt: skip
"""What a text can be asked for: nothing that makes it longer."""

_GROWING_FILTERS = ("join", "replace")
_UNBOUNDED_FILTERS = (
    "batch",
    "slice",
    "tojson",
    "center",
    "format",
    "indent",
    "pprint",
    "urlize",
    "wordwrap",
    "xmlattr",
)
_SHORT_FORMAT = lazy(r"[^%]*%(\.\d)?[dfsg][^%]*\Z")
_TICK, _JOIN, _FLAT = "tick__", "joined__", "flat__"


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's immutable sandbox, where besides nothing grows by multiplication and every round of a loop looks at the clock."""

    intercepted_binops = frozenset(("*", "**", "%", "+"))

    def __init__(self, **options: Any) -> None:
        super().__init__(
            undefined=StrictUndefined,
            autoescape=False,  # the output is a prompt, not HTML; remembered text goes through `inert`
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=False,
            auto_reload=True,
            **options,
        )
        self.filters |= {"inert": inert, "paragraph": paragraph}
        self.globals["range"] = _short_range
        self.globals.pop("lipsum", None)
        for name in _UNBOUNDED_FILTERS:
            self.filters.pop(name, None)
        for name in _GROWING_FILTERS:
            self.filters[name] = _bounded(self.filters[name])

    def written(self, file: str, variables: dict[str, Any], *, seconds: float = math.inf) -> str:
        """The template rendered. seconds: what its loops may take of the processor; it has nothing to wait for.

        Raises TemplateError and whatever its expressions raise; SecurityError beyond the limits.
        """
        end = time.thread_time() + seconds
        pieces: list[str] = []
        room = MOST_CHARS
        for piece in self.get_template(file).generate(
            {**variables, _TICK: lambda: _tick(end), _JOIN: _joined, _FLAT: _flat}
        ):
            room -= len(piece)
            if room < 0:
                raise SecurityError(f"it writes more than {MOST_CHARS:,} characters")
            pieces.append(piece)
        return "".join(pieces)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """What a template may ask of a value."""
        if isinstance(obj, str | bytes):
            return attr in _TEXT_METHODS
        return super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Numbers may be multiplied; texts and lists may not, and nothing is raised to a power. "%.2f" % x is fine."""
        if operator == "%" and isinstance(left, str) and isinstance(right, int | float) and _SHORT_FORMAT.match(left):
            return super().call_binop(context, operator, left, right)
        if operator == "+" and not isinstance(left, int | float):
            return _added(left, right)
        if operator == "**" or not (isinstance(left, int | float) and isinstance(right, int | float)):
            raise SecurityError(f"{operator} is for numbers only" if operator != "**" else "** is not there")
        if max(abs(left), abs(right)) > _GREATEST:
            raise SecurityError(f"numbers beyond {_GREATEST:.0e} are not reckoned with")
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Any:
        """No str.format: a width in it makes any text long."""
        if getattr(value, "__name__", "") in ("format", "format_map") and isinstance(
            getattr(value, "__self__", None), str
        ):
            raise SecurityError("str.format is not there")
        return super().wrap_str_format(value)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        watched: nodes.Template = _Watched().visit(super()._parse(source, name, filename))
        watched.set_environment(self)
        return watched


class _Watched(NodeTransformer):
    """Every round of a loop and every call of a macro looks at the clock, and joined texts have a greatest length."""

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802  Jinja's name
        self.generic_visit(node)
        node.body.insert(0, _look(node.lineno))
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Call:  # noqa: N802  Jinja's name
        self.generic_visit(node)
        return _call(_JOIN, *node.nodes, line=node.lineno)

    def visit_List(self, node: nodes.List) -> nodes.Call:  # noqa: N802  Jinja's name
        self.generic_visit(node)
        return _call(_FLAT, node, line=node.lineno)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Call:  # noqa: N802  Jinja's name
        self.generic_visit(node)
        return _call(_FLAT, node, line=node.lineno)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Expr:  # noqa: N802  Jinja's name
        self.generic_visit(node)
        return _call(_FLAT, node, line=node.lineno) if node.ctx == "load" else node

    def visit_Macro(self, node: nodes.Macro) -> nodes.Macro:  # noqa: N802  Jinja's name
        self.generic_visit(node)
        node.body.insert(0, _look(node.lineno))
        return node

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.CallBlock:  # noqa: N802  Jinja's name
        self.generic_visit(node)
        node.body.insert(0, _look(node.lineno))
        return node


def _look(line: int) -> nodes.Output:
    return nodes.Output([_call(_TICK, line=line)], lineno=line)


def _flat(value: Any) -> Any:
    """A list that holds no list of lists of lists: written out, such a thing doubles with every step."""
    if _depth(value, _DEEPEST + 1) > _DEEPEST:
        raise SecurityError(f"lists in lists, more than {_DEEPEST} deep")
    return value


def _depth(value: Any, most: int) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else None
    if inner is None or not most:
        return 0
    return 1 + max((_depth(item, most - 1) for item in {id(item): item for item in inner}.values()), default=0)


def _added(left: Any, right: Any) -> Any:
    """Texts and lists put together, as long as they stay short."""
    found = left + right
    if isinstance(found, str):
        return _short(found)
    if isinstance(found, list | tuple) and len(found) > _MOST_ITEMS:
        raise SecurityError(f"a list of more than {_MOST_ITEMS:,} items")
    return _flat(found)


def _call(name: str, *arguments: nodes.Expr, line: int) -> nodes.Call:
    function = nodes.Getitem(nodes.ContextReference(), nodes.Const(name), "load")
    call = nodes.Call(function, list(arguments), [], None, None)
    call.set_lineno(line)
    return call


def _joined(*parts: Any) -> str:
    return _short("".join(str(part) for part in parts))


def _short(text: str) -> str:
    if len(text) > MOST_CHARS:
        raise SecurityError(f"a text of more than {MOST_CHARS:,} characters")
    return text


def _bounded(filter_: Callable[..., Any]) -> Callable[..., Any]:
    """The filter, refusing to return a text beyond the limit; what Jinja wants passed to it stays as it was."""

    @wraps(filter_)
    def bounded(*arguments: Any, **named: Any) -> Any:
        found = filter_(*arguments, **named)
        return _short(found) if isinstance(found, str) else found

    return bounded


def _tick(end: float) -> str:
    if time.thread_time() > end:
        raise SecurityError("its loops take too long")
    return ""


def _short_range(*bounds: int) -> range:
    found = range(*bounds)
    if len(found) > _RANGE:
        raise SecurityError(f"range() gives at most {_RANGE} numbers here")
    return found


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
