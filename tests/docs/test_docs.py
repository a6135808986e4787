"""The documentation is true: every setting, command, hook and template is in it, and what it names exists."""

from __future__ import annotations

import inspect
import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks import readme
from openclaw_neuralstream.plugins import hookspecs
from openclaw_neuralstream.root import manifest
from openclaw_neuralstream.settings import Settings
from tests.docs.reference import ROOT, commands, renewed

PAGES = sorted((ROOT / "docs").glob("*.md"))
EVERYTHING = [ROOT / "README.md", *PAGES]
SPEC_SETTINGS = [
    "batch_size",
    "context_threshold",
    "idle_timeout",
    "gem_model",
    "max_gems_injected",
    "embedding",
    "collection",
]
COMMAND = re.compile(r"(?<![-\w.])neuralstream((?: [a-z]+){1,3})(?P<rest>[^\n`\"';|)]*)")
COMMANDS = dict(commands())
NOT_OURS = {"was", "where", "help", "birthdays"}
"""Words of sentences, of the chat command, and a command of an example's own plugin."""
SOURCES = sorted(
    [
        *(ROOT / "openclaw_neuralstream").rglob("*.py"),
        *(ROOT / "bridge").glob("*.js"),
        *(ROOT / "examples").rglob("*.py"),
    ]
)


def wrong(text: str) -> list[str]:
    """What of the command lines in a text names no command of ours, or an option that it does not have."""
    found = []
    for match in COMMAND.finditer(text):
        words = match[1].split()
        named = next((name for name in (" ".join(words[:end]) for end in (3, 2, 1)) if name in COMMANDS), "")
        if words[0] in NOT_OURS:
            continue
        if not named:
            if not any(
                name.startswith(f"{' '.join(words)} ") or (name.startswith(f"{words[0]} ") and len(words) == 1)
                for name in COMMANDS
            ):
                found.append(match[0])
            continue
        known = {
            option for parameter in COMMANDS[named].params for option in (*parameter.opts, *parameter.secondary_opts)
        }
        known |= {"--state-dir", "--help", "-h"}
        found += [match[0] for option in re.findall(r"(?<!\S)--[a-z-]+", match["rest"]) if option not in known]
    return found


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def hooks() -> list[str]:
    return [
        name
        for name, value in vars(hookspecs).items()
        if inspect.isfunction(value) and hasattr(value, f"{hookspecs.PROJECT}_spec")
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_generated_parts_are_up_to_date(page: Path) -> None:
    before = page.read_text(encoding="utf-8")
    assert before == renewed(before), "type: make docs"


@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_every_setting_is_documented(name: str) -> None:
    assert f"| `{name}` |" in text("docs/configuration.md")


@pytest.mark.parametrize("name", SPEC_SETTINGS)
def test_the_settings_everybody_asks_for_are_in_the_readme_with_their_defaults(name: str) -> None:
    default = Settings.model_fields[name].default
    shown = f"{default:g}" if isinstance(default, float) else str(default)
    assert re.search(rf"\| `{name}` \| [^|]*{re.escape(shown)}", text("README.md"))


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_is_documented(name: str) -> None:
    assert f"### {name}\n" in text("docs/commands.md")


@pytest.mark.parametrize("name", hooks())
def test_every_hook_is_documented_with_its_arguments(name: str) -> None:
    section = re.search(rf"^### `{name}\((.*?)\)", text("docs/hooks.md"), re.MULTILINE)
    assert section is not None
    assert [argument.strip() for argument in section[1].split(",") if argument] == list(
        inspect.signature(getattr(hookspecs, name)).parameters
    )


def test_there_are_hooks_to_document() -> None:
    assert {"turn_end", "session_start", "prompt_build", "filter_gem"} <= set(hooks())


@pytest.mark.parametrize(("name", "file"), list(manifest()["templates"].items()))
def test_every_template_is_documented_with_its_variables(name: str, file: str) -> None:
    section = text("docs/templates.md").partition(f"### `{file}`")[2].partition("\n### ")[0]
    assert section
    head = (ROOT / "templates" / file).read_text(encoding="utf-8").partition("-#}")[0]
    for variable in re.findall(r"^    (\w+):", head, re.MULTILINE):
        assert f"`{variable}`" in section, f"{name}: {variable}"


@pytest.mark.parametrize("page", EVERYTHING, ids=lambda page: page.name)
def test_every_command_that_is_named_exists_with_its_options(page: Path) -> None:
    code = re.findall(r"```(?:bash|sh|console)?\n(.*?)```|`([^`\n]+)`", page.read_text(encoding="utf-8"), re.DOTALL)
    assert [fault for block, inline in code for fault in wrong(block or inline)] == []


def test_every_command_that_a_message_names_exists_with_its_options() -> None:
    """Remedies, examples and comments alike; an English sentence about neuralstream does not begin with a small n."""
    faults = {str(path.relative_to(ROOT)): wrong(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {path: found for path, found in faults.items() if found} == {}


@pytest.mark.parametrize("page", EVERYTHING, ids=lambda page: page.name)
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)`", page.read_text(encoding="utf-8"))) <= targets


@pytest.mark.parametrize("page", EVERYTHING, ids=lambda page: page.name)
def test_every_link_inside_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", readme.PAGES, ids=lambda page: page.name)
def test_the_tables_of_numbers_are_those_of_the_committed_results(page: Path) -> None:
    """What mends it: python -m benchmarks.readme."""
    assert page.read_text(encoding="utf-8") == readme.filled(page)


def test_the_layers_of_the_page_are_those_that_are_checked() -> None:
    """No name more or less, and from top to bottom: a row may hold several neighbouring lines."""
    contracts = tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(found["layers"] for found in contracts if found["type"] == "layers")
    height = {name: -line for line, names in enumerate(layers) for name in re.split(r" [|:] ", names)}
    table = text("docs/architecture.md").split("| layer |")[1].split("\n\n")[0]
    rows = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
    assert sorted(name for row in rows for name in row) == sorted(height)
    for upper, lower in pairwise(rows):
        assert min(height[name] for name in upper) >= max(height[name] for name in lower), (upper, lower)


def test_the_changelog_speaks_of_this_version() -> None:
    assert f"## {manifest()['plugin']['version']}" in text("CHANGELOG.md")
