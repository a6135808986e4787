"""The host's two manifests, generated from `plugin.toml` and the settings."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from openclaw_neuralstream.root import manifest, project_root
from openclaw_neuralstream.settings import RETIRED, Settings, retired, schemas

NPM = "package.json"
HOST = "openclaw.plugin.json"
BRIDGE_ENTRY = "./bridge/index.js"

PYTHON_KEY = "python"
"""The one key of the host's config that is the bridge's own: which Python to start."""

SHIPPED = (
    "bridge/",
    HOST,
    "plugin.toml",
    "pyproject.toml",
    "openclaw_neuralstream/",
    "hooks/",
    "templates/",
    "examples/",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    "!**/__pycache__",
    "!**/*.pyc",
)
"""What the npm tarball holds: the bridge, and the Python package so that one archive is enough to install both."""

_UNIT_FIELDS = {"Seconds": r"^\s*\d+(\.\d+)?\s*(s|sec|m|min|h|d)?\s*$", "Percent": r"^\s*\d+(\.\d+)?\s*%?\s*$"}
_KEPT = (
    "type",
    "enum",
    "items",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
)
_SENSITIVE = ("redis_url",)
_OUT_OF_DATE = "out of date, run python -m openclaw_neuralstream.manifests"
_PROFILES = ["coding", "messaging", "full"]


def build() -> dict[str, str]:
    """File name → the text it should have."""
    plugin = manifest()
    return {NPM: _text(_npm(plugin)), HOST: _text(_host(plugin))}


def drift(root: Path) -> list[str]:
    """Names of the manifests in `root` that differ from what `build` gives; missing ones included."""
    return [name for name, text in build().items() if not _same(root / name, text)]


def write(root: Path) -> list[str]:
    """Bring the manifests in `root` up to date. Returns the names of those that changed."""
    texts = build()
    changed = drift(root)
    for name in changed:
        (root / name).write_text(texts[name], encoding="utf-8")
    return changed


def config_schema() -> dict[str, Any]:
    """JSON schema of the plugin's config in the host: every setting, and `python`.

    It carries no `default`: a host that filled defaults in would overrule the user's file and environment.
    """
    properties = {name: _property(name, schema) for name, schema in schemas().items() if "." not in name}
    properties |= {name: {"description": f"retired: {retired(name)}"} for name in RETIRED}
    properties[PYTHON_KEY] = {
        "type": "string",
        "minLength": 1,
        "description": "Python that has openclaw-neuralstream installed; empty = found by itself",
    }
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _property(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    kept = {key: schema[key] for key in _KEPT if key in schema}
    if schema.get("type") == "object":
        return {"type": ["object", "string"], "description": schema["description"]}
    for alias, pattern in _UNIT_FIELDS.items():
        if alias in str(Settings.__annotations__[name]):
            kept |= {"type": [schema["type"], "string"], "pattern": pattern}
    return {**kept, "description": f"{schema['description']} (default: {_shown(schema['default'])})"}


def _shown(default: object) -> str:
    if isinstance(default, float) and default.is_integer():
        return str(int(default))
    return json.dumps(default) if isinstance(default, bool | str) else str(default)


def _host(plugin: dict[str, Any]) -> dict[str, Any]:
    identity, tools = plugin["plugin"], list(plugin["tools"].values())
    command = {
        "name": identity["id"],
        "description": f"{identity['name']}: status, search, edit and forget what is remembered",
        "hasSubcommands": True,
    }
    return {
        "id": identity["id"],
        "name": identity["name"],
        "description": identity["description"],
        "version": identity["version"],
        "categories": ["memory"],
        "activation": {"onStartup": True},
        "contracts": {"tools": tools},
        "toolMetadata": {tool: {"profiles": _PROFILES} for tool in tools},
        "cliCommands": [command],
        "commandAliases": [{"name": identity["id"], "kind": "runtime-slash", "cliCommand": identity["id"]}],
        "configSchema": config_schema(),
        "uiHints": {name: {"sensitive": True} for name in _SENSITIVE},
    }


def _npm(plugin: dict[str, Any]) -> dict[str, Any]:
    identity = plugin["plugin"]
    return {
        "name": identity["package"],
        "version": identity["version"],
        "description": identity["description"],
        "type": "module",
        "license": identity["license"],
        "keywords": ["openclaw", "openclaw-plugin", "memory", "agent"],
        "engines": {"node": identity["node"]},
        "files": list(SHIPPED),
        "scripts": {"test": "node --test tests/bridge/*.test.mjs"},
        "openclaw": {
            "extensions": [BRIDGE_ENTRY],
            "compat": {"pluginApi": identity["host"]},
            "install": {"minHostVersion": identity["host"]},
        },
    }


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def main(argv: list[str] | None = None) -> int:
    """Write the manifests, or with --check say which are out of date (exit code 1)."""
    parser = argparse.ArgumentParser(prog="python -m openclaw_neuralstream.manifests", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when a manifest is out of date")
    check = parser.parse_args(argv).check
    root = project_root()
    names = drift(root) if check else write(root)
    for name in names:
        sys.stdout.write(f"{name}: {_OUT_OF_DATE if check else 'written'}\n")
    return 1 if check and names else 0


if __name__ == "__main__":
    sys.exit(main())
