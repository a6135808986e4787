"""The generated parts of the documentation: python -m tests.docs.reference (make docs) brings them up to date."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from openclaw_neuralstream.cli import main
from openclaw_neuralstream.settings import allowed, schemas

ROOT = Path(__file__).resolve().parents[2]
_PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def settings_table() -> str:
    """One line a setting: name, default, range, meaning."""
    lines = ["| setting | default | allowed | meaning |", "| --- | --- | --- | --- |"]
    for name, schema in schemas().items():
        lines.append(f"| `{name}` | {_code(schema['default'])} | {allowed(name)} | {schema['description']} |")
    return "\n".join(lines) + "\n"


def command_reference() -> str:
    """One section a command: what it does, how it is called, its options."""
    return "\n".join(_section(name, command) for name, command in commands())


def commands(group: click.Group = main, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    """Full name → command, the members of groups in the place of their group."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _section(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"neuralstream {name}")
    text, example = re.split(r"\x08\s*Example:", command.help or "", maxsplit=1)
    words = "\n\n".join(" ".join(part.split()) for part in text.split("\n\n") if part.strip())
    code = "\n".join(line.strip() for line in example.strip().splitlines())
    options = [
        f"- `{', '.join([*p.opts, *p.secondary_opts])}` {p.help}"
        for p in command.params
        if isinstance(p, click.Option) and p.name != "as_json"
    ]
    usage = command.get_usage(context).removeprefix("Usage: ")
    usage = " ".join(usage.split())
    parts = [f"### {name}", words, f"```\n{usage}\n```", f"```bash\n{code}\n```", "\n".join(options)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _code(value: object) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, list):
        return f"`{value}`" if value else "empty"
    if isinstance(value, float):
        return f"`{value:g}`" if abs(value) < 1e6 else f"`{int(value)}`"
    return f"`{value}`" if value != "" else "empty"


GENERATORS = {"settings": settings_table, "commands": command_reference}


def renewed(text: str) -> str:
    """The text with its generated parts as they should be."""
    return _PART.sub(lambda match: f"{match[1]}{GENERATORS[match[2]]()}{match[3]}", text)


if __name__ == "__main__":
    for page in sorted((ROOT / "docs").glob("*.md")):
        before = page.read_text(encoding="utf-8")
        if before != renewed(before):
            page.write_text(renewed(before), encoding="utf-8")
            sys.stdout.write(f"{page.relative_to(ROOT)}: written\n")
